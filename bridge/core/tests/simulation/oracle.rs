//! The rules once more, in other words than the code's: who may answer what, where, until when, and with whom.

use std::collections::BTreeMap;

use bridge_model::{ButtonToken, Click, MessageId, Options, ReplyTo, RequestId, RoomName};

pub(crate) const LIFETIME_MS: u64 = 1_000;
/// How long a card of the careful room has to be up before it can be allowed.
pub(crate) const ARM_MS: u64 = 20;

/// The people of the simulation, and whether each may answer.
pub(crate) const PEOPLE: [(&str, bool); 6] =
    [("@ada:x", true), ("@bob:x", true), ("@cleo:x", true), ("@mallory:x", false), ("@robot:x", false), ("@gone:x", false)];
/// Who launched the agents that ask in the careful room, and may not answer them.
pub(crate) const LAUNCHER: &str = "@cleo:x";

/// In this room one person is enough, at once.
pub(crate) const PLAIN: &str = "red";
/// In this one it takes two, who confirm what allows always, on a card that they could read, and somebody has to be there.
pub(crate) const CAREFUL: &str = "blue";

/// A request as the simulation sent it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) from: ReplyTo,
    pub(crate) room: RoomName,
    pub(crate) arrived: u64,
    pub(crate) offered: Options,
    /// The id of each option, in JSON, and what it does.
    pub(crate) options: Vec<(String, Does)>,
    pub(crate) tokens: BTreeMap<ButtonToken, usize>,
    pub(crate) card: Option<MessageId>,
    /// When its card came up.
    pub(crate) shown: u64,
    /// Who chose which option first.
    pub(crate) first: Option<(String, usize)>,
    pub(crate) private: BTreeMap<ButtonToken, Private>,
    /// Whose press settled it.
    pub(crate) chosen_by: Option<String>,
    /// What the agent was told, in order.
    pub(crate) told: Vec<String>,
    /// How often it was called to mind.
    pub(crate) reminded: usize,
    /// Something has ended it.
    pub(crate) over: bool,
    /// People are asked again on another card, and what the agent is told is told there.
    pub(crate) replaced: bool,
}

/// A button that only one person was shown, for one option.
#[derive(Clone, Debug)]
pub(crate) struct Private {
    pub(crate) whose: String,
    pub(crate) at: usize,
    /// It was pressed, or its person was asked about another choice since.
    pub(crate) is_spent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    AllowOnce,
    AllowAlways,
    Refuse,
}

/// What a press has to do, and to which option of which request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Press {
    Chooses(RequestId, usize),
    IsFirst,
    IsToBeConfirmed(RequestId, usize),
    Differs,
    Nothing,
}

impl Asked {
    pub(crate) fn deadline(&self) -> u64 {
        self.arrived + LIFETIME_MS
    }

    pub(crate) fn is_careful(&self) -> bool {
        self.room.as_str() == CAREFUL
    }

    fn chosen(&mut self, person: &str, id: RequestId, at: usize) -> Press {
        (self.over, self.chosen_by) = (true, Some(person.to_owned()));
        Press::Chooses(id, at)
    }

    /// Whether a person could answer it, wherever they are.
    pub(crate) fn may(&self, person: &str) -> bool {
        PEOPLE.contains(&(person, true)) && !(self.is_careful() && person == LAUNCHER)
    }
}

/// What a press has to do now, which it then has done.
pub(crate) fn press(asked: &mut BTreeMap<RequestId, Asked>, click: &Click, now: u64) -> Press {
    let person = click.by.id.as_str();
    let private = asked.iter().find_map(|(id, request)| Some((*id, request.private.get(&click.token)?)));
    let (id, at, is_confirmed) = if let Some((id, Private { whose, at, is_spent })) = private {
        if *is_spent || whose != person || click.at.room != asked[&id].room {
            return Press::Nothing;
        }
        (id, *at, true)
    } else {
        let on_a_card = asked.iter().find_map(|(id, request)| request.tokens.get(&click.token).map(|at| (*id, *at)));
        let Some((id, at)) = on_a_card else { return Press::Nothing };
        let request = &asked[&id];
        if click.at.room != request.room || request.card.as_ref().is_some_and(|card| *card != click.at.control) {
            return Press::Nothing;
        }
        (id, at, false)
    };
    let Some(request) = asked.get_mut(&id) else { return Press::Nothing };
    if now >= request.deadline() || request.over {
        return Press::Nothing;
    }
    if let Some(private) = request.private.get_mut(&click.token) {
        private.is_spent = true;
    }
    if !request.may(person) {
        return Press::Nothing;
    }
    let does = request.options[at].1;
    if does == Does::Refuse || !request.is_careful() {
        return request.chosen(person, id, at);
    }
    if now < request.shown + ARM_MS {
        return Press::Nothing;
    }
    if does == Does::AllowAlways && !is_confirmed {
        return Press::IsToBeConfirmed(id, at);
    }
    match &request.first {
        Some((first, chosen)) if first != person => {
            if *chosen != at {
                return Press::Differs;
            }
            request.chosen(person, id, at)
        }
        _ => {
            request.first = Some((person.to_owned(), at));
            Press::IsFirst
        }
    }
}
