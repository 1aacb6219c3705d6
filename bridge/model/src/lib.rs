//! The nouns of Countersign: what is asked, what is offered, who clicks, what a card holds and how a request ends.
//!
//! One type per idea and one type per id. Nothing here decides, waits, reads a clock or talks to anything, so every
//! other crate may depend on it. Ids are opaque: they can be compared and handed on, never taken apart.

mod card;
mod click;
mod ending;
mod id;
mod option;
mod person;
mod request;
mod secret;
mod shown;
mod time;
mod tool_call;

pub use card::{Button, ButtonStyle, Card, CardLimits, CardRef, ClosedCard, Digest, Gap, Origin, Section, SectionBody};
pub use click::{Click, ClickRef, ClickReply, ToConfirm};
pub use ending::{Approver, Delivery, Ending, NotDelivered, Refused, Withdrawn};
pub use id::{ButtonToken, MessageId, PersonId, RequestId, RoleId, RoomName, SessionId, SourceName};
pub use option::{Offered, OptionId, OptionIdError, OptionKind, Options, OptionsError, PermissionOption};
pub use person::{Humanity, Person, Presence, Signature, Standing};
pub use request::{Outcome, PermissionRequest, Places, ReplyTo, Session};
pub use secret::Secret;
pub use shown::{Shown, Spelled};
pub use time::Timestamp;
pub use tool_call::{Content, Location, ToolCall, ToolKind};
