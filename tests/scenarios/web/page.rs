//! The page in a browser: how it behaves under a hand.

use std::sync::{Arc, Mutex};

use countersign_tests::{Launch, RawAgent, until};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::Stage;
use crate::stage::{OPTIONS, PLAIN, Place, Web, Who, press_option, selected};

#[tokio::test]
async fn a_keyboard_is_enough() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("keys").await;
    let page = stage.place.page(Who::Ada).await;
    let focused = || page.eval("document.activeElement.innerText.replace(/\\s+/g, ' ')");
    let mut passed = Vec::new();
    while !focused().await.as_str().is_some_and(|text| text.starts_with("No ")) {
        page.key("Tab").await;
        passed.push(focused().await.as_str().unwrap_or_default().to_owned());
        assert!(passed.len() < 20, "{passed:?}");
    }
    // What has the focus is seen to have it.
    assert_ne!(page.eval("getComputedStyle(document.activeElement).outlineStyle").await, "none");
    assert_eq!(passed[0], "Skip to what waits");
    page.key("Enter").await;
    assert_eq!(stage.outcome(&prompt, "keys").await, (selected("no 3"), false));
    stage.place.closing(&card, "The agent has it").await;
    // The focus stays with the card instead of falling to the top of the page.
    let page = stage.place.page(Who::Ada).await;
    page.wait_for("the focus to stay with its card", "document.activeElement.closest('article.card') !== null").await;
}

#[tokio::test]
async fn every_button_says_what_it_does_and_every_news_is_heard() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("heard").await;
    let page = stage.place.page(Who::Ada).await;
    let names = page.eval("[...document.querySelectorAll('button.option')].map(b => b.textContent)").await;
    assert_eq!(names, json!(["Yes allows once", "Always allows more than this once, as far as the agent decides", "No refuses"]));
    let group =
        page.eval("document.getElementById(document.querySelector('.options').getAttribute('aria-labelledby')).textContent");
    assert!(group.await.as_str().is_some_and(|text| text.contains("touch heard")));
    page.wait_for("the news to be said", "document.getElementById('said').textContent.includes('touch heard')").await;
    stage.place.press(Who::Bob, &card, "No").await;
    stage.outcome(&prompt, "heard").await;
    let page = stage.place.page(Who::Ada).await;
    page.wait_for("the end to be said", "document.getElementById('said').textContent.includes('bob chose \"No\"')").await;
    for (selector, attribute, value) in [
        ("html", "lang", "en"),
        ("#said", "aria-live", "polite"),
        ("#connection", "role", "status"),
        (".reply", "role", "status"),
    ] {
        assert_eq!(page.eval(&format!("document.querySelector('{selector}').getAttribute('{attribute}')")).await, value);
    }
    let unnamed = "[...document.querySelectorAll('button, a, summary')].filter(e => e.textContent.trim() === '').length";
    assert_eq!(page.eval(unnamed).await, 0);
}

#[tokio::test]
async fn the_tab_counts_what_waits_and_whoever_looks_away_is_notified() {
    let mut stage = Stage::set(PLAIN).await;
    let page = stage.place.page(Who::Ada).await;
    let origin = page.eval("location.origin").await;
    page.allow_notifications(origin.as_str().expect("text")).await;
    // Ada looks at something else.
    page.eval(
        "document.hasFocus = () => false; seen = []; Notification = class { static permission = 'granted'; \
        constructor(title, { body }) { seen.push([title, body]) } close() { seen.push('closed') } }; 0",
    )
    .await;
    let prompt = stage.ask_all(&["one", "two"], &json!(OPTIONS)).await;
    let (one, two) = (stage.card("one").await, stage.card("two").await);
    let page = stage.place.page(Who::Ada).await;
    page.wait_for("both to be counted", "document.title === '(2) Countersign'").await;
    let seen = page.eval("seen").await;
    // They may come in either order.
    let is_of_one = |said: &Value| said[0].as_str().is_some_and(|title| title.ends_with(" wants to run: touch one"));
    let one_seen = seen.as_array().and_then(|seen| seen.iter().find(|said| is_of_one(said)));
    assert_eq!(one_seen.map(|said| &said[1]), Some(&json!("It waits in builds.")), "{seen}");
    stage.place.press(Who::Bob, &one, "No").await;
    let page = stage.place.page(Who::Ada).await;
    page.wait_for("one to be left", "document.title === '(1) Countersign'").await;
    page.wait_for("its notification to go", "seen.includes('closed')").await;
    stage.place.press(Who::Bob, &two, "No").await;
    stage.bridge.answer(&prompt).await;
    let page = stage.place.page(Who::Ada).await;
    page.wait_for("none to be left", "document.title === 'Countersign'").await;
}

