//! Whoever knows the port and has no key, and pages that ride on somebody's session.

use countersign_tests::{Visitor, until, within};
use reqwest_serenity::Method;
use serde_json::Value;

use super::desk::Desk;

#[tokio::test]
async fn without_a_key_nobody_reads_or_presses() {
    let mut desk = Desk::open().await;
    let (ada, mut events) = desk.present("ada").await;
    let prompt = desk.ask("keyless").await;
    let card = within("a card", events.card("waiting")).await;
    let click = Visitor::click(&card, 0);

    let stranger = desk.stranger();
    for path in [
        "/",
        "/join",
        "/page.js",
        "/cards.js",
        "/sections.js",
        "/file.js",
        "/settle.js",
        "/connection.js",
        "/page.css",
        "/icon.svg",
    ] {
        let answer = stranger.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.body.contains("keyless") && !answer.body.contains("builds"), "{path} tells what is asked");
    }
    assert_eq!(stranger.get("/api/events").await.status, 401);
    assert_eq!(stranger.post("/api/click", &click).await.status, 401);
    assert_eq!(stranger.post("/api/leave", "{}").await.status, 401);
    // One half of what ada's browser keeps is nothing. A server on another port of this host gets the cookie.
    let (cookie, page) = (ada.headers["cookie"].as_str(), ada.headers["countersign-page"].as_str());
    let stream = ada.headers["countersign-stream"].as_str();
    for stolen in [[("cookie", cookie), ("countersign-page", "")], [("cookie", ""), ("countersign-page", page)]] {
        let with_stream = [stolen.as_slice(), &[("countersign-stream", stream)]].concat();
        assert_eq!(stranger.ask(Method::GET, "/api/events", &stolen, None).await.status, 401);
        assert_eq!(stranger.ask(Method::POST, "/api/click", &with_stream, Some(&click)).await.status, 401);
    }
    // As does the cookie in the place of the word.
    let value = cookie.split_once('=').expect("a cookie").1;
    let twice = [("cookie", cookie), ("countersign-page", value)];
    assert_eq!(stranger.ask(Method::POST, "/api/click", &twice, Some(&click)).await.status, 401);

    assert_eq!(ada.press(&card, 2).await.json()["counted"], true);
    desk.assert_answered(&prompt, "keyless", "no 3", false).await;
}

#[tokio::test]
async fn a_guessed_key_opens_nothing_and_the_right_one_still_does() {
    let desk = Desk::open().await;
    let link = desk.link("ada").await;
    let key = link.split_once('#').expect("a key").1.to_owned();
    let mut stranger = desk.stranger();
    let flipped: String = key.chars().rev().collect();
    for guess in ["", "x", &key[..42], &format!("{key}A"), &key.to_lowercase(), &flipped, &format!(" {key}"), "' OR 1=1 --"] {
        let answer = stranger.join(guess).await;
        assert_eq!((answer.status, answer.headers.get("set-cookie")), (403, None), "{guess:?}");
    }
    for body in ["", "{", "[]", "{\"key\": 7}", "{\"key\": null}", "{}", "{\"key\": \"x\", \"person\": \"ada\"}"] {
        assert!([400, 422].contains(&stranger.post("/api/join", body).await.status), "{body:?}");
    }
    assert_eq!(stranger.join(&link).await.status, 200);
    let said = desk.bridge.stderr();
    assert!(said.contains("tried to join") && !said.contains(&key), "{said}");
}

