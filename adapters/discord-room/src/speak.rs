//! Messages without buttons: what calls a request to mind, in its room or in another.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use bridge_core::{RoomError, Said, part_name};
use bridge_model::{PersonId, RequestId};
use serenity::all::{MessageReference, MessageReferenceKind, Nonce};
use tokio::time::Instant;

use crate::Mention;
use crate::account::{Account, Ready};
use crate::id::{self, Spot};
use crate::render::{self, CONTENT_MAX, units};
use crate::send::{self, Outgoing};

/// Whoever is called later than this is called too late.
pub(crate) const SAY_WITHIN: Duration = Duration::from_secs(25);

/// Says it beside the card that it is about, or else in the room itself.
pub(crate) async fn say(account: &Account, ready: Ready, said: &Said, until: Instant) -> Result<(), RoomError> {
    let about = said.about.as_ref().map(|card| Spot::parse(&card.control)).transpose()?;
    let channel = match about {
        Some(card) => card.channel,
        None => account.named(&said.room)?.channel,
    };
    let message = message(said, about.filter(|_| ready.may_reply()));
    send::create(account, channel, &message, until).await?;
    Ok(())
}

/// `reply_to`: the card, where the bot may read it.
fn message(said: &Said, reply_to: Option<Spot>) -> Outgoing {
    let (content, called) = content(said);
    let body = render::new_message(content, nonce(said.request, &said.part)).allowed_mentions(render::allowed(&called));
    let body = match reply_to {
        None => body,
        // A card that was removed meanwhile keeps nobody from being called.
        Some(card) => body.reference_message(
            MessageReference::new(MessageReferenceKind::Default, card.channel)
                .guild_id(card.guild)
                .message_id(card.message)
                .fail_if_not_exists(false),
        ),
    };
    Outgoing::new(body, None)
}

/// The text, and whom it calls: as many as it has room for.
fn content(said: &Said) -> (String, Mention) {
    let (mut content, mut called) = (render::sentence(&said.words), Mention::default());
    for person in &said.mention {
        let mention = format!(" <@{person}>");
        if is_account(person) && units(&content) + units(&mention) <= CONTENT_MAX && called.people.insert(person.clone()) {
            content.push_str(&mention);
        }
    }
    (content, called)
}

fn is_account(person: &PersonId) -> bool {
    id::snowflake(person.as_str()).is_some()
}

/// The same for the same part, within one run, and never a card's, which is hexadecimal.
fn nonce(request: RequestId, part: &str) -> Nonce {
    let mut hasher = DefaultHasher::new();
    part_name(request, part).hash(&mut hasher);
    Nonce::String(format!("said-{:016x}", hasher.finish()))
}

#[cfg(test)]
#[path = "speak_tests.rs"]
mod tests;
