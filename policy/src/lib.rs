//! Decides from facts: what to do with a request, who may answer it, how to say no, how long to wait.
//!
//! Pure functions over values: no state, no clock, no I/O. Adapters report facts, this crate decides, and nobody else
//! does.

mod answer;
mod approvers;
mod lifetime;
mod pace;
mod refusal;
mod ruling;
mod verdict;
mod workspace;

pub use answer::{AnswerRules, Approvals, Confirm, Effective, Press, WhenNobody};
pub use approvers::{Approvers, Ineligible, Listed, Permit, Who};
pub use lifetime::{LIFETIME_MAX, asked_for};
pub use pace::Pace;
pub use refusal::RefusalStyle;
pub use ruling::{Because, Launch, Policy, Reach, Ruled, Ruling, Side, WhenChanged, WhenOutside, Widens};
pub use verdict::{Key, Mode, Verdict, Verdicts};
pub use workspace::is_outside;
