use bridge_model::{Ending, Section, SectionBody, Shown};

use super::*;

const NOW: Timestamp = Timestamp::from_unix_millis(1_000);

#[test]
fn a_card_keeps_its_details_and_loses_its_buttons_when_it_ends() {
    let mut live = LiveTable::default();
    let told = live.open(&card(1, "touch x"), NOW).expect("room");
    assert!(told.contains("touch x") && told.contains("\"token\"") && told.contains("\"left_ms\":59000"), "{told}");
    let told = live.close(&closed(1, Ending::Expired), NOW);
    assert!(told.contains("touch x") && !told.contains("\"token\"") && told.contains("\"state\":\"expired\""), "{told}");
    assert!(told.contains("\"had_buttons\":1") && told.contains("\"left_ms\":null"), "{told}");
    assert_eq!(live.cards(&rooms()).len(), 1);
}

#[test]
fn a_request_without_a_card_is_shown_as_ended() {
    let mut live = LiveTable::default();
    let told = live.close(&closed(1, Ending::Expired), NOW);
    assert!(told.contains("\"had_buttons\":0") && told.contains("headline 1"), "{told}");
    assert_eq!(live.room_of(&id::of_request(request(1))), Some(RoomName::new("desk")));
}

#[test]
fn what_has_ended_is_forgotten_from_its_oldest() {
    let mut live = LiveTable::default();
    live.open(&card(0, "waits"), NOW).expect("room");
    let ended = u64::try_from(ENDED_MAX).expect("a count");
    for number in 1..=ended + 5 {
        live.close(&closed(number, Ending::Expired), NOW);
    }
    assert_eq!(live.cards(&rooms()).len(), ENDED_MAX + 1);
    let is_known = |number| live.room_of(&id::of_request(request(number))).is_some();
    assert!(is_known(0) && !is_known(5) && is_known(6));
}

#[test]
fn one_card_too_many_is_refused_and_there_is_room_again_once_one_has_ended() {
    let mut live = LiveTable::default();
    for number in 0..u64::try_from(OPEN_MAX).expect("a count") {
        live.open(&card(number, "waits"), NOW).expect("room");
    }
    assert!(matches!(live.open(&card(9_999, "one more"), NOW), Err(RoomError::Refused(_))));
    live.close(&closed(0, Ending::Expired), NOW);
    live.open(&card(9_999, "one more"), NOW).expect("room");
}

#[test]
fn texts_have_a_limit_together_and_what_has_ended_goes_first() {
    let mut live = LiveTable::default();
    let text = "x".repeat(BYTES_MAX / 4);
    for number in 0..3 {
        live.open(&card(number, &text), NOW).expect("room");
    }
    assert!(matches!(live.open(&card(3, &text), NOW), Err(RoomError::Refused(_))));
    live.close(&closed(1, Ending::Expired), NOW);
    live.open(&card(3, &text), NOW).expect("the one that has ended makes room");
    assert!(live.room_of(&id::of_request(request(1))).is_none());
    assert!(live.bytes() <= BYTES_MAX);
}

#[test]
fn a_card_drawn_anew_takes_the_place_of_the_one_before() {
    let mut live = LiveTable::default();
    live.open(&card(1, "before"), NOW).expect("room");
    live.open(&card(1, "after"), NOW).expect("room");
    let cards = live.cards(&rooms());
    assert_eq!(cards.len(), 1);
    assert!(cards[0].json(NOW).contains("after"));
    let told = live.close(&closed(1, Ending::Expired), NOW);
    assert!(told.contains("after") && live.cards(&rooms()).iter().all(|card| card.has_ended()), "{told}");
}

#[test]
fn a_card_that_grows_when_it_is_drawn_anew_is_counted_with_what_it_takes_then() {
    let mut live = LiveTable::default();
    live.open(&card(1, "short"), NOW).expect("room");
    let before = live.bytes();
    live.update(&card(1, &"x".repeat(1_000)), NOW).expect("room").expect("news");
    assert!(before + 900 < live.bytes(), "{} after {before}", live.bytes());
    assert!(matches!(live.update(&card(1, &"x".repeat(BYTES_MAX)), NOW), Err(RoomError::Refused(_))));
    assert!(live.bytes() <= BYTES_MAX);
    live.update(&card(1, "short"), NOW).expect("room").expect("news");
    assert_eq!(live.bytes(), before);
}

#[test]
fn a_file_is_there_for_its_room_alone_and_for_as_long_as_its_card() {
    let mut live = LiveTable::default();
    live.open(&card(1, &"x".repeat(50_000)), NOW).expect("room");
    live.open(&card(2, "short"), NOW).expect("room");
    let file = |live: &LiveTable, number, room: &str| live.file(&id::of_request(request(number)), &[RoomName::new(room)]);
    let whole = file(&live, 1, "desk").expect("a file");
    assert!(50_000 < whole.text.len());
    assert!(file(&live, 1, "ops").is_none() && file(&live, 2, "desk").is_none() && file(&live, 3, "desk").is_none());
    live.close(&closed(1, Ending::Expired), NOW);
    assert_eq!(file(&live, 1, "desk"), Some(whole));
    for number in 10..10 + u64::try_from(ENDED_MAX).expect("a count") {
        live.close(&closed(number, Ending::Expired), NOW);
    }
    assert_eq!(file(&live, 1, "desk"), None);
}

#[test]
fn nobody_is_told_of_a_room_that_is_not_theirs() {
    let mut live = LiveTable::default();
    live.open(&card(1, "touch x"), NOW).expect("room");
    assert!(live.cards(&[RoomName::new("ops")].into()).is_empty());
}

fn card(number: u64, text: &str) -> Card {
    let command = Section::new("Command", SectionBody::Code(Shown::block(text)));
    Card { request: request(number), ..render::tests::card(vec![command]) }
}

fn closed(number: u64, ending: Ending) -> ClosedCard {
    let headline = Shown::line(&format!("headline {number}"));
    ClosedCard { request: request(number), room: RoomName::new("desk"), headline, ending, at: None }
}

fn request(number: u64) -> RequestId {
    RequestId { run: 1, number }
}

fn rooms() -> BTreeSet<RoomName> {
    [RoomName::new("desk")].into()
}
