//! A card as the bridge would draw it, for scenarios that talk to a board themselves.

use bridge_core::file;
use bridge_model::{
    Button, ButtonStyle, ButtonToken, Card, ClosedCard, Digest, Ending, Origin, RequestId, RoomName, Section, SectionBody, Shown,
    SourceName, Timestamp, ToConfirm,
};

pub(crate) const ROOM: &str = "builds";

/// `times`: how long its command is.
pub(crate) fn card(who_has: &str, times: usize) -> Card {
    let command = Section::new("Command", SectionBody::Code(Shown::block(&"ls ".repeat(times))));
    let two_people = Section::new(Section::TWO_PEOPLE, SectionBody::Ours(who_has.to_owned()));
    let card = Card {
        request: request(),
        room: RoomName::new(ROOM),
        origin: Origin { source: SourceName::new("acp"), session: None, agent: Shown::line("Coder") },
        headline: Shown::line("\"Coder\" wants to run: ls"),
        sections: vec![command, two_people],
        buttons: buttons(),
        deadline: Timestamp::from_unix_millis(1_900_000_000_000),
        is_whole: true,
        digest: Digest::from_bytes([0; 32]),
    };
    assert!(!file(&card).text.contains(who_has));
    card
}

pub(crate) fn buttons() -> Vec<Button> {
    let button = |bits, label, style| Button { token: ButtonToken::from_random(bits), label: Shown::line(label), style };
    vec![button(1, "Yes", ButtonStyle::AllowOnce), button(2, "No", ButtonStyle::Reject)]
}

pub(crate) fn to_confirm(token: u128) -> ToConfirm {
    ToConfirm {
        button: Button { token: ButtonToken::from_random(token), ..buttons().remove(0) },
        headline: Shown::line("\"Coder\" wants to run: ls"),
        covers: None,
        needs_another: false,
        until: Timestamp::from_unix_millis(1_900_000_000_000),
    }
}

pub(crate) fn expired() -> ClosedCard {
    ClosedCard {
        request: request(),
        room: RoomName::new(ROOM),
        headline: Shown::line("\"Coder\" wants to run: ls"),
        ending: Ending::Expired,
        at: None,
    }
}

pub(crate) const fn request() -> RequestId {
    RequestId { run: 1, number: 7 }
}
