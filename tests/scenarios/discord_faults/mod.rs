//! Discord on its worst days, from a seed: whatever it does, no card is posted twice, and no agent is told that something
//! is allowed unless somebody who may answer pressed that button and Discord took the acknowledgement of it.
//!
//! The bridge's own state machine and the real adapter run in this process against the double of Discord.

mod board;
mod crowd;
mod run;
mod weather;

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use run::Tally;

/// Enough to meet each fault some times.
const DAYS: u64 = 100;
/// Runs at once: most of a run is waiting.
const AT_ONCE: usize = 48;

/// `COUNTERSIGN_TEST_BAD_DAYS` says how many; a failure names its seed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_days_neither_allow_nor_repeat() {
    let days = days();
    let tally = play(0..days).await;
    println!("{tally:#?}");
    let least = usize::try_from(days).expect("few") / 12;
    assert!(least < tally.allowed && least < tally.refused, "a simulation of nothing proves nothing: {tally:?}");
}

#[expect(clippy::disallowed_methods, reason = "a setting of the tests; the program under test reads its own")]
fn days() -> u64 {
    std::env::var("COUNTERSIGN_TEST_BAD_DAYS").map_or(DAYS, |days| days.parse().expect("COUNTERSIGN_TEST_BAD_DAYS is a number"))
}

async fn play(seeds: std::ops::Range<u64>) -> Tally {
    let (places, mut runs) = (Arc::new(Semaphore::new(AT_ONCE)), JoinSet::new());
    for seed in seeds {
        let places = places.clone();
        runs.spawn(async move {
            let _place = places.acquire().await.expect("never closed");
            run::play(seed).await
        });
    }
    let (mut tally, mut failures) = (Tally::default(), Vec::new());
    while let Some(played) = runs.join_next().await {
        match played.expect("a run does not panic") {
            Ok(counts) => tally.add(counts),
            Err(failure) => failures.push(failure),
        }
    }
    assert!(failures.is_empty(), "{} of the runs failed:\n{}", failures.len(), failures.join("\n"));
    tally
}
