//! What only Discord has, on a model of it.

mod bodies;
mod clicks;
mod delivery;
mod files;
mod options;
mod outages;
mod rooms;
mod threads;
mod waiting;

type Stage = crate::stage::Stage<crate::stage::Discord>;
