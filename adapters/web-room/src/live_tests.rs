use bridge_model::{Button, ButtonStyle, ButtonToken, Ending, Origin, Section, SectionBody, Shown, SourceName};

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
fn nobody_is_told_of_a_room_that_is_not_theirs() {
    let mut live = LiveTable::default();
    live.open(&card(1, "touch x"), NOW).expect("room");
    assert!(live.cards(&[RoomName::new("ops")].into()).is_empty());
}

fn card(number: u64, text: &str) -> Card {
    let button = Button { token: ButtonToken::from_random(7), label: Shown::line("Yes"), style: ButtonStyle::AllowOnce };
    Card {
        request: request(number),
        room: RoomName::new("desk"),
        origin: Origin { source: SourceName::new("acp"), session: None, agent: Shown::line("An agent") },
        headline: Shown::line("headline"),
        sections: vec![Section { heading: "Command", body: SectionBody::Code(Shown::block(text)) }],
        buttons: vec![button],
        deadline: Timestamp::from_unix_millis(60_000),
    }
}

fn closed(number: u64, ending: Ending) -> ClosedCard {
    let headline = Shown::line(&format!("headline {number}"));
    ClosedCard { request: request(number), room: RoomName::new("desk"), headline, ending }
}

fn request(number: u64) -> RequestId {
    RequestId { run: 1, number }
}

fn rooms() -> BTreeSet<RoomName> {
    [RoomName::new("desk")].into()
}
