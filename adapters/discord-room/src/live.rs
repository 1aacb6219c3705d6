//! What this run has posted or taken up in its rooms: the cards, the sessions' threads, and which clicks were seen.

use std::collections::HashMap;
use std::sync::Arc;

use bridge_core::RoomError;
use bridge_model::{CardRef, Digest, MessageId as ClickId, Origin, RequestId, RoomName, SessionId, SourceName};
use serenity::all::{ChannelId, InteractionId, MessageId, UserId};

use crate::id::Spot;
use crate::questions::Questions;
use crate::recent::Recent;

/// Cards that may be open at once. One more takes the place of the oldest that was never confirmed, or is not posted.
const CARDS_MAX: usize = 1_024;
/// Clicks, deleted messages and people's counts that are remembered. Beyond them the oldest are forgotten.
const REMEMBERED_MAX: usize = 4_096;
/// Clicks whose person can still be told something.
const TOKENS_MAX: usize = 512;
/// Threads of sessions. A session whose thread was forgotten gets another.
const THREADS_MAX: usize = 1_024;
/// Clicks of one person on one card that are looked at; more are dropped.
pub(crate) const CLICKS_MAX: usize = 20;

#[derive(Debug)]
pub(crate) struct LiveTable {
    cards: HashMap<RequestId, LiveCard>,
    spots: HashMap<Spot, RequestId>,
    /// Message ids alone are unique, and a deletion may name no guild.
    deleted: Recent<MessageId, ()>,
    interactions: Recent<InteractionId, ()>,
    clicks: Recent<(UserId, MessageId), usize>,
    /// With what each acknowledged click can be answered once more.
    pub(crate) pressed: Recent<ClickId, Pressed>,
    /// What people were asked to confirm.
    pub(crate) questions: Questions,
    threads: Recent<Thread, ChannelId>,
}

impl Default for LiveTable {
    fn default() -> Self {
        Self {
            cards: HashMap::new(),
            spots: HashMap::new(),
            deleted: Recent::new(REMEMBERED_MAX),
            interactions: Recent::new(REMEMBERED_MAX),
            clicks: Recent::new(REMEMBERED_MAX),
            pressed: Recent::new(TOKENS_MAX),
            questions: Questions::default(),
            threads: Recent::new(THREADS_MAX),
        }
    }
}

/// A session's thread in a room.
type Thread = (RoomName, SourceName, Option<SessionId>);

/// A click that was acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Pressed {
    pub(crate) token: String,
    /// Whether its button stood on a message that nobody else sees.
    pub(crate) is_private: bool,
}

/// A card from the moment its post begins until it is closed.
#[derive(Clone, Debug)]
pub(crate) struct LiveCard {
    pub(crate) room: RoomName,
    /// Where it is posted, for closing one whose post was lost.
    pub(crate) channel: ChannelId,
    /// Once it is known.
    posted: Option<Posted>,
    is_closing: bool,
    /// Held while its message is edited, so that a closing is the last that it says.
    editing: Arc<Editing>,
}

pub(crate) type Editing = tokio::sync::Mutex<()>;

/// A card that is in its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posted {
    pub(crate) spot: Spot,
    pub(crate) has_file: bool,
    /// Of all that it shows.
    pub(crate) digest: Digest,
}

impl LiveTable {
    pub(crate) fn open(&mut self, request: RequestId, room: &RoomName, channel: ChannelId) -> Result<(), RoomError> {
        if CARDS_MAX <= self.cards.len() {
            // One whose post was never confirmed may have been given up without a word.
            let unposted = self.cards.iter().filter(|(_, card)| card.posted.is_none()).map(|(request, _)| *request).min();
            let oldest = unposted.ok_or_else(|| RoomError::Refused("too many cards are open".to_owned()))?;
            self.cards.remove(&oldest);
        }
        self.close(request);
        let card = LiveCard { room: room.clone(), channel, posted: None, is_closing: false, editing: Arc::default() };
        self.cards.insert(request, card);
        Ok(())
    }

    /// `false`: somebody deleted the message before its post had returned, or the card was closed meanwhile.
    pub(crate) fn posted(&mut self, request: RequestId, posted: Posted) -> bool {
        let is_deleted = self.deleted.get(&posted.spot.message).is_some();
        let Some(card) = self.cards.get_mut(&request).filter(|_| !is_deleted) else { return false };
        card.posted = Some(posted);
        self.spots.insert(posted.spot, request);
        true
    }

