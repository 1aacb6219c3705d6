//! `[policy]`: what is asked, what is refused at once, for how long, and how.

use std::collections::BTreeMap;
use std::time::Duration;

use bridge_model::ToolKind;
use policy::{Policy, RefusalStyle, Verdict, WhenChanged};

use crate::section::{Entry, Section};

const LIFETIME: Duration = Duration::from_mins(5);
const LIFETIME_MIN: Duration = Duration::from_secs(1);
const LIFETIME_MAX: Duration = Duration::from_hours(30 * 24);

pub(crate) fn policy(root: &mut Section<'_>) -> Policy {
    let mut section = root.section("policy");
    let mut take = |key| section.as_mut().and_then(|section| section.take(key));
    let default = take("default").and_then(|entry| verdict(&entry)).unwrap_or(Verdict::Ask);
    let lifetime = take("lifetime").and_then(|entry| lifetime(&entry)).unwrap_or(LIFETIME);
    let refusal = take("refusal").and_then(|entry| refusal(&entry)).unwrap_or(RefusalStyle::RejectOnce);
    let by_kind = take("kinds").and_then(|entry| entry.section()).map(by_kind).unwrap_or_default();
    let when_changed = take("when_changed").and_then(|entry| when_changed(&entry)).unwrap_or(WhenChanged::Refuse);
    Policy { by_kind, default, lifetime, refusal, when_changed }
}

fn by_kind(mut section: Section<'_>) -> BTreeMap<ToolKind, Verdict> {
    let rules = section.take_rest().into_iter().filter_map(|(name, entry)| {
        let Some(kind) = ToolKind::named(&name) else {
            entry.refuse("is not a tool kind of ACP", format!("use one of {}", ToolKind::ALL.map(ToolKind::name).join(", ")));
            return None;
        };
        Some((kind, verdict(&entry)?))
    });
    rules.collect()
}

fn verdict(entry: &Entry<'_>) -> Option<Verdict> {
    let text = entry.text()?;
    match text.as_str() {
        "ask" => return Some(Verdict::Ask),
        "auto_deny" => return Some(Verdict::AutoDeny),
        "auto_allow" | "allow" => {
            entry.refuse(format!("is {text:?}, and this version cannot allow without a person"), "use ask or auto_deny");
        }
        _ => entry.refuse(format!("{text:?} is not a verdict"), "use ask or auto_deny"),
    }
    None
}

fn lifetime(entry: &Entry<'_>) -> Option<Duration> {
    let text = entry.text()?;
    match humantime::parse_duration(&text) {
        Ok(lifetime) if (LIFETIME_MIN..=LIFETIME_MAX).contains(&lifetime) => return Some(lifetime),
        Ok(_) => entry.refuse(format!("{text:?} is too short or too long"), "use 1s to 30days"),
        Err(_) => entry.refuse(format!("{text:?} is not a span of time"), "write it as \"5m\" or \"1h 30m\""),
    }
    None
}

fn refusal(entry: &Entry<'_>) -> Option<RefusalStyle> {
    let text = entry.text()?;
    match text.as_str() {
        "reject_once" => Some(RefusalStyle::RejectOnce),
        "cancelled" => Some(RefusalStyle::Cancelled),
        _ => {
            entry.refuse(format!("{text:?} is not a way to refuse"), "use reject_once or cancelled");
            None
        }
    }
}

fn when_changed(entry: &Entry<'_>) -> Option<WhenChanged> {
    let text = entry.text()?;
    match text.as_str() {
        "refuse" => Some(WhenChanged::Refuse),
        "ask_again" => Some(WhenChanged::AskAgain),
        _ => {
            entry.refuse(format!("{text:?} is not what to do with a request that changes"), "use refuse or ask_again");
            None
        }
    }
}
