use bridge_model::{Humanity, Presence, Signature, Standing};

use super::*;
use crate::{Listed, Who};

const ADA: &str = "@ada:x";
const BOB: &str = "@bob:x";
const ONCE: OptionKind = OptionKind::AllowOnce;
const ALWAYS: OptionKind = OptionKind::AllowAlways;
const NO: OptionKind = OptionKind::RejectOnce;

#[test]
fn one_approver_is_enough_unless_more_is_asked_for() {
    let (rules, ada) = (rules(), person(ADA));
    for option in [ONCE, ALWAYS, NO, OptionKind::RejectAlways, OptionKind::Unknown("x".into())] {
        assert_eq!(judged(&rules, &Press { option: &option, ..press(&ada) }), "settles", "{option:?}");
    }
    assert_eq!(judged(&rules, &press(&person("@eve:x"))), "NotListed");
}

#[test]
fn whoever_launched_the_agent_does_not_answer_it_where_that_is_asked_for() {
    let rules = AnswerRules { requester_may_answer: false, ..rules() };
    let (ada, bob) = (person(ADA), PersonId::new(BOB));
    for option in [ONCE, NO] {
        let press = Press { option: &option, ..press(&ada) };
        assert_eq!(judged(&rules, &Press { requester: Some(&ada.id), ..press }), "Requester");
        assert_eq!(judged(&rules, &Press { requester: None, ..press }), "RequesterUnknown");
        assert_eq!(judged(&rules, &Press { requester: Some(&bob), ..press }), "settles");
    }
}

#[test]
fn two_different_people_choose_the_same_and_one_is_enough_to_refuse() {
    let rules = AnswerRules { approvals: Approvals::Two, ..rules() };
    let (ada, bob) = (person(ADA), person(BOB));
    let first = |id, at| Some((id, at));
    for (press, expected) in [
        (press(&ada), "is first"),
        (Press { first: first(&ada.id, 1), ..press(&ada) }, "is first"),
        (Press { first: first(&ada.id, 2), ..press(&ada) }, "is first"),
        (Press { first: first(&ada.id, 1), ..press(&bob) }, "settles"),
        (Press { first: first(&ada.id, 2), ..press(&bob) }, "differs"),
        (Press { option: &NO, ..press(&bob) }, "settles"),
        (Press { option: &NO, first: first(&ada.id, 1), ..press(&ada) }, "settles"),
    ] {
        assert_eq!(judged(&rules, &press), expected, "{press:?}");
    }
}

#[test]
fn what_is_to_be_confirmed_takes_a_second_press() {
    use Confirm::{AllowAlways, Kind, Unknown};
    let odd = OptionKind::Unknown("x".into());
    let ada = person(ADA);
    for (confirm, option, kind, expected) in [
        (AllowAlways, &ALWAYS, ToolKind::Read, "to confirm"),
        (AllowAlways, &ONCE, ToolKind::Read, "settles"),
        (AllowAlways, &OptionKind::RejectAlways, ToolKind::Read, "settles"),
        (Unknown, &odd, ToolKind::Read, "to confirm"),
        (Unknown, &ONCE, ToolKind::Unknown, "to confirm"),
        (Unknown, &ONCE, ToolKind::Other, "settles"),
        (Kind(ToolKind::Delete), &ONCE, ToolKind::Delete, "to confirm"),
        (Kind(ToolKind::Delete), &NO, ToolKind::Delete, "settles"),
        (Kind(ToolKind::Delete), &ONCE, ToolKind::Edit, "settles"),
        (Kind(ToolKind::Other), &ONCE, ToolKind::Unknown, "to confirm"),
    ] {
        let rules = AnswerRules { confirm: [confirm].into(), ..rules() };
        let press = Press { option, kind, ..press(&ada) };
        assert_eq!(judged(&rules, &press), expected, "{confirm:?} {option:?} {kind:?}");
        assert_eq!(judged(&rules, &Press { is_confirmed: true, ..press }), "settles", "{confirm:?} {option:?} {kind:?}");
    }
}

#[test]
fn a_card_can_be_refused_at_once_and_allowed_only_after_a_while() {
    let rules = AnswerRules { arm_delay: Duration::from_secs(1), ..rules() };
    let ada = person(ADA);
    for (option, shown_for, expected) in [
        (&ONCE, 0, "TooSoon"),
        (&ONCE, 999, "TooSoon"),
        (&ONCE, 1_000, "settles"),
        (&NO, 0, "settles"),
        (&ALWAYS, 999, "TooSoon"),
    ] {
        let press = Press { option, shown_for: Duration::from_millis(shown_for), ..press(&ada) };
        assert_eq!(judged(&rules, &press), expected, "{option:?} after {shown_for} ms");
    }
}

#[test]
fn confirming_makes_nobody_eligible_and_no_card_older() {
    let rules = AnswerRules {
        confirm: [Confirm::AllowAlways].into(),
        approvals: Approvals::Two,
        arm_delay: Duration::from_secs(1),
        ..rules()
    };
    let (ada, eve) = (person(ADA), person("@eve:x"));
    let confirmed = |person| Press { option: &ALWAYS, is_confirmed: true, ..press(person) };
    assert_eq!(judged(&rules, &confirmed(&eve)), "NotListed");
    assert_eq!(judged(&rules, &Press { shown_for: Duration::ZERO, ..confirmed(&ada) }), "TooSoon");
    assert_eq!(judged(&rules, &confirmed(&ada)), "is first");
}

#[test]
fn what_is_to_be_confirmed_is_named_as_it_is_written() {
    assert_eq!(Confirm::named("allow_always"), Some(Confirm::AllowAlways));
    assert_eq!(Confirm::named("unknown"), Some(Confirm::Unknown));
    assert_eq!(Confirm::named("switch_mode"), Some(Confirm::Kind(ToolKind::SwitchMode)));
    assert_eq!(Confirm::named("reject_once"), None);
}

fn judged(rules: &AnswerRules, press: &Press<'_>) -> String {
    let (said, permit) = match rules.judge(press) {
        Err(ineligible) => return format!("{ineligible:?}"),
        Ok(Effective::Settles(permit)) => ("settles", permit),
        Ok(Effective::ToConfirm(permit)) => ("to confirm", permit),
        Ok(Effective::IsFirst(permit)) => ("is first", permit),
        Ok(Effective::Differs(permit)) => ("differs", permit),
    };
    assert_eq!(permit.person(), &press.person.id);
    said.to_owned()
}

fn rules() -> AnswerRules {
    let listed = Listed::people([ADA, BOB].map(PersonId::new));
    AnswerRules::of(Approvers { who: Who::Listed(listed), power_min: None, bots: BTreeSet::new() })
}

fn press(person: &Person) -> Press<'_> {
    Press {
        person,
        option: &ONCE,
        at: 1,
        kind: ToolKind::Execute,
        requester: None,
        shown_for: Duration::from_mins(1),
        is_confirmed: false,
        first: None,
    }
}

fn person(id: &str) -> Person {
    Person {
        id: PersonId::new(id),
        name: None,
        humanity: Humanity::Human,
        presence: Presence::InRoom,
        standing: Standing::Full,
        signature: Signature::Service,
        power: None,
        roles: BTreeSet::new(),
    }
}