#[tokio::test]
async fn a_press_that_the_page_moved_under_does_not_count() {
    let mut stage = Stage::set(PLAIN).await;
    let page = stage.place.page(Who::Ada).await;
    // Whoever is about to press when a card appears.
    page.eval(
        "const watch = new MutationObserver(() => { const button = document.querySelector('button.option'); \
         if (button) { watch.disconnect(); button.dispatchEvent(new MouseEvent('click', { detail: 1 })); } }); \
         watch.observe(document.body, { childList: true, subtree: true }); 0",
    )
    .await;
    let (prompt, card) = stage.ask_and_see("moved").await;
    let told = stage.place.private_reply(Who::Ada, "had just moved or come into view").await;
    assert!(told.starts_with("Nothing was sent"), "{told}");
    stage.assert_open("moved");
    stage.place.press(Who::Bob, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "moved").await, (selected("no 3"), false));
}

#[tokio::test]
async fn without_a_connection_nothing_can_be_pressed_and_the_page_comes_back_by_itself() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("away").await;
    let page = stage.place.page(Who::Ada).await;
    page.offline(true).await;
    page.wait_for("the page to notice", "document.documentElement.dataset.connection === 'closed'").await;
    assert!(
        page.eval("document.getElementById('connection').innerText").await.as_str().is_some_and(|text| text.starts_with("Not"))
    );
    page.click("button.option").await;
    stage.place.private_reply(Who::Ada, "Nothing was sent: the bridge is not connected").await;
    stage.assert_open("away");
    let page = stage.place.page(Who::Ada).await;
    page.offline(false).await;
    page.wait_for("the page to come back", "document.documentElement.dataset.connection === 'open'").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "away").await, (selected("once:1"), true));
}

/// A laptop that slept, a phone in a pocket.
#[tokio::test]
async fn what_came_while_the_page_was_away_is_told_when_it_is_back() {
    let mut stage = Stage::set(PLAIN).await;
    let page = stage.place.page(Who::Ada).await;
    page.eval(
        "document.hasFocus = () => false; seen = []; Notification = class { static permission = 'granted'; \
        constructor(title) { seen.push(title) } close() {} }; 0",
    )
    .await;
    page.offline(true).await;
    page.wait_for("the page to notice", "document.documentElement.dataset.connection === 'closed'").await;
    let prompt = stage.ask("meanwhile").await;
    stage.bridge.stderr_contains("is in its room").await;
    stage.place.page(Who::Ada).await.offline(false).await;
    let card = stage.card("meanwhile").await;
    let page = stage.place.page(Who::Ada).await;
    page.wait_for("a notification", "seen.length === 1 && seen[0].includes('touch meanwhile')").await;
    page.wait_for("a word", "document.getElementById('said').textContent.includes('touch meanwhile')").await;
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "meanwhile").await, (selected("no 3"), false));
}

#[tokio::test]
async fn a_page_that_is_opened_later_has_what_waits_and_what_was() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("was").await;
    stage.place.press(Who::Ada, &card, "No").await;
    stage.outcome(&prompt, "was").await;
    let (prompt, card) = stage.ask_and_see("waits").await;
    let late = stage.place.page(Who::Ada).await.another().await;
    let address = stage.place.page(Who::Ada).await.eval("location.origin").await;
    late.open(address.as_str().expect("text")).await;
    late.wait_for("what waits", "document.querySelector('#waiting .card .headline')?.textContent.includes('touch waits')").await;
    let was = late.eval("document.querySelector('#earlier .card').innerText").await;
    assert!(was.as_str().is_some_and(|text| text.contains("touch was") && text.contains("ada chose \"No\"")), "{was}");
    // What was asked is still there for whoever wants to know.
    late.click("#earlier summary").await;
    late.wait_for("the details", "document.querySelector('#earlier .sections').checkVisibility()").await;
    // Pressed in one, it is over in both.
    press_option(&late, "No").await;
    assert_eq!(stage.outcome(&prompt, "waits").await, (selected("no 3"), false));
    stage.place.wait_until_dead(&card).await;
}

