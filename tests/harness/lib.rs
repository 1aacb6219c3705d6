//! What a scenario needs: a real Synapse, a model of Discord, people in their rooms and at a browser, the `countersign`
//! binary between a client and an agent, and recordings of real agents. For what no real server does there is a double of
//! Discord.
//!
//! Nothing here sleeps for luck: every wait ends with what is awaited, or fails after [`PATIENCE`] and says what was
//! there instead.

mod acp_client;
mod agents;
mod binaries;
mod bridge_process;
mod browser;
mod captures;
mod cards;
mod discord;
pub mod discord_double;
mod http;
mod http_member;
mod launch;
mod newcomer;
mod person;
mod ports;
pub mod recorded;
mod replay;
mod schemathesis;
mod sight;
mod synapse;
mod tls;
mod upload_fault;
mod visitor;
mod wait;

pub use agents::{RawAgent, deaf_agent, echo_agent, scripted_agent};
pub use binaries::countersign;
pub use bridge_process::BridgeProcess;
pub use browser::{Browser, Page, Scheme, Screen};
pub use captures::{Capture, Dir, Frame};
pub use cards::{SeenCard, SeenFile, Shown};
pub use discord::{DiscordApi, DiscordCard, DiscordPeople, DiscordWorld, Post, Simcord};
pub use http::Reply;
pub use http_member::{Credentials, HttpMember};
pub use launch::Launch;
pub use newcomer::first_command;
pub use person::{Device, Member};
pub use ports::port_to_listen_on;
pub use replay::{fake_bridge, replay};
pub use schemathesis::schemathesis;
pub use sight::Seen;
pub use synapse::Synapse;
pub use tls::{Certificate, approvals_certificate};
pub use upload_fault::UploadFault;
pub use visitor::{Answer, Events, Visitor};
pub use wait::{PATIENCE, rest, until, within};
