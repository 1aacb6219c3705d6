use bridge_model::{Button, ButtonStyle, Digest, Origin, Shown, SourceName, Timestamp};

use super::*;

const WITHIN: Duration = Duration::from_mins(1);

#[test]
fn a_click_counts_only_in_its_room_and_on_its_card() {
    let mut table = posted(&[1]);
    assert!(table.response(&room(), &id("$poll1"), token(1)).is_some());
    assert_eq!(table.response(&RoomName::new("other"), &id("$poll1"), token(1)), None);
    assert_eq!(table.response(&room(), &id("$poll2"), token(1)), None);
    assert_eq!(table.response(&room(), &id("$poll1"), token(9)), None);
    table.open(&card(2), WITHIN, Instant::now()).expect("room for it");
    assert_eq!(table.response(&room(), &id("$poll1"), token(2)).map(|hit| hit.control), Some(id("$poll1")), "still being posted");
}

#[test]
fn a_reaction_counts_only_if_it_was_seeded() {
    let mut table = posted(&[1]);
    assert_eq!(table.reaction(&room(), &id("$message1"), "Yes"), None);
    table.get_mut(request(1)).expect("a card").seeded("Yes", token(1), id("$seed"));
    let hit = table.reaction(&room(), &id("$message1"), "Yes\u{fe0f}").expect("a click");
    assert_eq!((hit.token, hit.control), (token(1), id("$poll1")));
    for key in ["yes", "Yes ", "No", "", "\u{2705}"] {
        assert_eq!(table.reaction(&room(), &id("$message1"), key), None, "{key:?}");
    }
    assert_eq!(table.reaction(&room(), &id("$poll1"), "Yes"), None);
}

#[test]
fn an_event_counts_once() {
    let mut table = LiveTable::default();
    assert!(table.is_new(&id("$a")));
    assert!(!table.is_new(&id("$a")));
    for at in 0..SEEN_MAX * 2 {
        assert!(table.is_new(&id(&format!("$b{at}"))));
    }
    assert_eq!((table.seen.order.len(), table.seen.ids.len()), (SEEN_MAX, SEEN_MAX));
}

#[test]
fn a_persons_clicks_on_a_card_are_looked_at_ten_times() {
    let mut table = posted(&[1]);
    let ada = UserId::parse("@ada:localhost").expect("an id");
    let counts: Vec<_> = (0..13).map(|_| table.count(token(1), &ada)).collect();
    assert!(counts[..10].iter().all(|count| *count == Count::Looked));
    assert_eq!(counts[10..], [Count::FirstOver, Count::Over, Count::Over]);
    assert_eq!(table.count(token(1), &UserId::parse("@eve:localhost").expect("an id")), Count::Looked);
}

#[test]
fn closed_cards_are_remembered_up_to_a_bound() {
    let mut table = LiveTable::default();
    for number in 1..=u64::try_from(CLOSED_MAX).expect("small") + 1 {
        table.open(&card(number), WITHIN, Instant::now()).expect("room for it");
        table.close(request(number));
        table.close(request(number));
    }
    assert_eq!((table.cards.len(), table.closed.len()), (CLOSED_MAX, CLOSED_MAX));
    assert_eq!(table.response(&room(), &id("$x"), token(1)), None);
    assert!(table.response(&room(), &id("$x"), token(2)).is_some(), "a late click is still reported");
}

#[test]
fn one_card_too_many_is_refused() {
    let mut table = LiveTable::default();
    for number in 0..u64::try_from(CARDS_MAX).expect("small") {
        table.open(&card(number), WITHIN, Instant::now()).expect("room for it");
    }
    assert!(table.open(&card(9_999), WITHIN, Instant::now()).is_err());
}

#[test]
fn a_card_is_looked_at_once_more_before_its_deadline() {
    let (mut table, now) = (posted(&[1]), Instant::now());
    let due = table.next_check(&room()).expect("a time");
    assert!(due <= now + WITHIN - LAST_CHECK);
    assert_eq!(table.take_due(&room(), due - Duration::from_secs(1)), []);
    assert_eq!(table.take_due(&room(), due).len(), 1);
    assert_eq!(table.next_check(&room()), None);
}

#[test]
fn an_extra_look_does_not_replace_the_last_one() {
    let (mut table, now) = (posted(&[1]), Instant::now());
    for _ in 0..EXTRA_CHECKS_MAX {
        assert!(table.check_soon(&room(), &id("$poll1"), now).is_some());
        assert_eq!(table.take_due(&room(), now).len(), 1);
    }
    table.check_soon(&room(), &id("$poll1"), now);
    assert_eq!(table.take_due(&room(), now), [], "there are only so many");
    assert!(table.next_check(&room()).is_some_and(|at| now < at));
}

#[test]
fn a_removal_names_the_card_unless_it_is_closed() {
    let mut table = posted(&[1]);
    assert_eq!(table.removed(&room(), &id("$other")), None);
    assert_eq!(table.removed(&RoomName::new("other"), &id("$poll1")), None);
    let card = table.removed(&room(), &id("$message1")).expect("the card");
    assert_eq!((card.control.as_str(), card.parts[0].as_str()), ("$poll1", "$message1"));
    table.close(request(1));
    assert_eq!(table.removed(&room(), &id("$poll1")), None);
}

#[test]
fn whoever_removes_its_file_removes_the_card() {
    let mut table = posted(&[1]);
    table.get_mut(request(1)).expect("a card").file = Some(id("$file1"));
    let card = table.removed(&room(), &id("$file1")).expect("the card");
    assert_eq!(card.control.as_str(), "$poll1");
    let parts = Parts::parse(&card).expect("a card");
    assert_eq!((parts.file, parts.seeds), (Some(id("$file1")), vec![]), "what was decided on goes with no seed");
}

