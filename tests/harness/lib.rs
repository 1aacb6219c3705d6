//! What a scenario needs: a real Synapse, real people in its rooms, the `countersign` binary between a client and an
//! agent, and recordings of real agents.
//!
//! Nothing here sleeps for luck: every wait ends with what is awaited, or fails after [`PATIENCE`] and says what was
//! there instead.

mod acp_client;
mod agents;
mod binaries;
mod bridge_process;
mod captures;
mod cards;
mod http;
mod http_member;
mod launch;
mod person;
mod replay;
mod sight;
mod synapse;
mod wait;

pub use agents::{RawAgent, echo_agent, scripted_agent};
pub use binaries::countersign;
pub use bridge_process::BridgeProcess;
pub use captures::{Capture, Dir, Frame};
pub use cards::{SeenCard, Shown};
pub use http::Reply;
pub use http_member::{Credentials, HttpMember};
pub use launch::Launch;
pub use person::{Device, Member};
pub use replay::{fake_bridge, replay};
pub use sight::Seen;
pub use synapse::Synapse;
pub use wait::{PATIENCE, until, within};
