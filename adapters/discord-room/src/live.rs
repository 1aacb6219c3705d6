//! What this run has in its rooms: the cards, the sessions' threads, and which clicks were seen.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use bridge_core::RoomError;
use bridge_model::{CardRef, Origin, RequestId, RoomName, SessionId, SourceName};
use serenity::all::{ChannelId, InteractionId, MessageId, UserId};

use crate::id::Spot;
use crate::replies::Tokens;

/// Cards that may be open at once. One more takes the place of the oldest that was never confirmed, or is not posted.
const CARDS_MAX: usize = 1_024;
/// Clicks, deleted messages and people's counts that are remembered. Beyond them the oldest are forgotten.
const REMEMBERED_MAX: usize = 4_096;
/// Threads of sessions. A session whose thread was forgotten gets another.
const THREADS_MAX: usize = 1_024;
/// Clicks of one person on one card that are looked at; more are dropped.
pub(crate) const CLICKS_MAX: usize = 20;

#[derive(Debug, Default)]
pub(crate) struct LiveTable {
    cards: HashMap<RequestId, LiveCard>,
    spots: HashMap<Spot, RequestId>,
    /// Message ids alone are unique, and a deletion may name no guild.
    deleted: Recent<MessageId>,
    interactions: Recent<InteractionId>,
    clicks: HashMap<(UserId, MessageId), usize>,
    clickers: VecDeque<(UserId, MessageId)>,
    pub(crate) tokens: Tokens,
    threads: HashMap<Thread, ChannelId>,
    thread_order: VecDeque<Thread>,
}

/// A session's thread in a room.
type Thread = (RoomName, SourceName, Option<SessionId>);

/// A card from the moment its post begins until it is closed.
#[derive(Clone, Debug)]
pub(crate) struct LiveCard {
    pub(crate) room: RoomName,
    /// Where it is posted, for closing one whose post was lost.
    pub(crate) channel: ChannelId,
    /// Once it is known.
    pub(crate) spot: Option<Spot>,
}

impl LiveTable {
    pub(crate) fn open(&mut self, request: RequestId, room: &RoomName, channel: ChannelId) -> Result<(), RoomError> {
        if CARDS_MAX <= self.cards.len() {
            // One whose post was never confirmed may have been given up without a word.
            let unposted = self.cards.iter().filter(|(_, card)| card.spot.is_none()).map(|(request, _)| *request).min();
            let oldest = unposted.ok_or_else(|| RoomError::Refused("too many cards are open".to_owned()))?;
            self.cards.remove(&oldest);
        }
        self.cards.insert(request, LiveCard { room: room.clone(), channel, spot: None });
        Ok(())
    }

    /// `false`: somebody deleted the message before its post had returned, or the card was closed meanwhile.
    pub(crate) fn posted(&mut self, request: RequestId, spot: Spot) -> bool {
        let Some(card) = self.cards.get_mut(&request).filter(|_| !self.deleted.contains(&spot.message)) else { return false };
        card.spot = Some(spot);
        self.spots.insert(spot, request);
        true
    }

    pub(crate) fn get(&self, request: RequestId) -> Option<&LiveCard> {
        self.cards.get(&request)
    }

    pub(crate) fn close(&mut self, request: RequestId) {
        let spot = self.cards.remove(&request).and_then(|card| card.spot);
        spot.map(|spot| self.spots.remove(&spot));
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
        self.deleted.insert(message);
        self.posted_where(|spot| spot.channel == channel && spot.message == message).pop()
    }

    /// Whether this click is seen for the first time.
    pub(crate) fn is_new(&mut self, interaction: InteractionId) -> bool {
        self.interactions.insert(interaction)
    }

    /// Whether one more click of this person on this card is looked at.
    pub(crate) fn count(&mut self, user: UserId, message: MessageId) -> bool {
        let count = self.clicks.entry((user, message)).or_default();
        *count += 1;
        let is_within = *count <= CLICKS_MAX;
        if *count == 1 {
            self.clickers.push_back((user, message));
        }
        if REMEMBERED_MAX < self.clickers.len()
            && let Some(oldest) = self.clickers.pop_front()
        {
            self.clicks.remove(&oldest);
        }
        is_within
    }

    pub(crate) fn thread(&self, room: &RoomName, origin: &Origin) -> Option<ChannelId> {
        self.threads.get(&key(room, origin)).copied()
    }

    pub(crate) fn thread_made(&mut self, room: &RoomName, origin: &Origin, thread: ChannelId) {
        let key = key(room, origin);
        self.thread_order.retain(|other| *other != key);
        self.thread_order.push_back(key.clone());
        self.threads.insert(key, thread);
        if THREADS_MAX < self.thread_order.len()
            && let Some(oldest) = self.thread_order.pop_front()
        {
            self.threads.remove(&oldest);
        }
    }

    pub(crate) fn thread_gone(&mut self, thread: ChannelId) {
        self.threads.retain(|_, other| *other != thread);
        self.thread_order.retain(|key| self.threads.contains_key(key));
    }

    pub(crate) fn room_of_thread(&self, channel: ChannelId) -> Option<RoomName> {
        self.threads.iter().find(|(_, thread)| **thread == channel).map(|((room, ..), _)| room.clone())
    }
}

fn key(room: &RoomName, origin: &Origin) -> Thread {
    (room.clone(), origin.source.clone(), origin.session.clone())
}

fn card_ref(spot: Spot, card: &LiveCard) -> CardRef {
    CardRef { room: card.room.clone(), control: spot.message_id(), parts: Vec::new() }
}

/// The latest of something, up to [`REMEMBERED_MAX`].
#[derive(Debug)]
struct Recent<T> {
    known: HashSet<T>,
    order: VecDeque<T>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { known: HashSet::new(), order: VecDeque::new() }
    }
}

impl<T: Copy + Eq + Hash> Recent<T> {
    fn contains(&self, item: &T) -> bool {
        self.known.contains(item)
    }

    /// Whether it was not known.
    fn insert(&mut self, item: T) -> bool {
        if !self.known.insert(item) {
            return false;
        }
        self.order.push_back(item);
        if REMEMBERED_MAX < self.order.len()
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
