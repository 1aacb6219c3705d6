//! Recordings of real agents, played through a bridge that has no room.

use std::ffi::OsString;

use countersign_tests::{Capture, Launch, fake_bridge, replay};
use futures_util::{StreamExt, stream};

/// Replays at once; each is an agent, a bridge and little work.
const AT_ONCE: usize = 4;

#[tokio::test]
async fn without_a_room_everything_passes_but_permission_requests_which_are_refused() {
    check_all(async |agent: &[OsString]| Launch::acp(None, agent).await).await;
}

#[tokio::test]
async fn a_replay_accepts_a_bridge_that_does_it_right() {
    check_all(async |agent: &[OsString]| fake_bridge("refuse")(agent)).await;
}

#[tokio::test]
async fn a_replay_notices_what_is_wrong() {
    check_fails("pass", "the client got\n").await;
    check_fails("twice", "a line that nobody sent").await;
    check_fails("allow", "the agent should have got").await;
    check_fails("rewrite", "instead of").await;
    check_fails("reorder", "instead of").await;
}

async fn check_all(launch: impl AsyncFn(&[OsString]) -> Launch) {
    let captures = Capture::all();
    let replays = captures.iter().map(|capture| replay(capture, &launch));
    let results: Vec<_> = stream::iter(replays).buffer_unordered(AT_ONCE).collect().await;
    assert!(!results.is_empty(), "there are recordings");
    let failures: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{} of {} recordings:\n{}", failures.len(), captures.len(), failures.join("\n\n"));
}

async fn check_fails(mode: &str, why: &str) {
    let capture = Capture::named("gemini-cli__execute_allow_once");
    let result = replay(&capture, async |agent: &[OsString]| fake_bridge(mode)(agent)).await;
    let error = result.expect_err(mode);
    assert!(error.contains(why), "{mode}: {error}");
}
