use super::*;
use crate::ended;

const NOW: Timestamp = Timestamp::from_unix_millis(0);

fn mark(token: &str, key: u64) -> Mark {
    Mark { token: token.to_owned(), key: key.to_string(), digest: String::new(), detached: true }
}

fn request() -> PermissionRequest {
    let options = r#"[{"optionId":"a"}]"#.to_owned();
    PermissionRequest {
        from: bridge_model::ReplyTo { source: bridge_model::SourceName::new("http"), ask: 0 },
        session: bridge_model::Session::default(),
        title: None,
        description: None,
        tool_call: None,
        options: acp_source::shape::options(&RawValue::from_string(options).expect("JSON")).expect("options"),
        meta: None,
        places: None,
    }
}

#[test]
fn no_token_makes_the_outcomes_of_another_be_forgotten() {
    let mut table = Table::default();
    table.restore(0, mark("quiet", 0), Some(ended(None, None, None)), false, NOW);
    for ask in 1..=u64::try_from(ENDED_MAX).expect("a number") + 10 {
        table.restore(ask, mark("loud", ask), Some(ended(None, None, None)), false, NOW);
    }
    assert!(table.of_token(0, "quiet").is_some());
    assert!(table.of_token(1, "loud").is_none() && table.of_token(12, "loud").is_some());
    assert_eq!((table.requests.len(), table.keys.len(), table.ended_count), (ENDED_MAX, ENDED_MAX, ENDED_MAX));
}

#[test]
fn what_is_open_takes_so_much_and_no_more() {
    let mut table = Table::default();
    let half = WEIGHT_MAX_OF_TOKEN / 2;
    let raise = |table: &mut Table, ask, token| table.raise(ask, mark(token, ask), request(), half, NOW);
    assert!(matches!(raise(&mut table, 1, "a"), Raising::New));
    assert!(matches!(raise(&mut table, 2, "a"), Raising::New));
    assert!(matches!(raise(&mut table, 3, "a"), Raising::TooMany), "it has its share");
    assert!(!table.grow(1, 1), "and no change has room");
    assert!(matches!(raise(&mut table, 3, "b"), Raising::New), "another has its own");
    assert!(table.end(1, ended(None, None, None)));
    assert!(table.grow(2, half), "what has ended takes nothing");
    assert!(matches!(raise(&mut table, 4, "a"), Raising::TooMany));
    assert!(table.end(2, ended(None, None, None)) && table.end(3, ended(None, None, None)));
    assert_eq!(table.weight, 0);
}

#[test]
fn as_many_are_open_as_may_be() {
    let mut table = Table::default();
    let mut taken = |token: &str, first: u64| {
        let raise = |ask: &u64| matches!(table.raise(*ask, mark(token, *ask), request(), 0, NOW), Raising::New);
        (first..first + 6_000).take_while(raise).count()
    };
    assert_eq!(["a", "b", "c"].map(|token| taken(token, u64::from(token.as_bytes()[0]) << 32)), [5_000, 5_000, 0]);
    assert_eq!(table.list("a", 1_000, NOW).len(), 1_000);
}
