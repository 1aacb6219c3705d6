//! What has to come together before a click settles a request.

use std::collections::BTreeSet;
use std::time::Duration;

use bridge_model::{OptionKind, Person, PersonId, ToolKind};
use serde::{Deserialize, Serialize};

use crate::{Approvers, Ineligible, Permit};

/// Who may answer a request, and what else it takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerRules {
    pub approvers: Approvers,
    /// Whether whoever launched the agent may answer what it asks.
    pub requester_may_answer: bool,
    pub approvals: Approvals,
    /// What takes a second click of the same person.
    pub confirm: BTreeSet<Confirm>,
    /// How long a card has to be up before it can be allowed, so that nobody presses what was another button just now.
    pub arm_delay: Duration,
}

/// How many different people have to choose the same option before something is allowed. One refusal is always enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Approvals {
    #[default]
    One,
    Two,
}

/// What becomes of a request while nobody who may answer is in the room, as far as that can be known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenNobody {
    /// It is refused at once.
    #[default]
    Refuse,
    /// Somebody may come.
    Wait,
}

/// What a person has to confirm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Confirm {
    /// An option that allows more than this once.
    AllowAlways,
    /// An option or a tool call of a kind that nobody knows.
    Unknown,
    /// Whatever allows a tool call of this kind.
    Kind(ToolKind),
}

impl Confirm {
    /// As it stands in the configuration.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "allow_always" => Some(Self::AllowAlways),
            "unknown" => Some(Self::Unknown),
            kind => ToolKind::named(kind).map(Self::Kind),
        }
    }
}

/// One press of one button, with all that is known about it at that instant.
#[derive(Clone, Copy, Debug)]
pub struct Press<'a> {
    pub person: &'a Person,
    pub option: &'a OptionKind,
    /// The option's place in the agent's list.
    pub at: usize,
    pub kind: ToolKind,
    /// Who launched the agent, where that is known.
    pub requester: Option<&'a PersonId>,
    /// How long the card has been up.
    pub shown_for: Duration,
    /// The person was asked whether they meant it, and this press says that they did.
    pub is_confirmed: bool,
    /// Who chose an option before, and the place of that option.
    pub first: Option<(&'a PersonId, usize)>,
}

/// What a press that counts does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effective {
    /// It settles the request.
    Settles(Permit),
    /// The person has to say that they mean it.
    ToConfirm(Permit),
    /// It is the first of two.
    IsFirst(Permit),
    /// Somebody else chose another option that allows; the two are not the same.
    Differs(Permit),
}

impl AnswerRules {
    /// One approver is enough, as soon as the card is there.
    #[must_use]
    pub fn of(approvers: Approvers) -> Self {
        Self {
            approvers,
            requester_may_answer: true,
            approvals: Approvals::One,
            confirm: BTreeSet::new(),
            arm_delay: Duration::ZERO,
        }
    }

    /// The one decision about a press, for every room and every path.
    pub fn judge(&self, press: &Press<'_>) -> Result<Effective, Ineligible> {
        let permit = self.admit(press.person, press.requester)?;
        if press.option.refuses() {
            return Ok(Effective::Settles(permit));
        }
        if press.shown_for < self.arm_delay {
            return Err(Ineligible::TooSoon);
        }
        if self.is_to_be_confirmed(press) && !press.is_confirmed {
            return Ok(Effective::ToConfirm(permit));
        }
        Ok(match (self.approvals, press.first) {
            (Approvals::One, _) => Effective::Settles(permit),
            (Approvals::Two, Some((person, at))) if person != permit.person() => {
                if at == press.at {
                    Effective::Settles(permit)
                } else {
                    Effective::Differs(permit)
                }
            }
            (Approvals::Two, Some(_) | None) => Effective::IsFirst(permit),
        })
    }

    /// Whether a person may answer at all.
    pub fn admit(&self, person: &Person, requester: Option<&PersonId>) -> Result<Permit, Ineligible> {
        let permit = self.approvers.admit(person)?;
        if !self.requester_may_answer {
            match requester {
                None => return Err(Ineligible::RequesterUnknown),
                Some(requester) if requester == permit.person() => return Err(Ineligible::Requester),
                Some(_) => {}
            }
        }
        Ok(permit)
    }

    fn is_to_be_confirmed(&self, press: &Press<'_>) -> bool {
        let of_option = match press.option {
            OptionKind::AllowAlways => Some(Confirm::AllowAlways),
            OptionKind::Unknown(_) => Some(Confirm::Unknown),
            OptionKind::AllowOnce | OptionKind::RejectOnce | OptionKind::RejectAlways => None,
        };
        let of_kind = if press.kind == ToolKind::Unknown {
            vec![Confirm::Unknown, Confirm::Kind(ToolKind::Other)]
        } else {
            vec![Confirm::Kind(press.kind)]
        };
        of_option.into_iter().chain(of_kind).any(|confirm| self.confirm.contains(&confirm))
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
