//! Matrix: what clients would make of the events.

use bridge_model::Card;
use serde_json::Value;

use super::{strings, tail, text};

const EVENT_BYTES_MAX: usize = 60_000;
const POLL_START: &str = "org.matrix.msc3381.poll.start";
const TEXT: &str = "org.matrix.msc1767.text";
const ANSWERS_MAX: usize = 20;
/// The tags that cards are made of, without attributes.
const TAGS: [&str; 16] = [
    "<pre>",
    "</pre>",
    "<p>",
    "</p>",
    "<strong>",
    "</strong>",
    "<em>",
    "</em>",
    "<code>",
    "</code>",
    "<br>",
    "<br/>",
    "<ul>",
    "</ul>",
    "<li>",
    "</li>",
];

pub(super) fn check(card: &Card, bodies: &[Value], file: Option<&str>) -> Result<(), String> {
    for body in bodies {
        if EVENT_BYTES_MAX < body.to_string().len() {
            return Err("an event that is too large".to_owned());
        }
        if body["m.mentions"] != serde_json::json!({}) {
            return Err(format!("it could mention somebody: {body}"));
        }
        let mut all = Vec::new();
        strings(body, &mut all);
        for string in all {
            // The warning is ours, and so are spaces that a browser would swallow; the plain body has them as they are.
            let ours = string.replace("\u{26a0}\u{fe0f} ", "");
            let is_html = body["formatted_body"].as_str() == Some(string);
            text::check("an event", &if is_html { ours.replace('\u{a0}', " ") } else { ours })?;
        }
    }
    let message = bodies.iter().find(|body| body["formatted_body"].is_string()).ok_or("no message")?;
    let html = message["formatted_body"].as_str().unwrap_or_default();
    let outside = outside_of_code(html)?;
    if let Some(word) = outside.split_whitespace().find(|word| is_live(word)) {
        return Err(format!("{word:?} could become active in {outside:?}"));
    }
    let poll = bodies.iter().find_map(|body| body.get(POLL_START)).ok_or("no poll")?;
    poll_fits(card, poll)?;
    // The plain body spells out what begins an id.
    let plain = |text: &str| {
        let ids = [("\\u{40}", "@"), ("\\u{23}", "#"), ("\\u{21}", "!"), ("\\u{24}", "$"), ("\\u{2b}", "+"), ("\\u{21b3}", "")];
        let text = text.replace(['\n', '↳', ' ', '\t', '\u{a0}'], "");
        ids.iter().fold(text, |text, (spelled, plain)| text.replace(spelled, plain))
    };
    if let Some(tail) = tail(card) {
        let shown = message["body"].as_str().unwrap_or_default();
        let cut: String = plain(tail).chars().rev().take(6).collect::<Vec<_>>().into_iter().rev().collect();
        if !plain(shown).contains(&cut) {
            return Err(format!("{tail:?} is out of sight in {shown:?}"));
        }
    }
    if file.is_some() && !html.contains(&card.digest.to_string()) {
        return Err("it does not say what its file has to be".to_owned());
    }
    Ok(())
}

fn poll_fits(card: &Card, poll: &Value) -> Result<(), String> {
    let answers = poll["answers"].as_array().map(Vec::as_slice).unwrap_or_default();
    if answers.len() != card.buttons.len() || !(1..=ANSWERS_MAX).contains(&answers.len()) {
        return Err(format!("{} answers for {} buttons", answers.len(), card.buttons.len()));
    }
    for (answer, button) in answers.iter().zip(&card.buttons) {
        if answer["id"] != button.token.to_string() || answer[TEXT].as_str().is_none_or(str::is_empty) {
            return Err(format!("an answer that is none: {answer}"));
        }
    }
    Ok(())
}

/// The words of the HTML that do not stand in code; an error where there is a tag that is not ours.
fn outside_of_code(html: &str) -> Result<String, String> {
    let mut outside = String::new();
    let mut in_code = false;
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        if !in_code {
            outside.push_str(&rest[..at]);
        }
        let tag = TAGS.iter().find(|tag| rest[at..].starts_with(**tag)).ok_or_else(|| format!("a tag in {:?}", &rest[at..]))?;
        in_code = match *tag {
            "<code>" => true,
            "</code>" => false,
            _ => in_code,
        };
        outside.push(' ');
        rest = &rest[at + tag.len()..];
    }
    outside.push_str(rest);
    Ok(outside.replace("&nbsp;", " ").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}

/// What some client makes a link or a mention of.
fn is_live(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_ours = |word: &str| {
        word.strip_prefix('#').is_some_and(is_number) || word.chars().all(|c| c.is_ascii_digit() || c == ':' || c == '-')
    };
    let parts = ["://", "@", "matrix.to", "www.", "#", "mailto:", "discord.gg"];
    // What ends in "www." or "mailto:" leads nowhere.
    let word = word.trim_end_matches(['"', '.', ',', ':', ';', '!', '?']);
    !is_ours(word) && parts.iter().any(|part| word.contains(part))
}
