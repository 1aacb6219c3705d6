//! How long a request waits.

use std::time::Duration;

use serde_json::Value;

/// No request waits longer, whoever asks for it.
pub const LIFETIME_MAX: Duration = Duration::from_hours(30 * 24);

/// The span that a request asks for by its `_meta`: whole seconds as `countersign.timeout`, or as Fountain has it,
/// `fountain.timeout`; as a number or as digits. Of two the shorter. What is neither asks for nothing.
#[must_use]
pub fn asked_for(meta: Option<&Value>) -> Option<Duration> {
    let seconds = |of: &str| {
        let timeout = meta?.get(of)?.get("timeout")?;
        timeout.as_u64().or_else(|| timeout.as_str()?.parse().ok()).filter(|seconds| 0 < *seconds)
    };
    ["countersign", "fountain"].into_iter().filter_map(seconds).min().map(Duration::from_secs)
}

/// The shortest of what the operator, the launch and the request want, and never longer than [`LIFETIME_MAX`].
#[must_use]
pub(crate) fn lifetime(operator: Duration, launch: Option<Duration>, request: Option<Duration>) -> Duration {
    [Some(operator), launch, request].into_iter().flatten().fold(LIFETIME_MAX, Duration::min)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_may_ask_for_less_time_in_its_own_words() {
        for (meta, seconds) in [
            (json!({ "countersign": { "timeout": 30 } }), Some(30)),
            (json!({ "fountain": { "timeout": "45" } }), Some(45)),
            (json!({ "fountain": { "timeout": 45 }, "countersign": { "timeout": 60 } }), Some(45)),
            (json!({ "countersign": { "timeout": 0 } }), None),
            (json!({ "countersign": { "timeout": -1 } }), None),
            (json!({ "countersign": { "timeout": 1.5 } }), None),
            (json!({ "countersign": { "timeout": "5m" } }), None),
            (json!({ "countersign": 5 }), None),
            (json!([]), None),
        ] {
            assert_eq!(asked_for(Some(&meta)), seconds.map(Duration::from_secs), "{meta}");
        }
        assert_eq!(asked_for(None), None);
    }

    #[test]
    fn the_shortest_span_counts() {
        let minutes = |minutes| Some(Duration::from_mins(minutes));
        for (launch, request, expected) in
            [(None, None, 5), (minutes(2), None, 2), (minutes(9), minutes(1), 1), (minutes(3), minutes(60), 3)]
        {
            assert_eq!(lifetime(Duration::from_mins(5), launch, request), Duration::from_mins(expected));
        }
        assert_eq!(lifetime(Duration::MAX, minutes(u64::MAX / 60), None).as_secs(), 2_592_000);
    }
}
