//! What comes with a request besides its contents.

use bridge_model::{PersonId, RoomName};
use policy::Launch;
use serde::{Deserialize, Serialize};

/// What whoever raises a request asks for, which only narrows what the operator decided, and how it comes back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// Which room is asked. `None`: the one of its source's route.
    pub room: Option<RoomName>,
    /// Each of them counts.
    pub launches: Vec<Launch>,
    /// Who launched its agent. `None`: whoever launched those of its source.
    pub requester: Option<PersonId>,
    /// It outlives its turn, and may wait for longer.
    pub detached: bool,
    /// It goes on after a restart of the bridge, where its source knows it again by this. `None`: it ends with the bridge.
    pub comes_back: Option<String>,
}
