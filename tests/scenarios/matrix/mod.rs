//! What only Matrix has, on a real Synapse, with second real clients that press.

mod choosing;
mod confirming;
mod endings;
mod files;
mod outages;
mod resuming;
mod sessions;
mod who;
mod words;

type Stage = crate::stage::Stage<crate::stage::Matrix>;
