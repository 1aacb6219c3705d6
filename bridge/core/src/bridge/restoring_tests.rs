use bridge_model::ClickReply;
use policy::{Approvals, Launch, Verdict, Verdicts};

use super::super::desk::*;
use super::super::*;
use crate::{Kept, RoomError, Terms};

#[test]
fn what_comes_back_goes_on_with_its_card_its_buttons_and_its_deadline() {
    let (mut before, card, kept) = held(|_| {});
    assert_eq!((&kept.from, kept.comes_back.as_str()), (&ask(1), "it is mine"));
    before.at(1, Input::Posted(card.request, Ok(card.posted())));
    let mut desk = Desk::new();
    let effects = restored(&mut desk, 10_000, &kept, Some(&card)).expect("understood");
    assert!(matches!(&effects[0], Effect::Record { .. }), "{effects:?}");
    let Some((at, drawn, within)) = resumed(&effects) else { panic!("{effects:?}") };
    let tokens: Vec<_> = drawn.buttons.iter().map(|button| button.token).collect();
    assert_eq!((at, drawn.request, tokens), (&card.posted(), card.request, card.tokens.clone()));
    assert_eq!((drawn.deadline.unix_millis(), within), (LIFETIME_MS, Duration::from_millis(LIFETIME_MS - 10_000)));
    desk.at(10_001, Input::Posted(card.request, Ok(card.posted())));
    assert_eq!(told(&desk.click_at(10_002, &card, 0, ada())), ["selected \"allow:once/✅ \""]);
    // What comes afterwards has another number.
    assert!(card.request.number < desk.ask(2).request.number);
}

#[test]
fn a_press_that_overtakes_the_news_of_the_card_waits_for_it() {
    let (_, card, kept) = held(|_| {});
    let mut desk = Desk::new();
    restored(&mut desk, 1, &kept, Some(&card));
    assert_eq!(desk.click_at(2, &card, 0, ada()), []);
    assert_eq!(told(&desk.at(3, Input::Posted(card.request, Ok(card.posted())))), ["selected \"allow:once/✅ \""]);
}

#[test]
fn what_was_never_seen_to_be_posted_is_asked_on_a_card_of_another_number() {
    let (_, card, kept) = held(|_| {});
    let mut desk = Desk::new();
    let effects = restored(&mut desk, 10_000, &kept, None).expect("understood");
    let again = Posted::of(&effects).expect("a card");
    assert!(card.request.number < again.request.number && again.tokens.iter().all(|token| !card.tokens.contains(token)));
    assert_eq!(desk.bridge.next_deadline(), Some(Timestamp::from_unix_millis(LIFETIME_MS)));
    desk.at(10_001, Input::Posted(again.request, Ok(again.posted())));
    assert_eq!(replies(&desk.click_at(10_002, &card, 0, ada())), [ClickReply::NothingWaits]);
    assert_eq!(told(&desk.click_at(10_003, &again, 1, ada())), ["selected \"no\""]);
}

#[test]
fn a_deadline_that_has_passed_meanwhile_is_kept() {
    let (_, card, kept) = held(|_| {});
    let mut desk = Desk::new();
    restored(&mut desk, LIFETIME_MS, &kept, Some(&card));
    let effects = desk.at(LIFETIME_MS, Input::Posted(card.request, Ok(card.posted())));
    assert_eq!((told(&effects), &closings(&effects)[0]), (vec!["selected \"no\"".to_owned()], &Ending::Expired));
    assert!(told(&desk.click_at(LIFETIME_MS + 1, &card, 0, ada())).is_empty());
}

#[test]
fn the_stricter_rules_of_both_runs_count() {
    let (_, card, kept) = held(|desk| desk.room().answers.approvals = Approvals::Two);
    let mut desk = Desk::new();
    restored(&mut desk, 1, &kept, Some(&card));
    desk.at(2, Input::Posted(card.request, Ok(card.posted())));
    assert_eq!(replies(&desk.click_at(3, &card, 0, ada())), [ClickReply::IsFirst]);
    let (_, card, kept) = held(|_| {});
    for (denies, rules) in [(true, Verdict::AutoDeny), (false, Verdict::Ask)] {
        let mut desk = Desk::new();
        desk.rules().policy.verdicts.by_kind = [(ToolKind::Execute, rules)].into();
        let effects = restored(&mut desk, 1, &kept, Some(&card)).expect("understood");
        assert_eq!(told(&effects).is_empty(), !denies, "{effects:?}");
    }
    let mut desk = Desk::new();
    desk.rules().policy.lifetime = Duration::from_secs(20);
    restored(&mut desk, 1, &kept, Some(&card));
    assert_eq!(desk.bridge.next_deadline(), Some(Timestamp::from_unix_millis(20_000)));
}

