//! A click, and what the person who clicked is told.

use crate::{ButtonToken, Ending, MessageId, Person, PersonId, RoomName};

/// Somebody pressed a button. Adapters send facts; they have decided nothing.
#[derive(Clone, Debug)]
pub struct Click {
    pub token: ButtonToken,
    pub by: Person,
    pub at: ClickRef,
}

/// Where a click happened, so that it can be answered privately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClickRef {
    pub room: RoomName,
    /// The message that carried the button.
    pub control: MessageId,
    pub person: PersonId,
    /// The click's own id on its service.
    pub click: MessageId,
}

/// What a person is told, privately, about their click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClickReply {
    /// It counted.
    Chosen,
    /// It came too late: this is how the request had ended.
    TooLate(Ending),
    /// They may not answer here; the text says why and reads after "Your click did not count: ".
    MayNotAnswer(String),
    /// The button belongs to nothing that waits here.
    NothingWaits,
}
