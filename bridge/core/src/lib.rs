//! The state machine of held permission requests, and the traits of its two edges.
//!
//! [`Bridge::handle`] takes the time and one input and returns effects; [`Bridge::next_deadline`] says when to call it
//! again with [`Input::Tick`]. That is the whole calling contract: one inbox puts everything in order, nothing here
//! awaits, reads a clock or draws a random number, so every state can be reached in a test.

mod backoff;
mod bridge;
mod card;
mod edges;
mod effect;
mod fatigue;
mod file;
mod held;
mod layout;
mod redact;
mod settled;
mod terms;
pub mod wording;
mod wrap;

pub use backoff::Backoff;
pub use bridge::{Bridge, Escalation, Limits, RoomRules, Rules, Tokens};
pub use card::{Details, paths, ruled};
pub use edges::{Asks, Board, Clicks, Replies, Room, RoomError, RoomEvent, Source, SourceError, SourceEvent, part_name};
pub use effect::{Effect, Entry, Input, Kept, Said, Waiting};
pub use file::{CardFile, file};
pub use layout::{Laid, lay_out, rows, section_rows};
pub use terms::Terms;
pub use wrap::{columns, wrapped};
