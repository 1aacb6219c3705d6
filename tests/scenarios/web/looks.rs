//! What the page looks like, to people who see well and to those who do not, whatever an agent writes.

use std::fs;
use std::path::PathBuf;

use countersign_tests::{Launch, Page, RawAgent, Scheme, Screen, deaf_agent, until};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};

use super::Stage;
use crate::stage::{PLAIN, Place, Plan, Web, Who};

const AS_IT_IS: &str = "0";

/// The least contrast that text may have (WCAG 2.2, 1.4.3).
const CONTRAST_MIN: f64 = 4.5;

/// Text that is seen, each with its contrast against what is behind it.
const CONTRASTS: &str = r#"(() => {
    const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const colour = text => text.match(/[\d.]+/g).map(Number);
    const behind = element => {
        for (; element; element = element.parentElement) {
            const found = colour(getComputedStyle(element).backgroundColor);
            if (found.length === 3 || found[3] === 1) return found;
        }
        return [255, 255, 255];
    };
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const seen = [];
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (texts.currentNode.data.trim() === "" || !element.checkVisibility() || element.closest(".skip, .only-heard, noscript")) {
            continue;
        }
        const [a, b] = [light(colour(getComputedStyle(element).color)), light(behind(element))];
        seen.push([texts.currentNode.data, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)]);
    }
    return seen;
})()"#;

#[tokio::test]
async fn every_state_is_told_apart_and_read_in_light_and_dark_at_every_size() {
    let place = Web::gather(&Plan { lifetime: "12s", ..PLAIN }).await;
    let (gate, received) = (place.home().file("gate"), place.home().file("received"));
    mkfifo(&gate, Mode::S_IRWXU).expect("a named pipe");
    let mut bridge = Launch::acp(Some(&place.home().config()), &deaf_agent(&gate, &received)).await.start();
    let card = place.card("touch deaf").await;
    look(&place, "waiting").await;
    let page = place.page(Who::Ada).await;
    page.wait_for("less time", "parseInt(document.querySelector('.left').textContent) < 12").await;
    page.wait_for("a hurry", "document.querySelector('.card').dataset.hurry === 'true'").await;
    bridge.send(&json!({"jsonrpc": "2.0", "method": "_notice", "params": {"words": "many ".repeat(20_000)}})).await;
    bridge.wait_for(|frame| frame["method"] == "_full").await;
    place.press(Who::Ada, &card, "Go").await;
    place.closing(&card, "It is being delivered to the agent").await;
    look(&place, "chosen").await;
    tokio::fs::write(&gate, "now").await.expect("it is opened at the other end");
    place.closing(&card, "The agent has it").await;
    look(&place, "taken").await;
    bridge.close_stdin();
    bridge.wait_exit().await;
    let page = place.page(Who::Ada).await;
    page.wait_for("the bridge to be missed", "document.documentElement.dataset.connection === 'closed'").await;
    picture(page, "closed", AS_IT_IS).await;
    drop(bridge);

    // An agent that dies over what it was told.
    fs::remove_file(&gate).expect("removed");
    mkfifo(&gate, Mode::S_IRWXU).expect("a named pipe");
    let mut bridge = Launch::acp(Some(&place.home().config()), &deaf_agent(&gate, &received)).await.start();
    let card = place.card("touch deaf").await;
    bridge.send(&json!({"jsonrpc": "2.0", "method": "_notice", "params": {"words": "many ".repeat(20_000)}})).await;
    bridge.wait_for(|frame| frame["method"] == "_full").await;
    place.press(Who::Ada, &card, "Go").await;
    place.closing(&card, "It is being delivered to the agent").await;
    tokio::fs::write(&gate, "end").await.expect("it is opened at the other end");
    place.closing(&card, "It was not delivered").await;
    look(&place, "not-delivered").await;
    bridge.close_stdin();
    bridge.wait_exit().await;

    let ask = |id: &str, options: Value| {
        let call = json!({"toolCallId": id, "title": id, "kind": "execute", "rawInput": {"command": format!("touch {id}")}});
        json!({"send": {"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
            "params": {"sessionId": "s", "toolCall": call, "options": options}}})
    };
    let options =
        json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "reject_once"}]);
    let cancel = json!({"send": {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "back"}}});
    let agent = RawAgent::new(&[
        ask("refused", json!([])),
        ask("back", options.clone()),
        json!({"sleep_ms": 1_500}),
        cancel,
        ask("slow", options),
    ]);
    let _bridge = Launch::acp(Some(&place.home().config()), &agent.command()).await.start();
    place.said(&["no options were offered"]).await;
    look(&place, "refused").await;
    place.said(&["touch back", "The agent withdrew its request"]).await;
    look(&place, "withdrawn").await;
    place.said(&["touch slow", "Nobody answered in time"]).await;
    look(&place, "expired").await;
}

/// The state is there, in its own words and colour, and everything can be read.
async fn look(place: &Web, state: &str) {
    let page = place.page(Who::Ada).await;
    page.wait_for(state, &format!("document.querySelector('article.card[data-state={state}]')")).await;
    picture(page, state, AS_IT_IS).await;
    let words = page.eval(&format!("document.querySelector('article.card[data-state={state}] .state').textContent")).await;
    let expected = match state {
        "waiting" => "Waiting",
        "chosen" => "Chosen, being delivered",
        "taken" => "Delivered",
        "not-delivered" => "Not delivered",
        "expired" => "Expired",
        "withdrawn" => "Withdrawn",
        _ => "Refused",
    };
    assert_eq!(words, expected);
    let buttons = page.eval(&format!("document.querySelectorAll('article.card[data-state={state}] button.option').length")).await;
    assert_eq!(buttons != json!(0), state == "waiting", "{state} has {buttons} buttons");
}

