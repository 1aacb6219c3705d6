use bridge_model::{Click, ClickRef, ClickReply, Humanity, MessageId, Person, Presence, Signature, ToolKind};
use policy::Verdict;

use super::desk::*;
use super::*;
use crate::RoomError;

#[test]
fn a_permitted_click_returns_the_agents_own_option() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    let effects = desk.click(&card, 0, ada());
    assert_eq!(told(&effects), ["selected \"allow:once/✅ \""]);
    assert_eq!(desk.bridge.held_len(), 0);
}

#[test]
fn a_choice_is_told_only_once_it_is_recorded() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    let effects = desk.click(&card, 0, ada());
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Reply { .. })));
    let Some(Effect::Record { entry: Entry::Settled { .. }, then }) = effects.first() else { panic!("{effects:?}") };
    assert!(matches!(then[..], [Effect::Reply { .. }]));
}

#[test]
fn a_choice_that_cannot_be_recorded_becomes_a_refusal() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    desk.click(&card, 0, ada());
    let effects = desk.at(1, Input::RecordFailed(card.request));
    assert_eq!(told(&effects), ["selected \"no\""]);
    assert_eq!(closings(&effects), [answered(Delivery::NotDelivered(NotDelivered::NotRecorded))]);
    assert_eq!(told(&desk.at(2, Input::RecordFailed(card.request))), Vec::<String>::new());
}

#[test]
fn a_request_that_cannot_be_recorded_is_refused_unseen() {
    let mut desk = Desk::new();
    let card = desk.ask(1);
    let effects = desk.at(1, Input::RecordFailed(card.request));
    assert_eq!(told(&effects), ["selected \"no\""]);
}

#[test]
fn the_deadline_is_recorded_before_the_card_is_posted() {
    let mut desk = Desk::new();
    let effects = desk.at(0, Desk::request(1));
    let [Effect::Record { entry: Entry::Held { deadline, .. }, then }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(deadline.unix_millis(), LIFETIME_MS);
    assert!(matches!(then[..], [Effect::Asked(..), Effect::Post { .. }]));
}

#[test]
fn the_first_click_wins_and_later_ones_hear_who() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    desk.click(&card, 1, ada());
    let effects = desk.click(&card, 0, person("@bob:x"));
    assert_eq!(told(&effects), Vec::<String>::new());
    assert_eq!(replies(&effects), [ClickReply::TooLate(answered_with("No", Delivery::Pending))]);
}

#[test]
fn a_double_click_is_no_lost_race_and_a_changed_mind_is() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    desk.click(&card, 0, ada());
    assert_eq!(replies(&desk.click(&card, 0, ada())), [ClickReply::Chosen]);
    assert_eq!(replies(&desk.click(&card, 1, ada())), [ClickReply::TooLate(answered(Delivery::Pending))]);
}

#[test]
fn a_click_at_the_deadline_loses_and_one_before_it_wins() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    let effects = desk.click_at(LIFETIME_MS, &card, 0, ada());
    assert_eq!(told(&effects), ["selected \"no\""]);
    assert_eq!(replies(&effects), [ClickReply::TooLate(Ending::Expired)]);

    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    assert_eq!(told(&desk.click_at(LIFETIME_MS - 1, &card, 0, ada())), ["selected \"allow:once/✅ \""]);
}

#[test]
fn nobody_answers_and_the_agent_is_refused_at_the_deadline() {
    let mut desk = Desk::new();
    desk.ask_and_post(1);
    assert_eq!(desk.bridge.next_deadline(), Some(Timestamp::from_unix_millis(LIFETIME_MS)));
    assert_eq!(told(&desk.at(LIFETIME_MS - 1, Input::Tick)), Vec::<String>::new());
    let effects = desk.at(LIFETIME_MS, Input::Tick);
    assert_eq!(told(&effects), ["selected \"no\""]);
    assert_eq!(closings(&effects), [Ending::Expired]);
    assert_eq!(desk.bridge.next_deadline(), None);
}

#[test]
fn whoever_may_not_answer_changes_nothing() {
    for who in [
        person("@mallory:x"),
        Person { humanity: Humanity::Bot, ..ada() },
        Person { presence: Presence::Absent, ..ada() },
        Person { presence: Presence::Unknown, ..ada() },
        Person { signature: Signature::Missing, ..ada() },
    ] {
        let mut desk = Desk::new();
        let card = desk.ask_and_post(1);
        let effects = desk.click(&card, 0, who);
        assert_eq!(told(&effects), Vec::<String>::new());
        assert!(matches!(replies(&effects)[..], [ClickReply::MayNotAnswer(_)]));
        assert_eq!(told(&desk.click(&card, 0, ada())).len(), 1);
    }
}

