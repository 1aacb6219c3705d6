//! What a room's clicks have to be, and what is done while its requests wait: keys of `[rooms.NAME]` and
//! `[rooms.NAME.kinds.KIND]`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bridge_model::{PersonId, RoomName, ToolKind};
use policy::{AnswerRules, Approvals, Approvers, Confirm, WhenNobody, Who};

use crate::rules::{choice, span};
use crate::section::{Entry, Section};

/// A request is called to mind this often at most.
const REMINDERS_MAX: usize = 3;
const ARM_DELAY_MAX: Duration = Duration::from_mins(1);

/// Who may answer, and what else it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    pub rules: AnswerRules,
    /// For tool calls of kinds that have rules of their own.
    pub by_kind: BTreeMap<ToolKind, AnswerRules>,
    pub when_nobody: WhenNobody,
    /// At which hundredths of its time a request that waits is called to mind, in order.
    pub remind_at: Vec<u8>,
    pub escalate: Option<Escalate>,
}

impl Answers {
    /// The rules, and those for single kinds.
    pub fn all_rules(&self) -> impl Iterator<Item = (Option<ToolKind>, &AnswerRules)> {
        [(None, &self.rules)].into_iter().chain(self.by_kind.iter().map(|(kind, rules)| (Some(*kind), rules)))
    }

    /// Whether something takes more than one press of an approver, at once.
    pub(crate) fn take_more(&self) -> bool {
        self.all_rules().any(|(_, rules)| {
            let AnswerRules { approvers: _, requester_may_answer, approvals, confirm, arm_delay } = rules;
            !requester_may_answer || *approvals != Approvals::One || !confirm.is_empty() || !arm_delay.is_zero()
        })
    }
}

/// Who is called when a request has waited for long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escalate {
    pub after: Duration,
    /// `None`: in the room of the card.
    pub room: Option<RoomName>,
    /// Ids of the service of that room.
    pub mention: Vec<PersonId>,
}

/// Who may answer, if a table says so at all.
pub(crate) type Told = Result<Option<Who>, Wrong>;

/// It says so, and wrongly; what is wrong has been told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrong;

/// `who` reads who may answer from a table of this room's service.
pub(crate) fn answers(
    section: &mut Section<'_>,
    approvers: Approvers,
    lifetime: Duration,
    who: impl Fn(&mut Section<'_>) -> Told,
) -> Option<Answers> {
    let confirm = section.take("confirm").map(|entry| confirm(&entry));
    let rules = AnswerRules { confirm: confirm.unwrap_or_default(), ..AnswerRules::of(approvers) };
    let rules = refined(section, rules);
    let kinds = section.section("kinds").map(|mut kinds| kinds.take_rest()).unwrap_or_default();
    let (mut by_kind, mut are_understood) = (BTreeMap::new(), true);
    for (name, entry) in kinds {
        let Some(kind) = ToolKind::named(&name) else {
            entry.refuse("is not a tool kind of ACP", format!("use one of {}", ToolKind::ALL.map(ToolKind::name).join(", ")));
            continue;
        };
        let Some(mut section) = entry.section() else { continue };
        let mut of_kind = refined(&mut section, rules.clone());
        match who(&mut section) {
            Ok(Some(who)) => of_kind.approvers.who = who,
            Ok(None) => {}
            Err(Wrong) => are_understood = false,
        }
        by_kind.insert(kind, of_kind);
    }
    let when_nobody = [("refuse", WhenNobody::Refuse), ("wait", WhenNobody::Wait)];
    let when_nobody =
        section.take("when_nobody").and_then(|entry| choice(&entry, "what to do while nobody is there", &when_nobody));
    let answers = Answers {
        rules,
        by_kind,
        when_nobody: when_nobody.unwrap_or_default(),
        remind_at: section.take("remind_at").map(|entry| remind_at(&entry)).unwrap_or_default(),
        escalate: section.section("escalate").and_then(|section| escalate(section, lifetime)),
    };
    are_understood.then_some(answers)
}

/// The rules, as far as a table says otherwise.
fn refined(section: &mut Section<'_>, rules: AnswerRules) -> AnswerRules {
    let approvals = section.take("approvals").and_then(|entry| approvals(&entry));
    let arm_delay = section.take("arm_delay").and_then(|entry| span(&entry, Duration::ZERO, ARM_DELAY_MAX));
    AnswerRules {
        approvals: approvals.unwrap_or(rules.approvals),
        arm_delay: arm_delay.unwrap_or(rules.arm_delay),
        requester_may_answer: section.flag("requester_may_answer").unwrap_or(rules.requester_may_answer),
        ..rules
    }
}

fn approvals(entry: &Entry<'_>) -> Option<Approvals> {
    match entry.integer()? {
        1 => Some(Approvals::One),
        2 => Some(Approvals::Two),
        count => {
            entry.refuse(format!("is {count}"), "use 1 or 2");
            None
        }
    }
}

fn confirm(entry: &Entry<'_>) -> BTreeSet<Confirm> {
    let named = |entry: Entry<'_>| {
        let text = entry.text()?;
        let confirm = Confirm::named(&text);
        if confirm.is_none() {
            let kinds = ToolKind::ALL.map(ToolKind::name).join(", ");
            entry
                .refuse(format!("{text:?} is nothing to confirm"), format!("use allow_always, unknown, or a tool kind: {kinds}"));
        }
        confirm
    };
    entry.list().unwrap_or_default().into_iter().filter_map(named).collect()
}

fn remind_at(entry: &Entry<'_>) -> Vec<u8> {
    let hundredths = |entry: Entry<'_>| {
        let hundredths = entry.integer()?;
        let valid = u8::try_from(hundredths).ok().filter(|hundredths| (1..=99).contains(hundredths));
        if valid.is_none() {
            entry.refuse(format!("is {hundredths}"), "use hundredths of the request's time, from 1 to 99");
        }
        valid
    };
    let list = entry.list().unwrap_or_default();
    if REMINDERS_MAX < list.len() {
        entry.refuse(format!("has {} reminders", list.len()), format!("use {REMINDERS_MAX} at most"));
    }
    let all: BTreeSet<u8> = list.into_iter().filter_map(hundredths).collect();
    all.into_iter().collect()
}

fn escalate(mut section: Section<'_>, lifetime: Duration) -> Option<Escalate> {
    let after = section.take("after");
    let room = section.text("room").map(RoomName::new);
    let mention = section.take("mention").and_then(|entry| entry.list()).unwrap_or_default();
    let mention: Vec<_> = mention.into_iter().filter_map(|entry| entry.text().map(PersonId::new)).collect();
    let Some(after) = after else {
        section.missing("after", "say when, such as after = \"2m\"");
        return None;
    };
    // At its end there is nothing left to call anybody to.
    let span = span(&after, Duration::from_secs(1), lifetime.saturating_sub(Duration::from_secs(1)));
    if room.is_none() && mention.is_empty() {
        section.refuse("room", "and mention are missing", "say where, or whom to mention");
        return None;
    }
    Some(Escalate { after: span?, room, mention })
}
