//! Discord's ids: when something was made, and a number that makes it unique.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::Value;

/// 2015-01-01, from which Discord counts milliseconds.
const EPOCH_MILLIS: u64 = 1_420_070_400_000;
const TIME_SHIFT: u32 = 22;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Snowflake(pub u64);

impl Snowflake {
    pub(crate) fn fresh() -> Self {
        Self::aged(Duration::ZERO)
    }

    /// Made so long ago.
    pub(crate) fn aged(age: Duration) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed) & ((1 << TIME_SHIFT) - 1);
        let millis = unix_time().saturating_sub(age).as_millis();
        let millis = u64::try_from(millis).expect("this century").saturating_sub(EPOCH_MILLIS);
        Self(millis << TIME_SHIFT | number)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    pub fn json(self) -> Value {
        Value::String(self.to_string())
    }
}

impl fmt::Display for Snowflake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Now, as Discord writes instants.
pub(crate) fn timestamp() -> String {
    humantime::format_rfc3339_micros(SystemTime::UNIX_EPOCH + unix_time()).to_string().replace('Z', "+00:00")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the ids that a client checks the age of come from the real clock, as Discord's do"
)]
pub(crate) fn unix_time() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock that is set")
}
