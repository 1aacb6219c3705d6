//! Cards of anything at all, and what has to hold of every one of them.
//!
//! [`wild::request`] makes a permission request of any bytes, [`drawn::card`] has the bridge draw it, and [`sound`] says what
//! is wrong with what a room would show. The tests of this package feed it from proptest, and `tests/fuzz` from libFuzzer.

pub mod drawn;
pub mod sound;
pub mod wild;
