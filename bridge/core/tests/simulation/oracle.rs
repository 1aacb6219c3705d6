//! The rules once more, in other words than the code's: who may answer what, where and until when.

use std::collections::BTreeMap;

use bridge_model::{ButtonToken, Click, MessageId, Options, ReplyTo, RequestId, RoomName};

pub(crate) const LIFETIME_MS: u64 = 1_000;

/// Ids of the people of the simulation, and whether each may answer.
pub(crate) const PEOPLE: [(&str, bool); 5] =
    [("@ada:x", true), ("@bob:x", true), ("@mallory:x", false), ("@robot:x", false), ("@gone:x", false)];

/// A request as the simulation sent it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) from: ReplyTo,
    pub(crate) room: RoomName,
    pub(crate) arrived: u64,
    pub(crate) offered: Options,
    /// The id of each option, in JSON, and whether it allows.
    pub(crate) options: Vec<(String, bool)>,
    pub(crate) tokens: BTreeMap<ButtonToken, usize>,
    pub(crate) card: Option<MessageId>,
    /// What the agent was told, in order.
    pub(crate) told: Vec<String>,
    /// Something has ended it.
    pub(crate) over: bool,
    /// People are asked again on another card, and what the agent is told is told there.
    pub(crate) replaced: bool,
}

impl Asked {
    pub(crate) fn deadline(&self) -> u64 {
        self.arrived + LIFETIME_MS
    }
}

/// Which option a click has to choose, of which request; `None`: it must choose nothing.
pub(crate) fn chosen(asked: &BTreeMap<RequestId, Asked>, click: &Click, now: u64) -> Option<(RequestId, usize)> {
    let (id, request, at) =
        asked.iter().find_map(|(id, request)| request.tokens.get(&click.token).map(|at| (*id, request, *at)))?;
    let may = PEOPLE.iter().any(|(person, may)| click.by.id.as_str() == *person && *may);
    let here = click.at.room == request.room && request.card.as_ref().is_none_or(|card| *card == click.at.control);
    (may && here && now < request.deadline() && !request.over).then_some((id, at))
}
