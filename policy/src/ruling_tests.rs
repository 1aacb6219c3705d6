use std::collections::BTreeMap;

use bridge_model::{Content, OptionId, PermissionOption, ReplyTo, Session, SourceName, ToolCall};
use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;
use Verdict::{Ask, AutoAllow, AutoDeny};

const OFFERED: [&str; 3] = ["allow_always", "allow_once", "reject_once"];

#[test]
fn the_verdict_of_a_kind_comes_before_the_default_and_the_default_is_to_ask() {
    for (by_kind, default, kind, expected) in [
        (&[][..], None, ToolKind::Execute, Ask),
        (&[], Some(AutoDeny), ToolKind::Execute, AutoDeny),
        (&[], Some(AutoAllow), ToolKind::Execute, AutoAllow),
        (&[(ToolKind::Delete, AutoDeny)], None, ToolKind::Delete, AutoDeny),
        (&[(ToolKind::Execute, AutoAllow)], Some(AutoDeny), ToolKind::Execute, AutoAllow),
        (&[(ToolKind::Execute, Ask)], Some(AutoDeny), ToolKind::Execute, Ask),
        (&[(ToolKind::Read, AutoAllow)], None, ToolKind::Execute, Ask),
    ] {
        let policy = policy(table(by_kind, default), Launch::default());
        assert_eq!(verdict(&policy.rule(&request(kind), INSIDE)), expected, "{by_kind:?} {default:?} {kind:?}");
    }
}

#[test]
fn asking_is_written_out() {
    assert_eq!(Policy::asking(Duration::from_secs(1)).verdicts, table(&[], Some(Ask)));
}

#[test]
fn something_could_be_allowed_without_a_person_where_a_kind_or_the_default_has_it_so() {
    for (by_kind, default, expected) in [
        (&[][..], None, false),
        (&[(ToolKind::Read, Ask)], Some(AutoDeny), false),
        (&[(ToolKind::Read, AutoAllow)], None, true),
        (&[(ToolKind::Read, AutoDeny), (ToolKind::Edit, AutoAllow)], Some(Ask), true),
        (&[], Some(AutoAllow), true),
    ] {
        assert_eq!(policy(table(by_kind, default), Launch::default()).allows_anything(), expected, "{by_kind:?} {default:?}");
    }
}

#[test]
fn a_command_is_allowed_without_a_person_only_where_commands_are() {
    for (kind, expected) in
        [(ToolKind::Execute, AutoAllow), (ToolKind::Read, Ask), (ToolKind::Other, Ask), (ToolKind::Think, Ask)]
    {
        let policy = policy(table(&[], Some(AutoAllow)), Launch::default());
        assert_eq!(verdict(&policy.rule(&request(kind), Reach { has_command: true, ..INSIDE })), expected, "{kind:?}");
        assert_eq!(verdict(&policy.rule(&request(kind), INSIDE)), AutoAllow, "{kind:?}");
    }
}

#[test]
fn a_kind_that_nobody_knows_is_other_and_never_allowed_without_a_person() {
    for (by_kind, default, expected) in [
        (&[][..], Some(AutoAllow), Ask),
        (&[(ToolKind::Other, AutoAllow)], None, Ask),
        (&[(ToolKind::Other, AutoDeny)], Some(AutoAllow), AutoDeny),
        (&[], Some(AutoDeny), AutoDeny),
    ] {
        let policy = policy(table(by_kind, default), Launch::default());
        assert_eq!(verdict(&policy.rule(&request(ToolKind::Unknown), INSIDE)), expected, "{by_kind:?} {default:?}");
        let about_nothing = PermissionRequest { tool_call: None, ..request(ToolKind::Read) };
        assert_eq!(verdict(&policy.rule(&about_nothing, INSIDE)), expected, "no tool call: {by_kind:?} {default:?}");
    }
    let named = policy(table(&[(ToolKind::Other, AutoAllow)], None), Launch::default());
    assert_eq!(verdict(&named.rule(&request(ToolKind::Other), INSIDE)), AutoAllow);
}

#[test]
fn a_title_matches_whole_and_only_makes_it_stricter() {
    for (by_title, kinds, expected) in [
        (("make it", AutoDeny), AutoAllow, AutoDeny),
        (("make it", Ask), AutoAllow, Ask),
        (("make it", Ask), AutoDeny, AutoDeny),
        (("make it", AutoAllow), Ask, Ask),
        (("make it", AutoAllow), AutoDeny, AutoDeny),
        (("make it", AutoAllow), AutoAllow, Ask),
        (("make", AutoDeny), AutoAllow, AutoAllow),
        (("Make it", AutoDeny), AutoAllow, AutoAllow),
        (("make it ", AutoDeny), AutoAllow, AutoAllow),
    ] {
        let verdicts = Verdicts { by_title: [(by_title.0.to_owned(), by_title.1)].into(), ..table(&[], Some(kinds)) };
        let policy = policy(verdicts, Launch::default());
        assert_eq!(verdict(&policy.rule(&request(ToolKind::Execute), INSIDE)), expected, "{by_title:?} {kinds:?}");
        let mut of_request = request(ToolKind::Execute);
        of_request.title = of_request.tool_call.as_mut().and_then(|call| call.title.take());
        assert_eq!(verdict(&policy.rule(&of_request, INSIDE)), expected, "the request's own: {by_title:?} {kinds:?}");
    }
}

