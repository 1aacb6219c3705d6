//! Posting cards and closing them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bridge_core::{Backoff, Board, RoomError, Said};
use bridge_model::{Card, CardLimits, CardRef, ClickRef, ClickReply, ClosedCard, Person, PersonId, RoomName};
use serenity::all::{ChannelId, EditThread, LightMethod};
use serenity::http::Route;
use tokio::time::{Instant, timeout_at};
use tracing::debug;

use crate::account::{Account, Ready, RoomState, ServedRoom};
use crate::fault::Fault;
use crate::id::Spot;
use crate::live::Posted;
use crate::render::BUTTONS_MAX;
use crate::send::{Created, Outgoing};
use crate::wait::pause;
use crate::{Threads, look, people, redraw, render, replies, resume, send, speak, threads};

/// How long closing a card may take. Whoever closes tries again later.
const CLOSE_WITHIN: Duration = Duration::from_mins(1);

/// How often a thread is opened again for one edit, while somebody archives it.
const REOPENED_MAX: usize = 3;

pub(crate) const LABEL_MAX: usize = 80;
/// As Discord's design guide has it. The text above the buttons has each label whole.
const LABEL_SEEN: usize = 34;
/// What does not fit into the message is attached as a file.
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// A message holds 2,000 characters, and markup takes its part.
pub(crate) const UNATTACHED_TEXT_BYTES_MAX: usize = 1_200;

/// What a channel can show where the bot may attach files. Elsewhere less, which its board says once it is connected; a
/// card that was drawn before and does not fit is refused.
pub const LIMITS: CardLimits = CardLimits {
    buttons_max: BUTTONS_MAX,
    label_max: LABEL_MAX,
    label_seen: LABEL_SEEN,
    text_bytes_max: TEXT_BYTES_MAX,
    unattached_bytes_max: UNATTACHED_TEXT_BYTES_MAX,
};

/// Posts, closes and answers in the bot's channels.
#[derive(Debug)]
pub struct DiscordBoard {
    account: Arc<Account>,
}

impl DiscordBoard {
    pub(crate) fn new(account: Arc<Account>) -> Self {
        Self { account }
    }
}

impl Board for DiscordBoard {
    fn limits(&self, room: &RoomName) -> CardLimits {
        let may_attach = self.account.rooms.get(room).is_some_and(|room| match room.state() {
            RoomState::Ready(ready) | RoomState::Away(ready) => ready.may_attach(),
            RoomState::Unfit(_) => false,
        });
        if may_attach { LIMITS } else { CardLimits { text_bytes_max: LIMITS.unattached_bytes_max, ..LIMITS } }
    }

    async fn post(&self, card: &Card, within: Duration) -> Result<CardRef, RoomError> {
        let until = end_of(within);
        let served = self.account.named(&card.room)?;
        let ready = self.ready(served, until).await?;
        if until <= Instant::now() {
            return Err(RoomError::Unavailable("there is no time left".to_owned()));
        }
        let message = render::card(card, &served.options.mention, ready.may_attach())?;
        let created = self.create(served, card, &message, until).await?;
        if !created.is_of(card) {
            // An earlier try that Discord had said not to have taken. Whoever gives up now has it closed.
            return Err(RoomError::Unavailable("another message of this request is there already".to_owned()));
        }
        let spot = Spot { guild: ready.guild, channel: created.channel_id, message: created.id };
        let posted = Posted { spot, has_file: message.file.is_some(), digest: card.digest };
        if !self.account.live().posted(card.request, posted) {
            return Err(RoomError::Refused("somebody removed the card while it was posted".to_owned()));
        }
        Ok(CardRef { room: card.room.clone(), control: spot.message_id(), parts: Vec::new() })
    }

    async fn resume(&self, at: &CardRef, card: &Card, within: Duration) -> Result<(), RoomError> {
        let until = end_of(within);
        let served = self.account.named(&at.room)?;
        self.ready(served, until).await?;
        resume::resume(&self.account, served, at, card, until).await
    }

    async fn close(&self, card: Option<&CardRef>, closed: &ClosedCard) -> Result<(), RoomError> {
        let until = Instant::now() + CLOSE_WITHIN;
        let editing = self.account.live().begin_to_close(closed.request);
        let alone = async { Some(editing?.lock_owned().await) };
        let no_time = |_| RoomError::Unavailable("the card was being edited all the time".to_owned());
        let _alone = timeout_at(until, alone).await.map_err(no_time)?;
        let done = match card {
            Some(card) => self.close_posted(Spot::parse(&card.control)?, closed, until).await,
            None => self.close_unposted(closed, until).await,
        };
        // It is tried again only as long as the room is unavailable.
        if !matches!(done, Err(RoomError::Unavailable(_))) {
            self.account.live().close(closed.request);
        }
        done
    }

    async fn update(&self, at: &CardRef, card: &Card) -> Result<(), RoomError> {
        redraw::redraw(&self.account, at, card, Instant::now() + redraw::REDRAW_WITHIN).await
    }

    async fn say(&self, said: &Said) -> Result<(), RoomError> {
        let until = Instant::now() + speak::SAY_WITHIN;
        let ready = self.ready(self.account.named(&said.room)?, until).await?;
        speak::say(&self.account, ready, said, until).await
    }

