//! Posting cards and closing them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bridge_core::{Board, RoomError, Said};
use bridge_model::{Card, CardLimits, CardRef, ClickRef, ClickReply, ClosedCard, Person, PersonId, RequestId, RoomName};
use matrix_sdk::Room;
use matrix_sdk::ruma::{EventId, OwnedEventId, TransactionId};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};
use tracing::{debug, warn};

use crate::account::{Account, REQUEST_TIMEOUT};
use crate::live::Redraw;
use crate::parts::Parts;
use crate::render::{self, Drawn, MESSAGE, POLL_END, POLL_START, REACTION, txn};
use crate::replies::Replies;
use crate::send::{redact, send};
use crate::{attach, confirm, people, resume};

/// How long closing a card may take. Whoever closes tries again later.
const CLOSE_WITHIN: Duration = Duration::from_mins(1);

/// How long a message or an update may take.
const SAY_WITHIN: Duration = Duration::from_secs(30);

/// A poll has up to 20 answers.
const BUTTONS_MAX: usize = 20;
const LABEL_MAX: usize = 100;
/// A file that nobody would read to its end is no longer one to decide on.
const FILE_BYTES_MAX: usize = 256 * 1_024;

/// What every Matrix room can show.
pub const LIMITS: CardLimits = CardLimits {
    buttons_max: BUTTONS_MAX,
    label_max: LABEL_MAX,
    label_seen: LABEL_MAX,
    text_bytes_max: FILE_BYTES_MAX,
    unattached_bytes_max: render::UNATTACHED_BYTES_MAX,
};

/// Posts, closes and answers in the account's rooms.
#[derive(Debug)]
pub struct MatrixBoard {
    account: Arc<Account>,
    replies: Arc<Replies>,
}

impl MatrixBoard {
    pub(crate) fn new(account: Arc<Account>, replies: Arc<Replies>) -> Self {
        Self { account, replies }
    }
}

impl Board for MatrixBoard {
    fn limits(&self, _: &RoomName) -> CardLimits {
        LIMITS
    }

    async fn post(&self, card: &Card, within: Duration) -> Result<CardRef, RoomError> {
        let now = Instant::now();
        let until = now.checked_add(within).unwrap_or(now + Duration::from_hours(24));
        // The other half is for a card without a file, should there be none.
        let attach_until = now.checked_add(within / 2).map_or(until, |half| half.min(until));
        if card.buttons.is_empty() || BUTTONS_MAX < card.buttons.len() {
            let count = card.buttons.len();
            return Err(RoomError::NotShowable(format!("a poll has 1 to {BUTTONS_MAX} answers and the card has {count}")));
        }
        let served = self.account.named(&card.room)?;
        let room = self.account.joined(served)?;
        if let Some(why) = self.account.why_unfit(&room).await {
            return Err(RoomError::Refused(why));
        }
        let encrypted = self.account.encryption(&room).await?;
        let Drawn { message, poll, file } = render::draw(card, within, encrypted)?;
        // Where it takes long, other cards need not wait for it.
        let file = match &file {
            Some(file) => Some(attach::event(file, attach::upload(&self.account.client, file, encrypted, attach_until).await?)),
            None => None,
        };

        self.account.live().open(card, within, now)?;
        let alone = timeout_at(until, served.posting.lock()).await;
        if let Some(file) = &file {
            self.attach(&room, card.request, file, until).await?;
        }
        let message = send(&room, MESSAGE, &message, &txn(card.request, "message"), until).await?;
        self.update(card.request, |live| live.message = Some(message.clone()));
        self.update(card.request, |live| live.poll_tried = true);
        let control = send(&room, POLL_START, &poll, &txn(card.request, "poll"), until).await?;
        drop(alone);
        self.update(card.request, |live| live.control = Some(control.clone()));
        served.due_changed.notify_one();
        if served.reactions && !encrypted {
            self.seed(&room, card, &message, until).await;
        }
        let live = self.account.live();
        match live.get(card.request) {
            Some(live) if live.removed => Err(RoomError::Refused("somebody removed the card while it was posted".to_owned())),
            Some(live) => live.card_ref().ok_or_else(|| RoomError::Refused("the card was not posted whole".to_owned())),
            None => Err(RoomError::Refused("the card was closed while it was posted".to_owned())),
        }
    }

