//! Showing a posted card as it is now: its message is edited, with the same buttons and the file that it has.

use std::time::Duration;

use bridge_core::{RoomError, lay_out};
use bridge_model::{Card, CardRef};
use serenity::all::{EditMessage, LightMethod};
use serenity::http::Route;
use tokio::time::{Instant, timeout_at};

use crate::account::Account;
use crate::id::Spot;
use crate::render::{self, Sheet};
use crate::{Mention, send};

/// A closing waits for it.
pub(crate) const REDRAW_WITHIN: Duration = Duration::from_secs(20);

/// Does nothing where the card is being closed, or was.
pub(crate) async fn redraw(account: &Account, at: &CardRef, card: &Card, until: Instant) -> Result<(), RoomError> {
    let spot = Spot::parse(&at.control)?;
    let served = account.named(&at.room)?;
    let waiting = || account.live().waiting(card.request, spot);
    let Some((_, editing)) = waiting() else { return Ok(()) };
    let no_time = |_| RoomError::Unavailable("the card was being edited all the time".to_owned());
    let _alone = timeout_at(until, editing.lock()).await.map_err(no_time)?;
    let Some((posted, _)) = waiting() else { return Ok(()) };
    if posted.digest != card.digest {
        // People have read one thing on it, and its file may be that.
        return Err(RoomError::Refused("it would show something else than what was posted".to_owned()));
    }
    let body = body(card, &served.options.mention, posted.has_file)?;
    let route = Route::ChannelMessage { channel_id: spot.channel, message_id: spot.message };
    Ok(send::repeat(account, route, LightMethod::Patch, &body, until).await?)
}

/// Files that an edit does not name stay.
fn body(card: &Card, mention: &Mention, has_file: bool) -> Result<Vec<u8>, RoomError> {
    let edit = EditMessage::new().content(content(card, mention, has_file)?).components(render::buttons(card));
    render::json(&edit.allowed_mentions(render::allowed(mention)))
}

/// What the message of a posted card says now.
pub(crate) fn content(card: &Card, mention: &Mention, has_file: bool) -> Result<String, RoomError> {
    let sheet = Sheet::of_posted(card, mention, has_file);
    // What is cut away has to be in the file.
    let laid = lay_out(card, |laid| (has_file || laid.is_whole == card.is_whole) && sheet.fits(laid));
    let laid = laid.ok_or_else(|| RoomError::NotShowable("there is no room for what is new".to_owned()))?;
    Ok(sheet.content(&laid))
}

#[cfg(test)]
#[path = "redraw_tests.rs"]
mod tests;
