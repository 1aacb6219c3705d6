use bridge_model::{Card, Click, ClickRef, ClickReply, MessageId, Person, Section, Shown, Standing, ToConfirm};
use policy::{Approvals, Confirm, Listed, WhenChanged, Who};

use super::super::desk::*;
use super::super::*;
use crate::wording;

#[test]
fn a_card_that_has_just_appeared_can_be_refused_and_not_allowed() {
    let mut desk = Desk::new();
    answers(&mut desk).arm_delay = Duration::from_secs(1);
    let card = desk.ask(1);
    desk.at(500, Input::Posted(card.request, Ok(card.posted())));
    let reply = replies(&desk.click_at(1_499, &card, 0, ada()));
    assert_eq!(reply, [ClickReply::MayNotAnswer("the card has only just appeared; read it, and press again.".into())]);
    assert_eq!(told(&desk.click_at(1_500, &card, 0, ada())), ["selected \"allow:once/✅ \""]);
    let card = desk.ask_and_post(2);
    assert_eq!(told(&desk.click_at(1_500, &card, 1, ada())), ["selected \"no\""]);
}

#[test]
fn what_is_to_be_confirmed_counts_once_the_same_person_confirms_it() {
    let mut desk = confirming();
    let card = desk.ask_and_post(1);
    let asked = to_confirm(&desk.click(&card, 0, ada()));
    assert_eq!((asked.button.label.as_str(), asked.until.unix_millis()), ("Yes", LIFETIME_MS));
    assert_eq!(desk.bridge.held_len(), 1);
    // Not on the card: it is shown to her alone, wherever that is.
    let effects = press(&mut desk, 2, &asked, ada(), "builds");
    assert_eq!(told(&effects), ["selected \"allow:once/✅ \""]);
    assert_eq!(replies(&effects), [ClickReply::Chosen]);
    assert_eq!(replies(&press(&mut desk, 3, &asked, ada(), "builds")), [ClickReply::NothingWaits]);
}

#[test]
fn nobody_else_confirms_it_nor_elsewhere_nor_later_nor_who_may_not_any_more() {
    let mut desk = confirming();
    desk.rules().policy.lifetime = Duration::from_mins(5);
    let card = desk.ask_and_post(1);
    let asked = to_confirm(&desk.click(&card, 0, ada()));
    for (at, by, room) in [(2, person("@bob:x"), "builds"), (2, ada(), "other"), (60_001, ada(), "builds")] {
        assert_eq!(replies(&press(&mut desk, at, &asked, by, room)), [ClickReply::NothingWaits], "{at} {room}");
    }
    let asked = to_confirm(&desk.click_at(60_001, &card, 0, ada()));
    let silenced = Person { standing: Standing::Silenced, ..ada() };
    let effects = press(&mut desk, 60_002, &asked, silenced, "builds");
    assert!(matches!(replies(&effects)[..], [ClickReply::MayNotAnswer(_)]), "{effects:?}");
    assert_eq!(desk.bridge.held_len(), 1);
}

#[test]
fn a_person_confirms_the_latest_of_their_choices_and_nothing_of_what_has_ended() {
    let mut desk = confirming();
    let card = desk.ask_and_post(1);
    let before = to_confirm(&desk.click(&card, 0, ada()));
    let asked = to_confirm(&desk.click(&card, 0, ada()));
    assert_eq!(replies(&press(&mut desk, 1, &before, ada(), "builds")), [ClickReply::NothingWaits]);
    assert_eq!(told(&desk.click(&card, 1, person("@bob:x"))), ["selected \"no\""]);
    assert_eq!(replies(&press(&mut desk, 1, &asked, ada(), "builds")), [ClickReply::NothingWaits]);
}

