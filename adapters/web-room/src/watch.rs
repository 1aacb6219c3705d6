//! Looks at the keys from time to time: a page whose key was revoked is closed, and a room without keys is lost.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bridge_core::RoomEvent;
use bridge_model::RoomName;
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval};

use crate::served::Served;

/// How long an open page outlives its key. Its clicks do not: each asks for the key.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Until `stop` ends. `events` is kept for as long, so that they do not end before the page.
pub(crate) async fn run(served: Arc<Served>, events: mpsc::Sender<RoomEvent>, mut stop: watch::Receiver<()>) {
    let mut looks = interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_lost = false;
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            _ = stop.changed() => return,
        }
        let told = match served.ask_keys(crate::Keys::sessions).await {
            Ok(sessions) => {
                served.streams.keep(&sessions);
                std::mem::replace(&mut is_lost, false).then(|| all(&served.rooms, |room| RoomEvent::RoomFound(room.clone())))
            }
            Err(problem) => {
                served.streams.keep(&[]);
                let lost = |room: &RoomName| RoomEvent::RoomLost(room.clone(), problem.clone());
                (!std::mem::replace(&mut is_lost, true)).then(|| all(&served.rooms, lost))
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
