//! Asking one person whether they meant what they chose. A room has nothing that only one person sees, so it is a poll in
//! reply to the card that says whom it is for; whoever else answers it decides nothing.
//!
//! It is ended and removed once that person has answered it, once they may no longer, and with its card.

use std::sync::Arc;
use std::time::Duration;

use bridge_core::RoomError;
use bridge_core::wording::Words;
use bridge_model::{ClickRef, RequestId, ToConfirm};
use matrix_sdk::Room;
use matrix_sdk::ruma::{EventId, OwnedEventId, TransactionId};
use tokio::time::{Instant, timeout_at};
use tracing::debug;

use crate::account::Account;
use crate::render::{POLL_END, POLL_START, asking};
use crate::send::{redact, send};
use crate::{id, wait};

/// How long ending one may take. What stays after that can be pressed and does nothing.
const END_WITHIN: Duration = Duration::from_mins(1);

/// Shows the poll. Where that fails nothing is decided.
pub(crate) async fn ask(account: &Arc<Account>, click: &ClickRef, asked: &ToConfirm, words: &[Words]) -> Result<(), RoomError> {
    let served = account.named(&click.room)?;
    let room = account.joined(served)?;
    let poll = asking::poll(click, asked, words, account.encryption(&room).await?)?;
    let token = asked.button.token;
    let asking = account.live().ask(click, token, asked.until, Instant::now())?;
    // The same click can be told in two runs of the bridge, and each asks with a button of its own.
    let part = <&TransactionId>::from(format!("countersign-confirm-{token}").as_str()).to_owned();
    let sent = {
        // It is not to come between a card's message and its poll.
        let _alone = timeout_at(asking.until, served.posting.lock()).await;
        send(&room, POLL_START, &poll, &part, asking.until).await
    };
    if let Some(replaced) = asking.replaced {
        end(&room, asking.request, &replaced, Instant::now() + END_WITHIN).await;
    }
    let event = match sent {
        Ok(event) => event,
        Err(error) => {
            account.live().take_asked(asking.request, token);
            return Err(error);
        }
    };
    if !account.live().asked(asking.request, token, &event, Instant::now()) {
        // Its card was closed meanwhile, or the person chose anew.
        end(&room, asking.request, &event, Instant::now() + END_WITHIN).await;
        return Ok(());
    }
    served.due_changed.notify_one();
    let account = Arc::clone(account);
    tokio::spawn(async move {
        wait::until(Some(asking.until)).await;
        let over = account.live().take_asked(asking.request, token);
        if let Some(over) = over {
            end(&room, asking.request, &over, Instant::now() + END_WITHIN).await;
        }
    });
    Ok(())
}

/// Ends the poll that this click pressed, if it was one, and its own person's.
pub(crate) async fn used(account: &Account, click: &ClickRef) {
    let used = account.live().take_used(&click.room, &click.control, &click.person);
    let Some((request, poll)) = used else { return };
    let room = account.named(&click.room).and_then(|served| account.joined(served));
    if let Ok(room) = room {
        end(&room, request, &poll, Instant::now() + END_WITHIN).await;
    }
}

/// Ends whatever people were still asked about a card that is closed.
pub(crate) async fn end_all(account: &Account, room: &Room, request: RequestId, until: Instant) {
    let over: Vec<OwnedEventId> = account.live().take_all_asked(request);
    for poll in over {
        end(room, request, &poll, until).await;
    }
}

/// The end keeps clients from voting where the removal is not allowed. Best effort: none of it counts any more.
async fn end(room: &Room, request: RequestId, poll: &EventId, until: Instant) {
    let part = |what: &str| <&TransactionId>::from(format!("countersign-{what}-{poll}").as_str()).to_owned();
    let ended = send(room, POLL_END, &asking::end(poll), &part("confirmed"), until).await.map(|_| ());
    let removed = redact(room, poll, "over", &part("unconfirm"), until).await.map(|_| ());
    if let Err(error) = ended.and(removed) {
        debug!(request.id = %request, %error, "what was asked about request {request} stays in the room ({})", id::message_id(poll));
    }
}
