//! From an event to a click: the acceptance check, the facts about the person, and the order of it all.
//!
//! Each room has one worker. It takes work in the server's order and reports in that order, while it asks the server
//! about up to [`ASKING_MAX`] people at once; more work waits, and with it that room's part of the sync loop.

use std::sync::Arc;
use std::time::Duration;

use bridge_core::wording::Words;
use bridge_core::{Clicks, RoomEvent};
use bridge_model::{ButtonToken, Click, ClickRef, RoomName, Signature};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesOrdered;
use matrix_sdk::Room;
use matrix_sdk::deserialized_responses::{
    TimelineEvent, TimelineEventKind, UnableToDecryptReason, VerificationLevel, VerificationState,
};
use matrix_sdk::ruma::{OwnedEventId, OwnedUserId, UserId};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tracing::{debug, warn};

use crate::account::{Account, ServedRoom, is_encrypted};
use crate::live::{Count, Posted};
use crate::people;
use crate::reconcile;
use crate::replies::Replies;
use crate::said::{self, Said, What};
use crate::wait::until;
use crate::{id, live};

const ASKING_MAX: usize = 8;
/// The key of an encrypted click follows the click within moments, or not at all.
const KEY_DELAY: Duration = Duration::from_secs(2);

/// Reports clicks, removed cards and lost rooms.
///
/// Dropping it ends the sync loop once the request that is under way has ended, at most half a minute later.
#[derive(Debug)]
pub struct MatrixClicks {
    pub(crate) events: mpsc::Receiver<RoomEvent>,
    pub(crate) _until_dropped: watch::Sender<()>,
}

impl Clicks for MatrixClicks {
    async fn next(&mut self) -> Option<RoomEvent> {
        self.events.recv().await
    }
}

/// What a room's worker is given, in the server's order.
#[derive(Debug)]
pub(crate) enum Work {
    Press(Press),
    Report(RoomEvent),
    /// Events may have been missed: ask the server about every open card.
    Reconcile,
}

/// A click that passed the acceptance check, before it is known who made it.
#[derive(Debug)]
pub(crate) struct Press {
    user: OwnedUserId,
    token: ButtonToken,
    control: OwnedEventId,
    event: OwnedEventId,
    signature: Signature,
}

/// One room's worker.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) account: Arc<Account>,
    pub(crate) replies: Arc<Replies>,
    pub(crate) room: RoomName,
}

impl Worker {
    /// Works until the sync loop has ended and everything it gave has been reported.
    pub(crate) async fn run(self, mut work: mpsc::Receiver<Work>, events: mpsc::Sender<RoomEvent>) {
        let Ok(served) = self.account.named(&self.room) else { return };
        let mut asking: FuturesOrdered<BoxFuture<'_, Vec<RoomEvent>>> = FuturesOrdered::new();
        let mut is_fed = true;
        while is_fed || !asking.is_empty() {
            let next_check = self.account.live().next_check(&self.room);
            let has_place = asking.len() < ASKING_MAX;
            tokio::select! {
                Some(found) = asking.next(), if !asking.is_empty() => {
                    for event in found {
                        if events.send(event).await.is_err() {
                            return;
                        }
                    }
                }
                given = work.recv(), if is_fed && has_place => match given {
                    Some(work) => {
                        // What a look at a card finds was there before.
                        asking.extend(self.check_due(served));
                        asking.push_back(Box::pin(self.do_work(served, work)));
                    }
                    None => is_fed = false,
                },
                () = until(next_check), if is_fed && has_place => asking.extend(self.check_due(served)),
                () = served.due_changed.notified() => {}
            }
        }
    }

    async fn do_work(&self, served: &ServedRoom, work: Work) -> Vec<RoomEvent> {
        match work {
            Work::Press(press) => vec![self.click(served, press).await],
            Work::Report(event) => vec![event],
            Work::Reconcile => {
                let posted = self.account.live().posted(&self.room);
                self.check(served, posted, reconcile::Depth::ClicksAndRemovals).await
            }
        }
    }

