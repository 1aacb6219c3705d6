//! What only Discord has, on a model of it.

mod bodies;
mod channel;
mod clicks;
mod delivery;
mod files;
mod options;
mod outages;
mod resuming;
mod rooms;
mod threads;
mod waiting;

type Stage = crate::stage::Stage<crate::stage::Discord>;