    /// A card that still waits at this spot, and what is held while it is edited.
    pub(crate) fn waiting(&self, request: RequestId, spot: Spot) -> Option<(Posted, Arc<Editing>)> {
        let card = self.cards.get(&request).filter(|card| !card.is_closing)?;
        let posted = card.posted.filter(|posted| posted.spot == spot)?;
        Some((posted, Arc::clone(&card.editing)))
    }

    /// From now on it waits no more. What is returned is held while it is edited.
    pub(crate) fn begin_to_close(&mut self, request: RequestId) -> Option<Arc<Editing>> {
        let card = self.cards.get_mut(&request)?;
        card.is_closing = true;
        Some(Arc::clone(&card.editing))
    }

    pub(crate) fn get(&self, request: RequestId) -> Option<&LiveCard> {
        self.cards.get(&request)
    }

    pub(crate) fn close(&mut self, request: RequestId) {
        let posted = self.cards.remove(&request).and_then(|card| card.posted);
        posted.map(|posted| self.spots.remove(&posted.spot));
    }

    pub(crate) fn room_of_card(&self, spot: Spot) -> Option<RoomName> {
        self.cards.get(self.spots.get(&spot)?).map(|card| card.room.clone())
    }

    /// All open cards in this channel.
    pub(crate) fn in_channel(&self, channel: ChannelId) -> Vec<CardRef> {
        self.posted_where(|spot| spot.channel == channel)
    }

    pub(crate) fn all(&self) -> Vec<(Spot, CardRef)> {
        self.spots.iter().filter_map(|(spot, id)| Some((*spot, card_ref(*spot, self.cards.get(id)?)))).collect()
    }

    fn posted_where(&self, is_it: impl Fn(&Spot) -> bool) -> Vec<CardRef> {
        self.all().into_iter().filter(|(spot, _)| is_it(spot)).map(|(_, card)| card).collect()
    }

    /// A message is gone; the card that it was.
    pub(crate) fn deleted(&mut self, channel: ChannelId, message: MessageId) -> Option<CardRef> {
        self.deleted.insert(message, ());
        self.posted_where(|spot| spot.channel == channel && spot.message == message).pop()
    }

    /// Whether this click is seen for the first time.
    pub(crate) fn is_new(&mut self, interaction: InteractionId) -> bool {
        self.interactions.insert(interaction, ())
    }

    /// Whether one more click of this person on this card is looked at.
    pub(crate) fn count(&mut self, user: UserId, message: MessageId) -> bool {
        let count = self.clicks.get(&(user, message)).map_or(1, |count| count + 1);
        self.clicks.insert((user, message), count);
        count <= CLICKS_MAX
    }

    pub(crate) fn thread(&self, room: &RoomName, origin: &Origin) -> Option<ChannelId> {
        self.threads.get(&key(room, origin)).copied()
    }

    pub(crate) fn thread_made(&mut self, room: &RoomName, origin: &Origin, thread: ChannelId) {
        self.threads.insert(key(room, origin), thread);
    }

    /// A card of the session is there. Where the session has another thread by now, that one stays.
    pub(crate) fn thread_found(&mut self, room: &RoomName, origin: &Origin, thread: ChannelId) {
        if self.thread(room, origin).is_none() {
            self.thread_made(room, origin, thread);
        }
    }

    pub(crate) fn thread_gone(&mut self, thread: ChannelId) {
        self.threads.retain(|other| *other != thread);
    }

    pub(crate) fn room_of_thread(&self, channel: ChannelId) -> Option<RoomName> {
        let of_session = self.threads.iter().find(|(_, thread)| **thread == channel).map(|((room, ..), _)| room);
        // A card that was taken up may be in a thread that is its session's no more.
        let is_there = |card: &&LiveCard| card.posted.is_some_and(|posted| posted.spot.channel == channel);
        let of_card = || self.cards.values().find(is_there).map(|card| &card.room);
        of_session.or_else(of_card).cloned()
    }
}

fn key(room: &RoomName, origin: &Origin) -> Thread {
    (room.clone(), origin.source.clone(), origin.session.clone())
}

fn card_ref(spot: Spot, card: &LiveCard) -> CardRef {
    CardRef { room: card.room.clone(), control: spot.message_id(), parts: Vec::new() }
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
