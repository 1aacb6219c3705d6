//! Buttons of a card that is taller than the screen: those that refuse are never further away than those that allow.

use countersign_tests::{BridgeProcess, Launch, Page, RawAgent, Screen};
use serde_json::{Value, json};

use super::Stage;
use crate::stage::{OPTIONS, PLAIN, Place, Web, Who, selected};

/// From top to bottom of the page and of the options: what a finger would hit. `[allowing, refusing, is all there, whether
/// it says that there is more, whether there is, whether the headline is covered]` of each place.
const WALK: &str = "(async () => {
    const frame = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
    const box = element => element.getBoundingClientRect();
    const hit = (element, part) => {
        const { x, y, width, height } = box(element);
        return element.contains(document.elementFromPoint(x + width / 2, y + height * part));
    };
    const all = name => [...document.querySelectorAll('#waiting .option.' + name)];
    const one = name => document.querySelector('#waiting ' + name);
    const seen = [];
    for (let y = 0; y < document.documentElement.scrollHeight - innerHeight + 90; y += 90) {
        scrollTo(0, y);
        for (let inner = 0; inner <= one('.options').scrollHeight - one('.options').clientHeight; inner += 170) {
            one('.options').scrollTop = inner;
            await frame();
            const allowing = [...all('allow-once'), ...all('allow-always')].filter(e => [0.2, 0.5, 0.8].some(part => hit(e, part)));
            const refusing = all('reject').filter(e => hit(e, 0.5));
            const isThere = one('.bar').hasAttribute('data-whole');
            const isCovered = isThere && box(one('.bar')).top < box(one('.headline')).bottom && 0 < box(one('.headline')).bottom;
            const under = box(one('.sections')).bottom - box(one('.bar')).top;
            seen.push([allowing.length, refusing.length, isThere, one('.bar').hasAttribute('data-more'), under, isCovered]);
        }
    }
    return seen;
})()";

#[tokio::test]
async fn nobody_reaches_what_allows_where_what_refuses_is_out_of_reach() {
    let option = |at: usize, kind: &str| json!({"optionId": at.to_string(), "name": format!("Choice {at}"), "kind": kind});
    let few = [option(0, "allow_once"), option(1, "allow_always"), option(2, "reject_once")].to_vec();
    let many = |refuses: usize| -> Vec<_> {
        (0..20).map(|at| option(at, if at == refuses { "reject_once" } else { "allow_always" })).collect()
    };
    for (lines, options) in [(2, few.clone()), (60, few), (30, many(11))] {
        let asked = Asked::of(lines, &options).await;
        let page = asked.place.page(Who::Ada).await;
        for height in [844, 330] {
            page.screen(Screen { height, ..Screen::PHONE }).await;
            let seen: Vec<(usize, usize, bool, bool, f64, bool)> = serde_json::from_value(page.eval(WALK).await).expect("places");
            for (allowing, refusing, is_there, says_more, under, is_covered) in &seen {
                assert!(*refusing != 0 || *allowing == 0, "{lines} lines, {} options, {height}: {seen:?}", options.len());
                assert_eq!((*is_there, *is_there), (*refusing != 0, *allowing != 0), "{lines}, {height}: {seen:?}");
                assert!(!is_covered, "the headline is under the buttons: {seen:?}");
                assert!(*says_more == (1.5 < *under) || (*under - 1.5).abs() < 1.0, "{seen:?}");
            }
            let reached = seen.iter().filter(|place| place.2).count();
            assert!(
                seen.len() / 2 < reached,
                "{lines} lines, {height}: out of reach at {} of {}",
                seen.len() - reached,
                seen.len()
            );
            let last = seen.last().expect("places");
            assert!(last.2 && last.4 < 1.5, "at its end nothing is under the buttons: {last:?}");
        }
        page.screen(Screen::PHONE).await;
        let refusing = options.iter().find(|option| option["kind"] == "reject_once").expect("one");
        asked.place.press(Who::Ada, &asked.card, refusing["name"].as_str().expect("a name")).await;
        let answered = asked.agent.wait_to_receive("an answer", |frame| frame["id"] == "ask");
        assert_eq!(answered.await["result"]["outcome"]["optionId"], refusing["optionId"]);
    }
}

struct Asked {
    place: Web,
    card: crate::stage::WebCard,
    agent: RawAgent,
    _bridge: BridgeProcess,
}

impl Asked {
    async fn of(lines: usize, options: &[Value]) -> Self {
        let command = (0..lines).map(|at| format!("echo {at}")).collect::<Vec<_>>().join("\n");
        let call = json!({"toolCallId": "c", "title": "tall", "kind": "execute", "rawInput": {"command": command}});
        let agent = RawAgent::new(&[json!({"send": {"jsonrpc": "2.0", "id": "ask", "method": "session/request_permission",
            "params": {"sessionId": "s", "toolCall": call, "options": options}}})]);
        let place = Web::gather(&PLAIN).await;
        let bridge = Launch::acp(Some(&place.home().config()), &agent.command()).await.start();
        let card = place.card("echo 1").await;
        Self { place, card, agent, _bridge: bridge }
    }
}

