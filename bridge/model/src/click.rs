//! A click, and what the person who clicked is told.

use crate::{Button, ButtonToken, Ending, MessageId, Person, PersonId, RoomName, Shown, Timestamp};

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
    /// It counts, and somebody else has to choose the same.
    IsFirst,
    /// It does not count: somebody else chose another option, and both have to choose the same.
    Differs { name: Shown, option: Shown },
    /// It counts once the person presses what is shown to them alone.
    ToConfirm(ToConfirm),
    /// It came too late: this is how the request had ended.
    TooLate(Ending),
    /// They may not answer here; the text says why and reads after "Your click did not count: ".
    MayNotAnswer(String),
    /// The button belongs to nothing that waits here.
    NothingWaits,
}

/// What a person has to confirm, on a button of its own that only they see. Not pressing it decides nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToConfirm {
    /// With the agent's own label.
    pub button: Button,
    pub headline: Shown,
    /// What the agent says that the option covers.
    pub covers: Option<Shown>,
    /// Somebody else then has to choose the same.
    pub needs_another: bool,
    /// When the button no longer counts.
    pub until: Timestamp,
}