#[test]
fn a_button_counts_only_where_it_was_drawn() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    for (room, control) in [("other", "control 1"), ("builds", "control 2"), ("builds", ""), ("nowhere", "control 1")] {
        let mut click = Desk::click_on(&card, 0, ada());
        click.at.room = RoomName::new(room);
        click.at.control = MessageId::new(control);
        let effects = desk.at(1, Input::Room(RoomEvent::Clicked(click)));
        assert_eq!(replies(&effects), [ClickReply::NothingWaits], "{room} {control}");
        assert_eq!(told(&effects), Vec::<String>::new());
    }
    assert_eq!(desk.bridge.held_len(), 1);
}

#[test]
fn a_button_of_another_room_does_not_count_before_its_card_is_known_either() {
    let mut desk = Desk::new();
    let card = desk.ask(1);
    let mut click = Desk::click_on(&card, 0, ada());
    click.at.room = RoomName::new("other");
    assert_eq!(replies(&desk.at(1, Input::Room(RoomEvent::Clicked(click)))), [ClickReply::NothingWaits]);
}

#[test]
fn a_button_that_somebody_put_on_a_card_of_their_own_does_not_count_before_ours_is_known() {
    let mut desk = Desk::new();
    let card = desk.ask(1);
    let mut click = Desk::click_on(&card, 0, ada());
    click.at.control = MessageId::new("lunch?");
    desk.at(1, Input::Room(RoomEvent::Clicked(click)));
    let effects = desk.at(2, Input::Posted(card.request, Ok(card.posted())));
    assert_eq!((told(&effects), replies(&effects)), (vec![], vec![ClickReply::NothingWaits]));
}

#[test]
fn of_two_cards_the_clicked_one_is_answered() {
    let mut desk = Desk::new();
    let (first, second) = (desk.ask_and_post(1), desk.ask_and_post(2));
    desk.click(&second, 0, ada());
    assert!(desk.bridge.held.get(first.request).is_some());
    assert_eq!(desk.bridge.held_len(), 1);
    // The older card's button answers the older request, though it was pressed last.
    assert_eq!(told(&desk.click(&first, 1, ada())), ["selected \"no\""]);
}

#[test]
fn an_unknown_button_is_nothing() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    let mut click = Desk::click_on(&card, 0, ada());
    click.token = ButtonToken::from_random(u128::MAX);
    assert_eq!(replies(&desk.at(1, Input::Room(RoomEvent::Clicked(click)))), [ClickReply::NothingWaits]);
}

#[test]
fn a_click_may_overtake_the_news_of_its_card() {
    let mut desk = Desk::new();
    let card = desk.ask(1);
    assert_eq!(desk.click(&card, 0, ada()), []);
    let effects = desk.at(2, Input::Posted(card.request, Ok(card.posted())));
    assert_eq!(told(&effects), ["selected \"allow:once/✅ \""]);
    assert_eq!(closings(&desk.at(3, Input::Replied(card.request, Ok(())))), [answered(Delivery::Taken)]);
}

#[test]
fn a_card_that_appears_after_its_request_ended_is_closed() {
    let mut desk = Desk::new();
    let card = desk.ask(1);
    assert_eq!(closings(&desk.at(LIFETIME_MS, Input::Tick)), Vec::<Ending>::new());
    let effects = desk.at(LIFETIME_MS + 1, Input::Posted(card.request, Ok(card.posted())));
    assert_eq!(closings(&effects), [Ending::Expired]);
}

#[test]
fn a_card_that_cannot_be_posted_refuses_and_the_room_is_told() {
    for error in [RoomError::Unavailable("down".into()), RoomError::Refused("down".into())] {
        let mut desk = Desk::new();
        let card = desk.ask(1);
        let effects = desk.at(1, Input::Posted(card.request, Err(error)));
        assert_eq!(told(&effects), ["selected \"no\""]);
        assert_eq!(closings(&effects), [Ending::Refused(Refused::RoomUnavailable("down".into()))]);
    }
}

