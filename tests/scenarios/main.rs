//! What Countersign promises, tried on real servers and real agents.

mod harness_check;
mod matrix;
mod replay;
mod stage;
