use std::num::NonZeroU32;

use bridge_model::{ClickReply, Person, Presence};
use policy::{Verdict, WhenChanged};

use super::super::desk::*;

use super::super::*;
use crate::Said;

#[test]
fn where_nobody_could_answer_it_is_refused_at_once_and_the_room_is_told() {
    for (people, refused) in [
        (Some(vec![]), true),
        (Some(vec![person("@eve:x"), Person { presence: Presence::Absent, ..ada() }]), true),
        (Some(vec![person("@eve:x"), ada()]), false),
        (None, false),
    ] {
        let mut desk = Desk::new();
        desk.room().when_nobody = WhenNobody::Refuse;
        let asked = desk.at(0, Desk::request(1));
        let request = looked_for(&asked).expect("it is looked who is there");
        assert!(posted_card(&asked).is_none());
        let effects = desk.at(1, Input::People(request, people.clone()));
        assert_eq!(posted_card(&effects).is_none(), refused, "{people:?}");
        assert_eq!(told(&effects).len(), usize::from(refused));
        assert_eq!(closings(&effects), if refused { vec![Ending::Refused(Refused::Nobody)] } else { vec![] });
        // Told again, it changes nothing.
        assert!(desk.at(2, Input::People(request, Some(vec![]))).is_empty());
    }
}

#[test]
fn where_nobody_is_listed_it_needs_not_be_known_who_is_there() {
    let mut desk = Desk::new();
    let room = desk.room();
    room.when_nobody = WhenNobody::Refuse;
    room.answers.approvers.who = policy::Who::Listed(policy::Listed::default());
    let asked = desk.at(0, Desk::request(1));
    let effects = desk.at(1, Input::People(looked_for(&asked).expect("looked"), None));
    assert_eq!(closings(&effects), [Ending::Refused(Refused::Nobody)]);
}

#[test]
fn while_it_is_looked_who_is_there_time_passes() {
    let mut desk = Desk::new();
    desk.room().when_nobody = WhenNobody::Refuse;
    let asked = desk.at(0, Desk::request(1));
    let effects = desk.at(LIFETIME_MS, Input::People(looked_for(&asked).expect("looked"), None));
    assert_eq!((told(&effects), posted_card(&effects)), (vec!["selected \"no\"".to_owned()], None));
}

#[test]
fn a_request_that_waits_is_called_to_mind_and_one_that_ended_is_not() {
    let mut desk = Desk::new();
    desk.room().remind_at = vec![50, 75];
    desk.room().escalation = Some(Escalation {
        after: Duration::from_secs(40),
        room: Some(RoomName::new("other")),
        mention: vec![PersonId::new("@bob:x")],
    });
    let card = desk.ask_and_post(1);
    assert_eq!(desk.bridge.next_deadline(), Some(Timestamp::from_unix_millis(30_000)));
    assert!(said(&desk.at(29_999, Input::Tick)).is_empty());
    let reminder = said(&desk.at(30_000, Input::Tick));
    assert_eq!((reminder[0].room.as_str(), &reminder[0].about), ("builds", &Some(card.posted())));
    let words = crate::wording::plain(&reminder[0].words);
    assert_eq!(words, "Request #1 still waits for an answer. It expires at 1970-01-01 00:01:00 UTC: An agent wants to run: ls");
    let escalation = said(&desk.at(40_000, Input::Tick));
    assert_eq!((escalation[0].room.as_str(), &escalation[0].about), ("other", &None));
    assert_eq!(escalation[0].mention, [PersonId::new("@bob:x")]);
    assert!(crate::wording::plain(&escalation[0].words).contains(" in builds. It expires at "));
    desk.click_at(41_000, &card, 1, ada());
    assert!(said(&desk.at(50_000, Input::Tick)).is_empty());
}

