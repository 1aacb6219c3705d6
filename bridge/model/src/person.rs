//! Facts about who clicked, as an adapter saw them at that instant. Policy decides what follows.

use std::collections::BTreeSet;

use crate::{PersonId, RoleId};

/// Whoever clicked. "I don't know" is a value of each fact, so that nobody has to guess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub id: PersonId,
    /// What others in the room see as their name. For showing only; it can be changed by its bearer at will.
    pub name: Option<String>,
    pub humanity: Humanity,
    pub presence: Presence,
    pub standing: Standing,
    pub signature: Signature,
    /// The power level that the room gives them; `i64::MAX` for a creator who stands above all levels. `None`: unknown.
    pub power: Option<i64>,
    /// The roles that the room's service gives them; empty where it has none.
    pub roles: BTreeSet<RoleId>,
}

/// Whether the account belongs to a human.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Humanity {
    /// Nothing marks the account as a program. Services that do not mark programs cannot say more.
    Human,
    Bot,
    Unknown,
}

/// Whether the person is in the room now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    InRoom,
    Absent,
    Unknown,
}

/// Whether the room's service lets the person take part fully.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing holds them back, or the service knows no such thing.
    Full,
    /// They have not passed the service's own screening of newcomers.
    Screening,
    /// A moderator has silenced them for a while.
    Silenced,
    Unknown,
}

/// What vouches that the click came from the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// The service itself names the sender, and the room asks for no more.
    Service,
    /// The click was encrypted by a device that the person has signed.
    SignedDevice,
    /// The room is encrypted, and the click was not, or its device is not signed by the person.
    Missing,
}
