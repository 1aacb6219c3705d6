//! What a press of a button does.

use std::collections::BTreeMap;
use std::time::Duration;

use bridge_model::{
    Approver, Button, ButtonToken, CardRef, Click, ClickReply, Delivery, Ending, OptionKind, PersonId, RequestId, RoomName,
    Shown, Timestamp, ToConfirm,
};
use policy::{AnswerRules, Approvals, Effective, Ineligible, Permit, Press};

use super::{Bridge, Choice, Tell, Tokens};
use crate::card::{self, covers};
use crate::held::{First, Held, Phase};
use crate::settled::SettledCard;
use crate::{Effect, Entry};

/// Clicks that wait for the news of one card. More people do not press within a moment.
const PARKED_MAX: usize = 32;
/// How long a person may think about whether they meant it.
const CONFIRM_FOR: Duration = Duration::from_mins(1);
/// Confirmations that are waited for at once; beyond it the oldest does not count any more.
const CONFIRMATIONS_MAX: usize = 256;

/// The private buttons by which people confirm what they chose.
#[derive(Debug, Default)]
pub(super) struct Confirmations(BTreeMap<ButtonToken, Confirmation>);

#[derive(Debug)]
struct Confirmation {
    request: RequestId,
    at: usize,
    room: RoomName,
    person: PersonId,
    until: Timestamp,
}

impl Confirmations {
    /// A person confirms one thing of a request at a time.
    fn add(&mut self, token: ButtonToken, new: Confirmation) {
        self.0.retain(|_, old| (old.request, &old.person) != (new.request, &new.person));
        if CONFIRMATIONS_MAX <= self.0.len()
            && let Some(oldest) = self.0.iter().min_by_key(|(_, old)| old.until).map(|(token, _)| *token)
        {
            self.0.remove(&oldest);
        }
        self.0.insert(token, new);
    }

    pub(super) fn forget(&mut self, request: RequestId) {
        self.0.retain(|_, confirmation| confirmation.request != request);
    }
}

impl<T: Tokens> Bridge<T> {
    pub(super) fn clicked(&mut self, now: Timestamp, click: &Click) -> Vec<Effect> {
        let answer = |reply| vec![Effect::Answer { click: click.at.clone(), reply }];
        if !self.fatigue.may_press(&click.by.id) {
            return answer(ClickReply::MayNotAnswer(Ineligible::TooOften.reason().to_owned()));
        }
        self.counted(now, click)
    }

    /// A click of somebody who does not press too often, also one that has waited.
    pub(super) fn counted(&mut self, now: Timestamp, click: &Click) -> Vec<Effect> {
        let answer = |reply| vec![Effect::Answer { click: click.at.clone(), reply }];
        if let Some(confirmation) = self.confirmations.0.get(&click.token) {
            let is_theirs = confirmation.person == click.by.id && confirmation.room == click.at.room;
            if !is_theirs || confirmation.until.has_passed(now) {
                return answer(ClickReply::NothingWaits);
            }
            let (id, at) = (confirmation.request, confirmation.at);
            self.confirmations.0.remove(&click.token);
            return self.pressed(now, id, at, click, true);
        }
        let Some(&(id, at)) = self.buttons.get(&click.token) else { return answer(ClickReply::NothingWaits) };
        // The click overtook the news of its card. Anybody in the room can put a button's token on a card of their own,
        // so it waits until it is known which card is ours.
        if let Some(Held { phase: Phase::Posting { clicks, .. }, room, .. }) = self.held.get_mut(id)
            && *room == click.at.room
        {
            if clicks.len() < PARKED_MAX {
                clicks.push(click.clone());
            }
            return Vec::new();
        }
        // A button counts only in the room and on the card it was drawn on, for held and settled requests alike.
        if !self.is_drawn_on(id, click) {
            return answer(ClickReply::NothingWaits);
        }
        self.pressed(now, id, at, click, false)
    }

    /// A press of a button that is ours.
    fn pressed(&mut self, now: Timestamp, id: RequestId, at: usize, click: &Click, is_confirmed: bool) -> Vec<Effect> {
        let answer = |reply| Effect::Answer { click: click.at.clone(), reply };
        let not_counted = |why: Ineligible| vec![answer(ClickReply::MayNotAnswer(why.reason().to_owned()))];
        let Some(rules) = self.rules.rooms.get(&click.at.room) else { return vec![answer(ClickReply::NothingWaits)] };
        let Some(held) = self.held.get(id) else {
            let Some(settled) = self.settled.get(id) else { return vec![answer(ClickReply::NothingWaits)] };
            return match rules.answers(settled.kind).admit(&click.by, settled.requester.as_ref()) {
                Ok(permit) => vec![answer(settled.late_reply(&permit, at))],
                Err(why) => not_counted(why),
            };
        };
        let Some(offered) = held.request.options.offered(at) else { return vec![answer(ClickReply::NothingWaits)] };
        let press = Press {
            person: &click.by,
            option: &offered.option().kind,
            at,
            kind: held.request.kind(),
            requester: held.requester.as_ref(),
            shown_for: now.since(held.shown_at),
            is_confirmed,
            first: held.first.as_ref().map(|first| (&first.by.person, first.at)),
        };
        let judged = match judge(&held.answers, &press) {
            Ok(judged) => judged,
            Err(why) => return not_counted(why),
        };
        match judged {
            Effective::Settles(permit) => {
                let mut effects = self.select(now, id, &permit, click, Choice { offered, at });
                effects.push(answer(ClickReply::Chosen));
                effects
            }
            Effective::IsFirst(permit) => self.chosen_first(now, id, at, approver(&permit, click), answer),
            Effective::ToConfirm(permit) => vec![answer(self.ask_to_confirm(now, id, at, permit.person()))],
            Effective::Differs(_) => {
                let reply = held.first.as_ref().map_or(ClickReply::NothingWaits, |first| ClickReply::Differs {
                    name: first.by.name.clone(),
                    option: card::label(&held.request.options.as_slice()[first.at].name),
                });
                vec![answer(reply)]
            }
        }
    }