    async fn people(&self, room: &RoomName, among: Option<&BTreeSet<PersonId>>) -> Result<Option<Vec<Person>>, RoomError> {
        let served = self.account.named(room)?;
        let Some(among) = among.filter(|among| among.len() <= people::LOOKED_UP_MAX) else { return Ok(None) };
        let people = people::in_room(&self.account, served, among).await;
        Ok(people.unwrap_or_else(|fault| {
            debug!(?fault, "it could not be learned who is in {room}");
            None
        }))
    }

    async fn answer(&self, click: &ClickRef, reply: &ClickReply) -> Result<(), RoomError> {
        replies::answer(&self.account, click, reply).await
    }
}

impl DiscordBoard {
    /// Waits while Discord has an outage there. A room that was unfit is looked at anew: somebody may have mended it.
    async fn ready(&self, served: &ServedRoom, until: Instant) -> Result<Ready, RoomError> {
        if let RoomState::Unfit(_) = served.state() {
            look::refresh(&self.account, served).await;
        }
        let mut backoff = Backoff::new();
        loop {
            match served.state() {
                RoomState::Ready(ready) => return Ok(ready),
                RoomState::Unfit(why) => return Err(RoomError::Refused(why)),
                RoomState::Away(_) => {}
            }
            let span = backoff.next_span();
            if until <= Instant::now() + span {
                return Err(RoomError::Unavailable("Discord has an outage for this server".to_owned()));
            }
            pause(span).await;
        }
    }

    /// Posts it where the card belongs.
    async fn create(&self, served: &ServedRoom, card: &Card, message: &Outgoing, until: Instant) -> Result<Created, RoomError> {
        let channel = self.channel(served, card, until).await?;
        self.account.live().open(card.request, &card.room, channel)?;
        let created = match send::create(&self.account, channel, message, until).await {
            // The session's thread is gone, and the card with it; there is time to make another.
            Err(fault) if fault.is_of_channel() && !is_of_file(&fault, message) && channel != served.channel => {
                self.account.live().thread_gone(channel);
                let channel = self.channel(served, card, until).await?;
                self.account.live().open(card.request, &card.room, channel)?;
                send::create(&self.account, channel, message, until).await
            }
            created => created,
        };
        created.map_err(|fault| {
            // What may be there is closed where it may be; what is not there needs no memory.
            if !fault.may_pass() {
                self.account.live().close(card.request);
            }
            if is_of_file(&fault, message) { RoomError::NotAttached(fault.why()) } else { fault.into() }
        })
    }

    /// The room's own channel, or the thread of the card's session.
    async fn channel(&self, served: &ServedRoom, card: &Card, until: Instant) -> Result<ChannelId, RoomError> {
        match served.options.threads {
            Threads::None => Ok(served.channel),
            Threads::PerSession => threads::of_session(&self.account, served, &card.origin, until).await,
        }
    }

    async fn close_posted(&self, spot: Spot, closed: &ClosedCard, until: Instant) -> Result<(), RoomError> {
        let body = render::closing(closed)?;
        let edit = || async {
            let route = Route::ChannelMessage { channel_id: spot.channel, message_id: spot.message };
            send::repeat(&self.account, route, LightMethod::Patch, &body, until).await
        };
        for _ in 0..REOPENED_MAX {
            match edit().await {
                // Whoever removed it, or the whole channel, has closed it.
                Ok(()) | Err(Fault::NoMessage | Fault::NoChannel(_)) => return Ok(()),
                // Whoever took the permission away may give it back.
                Err(Fault::NoAccess(why) | Fault::NoPermission(why)) => return Err(RoomError::Unavailable(why)),
                Err(Fault::Archived) => self.reopen(spot.channel, until).await?,
                Err(fault) => return Err(fault.into()),
            }
        }
        Err(RoomError::Unavailable("the thread is archived again and again".to_owned()))
    }

    /// Nothing in an archived thread can be edited.
    async fn reopen(&self, thread: ChannelId, until: Instant) -> Result<(), RoomError> {
        let body = render::json(&EditThread::new().archived(false))?;
        let route = Route::Channel { channel_id: thread };
        match send::repeat(&self.account, route, LightMethod::Patch, &body, until).await {
            // Whoever took the permission away may give it back.
            Err(Fault::NoAccess(why) | Fault::NoPermission(why)) => Err(RoomError::Unavailable(why)),
            opened => Ok(opened?),
        }
    }

    /// The message that says so has the nonce of the card. If the card was posted after all, Discord gives it back instead,
    /// and it is closed like any other.
    async fn close_unposted(&self, closed: &ClosedCard, until: Instant) -> Result<(), RoomError> {
        let served = self.account.named(&closed.room)?;
        let ready = self.ready(served, until).await?;
        let channel = self.account.live().get(closed.request).map_or(served.channel, |card| card.channel);
        let created = send::create(&self.account, channel, &render::notice(closed), until).await?;
        if created.has_buttons() {
            let spot = Spot { guild: ready.guild, channel: created.channel_id, message: created.id };
            self.close_posted(spot, closed, until).await?;
        }
        Ok(())
    }
}

fn end_of(within: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(within).unwrap_or(now + Duration::from_hours(24))
}

fn is_of_file(fault: &Fault, message: &Outgoing) -> bool {
    message.file.is_some() && fault.may_be_of_file()
}
