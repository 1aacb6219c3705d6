//! Requests to Discord: tried again while that cannot do anything twice, and never beyond their time.

use std::time::Duration;

use bridge_core::{Backoff, CardFile};
use bridge_model::Card;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serenity::all::{ChannelId, CreateAttachment, CreateMessage, InteractionId, LightMethod, MessageId};
use serenity::http::{Multipart, MultipartUpload, Request, Route};
use tokio::time::{Instant, timeout, timeout_at};
use tracing::warn;

use crate::account::Account;
use crate::fault::Fault;
use crate::render;
use crate::wait::pause;

/// For how long the same nonce surely gives the same message. Discord says "a few minutes".
const NONCE_KNOWN_FOR: Duration = Duration::from_mins(2);

/// Discord takes an acknowledgement for three seconds, and people see a failure after that.
const ACKNOWLEDGE_WITHIN: Duration = Duration::from_millis(2_500);
/// Enough for a new connection across the world.
const ACKNOWLEDGE_ATTEMPT: Duration = Duration::from_millis(1_700);

/// A message to post, under a nonce of its own.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) body: CreateMessage,
    pub(crate) file: Option<CardFile>,
}

impl Outgoing {
    pub(crate) fn new(body: CreateMessage, file: Option<CardFile>) -> Self {
        let body = match &file {
            None => body,
            Some(file) => body.add_file(attachment(file)),
        };
        Self { body, file }
    }
}

fn attachment(file: &CardFile) -> CreateAttachment {
    CreateAttachment::bytes(file.text.as_bytes(), file.name.clone())
}

/// What Discord says of a message that it has taken. The rest of it may change shape without harm.
#[derive(Debug, Deserialize)]
pub(crate) struct Created {
    pub(crate) id: MessageId,
    /// Where it is: for a nonce that was used before, where it was used.
    pub(crate) channel_id: ChannelId,
    #[serde(default)]
    components: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    #[serde(default)]
    components: Vec<Pressable>,
}

#[derive(Debug, Deserialize)]
struct Pressable {
    custom_id: Option<String>,
}

impl Created {
    /// Whether it is a card, and not a closing.
    pub(crate) fn has_buttons(&self) -> bool {
        !self.components.is_empty()
    }

    /// Whether its buttons are those of this card. A nonce that was used before gives what it was used for.
    pub(crate) fn is_of(&self, card: &Card) -> bool {
        let there = self.components.iter().flat_map(|row| &row.components).map(|button| button.custom_id.as_deref());
        there.eq(card.buttons.iter().map(render::custom_id).collect::<Vec<_>>().iter().map(|id| Some(id.as_str())))
    }
}

/// Posts until Discord has answered for good. A post that may have arrived is repeated under its nonce, as long as
/// Discord remembers that.
pub(crate) async fn create(account: &Account, channel: ChannelId, message: &Outgoing, until: Instant) -> Result<Created, Fault> {
    let json = serde_json::to_vec(&message.body).map_err(|error| Fault::Final(error.to_string()))?;
    let mut until = until;
    let mut is_unsure = false;
    let mut last = None;
    let mut backoff = Backoff::new();
    loop {
        let request = Request::new(Route::ChannelMessages { channel_id: channel }, LightMethod::Post);
        let request = match &message.file {
            None => request.body(Some(json.clone())),
            Some(file) => request.multipart(Some(Multipart {
                upload: MultipartUpload::Attachments(vec![attachment(file)]),
                fields: Vec::new(),
                payload_json: Some(String::from_utf8_lossy(&json).into_owned()),
            })),
        };
        let fault = match timeout_at(until, account.rest.read(request)).await {
            Ok(Ok(created)) => return Ok(created),
            Ok(Err(fault)) => fault,
            Err(_) => late(last),
        };
        if matches!(fault, Fault::Unsure(_)) && !is_unsure {
            is_unsure = true;
            until = until.min(Instant::now() + NONCE_KNOWN_FOR);
        }
        // What an earlier try may have posted no later refusal takes back.
        let fault = if is_unsure && !fault.may_pass() { Fault::Unsure(fault.why()) } else { fault };
        let span = backoff.next_span();
        if !fault.may_pass() || until <= Instant::now() + span {
            return Err(fault);
        }
        last = Some(fault);
        pause(span).await;
    }
}

/// Sends a request that may be repeated, such as an edit, and drops what comes back.
pub(crate) async fn repeat(
    account: &Account,
    route: Route<'_>,
    method: LightMethod,
    body: &[u8],
    until: Instant,
) -> Result<(), Fault> {
    let request = || Request::new(route, method).body((!body.is_empty()).then(|| body.to_vec()));
    repeated(|| account.rest.send(request()), until).await
}

/// Like [`repeat`], and reads what comes back.
pub(crate) async fn repeat_reading<T: DeserializeOwned>(
    account: &Account,
    route: Route<'_>,
    method: LightMethod,
    body: &[u8],
    until: Instant,
) -> Result<T, Fault> {
    let request = || Request::new(route, method).body(Some(body.to_vec()));
    repeated(|| account.rest.read(request()), until).await
}

/// Makes a request that may be repeated, until Discord has answered for good.
pub(crate) async fn repeated<T, F: Future<Output = Result<T, Fault>>>(
    request: impl Fn() -> F,
    until: Instant,
) -> Result<T, Fault> {
    let (mut last, mut backoff) = (None, Backoff::new());
    loop {
        let fault = match timeout_at(until, request()).await {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(fault)) => fault,
            Err(_) => late(last),
        };
        let span = backoff.next_span();
        if !fault.may_pass() || until <= Instant::now() + span {
            return Err(fault);
        }
        last = Some(fault);
        pause(span).await;
    }
}

/// The last try may have arrived; why there had to be a last one is what to say.
fn late(last: Option<Fault>) -> Fault {
    Fault::Unsure(last.map_or_else(|| "Discord did not answer in time".to_owned(), Fault::why))
}

/// Answers a click towards Discord; `false` if it is not certain that Discord took it, and then its person is shown a
/// failure.
pub(crate) async fn acknowledge(account: &Account, click: InteractionId, token: &str, body: &[u8]) -> bool {
    let until = Instant::now() + ACKNOWLEDGE_WITHIN;
    let mut is_unsure = false;
    let mut backoff = Backoff::new();
    while Instant::now() < until {
        let route = Route::InteractionResponse { interaction_id: click, token };
        let request = Request::new(route, LightMethod::Post).body(Some(body.to_vec()));
        let attempt = ACKNOWLEDGE_ATTEMPT.min(until.saturating_duration_since(Instant::now()));
        match timeout(attempt, account.rest.send_now(request)).await {
            Ok(Ok(_)) => return true,
            // An earlier try of ours did arrive.
            Ok(Err(Fault::AlreadyAcknowledged)) if is_unsure => return true,
            Ok(Err(Fault::AlreadyAcknowledged)) => {
                warn!("another program answers this bot's clicks, so that one did not count; give each bridge its own bot");
                return false;
            }
            Ok(Err(Fault::Unsure(_))) | Err(_) => is_unsure = true,
            Ok(Err(Fault::Later(_))) => {}
            Ok(Err(_)) => return false,
        }
        pause(backoff.next_span()).await;
    }
    false
}