#[test]
fn only_the_one_option_that_allows_it_once_is_ever_taken() {
    for (kinds, taken) in [
        (&["allow_always", "allow_once"][..], Some(1)),
        (&["allow_once"], Some(0)),
        (&["allow_always", "reject_once"], None),
        (&["allow_once", "allow_once"], None),
        (&["Allow_once", "allow", "reject_once"], None),
        (&["reject_once"], None),
    ] {
        let request = PermissionRequest { options: options(kinds), ..request(ToolKind::Read) };
        let ruled = policy(table(&[], Some(AutoAllow)), Launch::default()).rule(&request, INSIDE);
        let expected = taken.and_then(|at| request.options.offered(at)).map_or(Ruling::Ask, Ruling::Allow);
        assert_eq!(ruled.ruling, expected, "{kinds:?}");
    }
}

#[test]
fn what_reaches_outside_is_asked_or_refused_and_never_allowed() {
    let outside = ["/etc/passwd".to_owned()];
    let reach = Reach { paths: &outside, outside: &outside, has_command: false };
    for (when, default, expected) in [
        (WhenOutside::Mark, AutoAllow, Ask),
        (WhenOutside::Mark, Ask, Ask),
        (WhenOutside::Mark, AutoDeny, AutoDeny),
        (WhenOutside::Refuse, AutoAllow, AutoDeny),
        (WhenOutside::Refuse, Ask, AutoDeny),
    ] {
        let policy = Policy { when_outside: when, ..policy(table(&[], Some(default)), Launch::default()) };
        assert_eq!(verdict(&policy.rule(&request(ToolKind::Read), reach)), expected, "{when:?} {default:?}");
        assert_eq!(verdict(&policy.rule(&request(ToolKind::Read), INSIDE)), default, "inside");
    }
}

#[test]
fn what_is_not_known_is_not_allowed_without_a_person() {
    let allowing = policy(table(&[], Some(AutoAllow)), Launch::default());
    let mut odd = request(ToolKind::Read);
    odd.tool_call.as_mut().expect("a tool call").content = vec![Content::Other(serde_json::json!({ "locations": 5 }))];
    assert_eq!(verdict(&allowing.rule(&odd, INSIDE)), Ask);
    for kind in [ToolKind::Read, ToolKind::Edit, ToolKind::Delete, ToolKind::Move] {
        assert_eq!(verdict(&allowing.rule(&request(kind), Reach::default())), Ask, "{kind:?}");
    }
    assert_eq!(verdict(&allowing.rule(&request(ToolKind::Think), Reach::default())), AutoAllow);
}

#[test]
fn what_was_decisive_is_the_first_that_asked_for_it() {
    let launch = Launch { verdicts: table(&[(ToolKind::Execute, AutoDeny)], None), lifetime: None };
    let policy = policy(table(&[(ToolKind::Execute, Ask)], None), launch);
    let ruled = policy.rule(&request(ToolKind::Execute), INSIDE);
    assert_eq!(ruled.decisive().map(ToString::to_string).as_deref(), Some("the launch says execute = auto_deny"));
    let steps: Vec<_> = ruled.because.iter().map(ToString::to_string).collect();
    assert_eq!(steps, ["the policy says execute = ask", "the launch says execute = auto_deny"]);
}

#[test]
fn a_launch_that_widens_is_told_what() {
    let strict = policy(table(&[(ToolKind::Delete, AutoDeny)], None), Launch::default());
    let launch = |verdicts, minutes: Option<u64>| Launch { verdicts, lifetime: minutes.map(Duration::from_mins) };
    let said = |launch: &Launch| strict.check(launch, false).map_err(|widens| widens.to_string());
    let delete = table(&[(ToolKind::Delete, Ask)], None);
    assert_eq!(said(&launch(delete, None)), Err("delete = ask is looser than the policy's auto_deny".to_owned()));
    let longer = launch(Verdicts::default(), Some(6));
    assert_eq!(said(&longer), Err("a lifetime of 360s is longer than the policy's 300s".to_owned()));
    assert_eq!(said(&launch(table(&[(ToolKind::Read, AutoDeny)], Some(AutoDeny)), Some(5))), Ok(()));
}