#[test]
fn the_card_tells_taken_from_not_delivered() {
    for (result, delivery) in [
        (Ok(()), Delivery::Taken),
        (Err(SourceError::Gone), Delivery::NotDelivered(NotDelivered::AgentGone)),
        (Err(SourceError::Withdrawn), Delivery::NotDelivered(NotDelivered::Withdrawn)),
    ] {
        let mut desk = Desk::new();
        let card = desk.ask_and_post(1);
        assert_eq!(closings(&desk.click(&card, 0, ada())), Vec::<Ending>::new());
        assert_eq!(closings(&desk.at(2, Input::Replied(card.request, result))), [answered(delivery)]);
        assert_eq!(desk.at(3, Input::Replied(card.request, Ok(()))), []);
    }
}

#[test]
fn a_slow_delivery_is_said_and_then_corrected() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    desk.click_at(10, &card, 0, ada());
    assert_eq!(desk.bridge.next_deadline(), Some(Timestamp::from_unix_millis(1_010)));
    assert_eq!(closings(&desk.at(1_010, Input::Tick)), [answered(Delivery::Pending)]);
    assert_eq!(desk.bridge.next_deadline(), None);
    assert_eq!(closings(&desk.at(1_011, Input::Replied(card.request, Ok(())))), [answered(Delivery::Taken)]);
}

#[test]
fn a_withdrawn_request_is_cancelled_and_its_card_says_why() {
    for (why, outcomes) in [
        (Withdrawn::ByAgent, &["cancelled"][..]),
        (Withdrawn::TurnCancelled, &["cancelled"]),
        (Withdrawn::TurnEnded, &["cancelled"]),
        (Withdrawn::Superseded, &["cancelled"]),
        (Withdrawn::ClientGone, &["cancelled"]),
        (Withdrawn::AgentGone, &[]),
        (Withdrawn::AnsweredInClient, &[]),
    ] {
        let mut desk = Desk::new();
        let card = desk.ask_and_post(1);
        let effects = desk.at(1, Input::Source(SourceEvent::Withdrawn(ask(1), why)));
        assert_eq!(told(&effects), outcomes, "{why:?}");
        assert_eq!(closings(&effects), [Ending::Withdrawn(why)]);
        assert_eq!(replies(&desk.click(&card, 0, ada())), [ClickReply::TooLate(Ending::Withdrawn(why))]);
    }
}

#[test]
fn withdrawing_one_leaves_the_other() {
    let mut desk = Desk::new();
    desk.ask_and_post(1);
    let other = desk.ask_and_post(2);
    desk.at(1, Input::Source(SourceEvent::Withdrawn(ask(1), Withdrawn::TurnCancelled)));
    assert_eq!(told(&desk.click(&other, 0, ada())), ["selected \"allow:once/✅ \""]);
}

#[test]
fn a_source_that_is_gone_takes_all_its_requests_along() {
    let mut desk = Desk::new();
    desk.ask_and_post(1);
    desk.ask_and_post(2);
    let effects = desk.at(1, Input::SourceGone(SourceName::new("acp"), Withdrawn::AgentGone));
    assert_eq!(closings(&effects).len(), 2);
    assert_eq!(desk.bridge.held_len(), 0);
}

#[test]
fn a_removed_card_withdraws_its_request_alone() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    desk.ask_and_post(2);
    let effects = desk.at(1, Input::Room(RoomEvent::CardRemoved(card.posted())));
    assert_eq!(closings(&effects), [Ending::Withdrawn(Withdrawn::CardRemoved)]);
    assert_eq!(desk.bridge.held_len(), 1);
}

#[test]
fn a_lost_room_refuses_what_waits_and_what_comes() {
    let mut desk = Desk::new();
    desk.ask_and_post(1);
    let lost = Ending::Refused(Refused::RoomUnavailable("banned".into()));
    let effects = desk.at(1, Input::Room(RoomEvent::RoomLost(RoomName::new("builds"), "banned".into())));
    assert_eq!((told(&effects), closings(&effects)), (vec!["selected \"no\"".to_owned()], vec![lost.clone()]));
    let effects = desk.at(2, Desk::request(2));
    assert_eq!((told(&effects), closings(&effects)), (vec!["selected \"no\"".to_owned()], vec![lost]));
}

#[test]
fn a_room_that_is_found_again_is_asked_again_and_what_was_refused_stays_refused() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    desk.at(1, Input::Room(RoomEvent::RoomLost(RoomName::new("builds"), "no permission".into())));
    assert!(told(&desk.at(2, Input::Room(RoomEvent::RoomFound(RoomName::new("builds"))))).is_empty());
    desk.ask_and_post(2);
    assert_eq!(desk.bridge.held_len(), 1);
    assert!(told(&desk.click_at(3, &card, 0, ada())).is_empty());
}

