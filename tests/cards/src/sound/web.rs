//! The page: what its script is told, which sets it as text.

use bridge_model::Card;
use serde_json::Value;

use super::{strings, tail, text};

pub(super) fn check(card: &Card, bodies: &[Value], file: Option<&str>) -> Result<(), String> {
    let [body] = bodies else { return Err(format!("{} bodies", bodies.len())) };
    let mut all = Vec::new();
    strings(body, &mut all);
    all.iter().try_for_each(|string| text::check("the page", string))?;
    let buttons = body["buttons"].as_array().map(Vec::as_slice).unwrap_or_default();
    if buttons.len() != card.buttons.len() {
        return Err(format!("{} of {} buttons", buttons.len(), card.buttons.len()));
    }
    for (drawn, button) in buttons.iter().zip(&card.buttons) {
        if drawn["token"] != button.token.to_string() || drawn["label"].as_str().is_none_or(str::is_empty) {
            return Err(format!("a button that is none: {drawn}"));
        }
    }
    if let Some(tail) = tail(card).filter(|tail| !all.iter().any(|text| text.trim_end_matches('\n').ends_with(tail))) {
        return Err(format!("{tail:?} is out of sight in {body}"));
    }
    if file.is_some() && !all.contains(&card.digest.to_string().as_str()) {
        return Err("it does not say what its file has to be".to_owned());
    }
    Ok(())
}