#[test]
fn two_people_choose_the_same_and_the_card_shows_who_is_in() {
    let mut desk = by_two();
    let card = desk.ask(1);
    assert_eq!(desk.at(0, Input::Posted(card.request, Ok(card.posted()))).len(), 1);
    let first = desk.click(&card, 0, ada());
    assert_eq!((told(&first), replies(&first)), (Vec::<String>::new(), vec![ClickReply::IsFirst]));
    let shown = updated(&first).expect("the card says so");
    assert_eq!(two_people(shown), "\"Ada\" chose \"Yes\"");
    let tokens: Vec<_> = shown.buttons.iter().map(|button| button.token).collect();
    assert_eq!(tokens, card.tokens);
    // Once more is no news, and no second person.
    let again = desk.click(&card, 0, ada());
    assert_eq!((replies(&again), updated(&again)), (vec![ClickReply::IsFirst], None));

    let second = desk.click(&card, 0, Person { name: Some("Bob".into()), ..person("@bob:x") });
    assert_eq!(told(&second), ["selected \"allow:once/✅ \""]);
    let Some(Ending::Answered { person, first: Some(first), .. }) = settled(&second) else { panic!("{second:?}") };
    assert_eq!((person.as_str(), first.person.as_str()), ("@bob:x", "@ada:x"));
}

#[test]
fn one_of_two_is_enough_to_refuse() {
    let mut desk = by_two();
    let card = desk.ask_and_post(1);
    desk.click(&card, 0, ada());
    let effects = desk.click(&card, 1, ada());
    assert_eq!(told(&effects), ["selected \"no\""]);
    assert!(matches!(settled(&effects), Some(Ending::Answered { first: None, .. })), "{effects:?}");
}

#[test]
fn two_different_choices_are_not_merged() {
    let mut desk = by_two();
    let card = desk.ask_with(1, &[("a", "Yes", "allow_once"), ("b", "Always", "allow_always"), ("c", "No", "reject_once")]);
    desk.click(&card, 0, ada());
    let effects = desk.click(&card, 1, person("@bob:x"));
    assert_eq!(replies(&effects), [ClickReply::Differs { name: Shown::line("Ada"), option: Shown::line("Yes") }]);
    assert_eq!((told(&effects), updated(&effects)), (Vec::<String>::new(), None));
    // Whoever is in may choose otherwise, and then it is that.
    let effects = desk.click(&card, 1, ada());
    assert_eq!(two_people(updated(&effects).expect("news")), "\"Ada\" chose \"Always\"");
    assert_eq!(told(&desk.click(&card, 1, person("@bob:x"))), ["selected \"b\""]);
}

#[test]
fn what_takes_two_is_not_in_the_file_of_the_card() {
    let mut desk = by_two();
    let card = desk.ask_and_post(1);
    let first = desk.click(&card, 0, ada());
    let shown = updated(&first).expect("news");
    assert!(!crate::file(shown).text.contains(Section::TWO_PEOPLE));
}

#[test]
fn whoever_launched_the_agent_does_not_answer_where_that_is_asked_for() {
    let mut desk = Desk::new();
    answers(&mut desk).requester_may_answer = false;
    desk.rules().requesters = [(SourceName::new("acp"), PersonId::new("@ada:x"))].into();
    let card = desk.ask_and_post(1);
    for button in [0, 1] {
        assert!(matches!(replies(&desk.click(&card, button, ada()))[..], [ClickReply::MayNotAnswer(_)]));
    }
    assert_eq!(told(&desk.click(&card, 0, person("@bob:x"))), ["selected \"allow:once/✅ \""]);
}

#[test]
fn a_kind_can_have_rules_of_its_own() {
    let mut desk = Desk::new();
    let room = desk.room();
    let two = AnswerRules { approvals: Approvals::Two, ..room.answers.clone() };
    room.answers_by_kind = [(ToolKind::Execute, two)].into();
    let card = desk.ask_and_post(1);
    assert_eq!(replies(&desk.click(&card, 0, ada())), [ClickReply::IsFirst]);
    desk.room().answers_by_kind = [].into();
    // The rules that it was born with still count.
    assert_eq!(replies(&desk.click(&card, 0, ada())), [ClickReply::IsFirst]);
}