#[test]
fn a_deadline_counts_from_the_arrival() {
    let launch = Launch { lifetime: Some(Duration::from_mins(2)), ..Launch::default() };
    let policy = policy(Verdicts::default(), launch);
    let after = |asked_for| policy.deadline(Timestamp::from_unix_millis(1_000), asked_for, false);
    assert_eq!(after(None), Timestamp::from_unix_millis(121_000));
    assert_eq!(after(Some(Duration::from_secs(9))), Timestamp::from_unix_millis(10_000));
    assert_eq!(after(Some(Duration::MAX)), Timestamp::from_unix_millis(121_000));
}

proptest! {
    /// What a launch adds is never looser than the operator's policy alone, nor than what the launch itself says.
    #[test]
    fn a_merge_is_never_looser_than_either_side(
        operator in tables(),
        launch in tables(),
        kind in proptest::sample::select([&ToolKind::ALL[..], &[ToolKind::Unknown]].concat()),
        lifetime in proptest::option::of(0_u64..1_000_000),
        asked_for in proptest::option::of(0_u64..1_000_000),
    ) {
        let launch = Launch { verdicts: launch, lifetime: lifetime.map(Duration::from_secs) };
        let asked_for = asked_for.map(Duration::from_secs);
        let (alone, merged) = (policy(operator.clone(), Launch::default()), policy(operator, launch.clone()));
        let request = request(kind);
        let ruled = verdict(&merged.rule(&request, INSIDE));
        prop_assert!(verdict(&alone.rule(&request, INSIDE)) <= ruled);
        prop_assert!(launch.verdicts.on_kind(kind).is_none_or(|(_, verdict)| verdict <= ruled));
        prop_assert!(launch.verdicts.by_title.get("make it").is_none_or(|verdict| *verdict <= ruled));
        let arrived = Timestamp::from_unix_millis(7);
        let deadline = merged.deadline(arrived, asked_for, false);
        prop_assert!(deadline <= alone.deadline(arrived, asked_for, false));
        for span in [launch.lifetime, asked_for, Some(merged.lifetime)].into_iter().flatten() {
            prop_assert!(deadline <= arrived.after(span));
        }
        // Whoever passes the check gets exactly what they asked for, or what the operator has.
        if merged.check(&launch, false).is_ok() {
            let own = launch.verdicts.on_kind(kind).map(|(_, verdict)| verdict);
            let titled = launch.verdicts.by_title.get("make it").map(|verdict| (*verdict).max(Ask));
            let least = [Some(verdict(&alone.rule(&request, INSIDE))), own, titled].into_iter().flatten().max();
            prop_assert_eq!(Some(ruled), least);
        }
    }
}

fn tables() -> impl Strategy<Value = Verdicts> {
    let any_verdict = || proptest::sample::select(Verdict::ALL.to_vec());
    let kinds = proptest::collection::btree_map(proptest::sample::select(ToolKind::ALL.to_vec()), any_verdict(), 0..6);
    let titles = proptest::collection::btree_map(
        proptest::sample::select(vec!["make it".to_owned(), "x".to_owned()]),
        any_verdict(),
        0..2,
    );
    (kinds, titles, proptest::option::of(any_verdict())).prop_map(|(by_kind, by_title, default)| Verdicts {
        by_title,
        by_kind,
        default,
    })
}

const INSIDE: Reach<'static> = Reach { paths: INSIDE_PATHS, outside: &[], has_command: false };
static INSIDE_PATHS: &[String] = &[String::new()];

fn verdict(ruled: &Ruled) -> Verdict {
    match ruled.ruling {
        Ruling::Allow(_) => AutoAllow,
        Ruling::Ask => Ask,
        Ruling::Deny => AutoDeny,
    }
}

fn table(by_kind: &[(ToolKind, Verdict)], default: Option<Verdict>) -> Verdicts {
    Verdicts { by_title: BTreeMap::new(), by_kind: by_kind.iter().copied().collect(), default }
}

fn policy(verdicts: Verdicts, launch: Launch) -> Policy {
    Policy { verdicts, launches: vec![launch], ..Policy::asking(Duration::from_mins(5)) }
}

fn request(kind: ToolKind) -> PermissionRequest {
    PermissionRequest {
        from: ReplyTo { source: SourceName::new("s"), ask: 1 },
        session: Session::default(),
        title: None,
        description: None,
        tool_call: Some(ToolCall { kind, title: Some("make it".into()), ..ToolCall::default() }),
        options: options(&OFFERED),
        meta: None,
        places: None,
    }
}

fn options(kinds: &[&str]) -> Options {
    let option = |(at, kind): (usize, &&str)| PermissionOption {
        id: OptionId::parse(&RawValue::from_string(format!("\"o{at}\"")).expect("JSON")).expect("an id"),
        name: "Allow".into(),
        kind: OptionKind::parse(kind),
        meta: None,
    };
    Options::new(kinds.iter().enumerate().map(option).collect()).expect("options")
}
