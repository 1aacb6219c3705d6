//! A permission request and what is answered to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Offered, Options, SessionId, SourceName, ToolCall, ToolKind};

/// One `session/request_permission`, understood.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PermissionRequest {
    pub from: ReplyTo,
    pub session: Session,
    /// The request's own title, where the protocol version has one besides the tool call's.
    pub title: Option<String>,
    /// The request's own explanation, where the protocol version has one.
    pub description: Option<String>,
    /// `None`: the request is about no tool call, as protocol version 2 allows.
    pub tool_call: Option<ToolCall>,
    pub options: Options,
    /// What else the agent says of the request itself. Untrusted.
    pub meta: Option<Value>,
    /// `None` where nobody could look.
    pub places: Option<Places>,
}

impl PermissionRequest {
    /// A request about no tool call is of a kind that nobody knows.
    #[must_use]
    pub fn kind(&self) -> ToolKind {
        self.tool_call.as_ref().map_or(ToolKind::Unknown, |call| call.kind)
    }
}

/// Where the paths of a request lead on the agent's machine, every link followed, as somebody looked it up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The folder in which the session works; `None` if that cannot be told.
    pub root: Option<String>,
    /// By the path as it is named. One that is missing here cannot be told.
    pub real: BTreeMap<String, String>,
}

/// Where an outcome goes. Unique while the source lives, whatever ids the agent uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReplyTo {
    pub source: SourceName,
    /// The source's own number for the request.
    pub ask: u64,
}

/// The agent's session, as far as it was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: Option<SessionId>,
    /// What the operator calls the agent.
    pub name: Option<String>,
    /// The agent's name in its own words.
    pub agent: Option<String>,
    /// The name of the agent's client, in the client's own words.
    pub client: Option<String>,
    /// Where the session works.
    pub cwd: Option<String>,
    /// The session's permission mode, where the agent tells it.
    pub mode: Option<String>,
}

/// What the agent receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// One of the agent's own options, by the agent's own id. Not the same as an approval.
    Selected(Offered),
    Cancelled,
}
