//! A thread for each agent session.

use bridge_core::{Backoff, RoomError};
use bridge_model::{Origin, Shown};
use serde::Deserialize;
use serenity::all::{AutoArchiveDuration, ChannelId, ChannelType, CreateThread, LightMethod};
use serenity::http::{Request, Route};
use tokio::time::{Instant, timeout_at};

use crate::account::{Account, ServedRoom};
use crate::fault::Fault;
use crate::render;
use crate::wait::pause;

#[derive(Deserialize)]
struct Made {
    id: ChannelId,
}

/// The session's thread, which is made if there is none. Calls for the same session may make two, neither of which is
/// a card.
pub(crate) async fn of_session(
    account: &Account,
    served: &ServedRoom,
    origin: &Origin,
    until: Instant,
) -> Result<ChannelId, RoomError> {
    let room = &served.options.name;
    if let Some(thread) = account.live().thread(room, origin) {
        return Ok(thread);
    }
    let _alone = timeout_at(until, served.making_thread.lock()).await.map_err(|_| no_time())?;
    if let Some(thread) = account.live().thread(room, origin) {
        return Ok(thread);
    }
    let kind = if served.is_announcements() { ChannelType::NewsThread } else { ChannelType::PublicThread };
    let body = render::json(&CreateThread::new(title(origin)).kind(kind).auto_archive_duration(AutoArchiveDuration::OneWeek))?;
    let (mut is_unsure, mut backoff) = (false, Backoff::new());
    loop {
        let request = Request::new(Route::ChannelThreads { channel_id: served.channel }, LightMethod::Post);
        let made = timeout_at(until, account.rest.read::<Made>(request.body(Some(body.clone())))).await;
        match made.map_err(|_| no_time())? {
            Ok(Made { id }) => {
                account.live().thread_made(room, origin, id);
                return Ok(id);
            }
            Err(Fault::Later(_)) => {}
            // A thread that nobody uses may be left behind, and not one for each try.
            Err(Fault::Unsure(_)) if !is_unsure => is_unsure = true,
            Err(fault) => return Err(fault.into()),
        }
        let span = backoff.next_span();
        if until <= Instant::now() + span {
            return Err(no_time());
        }
        pause(span).await;
    }
}

fn no_time() -> RoomError {
    RoomError::Unavailable("the session's thread could not be made in time".to_owned())
}

/// The agent's name and the beginning of the session's id.
fn title(origin: &Origin) -> String {
    let session = origin.session.as_ref().map_or_else(|| Shown::line("no session"), |id| Shown::line(id.as_str()).cut(16));
    format!("{} · {session}", origin.agent.cut(30))
}