/// On a phone and on a desk, by day and by night. `scroll`: how to get there.
pub(super) async fn picture(page: &Page, name: &str, scroll: &str) {
    for (at, screen) in [("phone", Screen::PHONE), ("desktop", Screen::DESKTOP)] {
        page.screen(screen).await;
        page.eval(scroll).await;
        for (by, scheme) in [("light", Scheme::Light), ("dark", Scheme::Dark)] {
            page.scheme(scheme).await;
            let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("page");
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join(format!("{name}-{at}-{by}.png")), page.screenshot().await).expect("written");
            let contrasts = page.eval(CONTRASTS).await;
            let seen = contrasts.as_array().expect("a list");
            assert!(3 < seen.len(), "{seen:?}");
            let faint: Vec<_> = seen.iter().filter(|text| text[1].as_f64().is_none_or(|ratio| ratio < CONTRAST_MIN)).collect();
            assert!(faint.is_empty(), "{name}, {by}: {faint:?}");
        }
        let wider = page.eval("document.documentElement.scrollWidth - innerWidth").await;
        assert!(wider.as_i64().is_some_and(|wider| wider <= 0), "{name} on a {at} is {wider} too wide");
    }
}

#[tokio::test]
async fn an_ending_says_when_by_the_clock_of_whoever_reads_it() {
    let mut stage = Stage::set(PLAIN).await;
    stage.place.page(Who::Ada).await.time_zone("Asia/Tokyo").await;
    let (prompt, card) = stage.ask_and_see("when").await;
    stage.place.press(Who::Ada, &card, "No").await;
    stage.outcome(&prompt, "when").await;
    stage.place.closing(&card, "The agent has it").await;
    let page = stage.place.page(Who::Ada).await;
    let times = "(time => [time.textContent, ...['Asia/Tokyo', 'UTC'].map(timeZone => \
        new Date(time.dateTime).toLocaleString([], { timeZone, dateStyle: 'medium', timeStyle: 'medium' }))])";
    let times = page.wait_for("a time", &format!("{times}(document.querySelector('.ending time'))")).await;
    assert!(times[0] == times[1] && times[0] != times[2], "{times}");
}

#[tokio::test]
async fn what_an_agent_writes_is_text_and_nothing_else() {
    let bad = "<img src=x onerror=\"document.title='pwned'\"><script>document.title='pwned'</script>";
    let long = "x".repeat(3_000);
    let call = json!({"toolCallId": "c", "title": bad, "kind": "execute",
        "rawInput": {"command": format!("echo {bad}; {long}; rm -rf /tmp/nothing --no-preserve-root"), "cwd": format!("/{bad}/\u{202e}")},
        "content": [{"type": "content", "content": {"type": "text", "text": format!("[link](javascript:alert(1)) {bad}")}}]});
    let options = json!([{"optionId": bad, "name": bad, "kind": "allow_once"}, {"optionId": "n", "name": long, "kind": "reject_once"},
        {"optionId": "javascript:alert(1)", "name": "\u{200b}Yes", "kind": bad}]);
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "session/request_permission",
        "params": {"sessionId": bad, "toolCall": call, "options": options}});
    let agent = RawAgent::new(&[json!({"send": request})]);
    let place = Web::gather(&PLAIN).await;
    let _bridge = Launch::acp(Some(&place.home().config()), &agent.command()).await.start();
    let card = place.card("--no-preserve-root").await;
    assert!(Web::text(&card).contains("<img src=x") && Web::text(&card).contains("\\u{202e}"), "{card:?}");
    let page = place.page(Who::Ada).await;
    assert_eq!(page.eval("document.querySelectorAll('main img, main script, main a, main iframe, main style').length").await, 0);
    assert_eq!(page.eval("document.title").await, "(1) Countersign");
    picture(page, "hostile", AS_IT_IS).await;
    // Nor would it run if it got in.
    let script =
        "const s = document.createElement('script'); s.textContent = 'document.title = \"pwned\"'; document.body.append(s)";
    assert!(page.try_eval(script).await.is_err(), "trusted types are required");
    let handler = "const b = document.createElement('b'); b.setAttribute('onclick', 'document.title = \"pwned\"'); b.click()";
    assert!(page.try_eval(handler).await.is_err(), "here, too");
    let inline = page.try_eval("document.body.innerHTML = '<p>replaced</p>'").await;
    assert!(inline.is_err(), "trusted types are required");
    assert_eq!(page.eval("document.title").await, "(1) Countersign");
    // The buttons come after all of what they are about.
    page.eval("scrollTo(0, document.documentElement.scrollHeight)").await;
    let last = "document.querySelector('.options').getBoundingClientRect().top - document.querySelector('.sections').getBoundingClientRect().bottom";
    assert!(page.eval(last).await.as_f64().is_some_and(|gap| 0.0 <= gap));
    place.press(Who::Ada, &card, Web::labels(&card)[0]).await;
    let answered = until("an answer", async || {
        let frame = agent.received_lines().into_iter().find(|line| line.contains("optionId"))?;
        serde_json::from_str::<Value>(&frame).ok()
    });
    assert_eq!(answered.await["result"]["outcome"]["optionId"], bad);
}
