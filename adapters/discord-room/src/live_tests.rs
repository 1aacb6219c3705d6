use bridge_model::Shown;
use serenity::all::GuildId;

use super::*;

#[test]
fn a_card_that_was_deleted_before_its_post_returned_is_not_open() {
    let mut table = opened(1);
    assert_eq!(table.deleted(ChannelId::new(2), MessageId::new(1)), None);
    assert!(!table.posted(request(1), posted(1)));
    assert!(table.all().is_empty());
}

#[test]
fn a_deletion_names_the_card_that_it_was() {
    let mut table = opened(1);
    assert!(table.posted(request(1), posted(1)));
    assert_eq!(table.deleted(ChannelId::new(9), MessageId::new(1)), None);
    let card = table.deleted(ChannelId::new(2), MessageId::new(1)).expect("a card");
    assert_eq!((card.room.as_str(), card.control.as_str()), ("ops", "1/2/1"));
}

#[test]
fn a_closed_card_is_in_no_room() {
    let mut table = opened(1);
    table.posted(request(1), posted(1));
    assert_eq!(table.room_of_card(spot(1)), Some(room()));
    table.close(request(1));
    assert_eq!(table.room_of_card(spot(1)), None);
}

#[test]
fn only_a_card_that_waits_where_it_was_posted_is_drawn_anew() {
    let mut table = opened(1);
    assert!(table.waiting(request(1), spot(1)).is_none());
    table.posted(request(1), posted(1));
    assert_eq!(table.waiting(request(1), spot(1)).map(|(posted, _)| posted), Some(posted(1)));
    assert!(table.waiting(request(1), spot(2)).is_none() && table.waiting(request(2), spot(1)).is_none());
    let (_, drawing) = table.waiting(request(1), spot(1)).expect("it waits");
    let closing = table.begin_to_close(request(1)).expect("it is open");
    assert!(Arc::ptr_eq(&drawing, &closing));
    assert!(table.waiting(request(1), spot(1)).is_none());
    // Its clicks are still those of its room, and it can be closed again.
    assert_eq!(table.room_of_card(spot(1)), Some(room()));
    assert!(table.begin_to_close(request(1)).is_some());
}

#[test]
fn a_click_is_new_once() {
    let mut table = LiveTable::default();
    assert!(table.is_new(InteractionId::new(7)));
    assert!(!table.is_new(InteractionId::new(7)));
}

#[test]
fn one_person_cannot_flood_a_card() {
    let mut table = LiveTable::default();
    let count = |table: &mut LiveTable, user| table.count(UserId::new(user), MessageId::new(1));
    assert!((0..CLICKS_MAX).all(|_| count(&mut table, 5)));
    assert!(!count(&mut table, 5));
    assert!(count(&mut table, 6));
}

#[test]
fn memory_stays_within_its_bounds() {
    let mut table = LiveTable::default();
    for at in 1..=10_000 {
        table.is_new(InteractionId::new(at));
        table.deleted(ChannelId::new(1), MessageId::new(at));
        table.count(UserId::new(at), MessageId::new(at));
        table.thread_made(&room(), &origin(&at.to_string()), ChannelId::new(at));
    }
    assert_eq!((table.interactions.len(), table.deleted.len()), (REMEMBERED_MAX, REMEMBERED_MAX));
    assert_eq!((table.clicks.len(), table.threads.len()), (REMEMBERED_MAX, THREADS_MAX));
    for at in 0..2 * CARDS_MAX as u64 {
        table.open(request(at), &room(), ChannelId::new(2)).expect("the place of one that was not confirmed");
    }
    assert_eq!(table.cards.len(), CARDS_MAX);
    for at in CARDS_MAX as u64..2 * CARDS_MAX as u64 {
        assert!(table.posted(request(at), posted(20_000 + at)));
    }
    assert!(table.open(request(9_999_999), &room(), ChannelId::new(2)).is_err());
}

#[test]
fn equal_sessions_of_two_sources_have_a_thread_each() {
    let mut table = LiveTable::default();
    table.thread_made(&room(), &origin("s"), ChannelId::new(5));
    let other = Origin { source: SourceName::new("http"), ..origin("s") };
    assert_eq!(table.thread(&room(), &origin("s")), Some(ChannelId::new(5)));
    assert_eq!(table.thread(&room(), &other), None);
    table.thread_gone(ChannelId::new(5));
    assert_eq!(table.thread(&room(), &origin("s")), None);
    assert_eq!(table.threads.len(), 0);
}

#[test]
fn a_thread_that_is_found_takes_no_other_threads_place_and_its_cards_are_still_known() {
    let mut table = opened(1);
    table.thread_made(&room(), &origin("s"), ChannelId::new(5));
    table.thread_found(&room(), &origin("s"), ChannelId::new(2));
    assert_eq!(table.thread(&room(), &origin("s")), Some(ChannelId::new(5)));
    assert_eq!(table.room_of_thread(ChannelId::new(2)), None, "nothing is known to be there");
    table.posted(request(1), posted(1));
    assert_eq!(table.room_of_thread(ChannelId::new(2)), Some(room()));
    table.thread_found(&room(), &origin("other"), ChannelId::new(6));
    assert_eq!(table.thread(&room(), &origin("other")), Some(ChannelId::new(6)));
}

fn opened(number: u64) -> LiveTable {
    let mut table = LiveTable::default();
    table.open(request(number), &room(), ChannelId::new(2)).expect("room for it");
    table
}

fn posted(message: u64) -> Posted {
    Posted { spot: spot(message), has_file: true, digest: Digest::from_bytes([7; 32]) }
}

fn spot(message: u64) -> Spot {
    Spot { guild: GuildId::new(1), channel: ChannelId::new(2), message: MessageId::new(message) }
}

fn request(number: u64) -> RequestId {
    RequestId { run: 1, number }
}

fn room() -> RoomName {
    RoomName::new("ops")
}

fn origin(session: &str) -> Origin {
    Origin { source: SourceName::new("acp"), session: Some(SessionId::new(session)), agent: Shown::line("Coder") }
}
