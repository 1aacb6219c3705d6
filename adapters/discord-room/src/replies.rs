//! What one person is told about their click, and nobody else.

use std::sync::Arc;
use std::time::Duration;

use bridge_core::wording::Words;
use bridge_core::{RoomError, wording};
use bridge_model::{ClickRef, ClickReply};
use serenity::all::LightMethod;
use serenity::http::Route;
use tokio::time::Instant;
use tracing::debug;

use crate::account::Account;
use crate::id::Spot;
use crate::live::Pressed;
use crate::{confirm, render, send};

/// Nobody waits longer to hear about their click.
const REPLY_WITHIN: Duration = Duration::from_secs(30);

pub(crate) async fn answer(account: &Arc<Account>, click: &ClickRef, reply: &ClickReply) -> Result<(), RoomError> {
    let until = Instant::now() + REPLY_WITHIN;
    let pressed = account.live().pressed.remove(&click.click);
    let is_private = pressed.as_ref().is_some_and(|pressed| pressed.is_private);
    let Some(words) = words(reply, is_private) else { return Ok(()) };
    if let ClickReply::TooLate(_) = reply
        && !is_private
        && let Err(error) = take_buttons(account, click).await
    {
        debug!(%error, "the buttons of a card that is over could not be taken");
    }
    let too_long_ago = || RoomError::Refused("the click is too long ago to be answered".to_owned());
    let Pressed { token, .. } = pressed.ok_or_else(too_long_ago)?;
    if is_private && confirm::tell(account, click, &token, &confirm::told(&words, reply)?, until).await? {
        return Ok(());
    }
    if let ClickReply::ToConfirm(asked) = reply {
        return confirm::ask(account, click, &token, asked, &words, until).await;
    }
    let route = Route::WebhookFollowupMessages { application_id: account.application, token: &token };
    let body = render::private_follow_up(&words)?;
    Ok(send::repeat(account, route, LightMethod::Post, &body, until).await?)
}

/// A choice that counts is on the card already, but the question that it answered has to say something.
fn words(reply: &ClickReply, is_private: bool) -> Option<Vec<Words>> {
    let confirmed = is_private.then(|| vec![Words::Ours("Confirmed. The card says what becomes of it.".to_owned())]);
    wording::reply(reply).or(confirmed)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_that_counted_is_told_where_it_was_confirmed_and_nowhere_else() {
        assert_eq!(words(&ClickReply::Chosen, false), None);
        assert!(words(&ClickReply::Chosen, true).is_some());
        for is_private in [false, true] {
            assert_eq!(words(&ClickReply::IsFirst, is_private), wording::reply(&ClickReply::IsFirst));
        }
    }
}
