//! The cards of all requests in the recordings, as each room shows them.

use std::fmt::Write as _;

use bridge_core::{Details, file};
use bridge_model::{Card, CardLimits, PermissionRequest, SessionId};
use countersign_cards::drawn;
use countersign_cards::sound::Room;
use countersign_tests::{Capture, recorded};
use serde_json::Value;

#[tokio::test]
async fn as_the_plain_text_that_is_attached() {
    check("plain", Room::Discord.limits(), |card| file(card).text).await;
}

#[tokio::test]
async fn on_discord() {
    check("discord", Room::Discord.limits(), |card| shown(Room::Discord, card, discord)).await;
}

#[tokio::test]
async fn on_matrix() {
    check("matrix", Room::Matrix.limits(), |card| shown(Room::Matrix, card, matrix)).await;
}

#[tokio::test]
async fn on_the_page() {
    check("web", Room::Web.limits(), |card| shown(Room::Web, card, web)).await;
}

async fn check(room: &str, limits: CardLimits, show: impl Fn(&Card) -> String) {
    for agent in ["claude-agent-acp", "codex-acp", "gemini-cli", "opencode"] {
        let cards = cards(agent, limits, &show).await;
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("{room}__{agent}"), cards);
        });
    }
}

/// Each card once, with the recordings that have it.
async fn cards(agent: &str, limits: CardLimits, show: impl Fn(&Card) -> String) -> String {
    let mut cards: Vec<(String, Vec<String>)> = Vec::new();
    for capture in Capture::all().into_iter().filter(|capture| capture.name.starts_with(agent)) {
        for request in recorded::requests(&capture).await {
            let shown = drawn::card(same_session(request), limits, Details::Full).map_or_else(|why| why, |card| show(&card));
            let case = capture.name.split_once("__").map_or("", |(_, case)| case).to_owned();
            match cards.iter_mut().find(|(other, _)| *other == shown) {
                Some((_, cases)) if cases.contains(&case) => {}
                Some((_, cases)) => cases.push(case),
                None => cards.push((shown, vec![case])),
            }
        }
    }
    cards.iter().fold(String::new(), |mut text, (card, cases)| {
        let _ = writeln!(text, "==== {}\n{card}", cases.join(", "));
        text
    })
}

/// Session ids are all that is different in most of them.
fn same_session(mut request: PermissionRequest) -> PermissionRequest {
    request.session.id = request.session.id.map(|_| SessionId::new("4a1e8c52-0d9b"));
    request
}

fn shown(room: Room, card: &Card, legible: impl Fn(&mut String, &Value)) -> String {
    let (bodies, file) = room.preview(card).expect("it can be shown");
    let mut text = String::new();
    for body in &bodies {
        legible(&mut text, body);
    }
    if let Some(file) = file {
        let _ = writeln!(text, "[a file of {} characters]", file.chars().count());
    }
    text
}

fn discord(text: &mut String, body: &Value) {
    let _ = writeln!(text, "{}", string(&body["content"]).replace('\u{200b}', "<ZWSP>"));
    for row in list(&body["components"]) {
        let buttons = list(&row["components"]).iter().map(|button| format!("[{} {}]", button["style"], string(&button["label"])));
        let _ = writeln!(text, "{}", buttons.collect::<Vec<_>>().join(" "));
    }
}

fn matrix(text: &mut String, body: &Value) {
    for (kind, told) in [("body", &body["body"]), ("formatted_body", &body["formatted_body"])] {
        if told.is_string() {
            let lines = string(told).replace("</p>", "</p>\n").replace("<br>", "<br>\n").replace('\u{a0}', "&nbsp;");
            let _ = writeln!(text, "-- {kind}\n{lines}");
        }
    }
    let poll = &body["org.matrix.msc3381.poll.start"];
    if poll.is_object() {
        let told = |value: &Value| string(&value["org.matrix.msc1767.text"]);
        let _ = writeln!(text, "-- poll\n{}", told(&poll["question"]));
        for answer in list(&poll["answers"]) {
            let _ = writeln!(text, "( ) {}", told(answer));
        }
    }
}

fn web(text: &mut String, body: &Value) {
    let pieces = list(&body["headline"]).iter().map(|piece| format!("{}<{}>", string(&piece["by"]), string(&piece["text"])));
    let _ = writeln!(text, "{}", pieces.collect::<String>());
    for section in list(&body["sections"]) {
        let is_warning = if section["is_warning"] == true { "! " } else { "" };
        let said = ["kind", "heading", "note", "head"].map(|key| string(&section[key]));
        let _ = writeln!(text, "{is_warning}{}: {} ({}): {}", said[0], said[1], said[2], said[3].replace('\n', "\n    "));
        if section["tail"].is_string() {
            let _ = writeln!(text, "    [{} left out] {}", section["left_out"], string(&section["tail"]));
        }
    }
    for button in list(&body["buttons"]) {
        let _ = writeln!(text, "[{} | {} | {}]", string(&button["style"]), string(&button["label"]), string(&button["does"]));
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
