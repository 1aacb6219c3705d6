//! What the scripted agent adds to its tool calls, under `_meta`, so that the demo can tell exactly what happened.

use agent_client_protocol::v1::schema::Meta;
use serde::{Deserialize, Serialize};

/// The member of `_meta`.
const MEMBER: &str = "countersign-demo";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Report {
    /// It is about to ask.
    Asks { at: usize, of: usize, what: String },
    /// It need not ask, because of what was chosen before.
    NeedNotAsk { at: usize, of: usize, what: String },
    /// What it was told.
    Told { answer: Answer },
    /// It did it, or not.
    Ended { done: bool, problem: Option<String>, output: String },
}

/// What came back for a permission request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(super) enum Answer {
    /// One of the options that it offered.
    Selected {
        option: String,
        label: String,
        allows: bool,
        always: bool,
    },
    /// An option that it never offered.
    NotOffered {
        option: String,
    },
    Cancelled,
    /// An error, or nothing any more.
    None {
        why: String,
    },
}

impl Report {
    pub(super) fn into_meta(self) -> Option<Meta> {
        serde_json::to_value(self).ok().map(|report| Meta::from_iter([(MEMBER.to_owned(), report)]))
    }

    pub(super) fn of_meta(meta: Option<&Meta>) -> Option<Self> {
        Self::deserialize(meta?.get(MEMBER)?).ok()
    }
}

impl Answer {
    /// Only one of its own options, and only of a kind that allows.
    pub(super) fn allows(&self) -> bool {
        match self {
            Self::Selected { allows, .. } => *allows,
            Self::NotOffered { .. } | Self::Cancelled | Self::None { .. } => false,
        }
    }

    pub(super) fn is_always(&self) -> bool {
        match self {
            Self::Selected { allows, always, .. } => *allows && *always,
            Self::NotOffered { .. } | Self::Cancelled | Self::None { .. } => false,
        }
    }
}