    async fn resume(&self, at: &CardRef, card: &Card, within: Duration) -> Result<(), RoomError> {
        let now = Instant::now();
        let until = now.checked_add(within).unwrap_or(now + Duration::from_hours(24));
        let parts = Parts::parse(at)?;
        let served = self.account.named(&at.room)?;
        let room = self.account.joined(served)?;
        if let Some(why) = self.account.why_unfit(&room).await {
            return Err(RoomError::Refused(why));
        }
        let encrypted = self.account.encryption(&room).await?;
        self.account.live().expect(card, &parts, within, now)?;
        let shown = match resume::check(&self.account, &room, card, &parts, until).await {
            Ok(()) => self.redraw(&room, &parts.message, card, encrypted, until).await,
            Err(error) => Err(error),
        };
        let mut live = self.account.live();
        let removed = || RoomError::Refused("somebody removed the card".to_owned());
        let resumed = shown.and_then(|()| live.take_up(card, Instant::now()).then_some(()).ok_or_else(removed));
        match resumed {
            // Under the lock, so that no later click is told before those that are to be looked for.
            Ok(()) => served.due_changed.notify_one(),
            Err(_) => live.forget(card.request),
        }
        resumed
    }

    async fn close(&self, card: Option<&CardRef>, closed: &ClosedCard) -> Result<(), RoomError> {
        let room = self.account.joined(self.account.named(&closed.room)?)?;
        // What cannot be encrypted as it must is not sent, and the SDK does not send it either.
        self.account.encryption(&room).await?;
        let until = Instant::now() + CLOSE_WITHIN;
        match card {
            Some(card) => self.close_posted(&room, card, closed, until).await?,
            None => self.close_unposted(&room, closed, until).await?,
        }
        self.account.live().close(closed.request);
        confirm::end_all(&self.account, &room, closed.request, until).await;
        Ok(())
    }

    async fn update(&self, at: &CardRef, card: &Card) -> Result<(), RoomError> {
        let room = self.account.joined(self.account.named(&at.room)?)?;
        let encrypted = self.account.encryption(&room).await?;
        let Parts { message, .. } = Parts::parse(at)?;
        self.redraw(&room, &message, card, encrypted, Instant::now() + SAY_WITHIN).await
    }

    async fn say(&self, said: &Said) -> Result<(), RoomError> {
        let served = self.account.named(&said.room)?;
        let room = self.account.joined(served)?;
        let note = render::note(said, self.account.encryption(&room).await?)?;
        let until = Instant::now() + SAY_WITHIN;
        // It is not to come between a card's message and its poll.
        let _alone = timeout_at(until, served.posting.lock()).await;
        send(&room, MESSAGE, &note, &txn(said.request, &format!("said-{}", said.part)), until).await.map(|_| ())
    }

    async fn people(&self, room: &RoomName, _: Option<&BTreeSet<PersonId>>) -> Result<Option<Vec<Person>>, RoomError> {
        people::present(&self.account, self.account.named(room)?).await
    }

    async fn answer(&self, click: &ClickRef, reply: &ClickReply) -> Result<(), RoomError> {
        self.replies.answer(click, reply).await
    }
}

impl MatrixBoard {
    /// The first part of a card to be in the room, so that without it there is no other.
    async fn attach(&self, room: &Room, request: RequestId, file: &Value, until: Instant) -> Result<(), RoomError> {
        match send(room, MESSAGE, file, &txn(request, "file"), until).await {
            Ok(event) => self.update(request, |live| live.file = Some(event)),
            Err(error) => {
                self.account.live().forget(request);
                return Err(attach::not_attached(error));
            }
        }
        Ok(())
    }

    /// Reactions are a help for clients that show no polls. A card stands without them.
    async fn seed(&self, room: &Room, card: &Card, message: &OwnedEventId, until: Instant) {
        for (at, button) in card.buttons.iter().enumerate() {
            let key = button.label.as_str();
            let sent =
                send(room, REACTION, &render::reaction(message, key), &txn(card.request, &format!("seed-{at}")), until).await;
            match sent {
                Ok(seed) => self.update(card.request, |live| live.seeded(key, button.token, seed)),
                Err(error) => {
                    warn!(request.id = %card.request, %error, "a card of request {} lacks reactions", card.request);
                    return;
                }
            }
        }
    }