    /// The first of two people has chosen, or chose another option than before.
    fn chosen_first(
        &mut self,
        now: Timestamp,
        id: RequestId,
        at: usize,
        by: Approver,
        answer: impl Fn(ClickReply) -> Effect,
    ) -> Vec<Effect> {
        let Some(held) = self.held.get_mut(id) else { return vec![answer(ClickReply::NothingWaits)] };
        let is_new = held.first.as_ref().is_none_or(|first| first.at != at);
        let option = card::label(&held.request.options.as_slice()[at].name);
        let entry = Entry::ChosenFirst { request: id, person: by.person.clone(), option, at: now };
        held.first = Some(First { by, at });
        let mut effects = Vec::new();
        if is_new {
            effects.push(Effect::Record { entry, then: Vec::new() });
            effects.extend(self.redraw(id));
        }
        effects.push(answer(ClickReply::IsFirst));
        effects
    }

    fn ask_to_confirm(&mut self, now: Timestamp, id: RequestId, at: usize, person: &PersonId) -> ClickReply {
        let token = self.tokens.draw();
        let Some(held) = self.held.get(id) else { return ClickReply::NothingWaits };
        let option = &held.request.options.as_slice()[at];
        let until = now.after(CONFIRM_FOR).min(held.deadline);
        let confirmation = Confirmation { request: id, at, room: held.room.clone(), person: person.clone(), until };
        self.confirmations.add(token, confirmation);
        ClickReply::ToConfirm(ToConfirm {
            button: Button { token, label: card::label(&option.name), style: card::style(&option.kind) },
            headline: held.headline.clone(),
            covers: covers(option),
            needs_another: held.first.is_none() && held.approvals() == Approvals::Two,
            until,
        })
    }

    fn is_drawn_on(&self, id: RequestId, click: &Click) -> bool {
        let on = |card: &CardRef| card.room == click.at.room && card.control == click.at.control;
        if let Some(held) = self.held.get(id) {
            return match &held.phase {
                Phase::Looking(_) => false,
                Phase::Posting { .. } => held.room == click.at.room,
                Phase::Open(card) => on(card),
            };
        }
        self.settled.get(id).is_some_and(|settled| match &settled.card {
            SettledCard::Known(Some(card)) => on(card),
            SettledCard::Posting | SettledCard::Known(None) => settled.closed.room == click.at.room,
        })
    }

    /// The only way to an outcome of a person's choosing.
    fn select(&mut self, now: Timestamp, id: RequestId, permit: &Permit, click: &Click, choice: Choice) -> Vec<Effect> {
        let Approver { person, name } = approver(permit, click);
        let kind = &choice.offered.option().kind;
        // Whoever refuses does so alone.
        let first = self.held.get(id).and_then(|held| held.first.as_ref()).filter(|first| first.at == choice.at);
        let ending = Ending::Answered {
            name,
            option: card::label(&choice.offered.option().name),
            does: card::style(kind),
            first: first.map(|first| first.by.clone()).filter(|first| first.person != person),
            person,
            delivery: Delivery::Pending,
        };
        self.answered(now, id, kind);
        self.settle(now, id, ending, Tell::Choice(choice))
    }

    /// Whether people refuse the same thing time and again is of interest later.
    fn answered(&mut self, now: Timestamp, id: RequestId, kind: &OptionKind) {
        if let Some(held) = self.held.get(id) {
            self.fatigue.answered(now, &held.request, kind.refuses(), &self.rules.limits.pace);
        }
    }
}

/// By all rules that the request has been under, whichever are strictest.
fn judge(rules: &[AnswerRules], press: &Press<'_>) -> Result<Effective, Ineligible> {
    let strictness = |effective: &Effective| match effective {
        Effective::Settles(_) => 0,
        Effective::IsFirst(_) => 1,
        Effective::Differs(_) => 2,
        Effective::ToConfirm(_) => 3,
    };
    let judged = rules.iter().map(|rules| rules.judge(press)).collect::<Result<Vec<_>, _>>()?;
    // There are always some; if there were none, nobody could answer.
    judged.into_iter().max_by_key(strictness).ok_or(Ineligible::NotListed)
}

fn approver(permit: &Permit, click: &Click) -> Approver {
    let person = permit.person().clone();
    let name = click.by.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    Approver { name: Shown::line(name.unwrap_or(person.as_str())).cut(card::NAME_MAX), person }
}

#[cfg(test)]
#[path = "answering_tests.rs"]
mod tests;