#[tokio::test]
async fn another_page_cannot_press_for_somebody_who_has_joined() {
    let mut desk = Desk::open().await;
    let (ada, mut events) = desk.present("ada").await;
    let prompt = desk.ask("csrf").await;
    let card = within("a card", events.card("waiting")).await;
    let click = Visitor::click(&card, 0);
    let elsewhere = format!("http://127.0.0.1:{}", desk.port + 1);
    let here = desk.origin();
    // What a browser says for a page of another origin, which its script cannot change.
    for origin in ["http://evil.example", "null", &elsewhere, "http://localhost", &format!("{here}.evil.example"), ""] {
        let answer = ada.ask(Method::POST, "/api/click", &[("origin", origin), ("sec-fetch-site", "")], Some(&click)).await;
        assert_eq!(answer.status, 403, "{origin:?}");
    }
    for site in ["cross-site", "same-site", "none"] {
        assert_eq!(ada.ask(Method::POST, "/api/click", &[("sec-fetch-site", site)], Some(&click)).await.status, 403, "{site}");
        assert_eq!(ada.ask(Method::GET, "/api/events", &[("sec-fetch-site", site)], None).await.status, 403, "{site}");
    }
    // What a form can send.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
        assert_eq!(ada.ask(Method::POST, "/api/click", &[("content-type", kind)], Some(&click)).await.status, 415, "{kind:?}");
    }
    // Nobody else's page is let in beforehand.
    let asks = [("origin", "http://evil.example"), ("access-control-request-headers", "countersign-page")];
    let asked = ada.ask(Method::OPTIONS, "/api/click", &asks, None).await;
    assert!(!asked.headers.keys().any(|name| name.starts_with("access-control-")), "{asked:?}");
    assert_eq!(ada.get("/api/click").await.status, 405);

    assert_eq!(ada.press(&card, 2).await.json()["counted"], true);
    desk.assert_answered(&prompt, "csrf", "no 3", false).await;
}

#[tokio::test]
async fn a_name_that_was_made_to_lead_here_is_not_this_page() {
    let desk = Desk::open().await;
    let ada = desk.visitor("ada").await;
    let port = desk.port;
    for host in
        [format!("evil.example:{port}"), "127.0.0.1".to_owned(), format!("127.0.0.1:{}", port + 1), format!("0.0.0.0:{port}")]
    {
        // The browser believes the page to be at that name, so that it says the same of its origin.
        let origin = format!("http://{host}");
        for (method, path) in
            [(Method::GET, "/"), (Method::GET, "/page.js"), (Method::GET, "/api/events"), (Method::POST, "/api/join")]
        {
            let answer = ada.ask(method, path, &[("host", &host), ("origin", &origin)], None).await;
            assert_eq!(answer.status, 421, "{host} {path}");
        }
    }
    // Not even `localhost`: it leads to a second address, where another may listen.
    let named = format!("localhost:{port}");
    let answer = ada.ask(Method::GET, "/", &[("host", &named)], None).await;
    assert_eq!(answer.status, 421);
    assert!(answer.body.contains(&desk.origin()), "it says where the page is: {answer:?}");
}

#[tokio::test]
async fn a_click_that_is_sent_again_changes_nothing() {
    let mut desk = Desk::open().await;
    let (ada, mut events) = desk.present("ada").await;
    let prompt = desk.ask("first").await;
    let card = within("a card", events.card("waiting")).await;
    assert_eq!(ada.press(&card, 2).await.json()["counted"], true);
    desk.assert_answered(&prompt, "first", "no 3", false).await;

    let prompt = desk.ask("second").await;
    let second = within("a card", events.card("waiting")).await;
    // Whose choice it was already hears so again; that is all that happens.
    assert_eq!(ada.press(&card, 2).await.json()["counted"], true);
    for option in 0..2 {
        let again = ada.press(&card, option).await;
        assert_eq!((again.status, &again.json()["counted"]), (200, &Value::Bool(false)));
        assert!(again.json()["reply"].as_str().is_some_and(|reply| reply.contains("too late")), "{again:?}");
    }
    // A button of the one card says nothing on the other.
    let crossed = serde_json::json!({"card": second["id"], "token": card["buttons"][0]["token"]}).to_string();
    assert_eq!(ada.post("/api/click", &crossed).await.json()["counted"], false);
    let crossed = serde_json::json!({"card": card["id"], "token": second["buttons"][0]["token"]}).to_string();
    assert_eq!(ada.post("/api/click", &crossed).await.json()["counted"], false);
    assert!(!desk.home.file("second").exists());
    assert_eq!(ada.press(&second, 0).await.json()["counted"], true);
    desk.assert_answered(&prompt, "second", "once:1", true).await;
}

