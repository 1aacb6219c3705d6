//! What Countersign promises, tried on real servers and real agents.

mod cards;
mod check;
mod demo;
mod discord;
mod discord_double;
mod discord_faults;
mod drawn;
mod harness_check;
mod http_api;
mod init;
mod loopback;
mod matrix;
mod operations;
mod process;
mod readme;
mod replay;
mod rooms;
mod stage;
mod web;