#[test]
fn new_rules_that_are_stricter_count_at_once_and_looser_ones_do_not() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    let mut rules = desk.rules().clone();
    for room in rules.rooms.values_mut() {
        room.answers.approvers.who = Who::Listed(Listed::people([PersonId::new("@bob:x"), PersonId::new("@eve:x")]));
    }
    desk.at(1, Input::Rules(Box::new(rules)));
    for by in [ada(), person("@eve:x")] {
        assert!(matches!(replies(&desk.click(&card, 0, by.clone()))[..], [ClickReply::MayNotAnswer(_)]), "{by:?}");
    }
    assert_eq!(told(&desk.click(&card, 0, person("@bob:x"))), ["selected \"allow:once/✅ \""]);
}

#[test]
fn so_many_presses_wait_for_their_card_and_no_more() {
    let mut desk = Desk::new();
    let card = desk.ask(1);
    for number in 0..40 {
        assert_eq!(desk.click(&card, 0, person(&format!("@guest{number}:x"))), []);
    }
    assert_eq!(replies(&desk.at(1, Input::Posted(card.request, Ok(card.posted())))).len(), 32);
}

#[test]
fn what_took_two_for_a_while_takes_two_and_its_card_says_so() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    let looser = desk.rules().clone();
    answers(&mut desk).approvals = Approvals::Two;
    let stricter = desk.rules().clone();
    desk.bridge.rules = looser.clone();
    let effects = desk.at(1, Input::Rules(Box::new(stricter)));
    assert_eq!(two_people(updated(&effects).expect("the card says so")), "Nobody has yet.");
    assert_eq!(replies(&desk.click(&card, 0, ada())), [ClickReply::IsFirst]);
    desk.at(1, Input::Rules(Box::new(looser)));
    assert_eq!(replies(&desk.click(&card, 0, ada())), [ClickReply::IsFirst]);
    assert_eq!(told(&desk.click(&card, 0, person("@bob:x"))), ["selected \"allow:once/✅ \""]);
}

#[test]
fn what_people_are_asked_about_again_keeps_its_rules_and_when_it_arrived() {
    let mut desk = by_two();
    desk.rules().policy.when_changed = WhenChanged::AskAgain;
    let card = desk.ask_and_post(1);
    let mut rules = desk.rules().clone();
    for room in rules.rooms.values_mut() {
        room.answers.approvals = Approvals::One;
    }
    desk.at(10_000, Input::Rules(Box::new(rules.clone())));
    let now = Some(Box::new(Desk::asked(1, "rm")));
    let effects = desk.at(20_000, Input::Source(SourceEvent::Changed { ask: ask(1), now }));
    let again = Posted::of(&effects).expect("asked again");
    assert_eq!(two_people(posted_card(&effects).expect("a card")), "Nobody has yet.");
    assert_ne!(again.request, card.request);
    desk.at(20_000, Input::Posted(again.request, Ok(again.posted())));
    assert_eq!(replies(&desk.click_at(20_001, &again, 0, ada())), [ClickReply::IsFirst]);
    // Thirty seconds since it first came, not since it was changed.
    rules.policy.lifetime = Duration::from_secs(30);
    desk.at(20_002, Input::Rules(Box::new(rules)));
    assert_eq!(desk.bridge.next_deadline(), Some(Timestamp::from_unix_millis(30_000)));
}

#[test]
fn a_change_is_refused_once_the_rules_have_it_so_though_they_are_looser_later() {
    let mut desk = Desk::new();
    let mut rules = desk.rules().clone();
    rules.policy.when_changed = WhenChanged::AskAgain;
    desk.ask_and_post(1);
    desk.at(1, Input::Rules(Box::new(rules)));
    let now = Some(Box::new(Desk::asked(1, "rm")));
    let effects = desk.at(2, Input::Source(SourceEvent::Changed { ask: ask(1), now }));
    assert!(matches!(closings(&effects)[..], [Ending::Refused(Refused::Changed(_))]), "{effects:?}");
}

#[test]
fn rules_that_change_all_the_time_end_what_waits() {
    let mut desk = Desk::new();
    desk.ask_and_post(1);
    let mut ended = Vec::new();
    for millis in 1..=40 {
        let mut rules = desk.rules().clone();
        for room in rules.rooms.values_mut() {
            room.answers.arm_delay = Duration::from_millis(millis);
        }
        ended.extend(told(&desk.at(1, Input::Rules(Box::new(rules)))));
    }
    assert_eq!(ended, ["selected \"no\""]);
}

