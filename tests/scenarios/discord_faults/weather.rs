//! What goes wrong, how often, drawn once for each run.

use std::time::Duration;

use countersign_tests::discord_double::{Answer, ApiError, DiscordDouble, Fault, Greeting, Limited, RestRequest, Route};
use fastrand::Rng;

/// How many requests of a hundred go wrong, in this run.
pub(crate) fn set(discord: &DiscordDouble, dice: &mut Rng) {
    let percent = [0, 10, 25, 50][dice.usize(..4)];
    let mut dice = dice.fork();
    discord.faults(move |request| (dice.u8(..100) < percent).then(|| fault(request, &mut dice)));
}

fn fault(request: &RestRequest, dice: &mut Rng) -> Fault {
    // Long enough that acknowledgements come too late, now and then.
    let longest = [300, 1_200, 3_600][dice.usize(..3)];
    let delay = Duration::from_millis(dice.u64(50..longest));
    match dice.u8(..10) {
        0..3 => Fault::Late(delay),
        3..5 => Fault::Slow(delay),
        5..8 => Fault::Instead(refusal(request, dice)),
        _ => Fault::Afterwards(loss(request, dice)),
    }
}

/// What Discord says of what it has not done.
fn refusal(request: &RestRequest, dice: &mut Rng) -> Answer {
    let wait = Duration::from_millis(dice.u64(50..1_500));
    match (dice.u8(..10), request.route) {
        (0, _) => Answer::RateLimited(Limited::User, wait),
        (1, _) => Answer::RateLimited(Limited::Global, wait),
        (2, _) => Answer::RateLimited(Limited::Shared, wait),
        (3, Route::Edit) => Answer::TooManyEdits(wait),
        (3 | 4, _) => bad_gateway(dice),
        (5, _) => Answer::Nothing,
        (6..10, Route::Post) if !request.files.is_empty() => refused_file(dice),
        // For good. Nothing can be expected after it, so it does not happen where the end of a run has expectations.
        (6, Route::Post) => Answer::Error(ApiError::MISSING_ACCESS),
        (6, Route::Ack) => Answer::Error(ApiError::UNKNOWN_INTERACTION),
        (6, Route::Followup) => Answer::Error(ApiError::UNKNOWN_WEBHOOK),
        _ => Answer::Dropped,
    }
}

/// What a client may see of what was done.
fn loss(request: &RestRequest, dice: &mut Rng) -> Answer {
    match dice.u8(..6) {
        // That is no loss, but a lie.
        5 if !request.files.is_empty() => refused_file(dice),
        0 => bad_gateway(dice),
        1 => Answer::Nothing,
        2 => Answer::BrokenJson,
        3 => Answer::OddJson,
        _ => Answer::Dropped,
    }
}

/// Without its file the message is taken.
fn refused_file(dice: &mut Rng) -> Answer {
    Answer::Error([ApiError::TOO_LARGE, ApiError::MISSING_PERMISSIONS][dice.usize(..2)])
}

fn bad_gateway(dice: &mut Rng) -> Answer {
    Answer::Html([500, 502, 503, 504, 520][dice.usize(..5)])
}

/// Something happens to the gateway.
pub(crate) fn disturb(discord: &DiscordDouble, dice: &mut Rng) {
    if dice.bool() {
        discord.greet(Greeting::Refused);
    }
    match dice.u8(..8) {
        0 => discord.close([4000, 4001, 4008, 4009][dice.usize(..4)]),
        1 | 2 => discord.cut(),
        3 => discord.op7(),
        4 => discord.op9(true),
        5 => discord.op9(false),
        6 => {
            discord.forget_sessions();
            discord.cut();
        }
        _ => discord.set_stuck(true),
    }
}

/// From now on all is well.
pub(crate) fn clear(discord: &DiscordDouble) {
    discord.no_faults();
    discord.set_stuck(false);
}
