//! Private replies. Matrix has none inside a room, so they go to a direct one.
//!
//! Bounds: one reply per person and card, [`HOURLY_MAX`] an hour per person; more are dropped, since a person who clicks
//! on must not make the bot send on. The last [`CARDS_MAX`] pairs and [`PEOPLE_MAX`] people are remembered.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bridge_core::RoomError;
use bridge_core::wording::{self, Words};
use bridge_model::{ClickRef, ClickReply, MessageId};
use matrix_sdk::ruma::{OwnedUserId, TransactionId, UserId};
use matrix_sdk::{Room, RoomState};
use tokio::time::{Instant, timeout};
use tracing::debug;

use crate::account::Account;
use crate::fault::Fault;
use crate::id;
use crate::render::{MESSAGE, told};
use crate::send::send;

const HOURLY_MAX: usize = 30;
const CARDS_MAX: usize = 4_096;
const PEOPLE_MAX: usize = 1_024;
const HOUR: Duration = Duration::from_hours(1);
/// A reply that takes longer is of no use any more.
const REPLY_WITHIN: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Replies {
    account: Arc<Account>,
    sent: Mutex<Sent>,
    making: tokio::sync::Mutex<()>,
}

impl Replies {
    pub(crate) fn new(account: Arc<Account>) -> Self {
        Self { account, sent: Mutex::default(), making: tokio::sync::Mutex::default() }
    }

    pub(crate) async fn answer(&self, click: &ClickRef, reply: &ClickReply) -> Result<(), RoomError> {
        match wording::reply(reply) {
            Some(words) => self.tell(click, &words).await,
            None => Ok(()),
        }
    }

    /// Tells a person something about one card, at most once.
    pub(crate) async fn tell(&self, click: &ClickRef, words: &[Words]) -> Result<(), RoomError> {
        let ClickRef { room, control: card, person, click } = click;
        // What was said in an encrypted room is not repeated in the clear.
        let is_private = self.account.named(room)?.is_encrypted(&self.account.client);
        let user = id::user_id(person.as_str())?;
        let admitted = self.sent.lock().unwrap_or_else(PoisonError::into_inner).admit(&user, card, Instant::now());
        if !admitted {
            debug!("a private reply was dropped: the person had enough of them");
            return Ok(());
        }
        let room = self.direct_room(&user, is_private).await?;
        let txn = <&TransactionId>::from(format!("countersign-reply-{click}").as_str()).to_owned();
        send(&room, MESSAGE, &told(words), &txn, Instant::now() + REPLY_WITHIN).await.map(|_| ())
    }

    async fn direct_room(&self, user: &UserId, is_private: bool) -> Result<Room, RoomError> {
        let client = &self.account.client;
        // One at a time, so that two replies do not make two rooms.
        let _making = self.making.lock().await;
        let fits = |room: &Room| room.state() == RoomState::Joined && (room.encryption_state().is_encrypted() || !is_private);
        if let Some(room) = client.get_dm_rooms(user).find(fits) {
            return Ok(room);
        }
        match timeout(REPLY_WITHIN, client.create_dm(user)).await {
            Ok(Ok(room)) => Ok(room),
            Ok(Err(error)) => Err(Fault::of(&error).into()),
            Err(_) => Err(RoomError::Unavailable("the homeserver took too long to make a direct room".to_owned())),
        }
    }
}

#[derive(Debug, Default)]
struct Sent {
    cards: HashSet<(OwnedUserId, MessageId)>,
    order: VecDeque<(OwnedUserId, MessageId)>,
    people: HashMap<OwnedUserId, VecDeque<Instant>>,
}

impl Sent {
    fn admit(&mut self, user: &UserId, card: &MessageId, now: Instant) -> bool {
        let pair = (user.to_owned(), card.clone());
        if self.cards.contains(&pair) {
            return false;
        }
        let is_old = |at: &Instant| HOUR <= now.saturating_duration_since(*at);
        if PEOPLE_MAX <= self.people.len() {
            self.people.retain(|_, times| times.back().is_some_and(|last| !is_old(last)));
        }
        if PEOPLE_MAX <= self.people.len() && !self.people.contains_key(user) {
            return false;
        }
        let times = self.people.entry(user.to_owned()).or_default();
        while times.front().is_some_and(is_old) {
            times.pop_front();
        }
        if HOURLY_MAX <= times.len() {
            return false;
        }
        times.push_back(now);
        self.cards.insert(pair.clone());
        self.order.push_back(pair);
        if CARDS_MAX < self.order.len()
            && let Some(oldest) = self.order.pop_front()
        {
            self.cards.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_told_once_per_card_and_thirty_times_an_hour() {
        let (mut sent, now) = (Sent::default(), Instant::now());
        let ada = UserId::parse("@ada:localhost").expect("an id");
        let card = |at: usize| MessageId::new(format!("$card{at}"));
        assert!(sent.admit(&ada, &card(0), now));
        assert!(!sent.admit(&ada, &card(0), now));
        assert!((1..HOURLY_MAX).all(|at| sent.admit(&ada, &card(at), now)));
        assert!(!sent.admit(&ada, &card(99), now));
        assert!(sent.admit(&ada, &card(99), now + HOUR));
    }

    #[test]
    fn memory_stays_within_its_bounds() {
        let (mut sent, now) = (Sent::default(), Instant::now());
        for at in 0..CARDS_MAX * 2 {
            let user = UserId::parse(format!("@u{}:localhost", at % 512)).expect("an id");
            sent.admit(&user, &MessageId::new(format!("$card{at}")), now + HOUR * u32::try_from(at / 512).expect("small"));
        }
        assert!(sent.cards.len() <= CARDS_MAX && sent.order.len() <= CARDS_MAX && sent.people.len() <= PEOPLE_MAX);
    }
}