    fn check_due<'a>(&'a self, served: &'a ServedRoom) -> Option<BoxFuture<'a, Vec<RoomEvent>>> {
        let due = self.account.live().take_due(&self.room, Instant::now());
        (!due.is_empty()).then(|| Box::pin(self.check(served, due, reconcile::Depth::Clicks)) as BoxFuture<'_, _>)
    }

    /// Whatever the server knows about these cards and was not seen yet, the oldest first.
    async fn check(&self, served: &ServedRoom, cards: Vec<Posted>, depth: reconcile::Depth) -> Vec<RoomEvent> {
        let Ok(room) = self.account.joined(served) else { return Vec::new() };
        let mut found = Vec::new();
        for card in cards {
            for event in reconcile::events_about(&room, &card, served.reactions, depth).await {
                match accept(&self.account, &self.replies, served, &room, &event) {
                    Some(Work::Press(press)) => found.push(self.click(served, press).await),
                    Some(Work::Report(event)) => found.push(event),
                    Some(Work::Reconcile) | None => {}
                }
            }
        }
        found
    }

    async fn click(&self, served: &ServedRoom, press: Press) -> RoomEvent {
        let by = people::look_up(&self.account, served, &press.user, press.signature).await;
        let at = ClickRef {
            room: served.name.clone(),
            control: id::message_id(&press.control),
            person: by.id.clone(),
            click: id::message_id(&press.event),
        };
        RoomEvent::Clicked(Click { token: press.token, by, at })
    }
}

/// Decides whether an event of a room concerns a card there. Type, relation and token first, then whose and whether it
/// is new; who may answer, and until when, is decided elsewhere.
pub(crate) fn accept(
    account: &Account,
    replies: &Arc<Replies>,
    served: &ServedRoom,
    room: &Room,
    event: &TimelineEvent,
) -> Option<Work> {
    let Said { event: event_id, sender, what } = said::read(event.raw().json().get())?;
    if sender == account.user {
        return None;
    }
    let mut live = account.live();
    let hit = match what {
        What::Response { target, token } => live.response(&served.name, &target, token)?,
        // In an encrypted room a reaction is neither encrypted nor signed by anybody.
        What::Reaction { .. } if !served.reactions || is_encrypted(room) => return None,
        What::Reaction { target, key } => live.reaction(&served.name, &target, &key)?,
        What::Redaction { target } => return live.removed(&served.name, &target).map(RoomEvent::CardRemoved).map(Work::Report),
        What::Unreadable { target } => {
            let card = live.check_soon(&served.name, &target, Instant::now() + KEY_DELAY)?;
            drop(live);
            served.due_changed.notify_one();
            unreadable(replies, served, &card, &event_id, &sender, event);
            return None;
        }
    };
    if !live.is_new(&event_id) {
        return None;
    }
    match live.count(hit.token, &sender) {
        Count::Looked => {}
        Count::FirstOver => {
            let max = live::CLICKS_MAX;
            warn!(room = %served.name, "somebody clicked one card more than {max} times; further clicks are dropped");
            return None;
        }
        Count::Over => return None,
    }
    let signature = signature(is_encrypted(room), event, &sender);
    Some(Work::Press(Press { user: sender, token: hit.token, control: hit.control, event: event_id, signature }))
}

/// What vouches for the sender: a signed device where the event was encrypted, else the server unless the room asks more.
fn signature(room_is_encrypted: bool, event: &TimelineEvent, sender: &UserId) -> Signature {
    let Some(info) = event.encryption_info() else {
        return if room_is_encrypted { Signature::Missing } else { Signature::Service };
    };
    let is_signed = matches!(
        info.verification_state,
        VerificationState::Verified | VerificationState::Unverified(VerificationLevel::UnverifiedIdentity)
    );
    // Keys that somebody else passed on say nothing about who used them.
    if is_signed && info.sender == sender && info.forwarder.is_none() { Signature::SignedDevice } else { Signature::Missing }
}

/// A click that cannot be read names no button, so nothing is reported. Its sender is told where they can mend it.
fn unreadable(
    replies: &Arc<Replies>,
    served: &ServedRoom,
    card: &Posted,
    event_id: &OwnedEventId,
    sender: &UserId,
    event: &TimelineEvent,
) {
    debug!(room = %served.name, "something about a card could not be decrypted");
    let TimelineEventKind::UnableToDecrypt { utd_info, .. } = &event.kind else { return };
    if !matches!(utd_info.reason, UnableToDecryptReason::SenderIdentityNotTrusted(_)) {
        return;
    }
    let click = ClickRef {
        room: served.name.clone(),
        control: id::message_id(&card.control),
        person: id::person_id(sender),
        click: id::message_id(event_id),
    };
    let replies = Arc::clone(replies);
    tokio::spawn(async move {
        let words = "Your click did not count: the room is encrypted, and your device is not verified. Verify it, then click.";
        if let Err(error) = replies.tell(&click, &[Words::Ours(words.to_owned())]).await {
            debug!(%error, "a private reply could not be sent");
        }
    });
}
