//! Looks at the keys from time to time: a page whose key was revoked is closed, and a room without keys is lost.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bridge_core::RoomEvent;
use bridge_model::RoomName;
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval};

use crate::keys::{Keys, KeysError};
use crate::served::{NoKeys, Served};

/// How long an open page outlives its key. Its clicks do not: each asks for the key.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Looks that may fail in a row, for a disk that is busy or a table that is full.
const FAILURES_MAX: u32 = 3;
/// Looks between two notes of which sessions are in use.
const NOTE_EVERY: u32 = 1_800;

/// Until `stop` ends. `events` is kept for as long, so that they do not end before the page.
pub(crate) async fn run(served: Arc<Served>, events: mpsc::Sender<RoomEvent>, mut stop: watch::Receiver<()>) {
    let mut looks = interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut failures, mut since_note) = (0, 0);
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            _ = stop.changed() => return,
        }
        let told = match served.ask_keys(Keys::sessions).await {
            Ok(sessions) => {
                let open = served.streams.keep(&sessions);
                since_note = (since_note + 1) % NOTE_EVERY;
                if since_note == 0 {
                    served.forget();
                    // It is noted again the next time.
                    let _ = served.ask_keys(move |keys| keys.used(&open)).await;
                }
                let was_lost = FAILURES_MAX <= std::mem::take(&mut failures);
                was_lost.then(|| all(&served.rooms, |room| RoomEvent::RoomFound(room.clone())))
            }
            Err(NoKeys::Ending) => return,
            Err(NoKeys::Because(problem)) => {
                // There is nothing to wait for once the file is gone.
                let more = if let KeysError::Gone(_) = problem { FAILURES_MAX } else { 1 };
                let was_lost = FAILURES_MAX <= failures;
                failures = FAILURES_MAX.min(failures + more);
                (!was_lost && failures == FAILURES_MAX).then(|| {
                    served.streams.keep(&BTreeSet::new());
                    all(&served.rooms, |room| RoomEvent::RoomLost(room.clone(), problem.to_string()))
                })
            }
        };
        for event in told.into_iter().flatten() {
            if events.send(event).await.is_err() {
                return;
            }
        }
    }
}

fn all(rooms: &BTreeSet<RoomName>, event: impl Fn(&RoomName) -> RoomEvent) -> Vec<RoomEvent> {
    rooms.iter().map(event).collect()
}