#[test]
fn nothing_is_called_to_mind_at_its_deadline_or_before_its_card_is_there() {
    let mut desk = Desk::new();
    desk.room().remind_at = vec![50, 100];
    let card = desk.ask(1);
    assert!(said(&desk.at(30_000, Input::Tick)).is_empty());
    desk.at(30_001, Input::Posted(card.request, Ok(card.posted())));
    assert!(said(&desk.at(LIFETIME_MS, Input::Tick)).is_empty());
}

#[test]
fn more_cards_than_people_can_look_at_are_refused_and_told_together() {
    let mut desk = Desk::new();
    desk.limit(|limits| limits.pace.cards_a_minute_of_session = one());
    desk.ask_and_post(1);
    let effects = desk.at(1, Desk::request(2));
    assert_eq!(told(&effects), ["selected \"no\""]);
    assert_eq!(closings(&effects), [Ending::Refused(Refused::TooFast)]);
    for ask in 3..6 {
        let effects = desk.at(2, Desk::request(ask));
        assert_eq!((told(&effects).len(), closings(&effects).len()), (1, 0));
    }
    let effects = desk.at(60_001, Input::Tick);
    let said = said(&effects);
    assert_eq!(said.len(), 1);
    let words = "3 more requests were refused within a minute, because too many came. Nothing was allowed.";
    assert_eq!((said[0].room.as_str(), crate::wording::plain(&said[0].words).as_str()), ("builds", words));
    assert!(posted_card(&desk.at(60_002, Desk::request(7))).is_some());
}

#[test]
fn refusals_that_are_no_flood_are_each_told() {
    let mut desk = Desk::new();
    for number in 1..=3 {
        let malformed =
            SourceEvent::Malformed { from: ask(number), headline: "An agent".into(), problem: "no options were offered".into() };
        assert_eq!(closings(&desk.at(0, Input::Source(malformed))).len(), 1, "{number}");
    }
}

#[test]
fn a_room_has_limits_and_so_have_all_together() {
    let limits: [fn(&mut Limits); 5] = [
        |limits| limits.pace.cards_a_minute = one(),
        |limits| limits.pace.cards_a_minute_in_room = one(),
        |limits| limits.pace.held_max = 1,
        |limits| limits.pace.held_max_in_room = 1,
        |limits| limits.pace.held_max_of_session = 1,
    ];
    for (at, limit) in limits.into_iter().enumerate() {
        let mut desk = Desk::new();
        desk.limit(limit);
        assert!(posted_card(&desk.at(0, Desk::request(1))).is_some(), "{at}");
        assert!(posted_card(&desk.at(0, Desk::request(2))).is_none(), "{at}");
    }
}

#[test]
fn what_people_refuse_time_and_again_is_not_asked_again_for_a_while() {
    let mut desk = Desk::new();
    for ask in 1..=3 {
        let card = desk.ask_and_post(ask);
        desk.click(&card, 1, ada());
    }
    let effects = desk.at(2, Desk::request(4));
    assert_eq!((told(&effects), posted_card(&effects)), (vec!["selected \"no\"".to_owned()], None));
    assert_eq!(closings(&effects), [Ending::Refused(Refused::RefusedBefore)]);
    let other = Input::Source(SourceEvent::Requested(Box::new(Desk::asked(5, "ls -l")), Box::default()));
    assert!(posted_card(&desk.at(3, other)).is_some());
    assert!(posted_card(&desk.at(600_001, Desk::request(6))).is_some());
}

#[test]
fn what_people_were_spared_they_are_spared_under_new_rules() {
    let mut desk = Desk::new();
    desk.limit(|limits| limits.pace.cards_a_minute_of_session = one());
    desk.ask(1);
    desk.at(1, Input::Rules(Box::new(desk.bridge.rules.clone())));
    assert!(posted_card(&desk.at(1, Desk::request(2))).is_none());
    let mut rules = desk.bridge.rules.clone();
    rules.limits.pace.cards_a_minute_of_session = NonZeroU32::MAX;
    desk.at(2, Input::Rules(Box::new(rules.clone())));
    for ask in 3..=5 {
        let card = desk.ask_and_post(ask);
        desk.click(&card, 1, ada());
    }
    desk.at(2, Input::Rules(Box::new(rules)));
    assert!(posted_card(&desk.at(2, Desk::request(6))).is_none(), "it was refused three times");
}