#[tokio::test]
async fn whoever_has_no_page_open_is_not_present() {
    let mut desk = Desk::open().await;
    let (mut ada, mut events) = desk.present("ada").await;
    let bob = desk.visitor("bob").await;
    let prompt = desk.ask("absent").await;
    let card = within("a card", events.card("waiting")).await;
    let adas = ada.headers["countersign-stream"].clone();
    // Bob's own would be another; ada's, that he has seen somewhere, is not his.
    for stream in ["", "AAAA", adas.as_str()] {
        let answer =
            bob.ask(Method::POST, "/api/click", &[("countersign-stream", stream)], Some(&Visitor::click(&card, 0))).await;
        assert_eq!((answer.status, &answer.json()["counted"]), (200, &Value::Bool(false)), "{stream:?}: {answer:?}");
    }
    drop(events);
    // A browser may have four pages open: there is room for four others once the server has noticed that this one is closed.
    let mut others = Vec::new();
    until("the closed page to be noticed", async || {
        others.push(ada.open().await.ok()?);
        (others.len() == 4).then_some(())
    })
    .await;
    for stream in ["", adas.as_str()] {
        let answer =
            ada.ask(Method::POST, "/api/click", &[("countersign-stream", stream)], Some(&Visitor::click(&card, 0))).await;
        assert_eq!((answer.status, &answer.json()["counted"]), (200, &Value::Bool(false)), "{stream:?}: {answer:?}");
    }
    let (bob, _events) = desk.present("bob").await;
    assert_eq!(bob.press(&card, 2).await.json()["counted"], true);
    desk.assert_answered(&prompt, "absent", "no 3", false).await;
}

#[tokio::test]
async fn a_body_that_is_too_large_or_makes_no_sense_is_refused() {
    let mut desk = Desk::open().await;
    let (ada, mut events) = desk.present("ada").await;
    let prompt = desk.ask("bodies").await;
    let card = within("a card", events.card("waiting")).await;
    let large = format!("{{\"card\": \"{}\", \"token\": \"x\"}}", "x".repeat(1024 * 1024));
    assert_eq!(ada.post("/api/click", &large).await.status, 413);
    assert_eq!(desk.stranger().post("/api/join", &large).await.status, 413);
    let token = card["buttons"][0]["token"].as_str().expect("a token");
    let id = card["id"].as_str().expect("an id");
    for body in [
        String::new(),
        "{}".to_owned(),
        "null".to_owned(),
        format!("{{\"card\": \"{id}\", \"token\": \"{token}\", \"option\": \"once:1\"}}"),
        format!("{{\"card\": \"{id}\", \"card\": \"{id}\", \"token\": \"{token}\"}}"),
        format!("{{\"card\": \"{id}\", \"token\": [\"{token}\"]}}"),
        format!("{{\"card\": \"{id}\", \"token\": \"{token}\"}} ").replace('}', "}}"),
    ] {
        let answer = ada.post("/api/click", &body).await;
        assert!([400, 422].contains(&answer.status), "{body}: {answer:?}");
    }
    let alike = [token.to_uppercase(), token[1..].to_owned(), format!("{token}0"), "Yes".to_owned(), "once:1".to_owned()];
    for other in alike {
        let body = serde_json::json!({"card": id, "token": other}).to_string();
        let answer = ada.post("/api/click", &body).await;
        assert_eq!(answer.json()["counted"], false, "{other}");
    }
    assert_eq!(ada.press(&card, 2).await.json()["counted"], true);
    desk.assert_answered(&prompt, "bodies", "no 3", false).await;
}

#[tokio::test]
async fn every_answer_forbids_what_a_page_could_be_tricked_into() {
    let desk = Desk::open().await;
    let ada = desk.visitor("ada").await;
    for path in
        ["/", "/page.js", "/api/join", "/api/file?card=1-1", "/api/nothing", "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd"]
    {
        let answer = ada.get(path).await;
        let header = |name: &str| answer.headers.get(name).map_or("", String::as_str);
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
        assert_eq!((header("x-content-type-options"), header("cache-control")), ("nosniff", "no-store"), "{path}");
        assert_eq!((header("referrer-policy"), header("x-frame-options")), ("no-referrer", "DENY"), "{path}");
    }
    let cookie = desk.stranger().join(&desk.link("ada").await).await.headers["set-cookie"].clone();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Domain"), "{cookie}");
    let page = desk.stranger().get("/").await.body;
    assert!(!page.contains("style=") && !page.contains("onclick") && page.matches("<script").count() == 1, "{page}");
}
