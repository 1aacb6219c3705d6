//! Taking up a card that an earlier run posted: its message is looked at, and shows the card as it is now.

use bridge_core::RoomError;
use bridge_model::{Card, CardRef};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serenity::all::{LightMethod, UserId};
use serenity::http::{Request, Route};
use tokio::time::Instant;

use crate::account::{Account, ServedRoom};
use crate::id::Spot;
use crate::live::Posted;
use crate::send::{Created, repeated};
use crate::{look, redraw};

/// A message that is there, as far as it matters here.
#[derive(Debug, Deserialize)]
struct Found {
    author: Author,
    content: String,
    attachments: Vec<IgnoredAny>,
    #[serde(flatten)]
    message: Created,
}

#[derive(Debug, Deserialize)]
struct Author {
    id: UserId,
}

/// The room is ready, and it is the one that the card names.
pub(crate) async fn resume(
    account: &Account,
    served: &ServedRoom,
    at: &CardRef,
    card: &Card,
    until: Instant,
) -> Result<(), RoomError> {
    let spot = Spot::parse(&at.control)?;
    if served.guild() != Some(spot.guild) {
        return Err(refused("the card is not on the server that the room is on"));
    }
    // Known before it is looked at, so that no removal comes in between.
    account.live().open(card.request, &at.room, spot.channel)?;
    let resumed = resume_at(account, served, spot, at, card, until).await;
    if resumed.is_err() {
        account.live().close(card.request);
    }
    resumed
}

async fn resume_at(
    account: &Account,
    served: &ServedRoom,
    spot: Spot,
    at: &CardRef,
    card: &Card,
    until: Instant,
) -> Result<(), RoomError> {
    let route = || Route::ChannelMessage { channel_id: spot.channel, message_id: spot.message };
    let found: Found = repeated(|| account.rest.read(Request::new(route(), LightMethod::Get)), until).await?;
    let has_file = !found.attachments.is_empty();
    if found.author.id != account.bot || !found.message.is_of(card) {
        return Err(refused("the message does not have the buttons of this card"));
    }
    if has_file && !found.content.contains(&card.digest.to_string()) {
        // People would read one thing and decide on another.
        return Err(refused("the message's file is not the one of this card"));
    }
    let is_in_thread = spot.channel != served.channel;
    if is_in_thread && !repeated(|| look::has_open_thread(account, served, spot.channel), until).await? {
        return Err(refused("the card is neither in the room nor in an open thread of it"));
    }
    if !account.live().posted(card.request, Posted { spot, has_file, digest: card.digest }) {
        return Err(refused("somebody removed the card"));
    }
    if is_in_thread {
        account.live().thread_found(&at.room, &card.origin, spot.channel);
    }
    if redraw::content(card, &served.options.mention, has_file)? == found.content {
        return Ok(());
    }
    redraw::redraw(account, at, card, until).await
}

fn refused(why: &str) -> RoomError {
    RoomError::Refused(why.to_owned())
}
