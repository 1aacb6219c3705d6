//! Asking one person whether they meant it: a message that nobody else sees, with one button.
//!
//! What is pressed there is told like any other click. Once it is answered, the message says what became of it; if nobody
//! presses, it goes.

use std::sync::Arc;
use std::time::Duration;

use bridge_core::RoomError;
use bridge_core::wording::{self, Words};
use bridge_model::{Button, ClickRef, ClickReply, Shown, Timestamp, ToConfirm};
use serde::Deserialize;
use serenity::all::{
    CreateActionRow, CreateAllowedMentions, CreateInteractionResponseFollowup, EditInteractionResponse, LightMethod,
    MessageFlags, MessageId,
};
use serenity::http::Route;
use tokio::time::Instant;
use tracing::debug;

use crate::account::Account;
use crate::board::LABEL_MAX;
use crate::fault::Fault;
use crate::id::{self, Spot};
use crate::questions::Question;
use crate::render::{self, CONTENT_MAX, units};
use crate::send;
use crate::wait::pause;

/// How long nobody waits more to have it taken away.
const TAKE_AWAY_WITHIN: Duration = Duration::from_secs(30);
/// The bridge's clock may differ from Discord's, and nobody decides faster.
const SHOWN_MIN: Duration = Duration::from_secs(15);
/// Discord lets a click be followed up for 15 minutes.
const SHOWN_MAX: Duration = Duration::from_mins(14);

#[derive(Deserialize)]
struct Asked {
    id: MessageId,
}

/// Asks whoever clicked. What they were asked about the same card before goes.
pub(crate) async fn ask(
    account: &Arc<Account>,
    click: &ClickRef,
    token: &str,
    asked: &ToConfirm,
    words: &[Words],
    until: Instant,
) -> Result<(), RoomError> {
    let route = Route::WebhookFollowupMessages { application_id: account.application, token };
    let Asked { id } = send::repeat_reading(account, route, LightMethod::Post, &question(words, asked)?, until).await?;
    let replaced = account.live().questions.asked(Question::new(id, token, click));
    take_away_later(account, id, left(click, asked.until));
    if let Some(replaced) = replaced {
        take_away(account, &replaced).await;
    }
    Ok(())
}

/// Answers a press on a question, on the question itself. `false`: it is not there any more.
pub(crate) async fn tell(
    account: &Account,
    click: &ClickRef,
    token: &str,
    body: &[u8],
    until: Instant,
) -> Result<bool, RoomError> {
    account.live().questions.over(Spot::parse(&click.control)?.message);
    let route = Route::WebhookOriginalInteractionResponse { application_id: account.application, token };
    match send::repeat(account, route, LightMethod::Patch, body, until).await {
        Ok(()) => Ok(true),
        Err(Fault::NoMessage) => Ok(false),
        Err(fault) => Err(fault.into()),
    }
}

/// What a question says once it was pressed.
pub(crate) fn told(words: &[Words], reply: &ClickReply) -> Result<Vec<u8>, RoomError> {
    let buttons = match reply {
        ClickReply::ToConfirm(asked) => vec![row(&asked.button)],
        ClickReply::Chosen
        | ClickReply::IsFirst
        | ClickReply::Differs { .. }
        | ClickReply::TooLate(_)
        | ClickReply::MayNotAnswer(_)
        | ClickReply::NothingWaits => Vec::new(),
    };
    let edit = EditInteractionResponse::new().content(fitted(words)).components(buttons);
    render::json(&edit.allowed_mentions(CreateAllowedMentions::new()))
}

fn question(words: &[Words], asked: &ToConfirm) -> Result<Vec<u8>, RoomError> {
    let message = CreateInteractionResponseFollowup::new().content(fitted(words)).components(vec![row(&asked.button)]);
    let message = message.flags(MessageFlags::EPHEMERAL | MessageFlags::SUPPRESS_EMBEDS);
    render::json(&message.allowed_mentions(CreateAllowedMentions::new()))
}

/// The text above has the label whole.
fn row(button: &Button) -> CreateActionRow {
    let fits = |label: &Shown| units(label.as_str()) <= LABEL_MAX;
    let lengths = (1..=LABEL_MAX).rev();
    let confirming = Shown::line(&wording::confirming(button.label.as_str()));
    let label = lengths.map(|length| confirming.cut(length)).find(fits).unwrap_or_default();
    CreateActionRow::Buttons(vec![render::button(&Button { label, ..button.clone() })])
}

/// As much of what others wrote as a message holds.
fn fitted(words: &[Words]) -> String {
    const THEIRS_MAX: [usize; 3] = [300, 150, 75];
    let mut texts = THEIRS_MAX.map(|max| render::sentence_of(words, max)).into_iter();
    let shortest = texts.next_back().unwrap_or_default();
    texts.find(|text| units(text) <= CONTENT_MAX).unwrap_or(shortest)
}

/// How long the question still counts, from the click that it follows.
fn left(click: &ClickRef, until: Timestamp) -> Duration {
    let clicked_at = id::snowflake(click.click.as_str()).map_or(0, id::made_at);
    Duration::from_millis(until.unix_millis().saturating_sub(clicked_at)).clamp(SHOWN_MIN, SHOWN_MAX)
}

/// One too many stays until its person dismisses it.
fn take_away_later(account: &Arc<Account>, message: MessageId, after: Duration) {
    let Ok(place) = Arc::clone(&account.asking).try_acquire_owned() else { return };
    let account = Arc::downgrade(account);
    tokio::spawn(async move {
        pause(after).await;
        if let Some(account) = account.upgrade() {
            let question = account.live().questions.over(message);
            if let Some(question) = question {
                take_away(&account, &question).await;
            }
        }
        drop(place);
    });
}

async fn take_away(account: &Account, question: &Question) {
    let Question { message, token, .. } = question;
    let route = Route::WebhookFollowupMessage { application_id: account.application, token, message_id: *message };
    if let Err(fault) = send::repeat(account, route, LightMethod::Delete, b"", Instant::now() + TAKE_AWAY_WITHIN).await {
        debug!(?fault, "a question that is over could not be taken away");
    }
}

#[cfg(test)]
#[path = "confirm_tests.rs"]
mod tests;
