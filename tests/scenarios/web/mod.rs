//! What only the page has: whoever reaches its port, by whatever means.

mod abroad;
mod attacks;
mod crowds;
mod desk;
mod keys;