#[tokio::test]
async fn a_link_leaves_no_trace_and_what_is_no_link_says_so() {
    let mut stage = Stage::set(PLAIN).await;
    let (_prompt, _card) = stage.ask_and_see("link").await;
    let page = stage.place.page(Who::Ada).await;
    assert_eq!(page.eval("location.pathname + location.hash").await, "/");
    assert_eq!(page.eval("document.cookie").await, "", "no script sees the session");
    let stranger = stage.place.stranger().await;
    let origin = page.eval("location.origin").await;
    stranger.open(&format!("{}/join#AAAA", origin.as_str().expect("text"))).await;
    let said = stranger.wait_for("a word", "document.getElementById('why').innerText").await;
    assert!(said.as_str().is_some_and(|said| said.starts_with("This link is not, or no longer,")), "{said}");
    assert_eq!(stranger.eval("location.pathname + location.hash").await, "/");
    assert_eq!(stranger.eval("document.querySelectorAll('article').length").await, 0);
    assert_eq!(stranger.eval("document.documentElement.dataset.connection").await, "out");
}

#[tokio::test]
async fn somebody_whose_key_is_revoked_sees_nothing_any_more() {
    let mut stage = Stage::set(PLAIN).await;
    let (_prompt, card) = stage.ask_and_see("gone").await;
    stage.place.home().countersign(&["web-room", "revoke", "bob"]).await;
    let page = stage.place.page(Who::Bob).await;
    page.wait_for("the page to be emptied", "document.documentElement.dataset.connection === 'out'").await;
    assert_eq!(page.eval("document.querySelectorAll('article').length").await, 0);
    assert!(page.eval("document.body.innerText").await.as_str().is_some_and(|text| !text.contains("touch gone")));
    assert!(stage.place.is_live(&card).await, "ada's page goes on");
}

#[tokio::test]
async fn a_card_that_has_ended_makes_room_for_what_waits() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("first").await;
    stage.place.press(Who::Bob, &card, "No").await;
    stage.outcome(&prompt, "first").await;
    let page = stage.place.page(Who::Ada).await;
    assert_eq!(page.eval("document.querySelectorAll('#waiting .card').length").await, 1, "it stays where it was for a moment");
    let put_away = async || (page.eval("document.querySelectorAll('#earlier .card').length").await == 1).then_some(());
    until("the card to be put away", put_away).await;
    assert_eq!(page.eval("document.querySelectorAll('#waiting .card').length").await, Value::from(0));
    assert_eq!(page.eval("document.getElementById('nothing').checkVisibility()").await, true);
}

/// Browsers open six connections to a host, and each page takes one.
#[tokio::test]
async fn as_many_pages_as_a_browser_may_have_still_press() {
    let mut stage = Stage::set(PLAIN).await;
    let first = stage.place.page(Who::Ada).await;
    let address = first.eval("location.origin").await;
    let address = address.as_str().expect("text");
    let mut pages = Vec::new();
    for _ in 0..4 {
        let page = first.another().await;
        page.open(address).await;
        pages.push(page);
    }
    // The first and three more; the last is told why it has to wait.
    for page in &pages[..3] {
        page.wait_for("a connection", "document.documentElement.dataset.connection === 'open'").await;
    }
    let said = "document.getElementById('connection').textContent.includes('too often in this browser')";
    pages[3].wait_for("a word", said).await;
    let (prompt, _) = stage.ask_and_see("tabs").await;
    press_option(&pages[2], "No").await;
    assert_eq!(stage.outcome(&prompt, "tabs").await, (selected("no 3"), false));
}

