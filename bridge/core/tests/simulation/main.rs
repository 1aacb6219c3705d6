//! Two rooms with different rules, two sources, six people and a hostile order of events, from a seed: whatever happens, the invariants hold.
//!
//! The oracle in `oracle.rs` knows the rules in its own words. It says for each click whether it has to count, so that
//! the simulation fails when too much is allowed and when too little is.

mod oracle;
mod rules;
mod told;
mod verdict;
mod world;

use told::Told;
use world::World;

const SEEDS: u64 = 10_000;
const STEPS: usize = 120;

#[test]
fn the_invariants_hold_in_every_order_of_events() {
    let mut told = Told::default();
    for seed in 0..SEEDS {
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            world.step();
        }
        world.finish();
        told.add(world.told);
    }
    // A simulation in which nothing is allowed, or nothing expires, would prove nothing.
    for (what, count) in told.counts() {
        assert!(100 < count, "only {count} {what} in {SEEDS} runs");
    }
}
