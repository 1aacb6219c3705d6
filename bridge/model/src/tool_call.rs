//! What the agent wants to do, as far as it said so. Every word here is the agent's.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool call: the request's own fields laid over what earlier updates told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: Option<String>,
    pub title: Option<String>,
    pub kind: ToolKind,
    /// The tool's own name where the agent tells it.
    pub name: Option<String>,
    /// The MCP server that the tool belongs to, where the agent tells it.
    pub mcp_server: Option<String>,
    pub locations: Vec<Location>,
    pub content: Vec<Content>,
    pub raw_input: Option<Value>,
}

/// ACP's tool kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ToolKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    SwitchMode,
    Other,
    /// None that ACP has, or none at all: counts as `other`, but under no rule that is looser than asking.
    #[default]
    Unknown,
}

impl ToolKind {
    /// Those that have a name of their own.
    pub const ALL: [Self; 10] = [
        Self::Read,
        Self::Edit,
        Self::Delete,
        Self::Move,
        Self::Search,
        Self::Execute,
        Self::Think,
        Self::Fetch,
        Self::SwitchMode,
        Self::Other,
    ];

    /// The name on the wire and in the configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Search => "search",
            Self::Execute => "execute",
            Self::Think => "think",
            Self::Fetch => "fetch",
            Self::SwitchMode => "switch_mode",
            Self::Other | Self::Unknown => "other",
        }
    }

    /// The kind whose rules it is under: one that nobody knows is under those of `other`.
    #[must_use]
    pub const fn in_rules(self) -> Self {
        if matches!(self, Self::Unknown) { Self::Other } else { self }
    }

    /// The kind of exactly this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A file the tool call touches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    pub path: String,
    /// Counted from 1.
    pub line: Option<u64>,
}

/// One piece of what the agent attached to a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Content {
    Text(String),
    /// A file before and after; `old` is `None` for a new file.
    Diff {
        path: String,
        old: Option<String>,
        new: String,
    },
    /// A diff the agent made itself.
    Patch {
        paths: Vec<String>,
        text: String,
    },
    /// Anything else, shown as it came.
    Other(Value),
}