#[test]
fn a_press_that_waited_for_its_card_is_one_press() {
    let mut desk = Desk::new();
    desk.limit(|limits| limits.pace.presses_a_minute = one());
    let card = desk.ask(1);
    assert_eq!(replies(&desk.click(&card, 0, ada())), []);
    assert_eq!(replies(&desk.at(0, Input::Posted(card.request, Ok(card.posted())))), [ClickReply::Chosen]);
}

#[test]
fn a_full_table_does_not_keep_what_is_held_from_being_asked_again() {
    let mut desk = Desk::new();
    desk.limit(|limits| limits.pace.held_max = 1);
    desk.rules().policy.when_changed = WhenChanged::AskAgain;
    desk.ask_and_post(1);
    let now = Some(Box::new(Desk::asked(1, "rm")));
    assert!(posted_card(&desk.at(1, Input::Source(SourceEvent::Changed { ask: ask(1), now }))).is_some());
}

#[test]
fn one_that_was_allowed_in_between_begins_anew() {
    let mut desk = Desk::new();
    for (ask, button) in [(1, 1), (2, 1), (3, 0), (4, 1), (5, 1)] {
        let card = desk.ask_and_post(ask);
        desk.click(&card, button, ada());
    }
    assert!(posted_card(&desk.at(2, Desk::request(6))).is_some());
}

#[test]
fn whoever_presses_very_often_is_told_so() {
    let mut desk = Desk::new();
    desk.limit(|limits| limits.pace.presses_a_minute = one());
    let (card, other) = (desk.ask_and_post(1), desk.ask_and_post(2));
    assert_eq!(told(&desk.click(&card, 1, ada())).len(), 1);
    let effects = desk.click(&other, 0, ada());
    assert!(matches!(replies(&effects)[..], [ClickReply::MayNotAnswer(_)]), "{effects:?}");
    assert_eq!(told(&desk.click(&other, 0, person("@bob:x"))).len(), 1);
}

#[test]
fn what_policy_allows_is_answered_at_once_and_counted() {
    let mut desk = Desk::new();
    desk.rules().policy.verdicts.by_kind = [(ToolKind::Execute, Verdict::AutoAllow)].into();
    let effects = desk.at(0, Desk::request(1));
    assert_eq!(told(&effects), ["selected \"allow:once/✅ \""]);
    assert_eq!((effects.len(), desk.bridge.allowed(), desk.bridge.held_len()), (1, 1, 0));
    desk.at(0, Desk::request(2));
    assert_eq!(desk.bridge.allowed(), 2);
}

#[test]
fn a_room_hears_of_what_policy_refuses_if_that_is_wanted() {
    let mut desk = Desk::new();
    desk.rules().policy.verdicts.by_kind = [(ToolKind::Execute, Verdict::AutoDeny)].into();
    assert!(closings(&desk.at(0, Desk::request(1))).is_empty());
    desk.rules().policy.tell_refusals = true;
    let why = Refused::ByPolicy("the policy says execute = auto_deny".into());
    assert_eq!(closings(&desk.at(0, Desk::request(2))), [Ending::Refused(why)]);
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

fn looked_for(effects: &[Effect]) -> Option<RequestId> {
    flat(effects).into_iter().find_map(|effect| if let Effect::Look { request, .. } = effect { Some(*request) } else { None })
}

fn said(effects: &[Effect]) -> Vec<Said> {
    flat(effects)
        .into_iter()
        .filter_map(|effect| if let Effect::Say(said) = effect { Some(said.clone()) } else { None })
        .collect()
}
