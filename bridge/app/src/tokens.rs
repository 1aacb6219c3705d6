//! The only file that reads the operating system's randomness.

use bridge_core::Tokens;
use bridge_model::ButtonToken;

/// Button tokens that nobody can guess.
#[derive(Debug)]
pub(crate) struct RandomTokens;

impl Tokens for RandomTokens {
    fn draw(&mut self) -> ButtonToken {
        ButtonToken::from_random(u128::from_ne_bytes(random()))
    }
}

/// The id of this run of the bridge.
pub(crate) fn random_run() -> u64 {
    u64::from_ne_bytes(random())
}

#[expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "without randomness there are no unguessable buttons, and nothing may be served"
)]
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system has no random numbers");
    bytes
}