#[test]
fn new_rules_bring_deadlines_closer_and_never_further_away() {
    let mut desk = Desk::new();
    desk.ask_and_post(1);
    for (seconds, deadline) in [(90, LIFETIME_MS), (30, 30_000), (60, 30_000)] {
        let mut rules = desk.rules().clone();
        rules.policy.lifetime = Duration::from_secs(seconds);
        let effects = desk.at(1, Input::Rules(Box::new(rules)));
        assert_eq!(desk.bridge.next_deadline(), Some(Timestamp::from_unix_millis(deadline)));
        assert_eq!(updated(&effects).is_some(), seconds == 30, "the card shows until when: {seconds}");
    }
}

#[test]
fn new_rules_refuse_what_waits_and_forget_the_first_of_two() {
    let mut desk = by_two();
    let card = desk.ask_and_post(1);
    desk.click(&card, 0, ada());
    let mut rules = desk.rules().clone();
    let effects = desk.at(1, Input::Rules(Box::new(rules.clone())));
    assert_eq!(two_people(updated(&effects).expect("news")), "Nobody has yet.");
    assert_eq!(replies(&desk.click(&card, 0, person("@bob:x"))), [ClickReply::IsFirst]);
    rules.policy.verdicts.by_kind = [(ToolKind::Execute, policy::Verdict::AutoDeny)].into();
    let effects = desk.at(1, Input::Rules(Box::new(rules)));
    assert_eq!(told(&effects), ["selected \"no\""]);
    let why = "the policy says execute = auto_deny".to_owned();
    assert_eq!(closings(&effects), [Ending::Refused(Refused::ByPolicy(why))]);
}

#[test]
fn whoever_confirms_is_told_whether_somebody_else_has_to_choose_as_well() {
    let mut desk = by_two();
    answers(&mut desk).confirm = [Confirm::Kind(ToolKind::Execute)].into();
    let card = desk.ask_and_post(1);
    let first = to_confirm(&desk.click(&card, 0, ada()));
    assert!(first.needs_another);
    let words = wording::reply(&ClickReply::ToConfirm(first.clone())).expect("a question");
    assert!(wording::plain(&words).contains("One more person has to choose the same afterwards."));
    assert_eq!(replies(&press(&mut desk, 1, &first, ada(), "builds")), [ClickReply::IsFirst]);
    assert!(!to_confirm(&desk.click(&card, 0, person("@bob:x"))).needs_another);
}

fn answers(desk: &mut Desk) -> &mut AnswerRules {
    &mut desk.room().answers
}

fn confirming() -> Desk {
    let mut desk = Desk::new();
    answers(&mut desk).confirm = [Confirm::Kind(ToolKind::Execute)].into();
    desk
}

fn by_two() -> Desk {
    let mut desk = Desk::new();
    answers(&mut desk).approvals = Approvals::Two;
    desk
}

fn to_confirm(effects: &[Effect]) -> ToConfirm {
    match replies(effects).pop() {
        Some(ClickReply::ToConfirm(asked)) => asked,
        other => panic!("{other:?}"),
    }
}

fn press(desk: &mut Desk, at: u64, asked: &ToConfirm, by: Person, room: &str) -> Vec<Effect> {
    let at_private = ClickRef {
        room: RoomName::new(room),
        control: MessageId::new("for her alone"),
        person: by.id.clone(),
        click: MessageId::new("click"),
    };
    desk.at(at, Input::Room(RoomEvent::Clicked(Click { token: asked.button.token, by, at: at_private })))
}

fn updated(effects: &[Effect]) -> Option<&Card> {
    flat(effects).into_iter().find_map(|effect| if let Effect::Update { now, .. } = effect { Some(now) } else { None })
}

fn two_people(card: &Card) -> &str {
    card.sections.iter().find(|section| section.heading == Section::TWO_PEOPLE).expect("it says so").text()
}

fn settled(effects: &[Effect]) -> Option<Ending> {
    flat(effects).into_iter().find_map(|effect| {
        let Effect::Record { entry: Entry::Settled { ending, .. }, .. } = effect else { return None };
        Some(ending.clone())
    })
}