#[test]
fn a_denied_kind_is_refused_without_a_card() {
    let mut desk = Desk::new();
    desk.bridge.rules.policy.verdicts.by_kind.insert(ToolKind::Execute, Verdict::AutoDeny);
    let effects = desk.at(0, Desk::request(1));
    assert_eq!(told(&effects), ["selected \"no\""]);
    assert_eq!(closings(&effects), Vec::<Ending>::new());
}

#[test]
fn without_a_room_everything_is_refused() {
    let mut desk = Desk::new();
    desk.bridge.rules.routes.clear();
    let effects = desk.at(0, Desk::request(1));
    assert_eq!(told(&effects), ["selected \"no\""]);
    assert_eq!(desk.bridge.held_len(), 0);
}

#[test]
fn one_request_too_many_is_refused_and_the_others_stay() {
    let mut desk = Desk::new();
    desk.bridge.rules.limits.pace.held_max = 2;
    desk.ask_and_post(1);
    desk.ask_and_post(2);
    let effects = desk.at(1, Desk::request(3));
    assert_eq!(told(&effects), ["selected \"no\""]);
    assert_eq!(closings(&effects), [Ending::Refused(Refused::TooMany)]);
    assert_eq!(desk.bridge.held_len(), 2);
}

#[test]
fn a_card_of_another_room_or_another_request_is_not_the_one_that_was_removed() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    let here = card.posted();
    let elsewhere = CardRef { room: RoomName::new("other"), ..here.clone() };
    let another = CardRef { control: MessageId::new("another"), ..here };
    for removed in [elsewhere, another] {
        assert_eq!(desk.at(1, Input::Room(RoomEvent::CardRemoved(removed))), []);
    }
}

#[test]
fn a_late_click_is_answered_only_in_the_room_of_its_request() {
    let mut desk = Desk::new();
    let card = desk.ask(1);
    desk.at(1, Input::Posted(card.request, Err(RoomError::Unavailable("down".into()))));
    let click = Desk::click_on(&card, 0, ada());
    let elsewhere = Click { at: ClickRef { room: RoomName::new("other"), ..click.at.clone() }, ..click.clone() };
    assert_eq!(replies(&desk.at(2, Input::Room(RoomEvent::Clicked(elsewhere)))), [ClickReply::NothingWaits]);
    assert!(matches!(replies(&desk.at(2, Input::Room(RoomEvent::Clicked(click))))[..], [ClickReply::TooLate(_)]));
}

#[test]
fn what_a_room_does_not_show_stands_in_no_refusal_either() {
    let mut desk = Desk::new();
    desk.room().details = Details::Described;
    desk.rules().policy.tell_refusals = true;
    desk.rules().policy.verdicts.default = Some(Verdict::AutoDeny);
    let effects = desk.at(0, Input::Source(SourceEvent::Requested(Box::new(Desk::asked(1, "secret-command")), Box::default())));
    assert!(!format!("{effects:?}").contains("secret-command\""), "{effects:?}");
    assert_eq!(closings(&effects).len(), 1);
}

#[test]
fn a_malformed_request_is_shown_and_never_silent() {
    let mut desk = Desk::new();
    let input = Input::Source(SourceEvent::Malformed {
        from: ask(1),
        headline: "Coder asked".into(),
        problem: "no options were offered".into(),
    });
    let effects = desk.at(1, input);
    assert_eq!(told(&effects), ["cancelled"]);
    assert_eq!(closings(&effects), [Ending::Refused(Refused::Malformed("no options were offered".into()))]);
}

#[test]
fn stopping_cancels_what_waits_and_holds_nothing_new() {
    let mut desk = Desk::new();
    desk.ask_and_post(1);
    assert_eq!(told(&desk.at(1, Input::Stop)), ["cancelled"]);
    assert_eq!(told(&desk.at(2, Desk::request(2))), ["selected \"no\""]);
    assert_eq!(desk.bridge.held_len(), 0);
}

#[test]
fn the_oldest_settled_request_is_forgotten_first() {
    let mut desk = Desk::new();
    desk.bridge.rules.limits.settled_max = 1;
    let (first, second) = (desk.ask_and_post(1), desk.ask_and_post(2));
    desk.click(&first, 1, ada());
    desk.at(2, Input::Replied(first.request, Ok(())));
    desk.click(&second, 1, ada());
    assert_eq!(replies(&desk.click(&first, 0, ada())), [ClickReply::NothingWaits]);
    assert_eq!(replies(&desk.click(&second, 1, ada())), [ClickReply::Chosen]);
    assert_eq!(desk.bridge.buttons.len(), 2);
}