#[test]
fn a_card_of_an_earlier_run_counts_once_it_is_taken_up_and_is_looked_at_then() {
    let (mut table, now) = (LiveTable::default(), Instant::now());
    table.expect(&card(1), &parts(), WITHIN, now).expect("room for it");
    assert_eq!(table.response(&room(), &id("$poll1"), token(1)), None);
    assert_eq!(table.reaction(&room(), &id("$message1"), "Yes"), None);
    assert_eq!(table.redraw(&card(1), now).map(|redraw| redraw.has_file), Some(true));
    assert_eq!(table.take_due(&room(), now), []);
    assert!(table.take_up(&card(1), now));
    assert!(table.response(&room(), &id("$poll1"), token(1)).is_some());
    assert!(table.reaction(&room(), &id("$message1"), "Yes").is_some());
    assert_eq!(table.response(&room(), &id("$poll2"), token(1)), None);
    let due = table.take_due(&room(), now);
    assert_eq!(due.iter().map(|card| &card.control).collect::<Vec<_>>(), [&id("$poll1")]);
}

#[test]
fn a_card_that_somebody_removes_meanwhile_is_not_taken_up() {
    for part in ["$message1", "$poll1", "$file1"] {
        let (mut table, now) = (LiveTable::default(), Instant::now());
        table.expect(&card(1), &parts(), WITHIN, now).expect("room for it");
        assert_eq!(table.removed(&room(), &id(part)), Some(parts().card_ref(&room())));
        assert!(!table.take_up(&card(1), now), "{part}");
        assert_eq!(table.response(&room(), &id("$poll1"), token(1)), None);
    }
}

#[test]
fn a_card_that_was_posted_in_vain_can_be_posted_anew() {
    let mut table = LiveTable::default();
    table.open(&card(1), WITHIN, Instant::now()).expect("room for it");
    table.get_mut(request(1)).expect("a card").file = Some(id("$file1"));
    table.forget(request(1));
    assert!(table.get(request(1)).is_none());
    table.open(&card(1), WITHIN, Instant::now()).expect("room for it");
    assert_eq!(table.get(request(1)).expect("a card").file, None);
    table.close(request(1));
    table.forget(request(1));
    assert!(table.response(&room(), &id("$x"), token(1)).is_some(), "a late click is still reported");
}

#[test]
fn only_a_card_that_is_whole_and_open_is_drawn_anew() {
    let (mut table, now) = (posted(&[1]), Instant::now());
    let redraw = table.redraw(&card(1), now).expect("it is open");
    assert!(!redraw.has_file);
    assert!(redraw.within <= WITHIN && WITHIN < redraw.within + Duration::from_secs(1), "{redraw:?}");
    table.get_mut(request(1)).expect("a card").file = Some(id("$file1"));
    assert!(table.redraw(&card(1), now).is_some_and(|redraw| redraw.has_file));
    table.open(&card(2), WITHIN, now).expect("room for it");
    assert_eq!(table.redraw(&card(2), now), None, "its poll is not known to stand");
    table.removed(&room(), &id("$message1")).expect("the card");
    assert_eq!(table.redraw(&card(1), now), None, "somebody took it away");
    let mut table = posted(&[1]);
    table.close(request(1));
    assert_eq!(table.redraw(&card(1), now), None, "it was closed");
    assert_eq!(table.redraw(&card(9), now), None);
}

#[test]
fn a_card_drawn_anew_keeps_its_buttons_and_a_later_deadline_its_last_look() {
    let (mut table, now) = (posted(&[1]), Instant::now());
    table.take_due(&room(), now + WITHIN);
    let later = Card { deadline: card(1).deadline.after(Duration::from_secs(30)), ..card(1) };
    let redraw = table.redraw(&later, now).expect("it is open");
    assert!(WITHIN + Duration::from_secs(29) < redraw.within, "{redraw:?}");
    assert!(table.response(&room(), &id("$poll1"), token(1)).is_some());
    let due = table.next_check(&room()).expect("a time");
    assert!(now + WITHIN < due && due < now + redraw.within, "{due:?}");
    assert!(table.redraw(&later, now).is_some());
    assert_eq!(table.next_check(&room()), Some(due));
}

pub(super) fn posted(numbers: &[u64]) -> LiveTable {
    let mut table = LiveTable::default();
    for number in numbers {
        table.open(&card(*number), WITHIN, Instant::now()).expect("room for it");
        let card = table.get_mut(request(*number)).expect("a card");
        card.message = Some(id(&format!("$message{number}")));
        card.control = Some(id(&format!("$poll{number}")));
    }
    table
}

fn parts() -> Parts {
    Parts { control: id("$poll1"), message: id("$message1"), file: Some(id("$file1")), seeds: vec![id("$seed")] }
}

pub(super) fn card(number: u64) -> Card {
    let button = Button { token: token(number), label: Shown::line("Yes"), style: ButtonStyle::Neutral };
    Card {
        request: request(number),
        room: room(),
        origin: Origin { source: SourceName::new("acp"), session: None, agent: Shown::line("x") },
        headline: Shown::line("x"),
        sections: vec![],
        buttons: vec![button],
        deadline: Timestamp::from_unix_millis(1_796_020_000_000),
        is_whole: true,
        digest: Digest::from_bytes([0; 32]),
    }
}

pub(super) fn token(number: u64) -> ButtonToken {
    ButtonToken::from_random(number.into())
}

pub(super) fn request(number: u64) -> RequestId {
    RequestId { run: 1, number }
}

pub(super) fn room() -> RoomName {
    RoomName::new("ops")
}

pub(super) fn id(text: &str) -> OwnedEventId {
    EventId::parse(text).expect("an id")
}
