//! `[policy]`: what is asked, what is refused or allowed at once, for how long, and how.

use std::collections::BTreeMap;
use std::time::Duration;

use bridge_model::ToolKind;
use policy::{LIFETIME_MAX, Mode, Policy, RefusalStyle, Verdict, WhenChanged, WhenOutside};

use crate::problem::{Origin, Problems};
use crate::section::{Entry, Section};

const LIFETIME: Duration = Duration::from_mins(5);
const LIFETIME_MIN: Duration = Duration::from_secs(1);

pub(crate) fn policy(root: &mut Section<'_>, problems: &Problems) -> Policy {
    let mut section = root.section("policy");
    let mut take = |key| section.as_mut().and_then(|section| section.take(key));
    let mode = take("mode").and_then(|entry| choice(&entry, "a mode", &Mode::ALL.map(|mode| (mode.name(), mode))));
    if mode == Some(Mode::ApproveAll) {
        problems.warn(
            "policy.mode is \"approve-all\": what agents ask for is allowed without a person, unless a rule says otherwise",
        );
    }
    let default = take("default").and_then(|entry| default(&entry));
    let by_kind = take("kinds").and_then(|entry| entry.section()).map(by_kind).unwrap_or_default();
    let by_title = take("titles").and_then(|entry| entry.section()).map(by_title).unwrap_or_default();
    let mut verdicts = mode.map(Mode::verdicts).unwrap_or_default();
    verdicts.by_kind.extend(by_kind);
    let is_looser = |verdict: &Verdict| *verdict < Verdict::AutoDeny;
    if mode == Some(Mode::DenyAll) && verdicts.by_kind.values().chain(&default).any(is_looser) {
        let what = "is \"deny-all\", and other rules do not deny";
        problems.add(Origin::File, "policy.mode", what, "remove the mode, or the rules under it that say ask or auto_allow");
    }
    verdicts.by_title = by_title;
    verdicts.default = default.or(verdicts.default).or(Some(Verdict::Ask));
    let asking = Policy::asking(take("lifetime").and_then(|entry| lifetime(&entry)).unwrap_or(LIFETIME));
    let detached = take("detached_lifetime").and_then(|entry| lifetime(&entry));
    let refusal = [("reject_once", RefusalStyle::RejectOnce), ("cancelled", RefusalStyle::Cancelled)];
    let when_changed = [("refuse", WhenChanged::Refuse), ("ask_again", WhenChanged::AskAgain)];
    let when_outside = [("mark", WhenOutside::Mark), ("refuse", WhenOutside::Refuse)];
    let tell_refusals = [("room", true), ("nobody", false)];
    Policy {
        verdicts,
        detached_lifetime: detached.unwrap_or(asking.detached_lifetime),
        refusal: take("refusal").and_then(|entry| choice(&entry, "a way to refuse", &refusal)).unwrap_or(asking.refusal),
        when_changed: take("when_changed")
            .and_then(|entry| choice(&entry, "what to do with a request that changes", &when_changed))
            .unwrap_or(asking.when_changed),
        when_outside: take("when_outside")
            .and_then(|entry| choice(&entry, "what to do with a request that leaves the workspace", &when_outside))
            .unwrap_or(asking.when_outside),
        tell_refusals: take("tell_refusals")
            .and_then(|entry| choice(&entry, "whom to tell", &tell_refusals))
            .unwrap_or(asking.tell_refusals),
        ..asking
    }
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

fn by_title(mut section: Section<'_>) -> BTreeMap<String, Verdict> {
    let rules = section.take_rest().into_iter().filter_map(|(title, entry)| {
        let verdict = verdict(&entry)?;
        if verdict == Verdict::AutoAllow {
            entry.refuse(
                "would allow by a title, which is the agent's own words: it could put any title on anything",
                "use ask or auto_deny, or a rule under [policy.kinds]",
            );
            return None;
        }
        Some((title, verdict))
    });
    rules.collect()
}

fn default(entry: &Entry<'_>) -> Option<Verdict> {
    let verdict = verdict(entry)?;
    if verdict == Verdict::AutoAllow {
        entry.refuse("would allow everything without a person", "write mode = \"approve-all\" if that is what you want");
        return None;
    }
    Some(verdict)
}

fn verdict(entry: &Entry<'_>) -> Option<Verdict> {
    choice(entry, "a verdict", &Verdict::ALL.map(|verdict| (verdict.name(), verdict)))
}

/// One of a few words.
pub(crate) fn choice<T: Copy>(entry: &Entry<'_>, what: &str, choices: &[(&str, T)]) -> Option<T> {
    let text = entry.text()?;
    let chosen = choices.iter().find(|(word, _)| *word == text).map(|(_, chosen)| *chosen);
    if chosen.is_none() {
        let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
        let (last, others) = words.split_last().map(|(last, others)| (*last, others.join(", "))).unwrap_or_default();
        entry.refuse(format!("{text:?} is not {what}"), format!("use {others} or {last}"));
    }
    chosen
}

fn lifetime(entry: &Entry<'_>) -> Option<Duration> {
    span(entry, LIFETIME_MIN, LIFETIME_MAX)
}

/// A span of time within bounds.
pub(crate) fn span(entry: &Entry<'_>, min: Duration, max: Duration) -> Option<Duration> {
    let text = entry.text()?;
    let within = |span: Duration| humantime::format_duration(span);
    match humantime::parse_duration(&text) {
        Ok(span) if (min..=max).contains(&span) => return Some(span),
        Ok(_) => entry.refuse(format!("{text:?} is too short or too long"), format!("use {} to {}", within(min), within(max))),
        Err(_) => entry.refuse(format!("{text:?} is not a span of time"), "write it as \"5m\" or \"1h 30m\""),
    }
    None
}