#[tokio::test]
async fn a_press_on_what_is_out_of_sight_does_not_count_however_long_it_has_been_there() {
    let mut stage = Stage::set(PLAIN).await;
    let prompt = stage.ask_all(&["near", "far"], &json!(OPTIONS)).await;
    let (near, far) = (stage.card("near").await, stage.card("far").await);
    let page = stage.place.page(Who::Ada).await;
    let button = |card: &crate::stage::WebCard| format!("document.querySelector('[data-card=\"{}\"] .option')", card.id);
    page.eval(&format!("{}.closest('.card').style.marginTop = '3000px'", button(&far))).await;
    page.eval("scrollTo(0, 0); dispatchEvent(new Event('focus')); 0").await;
    page.wait_for("the near one to have settled", &format!("!('settling' in {}.dataset)", button(&near))).await;
    page.eval(&format!("{}.dispatchEvent(new MouseEvent('click', {{ detail: 1 }}))", button(&far))).await;
    stage.place.private_reply(Who::Ada, "had just moved or come into view").await;
    stage.assert_open("far");
    for card in [&far, &near] {
        stage.place.press(Who::Bob, card, "No").await;
    }
    stage.bridge.answer(&prompt).await;
    assert_eq!(stage.place.card_count().await, 2);
}

/// Whoever is told to press again presses where their finger is.
#[tokio::test]
async fn what_somebody_is_told_moves_no_button_under_their_finger() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("still").await;
    let page = stage.place.page(Who::Ada).await;
    let early = "(() => {
        dispatchEvent(new Event('focus'));
        const button = document.querySelector('#waiting .option');
        const place = () => button.getBoundingClientRect().top;
        const before = place();
        button.dispatchEvent(new MouseEvent('click', { detail: 1 }));
        return [before - place(), document.querySelector('#waiting .reply').getBoundingClientRect().height];
    })()";
    for height in [844, 300] {
        page.screen(Screen { height, ..Screen::PHONE }).await;
        page.eval("document.querySelector('#waiting .bar').scrollIntoView({ block: 'nearest' })").await;
        page.wait_for("the buttons", "document.querySelector('#waiting [data-whole]')").await;
        let moved = page.eval(early).await;
        assert!(moved[0].as_f64().is_some_and(|by| by.abs() < 1.0), "{moved}");
        assert!(moved[1].as_f64().is_some_and(|height| 10.0 < height), "it is told: {moved}");
        page.eval("document.querySelector('#waiting .reply').textContent = ''").await;
    }
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "still").await, (selected("no 3"), false));
}

/// An agent that takes back the request below makes the page shorter, and a page that is scrolled to its end moves.
#[tokio::test]
async fn a_page_that_becomes_shorter_takes_no_press_of_what_it_moved() {
    let mut stage = Stage::set(PLAIN).await;
    let prompt = stage.ask_all(&["upper", "lower"], &json!(OPTIONS)).await;
    let (upper, lower) = (stage.card("upper").await, stage.card("lower").await);
    let page = stage.place.page(Who::Ada).await;
    page.screen(Screen { height: 700, ..Screen::PHONE }).await;
    page.eval("scrollTo(0, document.documentElement.scrollHeight)").await;
    page.eval("document.querySelector('#waiting .bar').scrollIntoView({ block: 'nearest' })").await;
    let watch = format!(
        "moved = []; const button = document.querySelector('[data-card=\"{}\"] .option'); \
         const place = () => button.getBoundingClientRect().top; let before = place(); \
         new MutationObserver(() => {{ if (place() !== before) moved.push('settling' in button.dataset); before = place(); }}) \
             .observe(document.querySelector('[data-card=\"{}\"]'), {{ attributeFilter: ['data-state'] }}); 0",
        upper.id, lower.id
    );
    settled(page, &upper.id).await;
    page.eval(&watch).await;
    stage.place.press(Who::Bob, &lower, "No").await;
    stage.place.closing(&lower, "The agent has it").await;
    let moved = page.wait_for("the page to move", "moved.length !== 0 && moved").await;
    assert_eq!(moved[0], true, "{moved}");
    stage.place.press(Who::Ada, &upper, "No").await;
    stage.bridge.answer(&prompt).await;
}

async fn settled(page: &Page, card: &str) {
    let is_still = format!("!('settling' in document.querySelector('[data-card=\"{card}\"] .option').dataset)");
    page.wait_for("its buttons to have settled", &is_still).await;
}
