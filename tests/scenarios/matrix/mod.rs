//! The Matrix room, on a real Synapse, with second real clients that press.

mod choosing;
mod endings;
mod outages;
mod sessions;
mod who;
mod words;
