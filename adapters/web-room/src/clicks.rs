//! Clicks: presses on the page's buttons, reported as they are and answered to whoever pressed.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use bridge_core::{Clicks, RoomEvent, wording};
use bridge_model::{ButtonToken, Click, ClickRef, ClickReply, MessageId, PersonId, Timestamp};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use crate::confirm::Asked;
use crate::people::{self, STREAM};
use crate::routes::{Said, Whole};
use crate::served::Served;

/// Clicks that wait for the bridge at once; one more is refused.
const ASKING_MAX: usize = 128;
/// How long whoever pressed waits for the bridge's word. The card says it in any case.
const REPLY_WITHIN: Duration = Duration::from_secs(10);
/// Presses of one person. Somebody who has to decide quickly needs a few a second.
const PER_MINUTE: NonZeroU32 = NonZeroU32::new(60).unwrap();
const BURST: NonZeroU32 = NonZeroU32::new(20).unwrap();

/// What happens on the page.
pub struct WebClicks {
    pub(crate) events: mpsc::Receiver<RoomEvent>,
    /// The page is served for as long as somebody listens.
    pub(crate) _until_dropped: watch::Sender<()>,
}

impl Clicks for WebClicks {
    async fn next(&mut self) -> Option<RoomEvent> {
        self.events.recv().await
    }
}

/// Clicks whose person waits for the bridge's word.
#[derive(Debug)]
pub(crate) struct Asking {
    waiting: Mutex<HashMap<MessageId, oneshot::Sender<ClickReply>>>,
    pace: DefaultKeyedRateLimiter<PersonId>,
}

impl Default for Asking {
    fn default() -> Self {
        Self { waiting: Mutex::default(), pace: RateLimiter::keyed(Quota::per_minute(PER_MINUTE).allow_burst(BURST)) }
    }
}

impl Asking {
    pub(crate) fn answer(&self, click: &MessageId, reply: ClickReply) {
        if let Some(waiting) = self.waiting().remove(click) {
            // Whoever pressed may have left; the card says it too.
            let _ = waiting.send(reply);
        }
    }

    /// Forgets those who have not pressed for a while.
    pub(crate) fn forget(&self) {
        self.pace.retain_recent();
    }

    /// `None`: too many wait already.
    fn ask(&self, click: &MessageId) -> Option<oneshot::Receiver<ClickReply>> {
        let mut waiting = self.waiting();
        waiting.retain(|_, sender| !sender.is_closed());
        if ASKING_MAX <= waiting.len() {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        waiting.insert(click.clone(), sender);
        Some(receiver)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<MessageId, oneshot::Sender<ClickReply>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a page sends.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pressed {
    card: String,
    token: String,
}

/// What it is told.
#[derive(Serialize)]
struct Told {
    counted: bool,
    reply: Option<String>,
    confirm: Option<Asked>,
}

impl Told {
    fn of(reply: &ClickReply, now: Timestamp) -> Self {
        Self {
            counted: counts(reply),
            reply: wording::reply(reply).map(|words| crate::render::plain(&words)),
            confirm: Asked::by(reply, now),
        }
    }
}

const fn counts(reply: &ClickReply) -> bool {
    match reply {
        ClickReply::Chosen | ClickReply::IsFirst => true,
        ClickReply::Differs { .. }
        | ClickReply::ToConfirm(_)
        | ClickReply::TooLate(_)
        | ClickReply::MayNotAnswer(_)
        | ClickReply::NothingWaits => false,
    }
}

/// `POST /api/click`
pub(crate) async fn click(
    State(served): State<Arc<Served>>,
    headers: HeaderMap,
    Whole(pressed): Whole<Pressed>,
) -> Result<Response, Said> {
    // After the body, which its sender may have held back.
    let member = people::member(&served, &headers).await?;
    served.asking.pace.check_key(&member.person).map_err(|_| Said::TooFast)?;
    let token = ButtonToken::parse(&pressed.token).ok_or(Said::NoSuchCard)?;
    let control = MessageId::new(pressed.card);
    let room = served.live().room_of(&control).filter(|room| member.rooms.contains(room)).ok_or(Said::NoSuchCard)?;
    let stream = headers.get(STREAM).and_then(|name| name.to_str().ok());
    let has_page_open = stream.is_some_and(|name| served.streams.is_open(name, &member.session));
    let id = MessageId::new(served.keys.token().text());
    let reply = served.asking.ask(&id).ok_or(Said::TooFast)?;
    let at = ClickRef { room, control, person: member.person.clone(), click: id };
    let click = Click { token, by: people::facts(&member.person, has_page_open), at };
    if !served.report(RoomEvent::Clicked(click)).await {
        return Err(Said::Unavailable);
    }
    match timeout(REPLY_WITHIN, reply).await {
        Ok(Ok(reply)) => Ok(Json(Told::of(&reply, (served.outside.now)())).into_response()),
        Ok(Err(_)) | Err(_) => Err(Said::NotAnsweredYet),
    }
}
