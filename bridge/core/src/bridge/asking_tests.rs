use bridge_model::{ButtonStyle, ClickReply, Section};
use policy::WhenChanged;

use super::super::desk::*;
use super::super::*;
use crate::{RoomError, SourceEvent, bridge};

#[test]
fn a_request_that_changes_while_it_waits_is_refused_and_the_card_says_what_changed() {
    let mut desk = Desk::new();
    let card = desk.ask_and_post(1);
    let effects = desk.at(1, change(Some("rm -rf ~")));
    assert_eq!(told(&effects), ["selected \"no\""]);
    assert_eq!(closings(&effects), [Ending::Refused(Refused::Changed("Command".into()))]);
    assert!(posted_card(&effects).is_none());
    assert_eq!(told(&desk.click(&card, 0, ada())), Vec::<String>::new());
}

#[test]
fn a_change_that_cannot_be_told_is_refused_however_the_operator_has_it() {
    let mut desk = asking_again();
    desk.ask_and_post(1);
    let effects = desk.at(1, change(None));
    assert_eq!(told(&effects), ["selected \"no\""]);
    assert_eq!(closings(&effects), [Ending::Refused(Refused::Changed(String::new()))]);
}

#[test]
fn nobody_is_asked_again_about_what_looks_the_same() {
    let mut desk = asking_again();
    desk.ask_and_post(1);
    let effects = desk.at(1, change(Some("ls")));
    assert_eq!(told(&effects), ["selected \"no\""]);
}

#[test]
fn people_are_asked_again_on_another_card_until_the_same_deadline() {
    let mut desk = asking_again();
    let before = desk.ask_and_post(1);
    let effects = desk.at(1_000, change(Some("rm -rf ~")));
    assert_eq!(told(&effects), Vec::<String>::new());
    assert_eq!(closings(&effects), [Ending::Withdrawn(Withdrawn::AskedAgain)]);
    let card = posted_card(&effects).expect("a card");
    assert_ne!(card.request, before.request);
    assert_eq!(card.deadline, Timestamp::from_unix_millis(LIFETIME_MS));
    let changed = card.sections.iter().find(|section| section.heading == Section::CHANGED).expect("it says so");
    assert_eq!(changed.text(), "This takes the place of #1, because the agent changed what it would do. Not as it was: Command.");
    let after = Posted::of(&effects).expect("posted");
    desk.at(1_000, Input::Posted(after.request, Ok(after.posted())));

    // Of the two cards only the new one counts, and the agent is told once.
    let late = desk.click(&before, 0, ada());
    assert_eq!(told(&late), Vec::<String>::new());
    assert_eq!(replies(&late), [ClickReply::TooLate(Ending::Withdrawn(Withdrawn::AskedAgain))]);
    assert_eq!(told(&desk.click(&after, 0, ada())), ["selected \"allow:once/✅ \""]);
    assert_eq!(desk.bridge.held_len(), 0);
}

#[test]
fn nobody_is_asked_again_about_what_policy_denies() {
    let mut desk = asking_again();
    desk.ask_and_post(1);
    let mut denied = Desk::asked(1, "ls");
    denied.tool_call.as_mut().expect("a tool call").kind = bridge_model::ToolKind::Delete;
    desk.rules().policy.verdicts.by_kind = [(bridge_model::ToolKind::Delete, policy::Verdict::AutoDeny)].into();
    let effects = desk.at(1, Input::Source(SourceEvent::Changed { ask: ask(1), now: Some(Box::new(denied)) }));
    assert_eq!(told(&effects), ["selected \"no\""]);
    assert_eq!(closings(&effects), [Ending::Refused(Refused::Changed("Kind".into()))]);
}

#[test]
fn an_agent_that_changes_its_mind_all_the_time_is_refused() {
    let mut desk = asking_again();
    desk.ask_and_post(1);
    for time in 0..bridge::asking::CHANGED_MAX {
        let effects = desk.at(1, change(Some(&format!("rm {time}"))));
        assert!(posted_card(&effects).is_some(), "{time}");
    }
    let effects = desk.at(1, change(Some("rm -rf ~")));
    assert_eq!(told(&effects), ["selected \"no\""]);
    assert_eq!(desk.bridge.held_len(), 0);
}

#[test]
fn at_the_deadline_a_change_comes_too_late() {
    let mut desk = asking_again();
    desk.ask_and_post(1);
    let effects = desk.at(LIFETIME_MS, change(Some("rm -rf ~")));
    assert_eq!(told(&effects), ["selected \"no\""]);
    assert_eq!(closings(&effects), [Ending::Expired]);
}

#[test]
fn without_its_file_a_card_is_drawn_anew_and_only_refuses() {
    let mut desk = Desk::new();
    let (first, again) = desk_with_unattached(&mut desk);
    let card = posted_card(&again).expect("a card");
    assert_eq!(card.request, first.request);
    let styles: Vec<_> = card.buttons.iter().map(|button| button.style).collect();
    assert_eq!(styles, [ButtonStyle::Reject]);
    assert!(matches!(again.first(), Some(Effect::Record { entry: Entry::Held { shown, .. }, .. }) if *shown == card.digest));
    let second = Posted::of(&again).expect("posted");
    desk.at(1, Input::Posted(second.request, Ok(second.posted())));
    // A button of the card that was never seen is none.
    assert_eq!(replies(&desk.click(&first, 0, ada())), [ClickReply::NothingWaits]);
    assert_eq!(told(&desk.click(&second, 0, ada())), ["selected \"no\""]);
}

#[test]
fn a_card_drawn_anew_still_says_what_the_agent_changed() {
    let mut desk = asking_again();
    desk.ask_and_post(1);
    let changed = desk.at(1, change(Some(&"x".repeat(5_000))));
    let request = posted_card(&changed).expect("a card").request;
    let again = desk.at(1, Input::Posted(request, Err(RoomError::NotAttached("down".into()))));
    let card = posted_card(&again).expect("a card");
    assert!(card.sections.iter().any(|section| section.heading == Section::CHANGED), "{card:?}");
}

#[test]
fn what_cannot_be_attached_twice_is_refused() {
    let mut desk = Desk::new();
    let (first, _) = desk_with_unattached(&mut desk);
    let effects = desk.at(1, Input::Posted(first.request, Err(RoomError::NotAttached("down".into()))));
    assert_eq!(told(&effects), ["selected \"no\""]);
    let why = "its file could not be attached (down)".to_owned();
    assert_eq!(closings(&effects), [Ending::Refused(Refused::NotShowable(why))]);
}

/// A long request whose first card could not be posted, and what followed.
fn desk_with_unattached(desk: &mut Desk) -> (Posted, Vec<Effect>) {
    let long = Desk::asked(1, &"x".repeat(5_000));
    let effects = desk.at(0, Input::Source(SourceEvent::Requested(Box::new(long), Box::default())));
    let first = Posted::of(&effects).expect("posted");
    assert_eq!(first.tokens.len(), 2);
    let again = desk.at(1, Input::Posted(first.request, Err(RoomError::NotAttached("down".into()))));
    assert_eq!(told(&again), Vec::<String>::new());
    (first, again)
}

fn asking_again() -> Desk {
    let mut desk = Desk::new();
    desk.rules().policy.when_changed = WhenChanged::AskAgain;
    desk
}

fn change(command: Option<&str>) -> Input {
    Input::Source(SourceEvent::Changed { ask: ask(1), now: command.map(|command| Box::new(Desk::asked(1, command))) })
}
