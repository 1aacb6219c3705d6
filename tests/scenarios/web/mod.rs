//! What only the page has: whoever reaches its port, by whatever means, and what it is in a browser.

mod abroad;
mod attacks;
mod crowds;
mod desk;
mod file;
mod keys;
mod looks;
mod page;
mod reach;
mod resuming;
mod waiting;
mod warnings;

type Stage = crate::stage::Stage<crate::stage::Web>;