    /// Edits the message. The poll keeps its answers, and the file stays where it is.
    async fn redraw(
        &self,
        room: &Room,
        message: &EventId,
        card: &Card,
        encrypted: bool,
        until: Instant,
    ) -> Result<(), RoomError> {
        let Some(Redraw { within, has_file }) = self.account.live().redraw(card, Instant::now()) else {
            debug!(request.id = %card.request, "the card of request {} is not open, and stays as it is", card.request);
            return Ok(());
        };
        let edit = render::redraw(message, card, within, encrypted, has_file)?;
        // Each edit is another, also where it says what an earlier one said, in this run or the one before.
        send(room, MESSAGE, &edit, &TransactionId::new(), until).await.map(|_| ())
    }

    /// The edit comes first: it is what people read. A part that fails does not spare the others.
    async fn close_posted(&self, room: &Room, card: &CardRef, closed: &ClosedCard, until: Instant) -> Result<(), RoomError> {
        let Parts { control, message, seeds, .. } = Parts::parse(card)?;
        let edited = self.edit(room, &message, closed, until).await;
        if matches!(edited, Err(RoomError::Unavailable(_))) {
            return edited;
        }
        if self.account.live().get(closed.request).is_some_and(|live| live.ended) {
            return edited;
        }
        let ended = send(room, POLL_END, &render::poll_end(&control, closed), &txn(closed.request, "end"), until).await;
        let mut unseeded = Ok(());
        for (at, seed) in seeds.iter().enumerate() {
            let part = txn(closed.request, &format!("unseed-{at}"));
            unseeded = unseeded.and(redact(room, seed, "closed", &part, until).await.map(|_| ()));
        }
        edited.and(ended.map(|_| ())).and(unseeded)?;
        self.update(closed.request, |live| live.ended = true);
        Ok(())
    }

    /// Sends the closing as if it were the card. If the card's message had landed after all, the server answers with
    /// that one, and it is edited; only then can a poll have landed too.
    async fn close_unposted(&self, room: &Room, closed: &ClosedCard, until: Instant) -> Result<(), RoomError> {
        let known = self.account.live().get(closed.request).map(|live| (live.message.clone(), live.poll_tried));
        let (message, poll_tried) = if let Some((Some(message), poll_tried)) = &known {
            (message.clone(), *poll_tried)
        } else {
            let closing = render::closing(closed);
            let message = send(room, MESSAGE, &closing, &txn(closed.request, "message"), until).await?;
            if is_what_was_sent(room, &message, &closing).await {
                return Ok(());
            }
            // Of a card of an earlier run it is not known how far it came.
            (message, known.is_none_or(|(_, poll_tried)| poll_tried))
        };
        self.edit(room, &message, closed, until).await?;
        if poll_tried {
            let poll = send(room, POLL_START, &render::empty_poll(closed), &txn(closed.request, "poll"), until).await?;
            redact(room, &poll, "closed", &txn(closed.request, "unpoll"), until).await?;
        }
        Ok(())
    }

    async fn edit(&self, room: &Room, message: &EventId, closed: &ClosedCard, until: Instant) -> Result<(), RoomError> {
        let part = txn(closed.request, &render::edit_part(&closed.ending));
        send(room, MESSAGE, &render::edit(message, closed), &part, until).await.map(|_| ())
    }

    fn update(&self, request: RequestId, change: impl FnOnce(&mut crate::live::LiveCard)) {
        if let Some(card) = self.account.live().get_mut(request) {
            change(card);
        }
    }
}

/// Whether the event that the server names is the one just sent, rather than an earlier one of the same name.
async fn is_what_was_sent(room: &Room, event: &EventId, content: &Value) -> bool {
    let Ok(Ok(event)) = timeout(REQUEST_TIMEOUT, room.event(event, None)).await else {
        debug!("a message could not be read back, so it is taken for an earlier one");
        return false;
    };
    let read: Option<Value> = event.raw().get_field("content").ok().flatten();
    read.is_some_and(|read| read["body"] == content["body"])
}
