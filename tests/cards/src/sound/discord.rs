//! Discord: what its clients would make of a message.

use bridge_model::Card;
use serde_json::Value;

use super::{tail, text};

const CONTENT_MAX: usize = 2_000;
const LABEL_MAX: usize = 80;
const CUSTOM_ID_MAX: usize = 100;
const ROW_MAX: usize = 5;
const ROWS_MAX: usize = 5;
const SUPPRESS_EMBEDS: u64 = 1 << 2;

/// What does something when it stands outside of code.
const LIVE: [&str; 14] =
    ["@everyone", "@here", "<@", "<#", "</", "<:", "<a:", "<id:", "://", "](", "||", "discord.gg", "~~", "\\"];

pub(super) fn check(card: &Card, bodies: &[Value], file: Option<&str>) -> Result<(), String> {
    let [body] = bodies else { return Err(format!("{} messages", bodies.len())) };
    let content = body["content"].as_str().unwrap_or_default();
    let units = content.encode_utf16().count();
    if CONTENT_MAX < units {
        return Err(format!("{units} characters"));
    }
    // Ours breaks up runs of backticks, and warns.
    text::check("the content", &content.replace("`\u{200b}", "`").replace("\u{26a0}\u{fe0f} **", "**"))?;
    let outside = outside_of_code(content)?;
    if let Some(live) = LIVE.iter().find(|live| outside.contains(**live)) {
        return Err(format!("{live:?} is live in {outside:?}"));
    }
    let starts = |line: &str| {
        ["# ", "## ", "### ", "> ", ">>> ", "- ", "* ", "1. "].iter().any(|mark| line.trim_start().starts_with(mark))
    };
    if let Some(line) = outside.lines().find(|line| starts(line)) {
        return Err(format!("a block begins with {line:?}"));
    }
    if body["allowed_mentions"]["parse"] != Value::Array(Vec::new()) {
        return Err("it could mention somebody".to_owned());
    }
    if body["flags"].as_u64().unwrap_or_default() & SUPPRESS_EMBEDS == 0 {
        return Err("it could embed something".to_owned());
    }
    buttons(card, body)?;
    seen(card, content, file)
}

fn buttons(card: &Card, body: &Value) -> Result<(), String> {
    let rows = body["components"].as_array().map(Vec::as_slice).unwrap_or_default();
    let in_row = |row: &Value| row["components"].as_array().cloned().unwrap_or_default();
    if ROWS_MAX < rows.len() || rows.iter().any(|row| !(1..=ROW_MAX).contains(&in_row(row).len())) {
        return Err("rows of buttons that Discord does not take".to_owned());
    }
    let buttons: Vec<Value> = rows.iter().flat_map(in_row).collect();
    if buttons.len() != card.buttons.len() {
        return Err(format!("{} of {} buttons", buttons.len(), card.buttons.len()));
    }
    for (drawn, button) in buttons.iter().zip(&card.buttons) {
        let (label, id) = (drawn["label"].as_str().unwrap_or_default(), drawn["custom_id"].as_str().unwrap_or_default());
        text::check("a label", label)?;
        if !(1..=LABEL_MAX).contains(&label.encode_utf16().count()) || CUSTOM_ID_MAX < id.len() {
            return Err(format!("a button that Discord does not take: {drawn}"));
        }
        if !id.ends_with(&button.token.to_string()) {
            return Err("a button with another's token".to_owned());
        }
    }
    Ok(())
}

/// Whether the end of the command is in sight.
fn seen(card: &Card, content: &str, file: Option<&str>) -> Result<(), String> {
    // Ours marks the rest of a line by a sign that an agent's is told apart from only where lines are wrapped.
    let plain = |text: &str| text.replace(['\u{200b}', '\n', '↳', ' ', '\t'], "").replace("\\u{21b3}", "");
    if let Some(tail) = tail(card) {
        let cut: String = plain(tail).chars().rev().take(6).collect::<Vec<_>>().into_iter().rev().collect();
        if !plain(content).contains(&cut) {
            return Err(format!("{tail:?} is out of sight in {content:?}"));
        }
    }
    if file.is_some() && !content.contains(&card.digest.to_string()) {
        return Err("it does not say what its file has to be".to_owned());
    }
    Ok(())
}

/// The content without what stands in code, as Discord's clients take it apart: a fence ends at the next fence, inline code
/// at the next run of as many backticks.
fn outside_of_code(content: &str) -> Result<String, String> {
    let mut outside = String::new();
    let mut rest = content;
    while let Some(at) = rest.find('`') {
        outside.push_str(&rest[..at]);
        rest = &rest[at..];
        let run = rest.len() - rest.trim_start_matches('`').len();
        let (mark, after) = if run >= 3 { ("```", &rest[3..]) } else { (&rest[..run], &rest[run..]) };
        let end = if run >= 3 { after.find(mark) } else { end_of_inline(after, run) };
        let end = end.ok_or_else(|| format!("code that does not end: {rest:?}"))?;
        outside.push('\u{25a1}');
        rest = &after[end + mark.len()..];
    }
    outside.push_str(rest);
    Ok(outside)
}

fn end_of_inline(text: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let length = text[start..].len() - text[start..].trim_start_matches('`').len();
        if length == run {
            return Some(start);
        }
        at = start + length;
    }
    None
}
