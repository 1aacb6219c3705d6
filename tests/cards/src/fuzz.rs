//! Cards of anything that libFuzzer comes up with; `tests/fuzz` builds and runs it.

#![no_main]

use countersign_cards::{sound, wild};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((room, bytes)) = bytes.split_first() else { return };
    let room = sound::ROOMS[usize::from(*room) % sound::ROOMS.len()];
    if let Err(problem) = sound::check(room, &wild::request(bytes)) {
        panic!("{problem}");
    }
});
