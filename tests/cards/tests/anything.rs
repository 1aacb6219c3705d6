//! Whatever an agent asks, its card is sound in every room, or there is none.

use countersign_cards::sound::{self, Drawn, Room};
use countersign_cards::wild;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

const CASES: u32 = 10_000;
const BYTES: std::ops::Range<usize> = 0..600;

#[test]
fn on_discord() {
    holds(Room::Discord);
}

#[test]
fn on_matrix() {
    holds(Room::Matrix);
}

#[test]
fn on_the_page() {
    holds(Room::Web);
}

fn holds(room: Room) {
    let mut runner = TestRunner::new(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    });
    let counts = std::cell::RefCell::new([0_u32; 3]);
    let result = runner.run(&proptest::collection::vec(any::<u8>(), BYTES), |bytes| {
        let drawn = sound::check(room, &wild::request(&bytes)).map_err(TestCaseError::fail)?;
        counts.borrow_mut()[match drawn {
            Drawn::Whole => 0,
            Drawn::Part => 1,
            Drawn::Refused => 2,
        }] += 1;
        Ok(())
    });
    if let Err(problem) = result {
        panic!("{problem}");
    }
    // If none could be allowed, or all could, it would prove nothing.
    let [whole, part, refused] = counts.into_inner();
    assert!(CASES / 2 < whole && 20 < part && 20 < refused, "{whole} whole, {part} in part, {refused} refused");
}
