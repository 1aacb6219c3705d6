//! Private replies. Matrix has none inside a room, so they go to a direct one.
//!
//! Bounds: a person is told the same about one card once, and [`HOURLY_MAX`] things an hour; more are dropped, since a person
//! who clicks on must not make the bot send on. The last [`TOLD_MAX`] replies and [`PEOPLE_MAX`] people are remembered.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bridge_core::RoomError;
use bridge_core::wording::{self, Words, plain};
use bridge_model::{ClickRef, ClickReply, MessageId};
use matrix_sdk::ruma::{OwnedUserId, TransactionId, UserId};
use matrix_sdk::{Room, RoomState};
use tokio::time::{Instant, timeout};
use tracing::debug;

use crate::account::Account;
use crate::fault::Fault;
use crate::render::{MESSAGE, told};
use crate::send::send;
use crate::{confirm, id};

const HOURLY_MAX: usize = 30;
const TOLD_MAX: usize = 4_096;
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
        let words = wording::reply(reply);
        if let ClickReply::ToConfirm(asked) = reply {
            return confirm::ask(&self.account, click, asked, &words.unwrap_or_default()).await;
        }
        let tell = async {
            match &words {
                Some(words) => self.tell(click, words).await,
                None => Ok(()),
            }
        };
        // Whatever became of it, its button has done what it was for.
        let (told, ()) = tokio::join!(tell, confirm::used(&self.account, click));
        told
    }

    /// Tells a person something about one card, the same at most once.
    pub(crate) async fn tell(&self, click: &ClickRef, words: &[Words]) -> Result<(), RoomError> {
        let ClickRef { room, control: card, person, click } = click;
        // What was said in an encrypted room is not repeated in the clear.
        let is_private = self.account.named(room)?.is_encrypted(&self.account.client);
        let user = id::user_id(person.as_str())?;
        let admitted = self.sent.lock().unwrap_or_else(PoisonError::into_inner).admit(&user, card, &plain(words), Instant::now());
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

/// To whom, about which card, and what.
type Told = (OwnedUserId, MessageId, String);

#[derive(Debug, Default)]
struct Sent {
    told: HashSet<Told>,
    order: VecDeque<Told>,
    people: HashMap<OwnedUserId, VecDeque<Instant>>,
}

impl Sent {
    fn admit(&mut self, user: &UserId, card: &MessageId, text: &str, now: Instant) -> bool {
        let told = (user.to_owned(), card.clone(), text.to_owned());
        if self.told.contains(&told) {
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
        self.told.insert(told.clone());
        self.order.push_back(told);
        if TOLD_MAX < self.order.len()
            && let Some(oldest) = self.order.pop_front()
        {
            self.told.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_told_the_same_once_per_card_and_thirty_things_an_hour() {
        let (mut sent, now) = (Sent::default(), Instant::now());
        let ada = UserId::parse("@ada:localhost").expect("an id");
        let card = |at: usize| MessageId::new(format!("$card{at}"));
        assert!(sent.admit(&ada, &card(0), "too early", now));
        assert!(!sent.admit(&ada, &card(0), "too early", now));
        assert!(sent.admit(&ada, &card(0), "it counts", now), "what became of a later click");
        assert!((2..HOURLY_MAX).all(|at| sent.admit(&ada, &card(at), "x", now)));
        assert!(!sent.admit(&ada, &card(99), "x", now));
        assert!(sent.admit(&ada, &card(99), "x", now + HOUR));
    }

    #[test]
    fn memory_stays_within_its_bounds() {
        let (mut sent, now) = (Sent::default(), Instant::now());
        for at in 0..TOLD_MAX * 2 {
            let user = UserId::parse(format!("@u{}:localhost", at % 512)).expect("an id");
            let now = now + HOUR * u32::try_from(at / 512).expect("small");
            sent.admit(&user, &MessageId::new(format!("$card{at}")), "x", now);
        }
        assert!(sent.told.len() <= TOLD_MAX && sent.order.len() <= TOLD_MAX && sent.people.len() <= PEOPLE_MAX);
    }
}
