//! What goes into the state machine and what comes out of it.

use std::collections::BTreeSet;
use std::time::Duration;

use bridge_model::{
    Card, CardLimits, CardRef, ClickRef, ClickReply, ClosedCard, Digest, Ending, Outcome, Person, PersonId, ReplyTo, RequestId,
    RoomName, Shown, SourceName, Timestamp, Withdrawn,
};

use crate::wording::Words;
use crate::{RoomError, RoomEvent, Rules, SourceError, SourceEvent};

/// Everything the bridge reacts to. Chat text is not among it.
#[derive(Clone, Debug)]
pub enum Input {
    /// A source reports.
    Source(SourceEvent),
    SourceGone(SourceName, Withdrawn),
    /// What became of an [`Effect::Reply`].
    Replied(RequestId, Result<(), SourceError>),
    /// What became of an [`Effect::Post`].
    Posted(RequestId, Result<CardRef, RoomError>),
    /// A room reports.
    Room(RoomEvent),
    /// Who is in the room, as asked for by [`Effect::Look`]; `None` where the room cannot know.
    People(RequestId, Option<Vec<Person>>),
    /// The operator's rules have changed.
    Rules(Box<Rules>),
    /// The latest [`Effect::Close`] of this request has been carried out.
    CardClosed(RequestId),
    /// The room is connected, and this is what it can show.
    RoomOpen(RoomName, CardLimits),
    /// An [`Effect::Record`] about this request could not be made durable, and what depended on it was not done. Never
    /// told of a record that nothing depends on, or a choice that was told already would be followed by a refusal.
    RecordFailed(RequestId),
    /// The program is about to end: nothing new is held.
    Stop,
    /// [`crate::Bridge::next_deadline`] has come.
    Tick,
}

/// What is to be done now. Effects of one call are carried out in their order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Write `entry` to the ledger, and only once it is durable carry out `then`. If that fails and something depended
    /// on it: [`Input::RecordFailed`].
    Record {
        entry: Entry,
        then: Vec<Effect>,
    },
    /// Answered by [`Input::Posted`], also after the deadline.
    Post {
        card: Card,
        within: Duration,
    },
    /// Take up a card that an earlier run posted. Answered by [`Input::Posted`], also after the deadline.
    Resume {
        at: CardRef,
        card: Card,
        within: Duration,
    },
    /// People are asked about this request from now on, and so may be whoever else its source can ask.
    Asked(ReplyTo, Waiting),
    /// Find out who of these is in the room; `None`: of whom it may be. Answered by [`Input::People`], within moments.
    Look {
        request: RequestId,
        room: RoomName,
        among: Option<BTreeSet<PersonId>>,
    },
    /// Show a card as it is now, with the same buttons. Best effort.
    Update {
        card: CardRef,
        now: Card,
    },
    /// Say something in a room. Best effort.
    Say(Said),
    /// A later one for the same request replaces one that was not carried out yet.
    Close {
        card: Option<CardRef>,
        closed: ClosedCard,
    },
    /// Answered by [`Input::Replied`]. `ending`: how the request ended, as far as it is known now; `None`: policy allowed it.
    Reply {
        request: RequestId,
        to: ReplyTo,
        outcome: Outcome,
        ending: Option<Ending>,
    },
    Answer {
        click: ClickRef,
        reply: ClickReply,
    },
}

/// A message without buttons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub request: RequestId,
    /// Tells it from all else that is ever said of its request.
    pub part: String,
    pub room: RoomName,
    /// The card that it answers, if there is one in the room.
    pub about: Option<CardRef>,
    pub words: Vec<Words>,
    /// Whom it calls.
    pub mention: Vec<PersonId>,
}

/// A line of the ledger. It names rooms, people and options, and never holds what the tool would have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// `shown`: what its card shows, by its digest. `kept`: what it takes to go on with it after a restart; `None`
    /// if it ends with the bridge.
    Held {
        request: RequestId,
        room: RoomName,
        headline: Shown,
        deadline: Timestamp,
        shown: Digest,
        kept: Option<Kept>,
    },
    Posted {
        request: RequestId,
        card: CardRef,
    },
    /// The first of two people who have to choose the same.
    ChosenFirst {
        request: RequestId,
        person: PersonId,
        option: Shown,
        at: Timestamp,
    },
    /// `at`: when it ended; `None` where nobody saw that. `outcome`: what the agent is told, of a request that comes back for
    /// it.
    Settled {
        request: RequestId,
        ending: Ending,
        at: Option<Timestamp>,
        outcome: Option<Outcome>,
    },
}

/// Where a request waits for a person, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub request: RequestId,
    pub room: RoomName,
    pub deadline: Timestamp,
}

/// A request that comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub from: ReplyTo,
    /// As [`crate::Terms::comes_back`] has it.
    pub comes_back: String,
    /// For [`crate::Bridge::restore`]. Unlike all else in the ledger it holds what the tool would do, and is not kept once the
    /// request has ended.
    pub snapshot: String,
}

impl Entry {
    #[must_use]
    pub fn request(&self) -> RequestId {
        match self {
            Self::Held { request, .. }
            | Self::Posted { request, .. }
            | Self::ChosenFirst { request, .. }
            | Self::Settled { request, .. } => *request,
        }
    }
}
