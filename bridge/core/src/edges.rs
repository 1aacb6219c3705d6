//! The two edges: rooms, where people are, and sources, where requests come from.
//!
//! Static traits with no SDK type in a signature. Sending and receiving are two objects, so that waiting for a click
//! never delays a post. Adapters translate and report facts; they keep no rule about who may answer or when.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use bridge_model::{
    Card, CardLimits, CardRef, Click, ClickRef, ClickReply, ClosedCard, Ending, Outcome, PermissionRequest, Person, PersonId,
    ReplyTo, RequestId, RoomName, Withdrawn,
};

use crate::{Said, Terms, Waiting};

/// One account's view of its configured rooms.
pub trait Room: Send {
    type Board: Board;
    type Clicks: Clicks;

    /// Logs in and gets ready to post. `Err(RoomError::Unavailable)` may be tried again; any other error is final.
    fn connect(self) -> impl Future<Output = Result<(Self::Board, Self::Clicks), RoomError>> + Send;
}

/// Shows cards. Calls may run side by side.
pub trait Board: Send + Sync + 'static {
    /// What a card in this room can hold.
    fn limits(&self, room: &RoomName) -> CardLimits;

    /// Returns once people can see the card and press its buttons.
    ///
    /// Tries again by itself while that cannot post twice, for at most `within`, and begins nothing after it. A click
    /// may be reported before this returns. Refuses to post what it cannot show whole and unaltered: what does not fit
    /// into its message is attached as the card's [`crate::wording::file`], before there is a button to press.
    fn post(&self, card: &Card, within: Duration) -> impl Future<Output = Result<CardRef, RoomError>> + Send;

    /// Takes up a card that an earlier run of the bridge posted and whose request still waits: from now on its buttons are
    /// told like those of a card posted now, and it shows `card`, which has the same buttons as when it was posted.
    ///
    /// Tries again by itself for at most `within`, and begins nothing after it. A card that is not there any more, or that
    /// cannot be pressed any more, is a final error, and so is one that others posted. A click may be reported before this
    /// returns; one that was made while nobody listened is reported where the service keeps it. Whoever calls this asks
    /// for nothing else about the card before it returns.
    fn resume(&self, at: &CardRef, card: &Card, within: Duration) -> impl Future<Output = Result<(), RoomError>> + Send;

    /// Makes the card say how its request ended, and its buttons dead; calling it again with another ending corrects
    /// what the card says.
    ///
    /// With `None` for a card that was never seen to be posted: a message that says so is left in the room, and
    /// whatever a lost post may have left there is closed.
    fn close(&self, card: Option<&CardRef>, closed: &ClosedCard) -> impl Future<Output = Result<(), RoomError>> + Send;

    /// Shows a posted card as it is now: with the same buttons, and something said anew. Best effort; a card that was
    /// closed meanwhile stays closed.
    fn update(&self, at: &CardRef, card: &Card) -> impl Future<Output = Result<(), RoomError>> + Send;

    /// Leaves a message without buttons in a room, which calls only whom it mentions. The same again is the same message.
    /// Best effort.
    fn say(&self, said: &Said) -> impl Future<Output = Result<(), RoomError>> + Send;

    /// Everybody who is in the room now, as facts. `None` where the service cannot tell who is. `among`: those whom it is asked
    /// for, so that others may be left out; `None`: whoever it is.
    fn people(
        &self,
        room: &RoomName,
        among: Option<&BTreeSet<PersonId>>,
    ) -> impl Future<Output = Result<Option<Vec<Person>>, RoomError>> + Send;

    /// Tells one person, and nobody else, what became of their click. Best effort.
    fn answer(&self, click: &ClickRef, reply: &ClickReply) -> impl Future<Output = Result<(), RoomError>> + Send;
}

/// Reports what happens in the rooms.
pub trait Clicks: Send + 'static {
    /// The next event, in the order the service told them. Cancel-safe. `None`: no event will ever come again.
    fn next(&mut self) -> impl Future<Output = Option<RoomEvent>> + Send;
}

/// What a room reports. There is no variant for chat text, and there must never be one.
#[derive(Clone, Debug)]
pub enum RoomEvent {
    Clicked(Click),
    /// Somebody who may do so took the card away.
    CardRemoved(CardRef),
    /// The room is lost: closed, replaced, or no longer ours to post in. The text says why.
    RoomLost(RoomName, String),
    /// A room that was lost, or was never fit, can be used again.
    RoomFound(RoomName),
}

/// Why a room could not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoomError {
    /// Nothing was posted, and the same call may succeed later.
    #[error("the room cannot be reached: {0}")]
    Unavailable(String),
    /// Trying again will not help until somebody changes something; the text says what.
    #[error("{0}")]
    Refused(String),
    /// The card cannot be shown whole in this room; the text says why.
    #[error("{0}")]
    NotShowable(String),
    /// The card does not fit into a message, and its file could not be attached; the text says why. Nothing that has a
    /// button was posted.
    #[error("its file could not be attached: {0}")]
    NotAttached(String),
}

/// Where requests come from.
pub trait Source: Send {
    type Asks: Asks;
    type Replies: Replies;

    fn connect(self) -> impl Future<Output = Result<(Self::Asks, Self::Replies), SourceError>> + Send;
}

/// Reports what agents ask.
pub trait Asks: Send + 'static {
    /// The next event, in wire order. Cancel-safe. `None`: the source has ended; nothing more can be asked or answered.
    fn next(&mut self) -> impl Future<Output = Option<SourceEvent>> + Send;
}

/// Carries outcomes back.
pub trait Replies: Send + Sync + 'static {
    /// People are asked about this request from now on, and so may be whoever else the source can ask. Never told of one
    /// that policy allows or refuses. Returns at once.
    fn asked(&self, _: &ReplyTo, _: &Waiting) {}

    /// Returns once the agent's side has taken the outcome. Each request is answered at most once, by the first call;
    /// a request that was withdrawn meanwhile is answered `cancelled` by the source, whatever the outcome given here.
    /// `ending`: how the request ended, for whoever wants to be told; `None`: policy allowed it.
    fn reply(
        &self,
        to: &ReplyTo,
        outcome: &Outcome,
        ending: Option<&Ending>,
    ) -> impl Future<Output = Result<(), SourceError>> + Send;
}

/// What a source reports.
#[derive(Clone, Debug)]
pub enum SourceEvent {
    Requested(Box<PermissionRequest>, Box<Terms>),
    /// Something that asks for permission but cannot be understood; `headline` is what can be said about it. It is
    /// answered `cancelled`.
    Malformed {
        from: ReplyTo,
        headline: String,
        problem: String,
    },
    /// A later update alters what the request would do. `now`: the request as it is now; `None` if that cannot be told.
    Changed {
        ask: ReplyTo,
        now: Option<Box<PermissionRequest>>,
    },
    /// It needs no answer from a person any more.
    Withdrawn(ReplyTo, Withdrawn),
}

/// Why a source did not take an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    #[error("the agent had withdrawn the request")]
    Withdrawn,
    #[error("the agent is gone")]
    Gone,
}

/// Used by boards to name what they post: the same name again is the same message, never a second one.
#[must_use]
pub fn part_name(request: RequestId, part: &str) -> String {
    format!("countersign-{request}-{part}")
}