#[test]
fn what_cannot_go_on_is_refused_and_its_card_closed() {
    let (_, card, kept) = held(|_| {});
    let mut desk = Desk::new();
    restored(&mut desk, 1, &kept, Some(&card));
    let gone = RoomError::Refused("the card is gone".to_owned());
    let effects = desk.at(2, Input::Posted(card.request, Err(gone)));
    assert_eq!(told(&effects), ["selected \"no\""]);
    let closed = |effects: &[Effect]| {
        let closes = |effect: &&Effect| matches!(effect, Effect::Close { card: Some(at), .. } if *at == card.posted());
        flat(effects).iter().filter(|effect| closes(effect)).count()
    };
    assert_eq!(closed(&effects), 1);
    let mut without_room = Desk::new();
    without_room.rules().rooms.clear();
    let effects = restored(&mut without_room, 1, &kept, Some(&card)).expect("understood");
    assert_eq!((told(&effects).len(), closed(&effects)), (1, 1));
    assert_eq!(Desk::new().bridge.restore(Timestamp::from_unix_millis(1), "{}", None), None);
}

#[test]
fn the_end_of_the_bridge_ends_what_does_not_come_back_and_nothing_else() {
    let (mut desk, ..) = held(|_| {});
    desk.ask(2);
    let effects = desk.at(1, Input::Stop);
    assert_eq!(closings(&effects).len() + told(&effects).len(), 1, "{effects:?}");
    assert_eq!(desk.bridge.held_len(), 1);
}

#[test]
fn how_it_ended_is_kept_for_whoever_comes_back_and_what_it_was_is_not() {
    let (mut desk, card, _) = held(|_| {});
    desk.at(1, Input::Posted(card.request, Ok(card.posted())));
    let effects = desk.click(&card, 0, ada());
    let kept = effects.iter().find_map(|effect| {
        if let Effect::Record { entry: Entry::Settled { outcome, .. }, .. } = effect { outcome.clone() } else { None }
    });
    assert!(matches!(kept, Some(Outcome::Selected(_))), "{effects:?}");
    let mut other = Desk::new();
    let card = other.ask_and_post(1);
    let effects = other.click(&card, 0, ada());
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Record { entry: Entry::Settled { outcome: None, .. }, .. })));
}

#[test]
fn a_request_is_asked_where_it_says_and_as_narrowly_as_it_says() {
    let mut desk = Desk::new();
    let elsewhere = Terms { room: Some(RoomName::new("other")), ..Terms::default() };
    let effects = desk.at(0, raised(1, elsewhere));
    assert_eq!(posted_card(&effects).expect("a card").room.as_str(), "other");
    let nowhere = Terms { room: Some(RoomName::new("nowhere")), ..Terms::default() };
    assert_eq!(told(&desk.at(0, raised(2, nowhere))), ["selected \"no\""]);
    let verdicts = Verdicts { default: Some(Verdict::AutoDeny), ..Verdicts::default() };
    let narrow = Terms { launches: vec![Launch { verdicts, lifetime: None }], ..Terms::default() };
    assert_eq!(told(&desk.at(0, raised(3, narrow))), ["selected \"no\""]);
    let short = Launch { lifetime: Some(Duration::from_secs(1)), ..Launch::default() };
    let short = Terms { launches: vec![Launch::default(), short], ..Terms::default() };
    assert_eq!(posted_card(&desk.at(0, raised(4, short))).expect("a card").deadline.unix_millis(), 1_000);
    desk.rules().policy.detached_lifetime = Duration::from_hours(1);
    let long = Terms { detached: true, ..Terms::default() };
    assert_eq!(posted_card(&desk.at(0, raised(5, long))).expect("a card").deadline.unix_millis(), 3_600_000);
    let asked_for = Terms { requester: Some(PersonId::new("@ada:x")), ..Terms::default() };
    desk.room().answers.requester_may_answer = false;
    let card = Posted::of(&desk.at(0, raised(6, asked_for))).expect("a card");
    desk.at(1, Input::Posted(card.request, Ok(card.posted())));
    assert!(matches!(replies(&desk.click(&card, 0, ada()))[..], [ClickReply::MayNotAnswer(_)]));
}

fn raised(number: u64, terms: Terms) -> Input {
    Input::Source(SourceEvent::Requested(Box::new(Desk::asked(number, "ls")), Box::new(terms)))
}

/// A request that comes back, which a bridge under these rules holds, and what it keeps of it.
fn held(rules: impl FnOnce(&mut Desk)) -> (Desk, Posted, Kept) {
    let mut desk = Desk::new();
    rules(&mut desk);
    let effects = desk.at(0, raised(1, Terms { comes_back: Some("it is mine".to_owned()), ..Terms::default() }));
    let kept = effects
        .iter()
        .find_map(|effect| if let Effect::Record { entry: Entry::Held { kept, .. }, .. } = effect { kept.clone() } else { None });
    (desk, Posted::of(&effects).expect("a card"), kept.expect("it is kept"))
}

fn restored(desk: &mut Desk, millis: u64, kept: &Kept, card: Option<&Posted>) -> Option<Vec<Effect>> {
    desk.bridge.restore(Timestamp::from_unix_millis(millis), &kept.snapshot, card.map(Posted::posted))
}

fn resumed(effects: &[Effect]) -> Option<(&CardRef, &bridge_model::Card, Duration)> {
    effects.iter().find_map(
        |effect| {
            if let Effect::Resume { at, card, within } = effect { Some((at, card, *within)) } else { None }
        },
    )
}