/// An agent that asks and takes back without end must not keep people from refusing.
#[tokio::test]
async fn news_of_other_cards_take_no_press_of_one_that_stays_where_it_is() {
    const OTHERS: usize = 150;
    let ask = |id: &str| {
        let call = json!({"toolCallId": id, "title": id, "kind": "execute", "rawInput": {"command": format!("touch {id}")}});
        json!({"send": {"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
            "params": {"sessionId": "s", "toolCall": call, "options": [{"optionId": "n", "name": "No", "kind": "reject_once"}]}}})
    };
    let noise = (0..OTHERS).flat_map(|n| {
        let id = format!("other{n}");
        let cancel = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}});
        [ask(&id), json!({"sleep_ms": 150}), json!({"send": cancel})]
    });
    let steps: Vec<_> = [ask("steady")].into_iter().chain(noise).collect();
    let place = Web::gather(&PLAIN).await;
    let agent = RawAgent::new(&steps);
    let _bridge = Launch::acp(Some(&place.home().config()), &agent.command()).await.start();
    let card = place.card("touch steady").await;
    place.press(Who::Ada, &card, "No").await;
    agent.wait_to_receive("an answer", |frame| frame["id"] == "steady" && frame["result"]["outcome"]["optionId"] == "n").await;
    assert!(place.card_count().await < OTHERS, "it was pressed while the others came and went");
}

#[tokio::test]
async fn a_card_that_the_bridge_forgot_is_not_said_to_have_ended_in_any_way() {
    let mut stage = Stage::set(PLAIN).await;
    let (_prompt, _card) = stage.ask_and_see("forgotten").await;
    stage.bridge.kill().await;
    // With its ledger it would say what became of it.
    std::fs::remove_file(stage.place.home().file("state/ledger.sqlite")).expect("removed");
    let _again = stage.place.start().await;
    let page = stage.place.page(Who::Ada).await;
    page.wait_for("the card to be given up", "document.querySelector('article.card[data-state=lost]')").await;
    let said = page.eval("document.querySelector('article.card .ending').textContent").await;
    let said = said.as_str().expect("text");
    assert!(said.contains("does not know this card any more") && !said.contains("allowed"), "{said}");
    assert_eq!(page.eval("document.querySelectorAll('button.option').length").await, 0);
}

/// While the bridge is away anybody may take its port. Open pages try again by themselves, and must not give themselves away.
#[tokio::test]
async fn whoever_takes_the_port_of_a_bridge_that_is_away_learns_nothing() {
    let mut stage = Stage::set(PLAIN).await;
    let (_prompt, _card) = stage.ask_and_see("away").await;
    let secrets = stage.place.secrets();
    let address = stage.place.page(Who::Ada).await.eval("location.host").await;
    stage.bridge.kill().await;
    let listener = TcpListener::bind(address.as_str().expect("text")).await.expect("the port is free");
    let log = Arc::new(Mutex::new(String::new()));
    let told = Arc::clone(&log);
    // It says yes to everything.
    let impostor = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.expect("a page");
            let mut request = vec![0; 16 * 1024];
            let length = stream.read(&mut request).await.unwrap_or(0);
            told.lock().expect("no panic").push_str(&String::from_utf8_lossy(&request[..length]));
            let body = r#"{"proof": "AAAA", "person": "ada", "page": "AAAA", "counted": true, "reply": null}"#;
            let first = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n", body.len());
            let _ = stream.write_all(format!("{first}Connection: close\r\n\r\n{body}").as_bytes()).await;
        }
    });
    let page = stage.place.page(Who::Ada).await;
    page.wait_for("the page to notice", "document.getElementById('connection').textContent.includes('something else answers')")
        .await;
    until("everybody to have tried", async || (6 <= log.lock().expect("no panic").matches("/api/proof").count()).then_some(()))
        .await;
    let heard = log.lock().expect("no panic").clone();
    for secret in secrets {
        assert!(!heard.contains(&secret), "{heard}");
    }
    assert!(!heard.contains("/api/events") && !heard.to_lowercase().contains("cookie:"), "{heard}");
    impostor.abort();
    // The bridge itself is known again.
    let _again = stage.place.start().await;
    let page = stage.place.page(Who::Ada).await;
    page.wait_for("the page to be back", "document.documentElement.dataset.connection === 'open'").await;
}
