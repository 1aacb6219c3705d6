//! What Countersign promises, tried on real servers and real agents.

mod check;
mod harness_check;
mod matrix;
mod process;
mod readme;
mod replay;
mod stage;
