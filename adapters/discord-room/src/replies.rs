//! What one person is told about their click, and nobody else.

use std::time::Duration;

use bridge_core::{RoomError, wording};
use bridge_model::{ClickRef, ClickReply};
use serenity::all::LightMethod;
use serenity::http::Route;
use tokio::time::Instant;
use tracing::debug;

use crate::account::Account;
use crate::id::Spot;
use crate::{render, send};

/// Nobody waits longer to hear about their click.
const REPLY_WITHIN: Duration = Duration::from_secs(30);

pub(crate) async fn answer(account: &Account, click: &ClickRef, reply: &ClickReply) -> Result<(), RoomError> {
    let token = account.live().tokens.remove(&click.click);
    let Some(words) = wording::reply(reply) else { return Ok(()) };
    if let ClickReply::TooLate(_) = reply
        && let Err(error) = take_buttons(account, click).await
    {
        debug!(%error, "the buttons of a card that is over could not be taken");
    }
    let token = token.ok_or_else(|| RoomError::Refused("the click is too long ago to be answered".to_owned()))?;
    let route = Route::WebhookFollowupMessages { application_id: account.application, token: &token };
    let body = render::private_follow_up(&words)?;
    Ok(send::repeat(account, route, LightMethod::Post, &body, Instant::now() + REPLY_WITHIN).await?)
}

/// Buttons of a card that nobody knew to be there: its post was given up, and it had been taken all the same.
async fn take_buttons(account: &Account, click: &ClickRef) -> Result<(), RoomError> {
    let spot = Spot::parse(&click.control)?;
    if account.live().room_of_card(spot).is_some() {
        return Ok(());
    }
    let route = Route::ChannelMessage { channel_id: spot.channel, message_id: spot.message };
    let body = render::without_buttons()?;
    Ok(send::repeat(account, route, LightMethod::Patch, &body, Instant::now() + REPLY_WITHIN).await?)
}
