//! Decides from facts: what to do with a request, who may answer it, how to say no, how long to wait.
//!
//! Pure functions over values: no state, no clock, no I/O. Adapters report facts, this crate decides, and nobody else
//! does.

mod approvers;
mod refusal;
mod verdict;
mod workspace;

pub use approvers::{Approvers, Ineligible, Listed, Permit, Who};
pub use refusal::RefusalStyle;
pub use verdict::{Policy, Verdict, WhenChanged};
pub use workspace::is_outside;
