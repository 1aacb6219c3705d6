//! A browser that people look at a trivial page with.

use countersign_tests::{Browser, Page, Scheme, Screen, port_to_listen_on};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// It says what happens to it, and whether its stream of events is open.
const PAGE: &str = r#"<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>button { display: block; margin: 0 0 2000px } #bar { position: fixed; inset: auto 0 0; height: 300px; background: red }</style>
<button id="first">First</button><button id="second">Second</button><div id="bar"></div>
<script>
    const seen = [];
    for (const kind of ["click", "keydown"]) {
        addEventListener(kind, event => seen.push([kind, event.key ?? event.target.id, event.isTrusted]));
    }
    let stream = "none";
    const events = new EventSource("/events");
    events.onopen = () => stream = "open";
    events.onerror = () => stream = "lost";
</script>"#;

#[tokio::test]
async fn people_have_cookies_and_storage_of_their_own() {
    let (browser, url) = (Browser::start().await, serve().await);
    let (ada, bob) = (browser.person().await, browser.person().await);
    for (page, name) in [(&ada, "ada"), (&bob, "bob")] {
        page.open(&url).await;
        page.eval(&format!("document.cookie = 'who={name}'; localStorage.who = '{name}'")).await;
    }
    // A second tab has the first one's.
    let again = ada.another().await;
    again.open(&url).await;
    for (page, name) in [(&ada, "ada"), (&bob, "bob"), (&again, "ada")] {
        assert_eq!(page.eval("[document.cookie, localStorage.who]").await, json!([format!("who={name}"), name]));
        let cookies = page.cookies().await;
        let [cookie] = &cookies[..] else { panic!("{cookies:?}") };
        assert_eq!((&cookie["name"], &cookie["value"], &cookie["httpOnly"]), (&json!("who"), &json!(name), &json!(false)));
    }
}

#[tokio::test]
async fn clicks_keys_and_fingers_are_those_of_a_person() {
    let (browser, url) = (Browser::start().await, serve().await);
    let page = browser.person().await;
    page.open(&url).await;
    // The second is out of sight, and would stop under the bar.
    page.click("#second").await;
    page.key("Tab").await;
    page.click("#first").await;
    page.key("Enter").await;
    page.type_text("y ✅").await;
    let key = |key: &str| json!(["keydown", key, true]);
    let click = |id: &str| json!(["click", id, true]);
    let expected = [
        click("second"),
        key("Tab"),
        click("first"),
        key("Enter"),
        click("first"),
        key("y"),
        key(" "),
        click("first"),
        key("✅"),
    ];
    assert_eq!(page.eval("seen").await, Value::from_iter(expected));

    page.screen(Screen::PHONE).await;
    page.tap("#second").await;
    assert_eq!(page.wait_for("the tap", "seen[9]").await, click("second"));
}

#[tokio::test]
async fn somebody_can_lose_the_network_and_have_it_back() {
    let (browser, url) = (Browser::start().await, serve().await);
    let (ada, bob) = (browser.person().await, browser.person().await);
    for page in [&ada, &bob] {
        page.open(&url).await;
        page.wait_for("a stream", "stream === 'open'").await;
    }
    // Where there is nothing but loopback, Chromium takes the whole machine for disconnected.
    let is_online = ada.eval("navigator.onLine").await;
    ada.offline(true).await;
    ada.wait_for("the end of the stream", "stream === 'lost' && !navigator.onLine").await;
    let fetched = "fetch('/').then(reply => reply.status, error => error.name)";
    assert_eq!(ada.eval(fetched).await, "TypeError");
    assert_eq!((bob.eval("stream").await, bob.eval(fetched).await), (json!("open"), json!(200)));
    ada.offline(false).await;
    ada.wait_for("the stream again", "stream === 'open'").await;
    assert_eq!(ada.eval("navigator.onLine").await, is_online);
    assert_eq!(ada.eval(fetched).await, 200);
    // There may be nobody at the other end, and what is no loopback is not asked.
    for nowhere in [format!("http://127.0.0.1:{}/", port_to_listen_on()), "http://192.0.2.1/".to_owned()] {
        let error = ada.try_open(&nowhere).await.expect_err("there is nobody");
        assert!(error.contains("ERR_SOCKS_CONNECTION_FAILED"), "{error}");
    }
}

#[tokio::test]
async fn a_screen_has_its_size_its_colours_and_its_permissions() {
    let (browser, url) = (Browser::start().await, serve().await);
    let page = browser.person().await;
    page.open(&url).await;
    for (screen, dots) in [(Screen::DESKTOP, [1280, 800]), (Screen::PHONE, [1170, 2532])] {
        page.screen(screen).await;
        let seen = page.eval("[innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints > 0]").await;
        assert_eq!(seen, json!([screen.width, screen.height, screen.scale, screen.touch]));
        assert_eq!(size_of_png(&page.screenshot().await), dots);
    }
    for (scheme, is_dark) in [(Scheme::Dark, true), (Scheme::Light, false)] {
        page.scheme(scheme).await;
        assert_eq!(page.eval("matchMedia('(prefers-color-scheme: dark)').matches").await, is_dark);
    }
    let permission = async |page: &Page| page.eval("Notification.permission").await;
    assert_ne!(permission(&page).await, "granted");
    page.allow_notifications(&url).await;
    assert_eq!(permission(&page).await, "granted");
}

fn size_of_png(picture: &[u8]) -> [u32; 2] {
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"));
    [16, 20].map(|at| u32::from_be_bytes(picture[at..at + 4].try_into().expect("four bytes")))
}

/// Serves the page until the runtime ends; where it is.
async fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(answer(client));
        }
    });
    format!("http://{address}/")
}

/// One request, and no more: the stream of events stays open as long as the client wants it.
async fn answer(client: TcpStream) -> std::io::Result<()> {
    let mut client = BufReader::new(client);
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") && 0 < client.read_line(&mut request).await? {}
    if request.starts_with("GET /events ") {
        client.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nretry: 50\n\n").await?;
        client.flush().await?;
        return client.read_line(&mut request).await.map(drop);
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length:";
    client.write_all(format!("{head} {}\r\n\r\n{PAGE}", PAGE.len()).as_bytes()).await?;
    client.flush().await
}
