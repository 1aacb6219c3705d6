//! What is said over HTTP. Names on the wire are these; whatever stands inside a tool call or an option is ACP's.

use std::collections::BTreeMap;

use bridge_core::wording;
use bridge_model::{Ending, RoomName, Timestamp, ToolKind, Withdrawn};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa::openapi::schema::{AdditionalProperties, Object, ObjectBuilder, Type};

use crate::read::{object, object_or_null};

/// A permission request, as a program raises it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Raise {
    /// Names the request among all that this token raises, so that raising it again is not a second request: 1 to 200
    /// characters, as unlike others as a random number.
    #[schema(min_length = 1, max_length = 200)]
    pub(crate) key: String,
    /// What would be done, as a `toolCall` of ACP.
    #[schema(value_type = Object)]
    pub(crate) tool_call: Map<String, Value>,
    /// What can be chosen, as `options` of ACP. The chosen one comes back by its `optionId`, as it was spelled.
    #[schema(value_type = Vec<Offer>, min_items = 1, max_items = 256)]
    pub(crate) options: Box<RawValue>,
    /// The request's own title, besides the tool call's.
    #[serde(default)]
    pub(crate) title: Option<String>,
    #[serde(default)]
    pub(crate) description: Option<String>,
    /// The request's `_meta`, as ACP has it: `{"countersign": {"timeout": 30}}` asks for so many seconds at most.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub(crate) meta: Option<Map<String, Value>>,
    /// Who asks. All of it is shown as the caller's own words.
    #[serde(default, deserialize_with = "object")]
    pub(crate) session: Asker,
    /// The room to ask. Otherwise the one that is configured for programs.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = "room")]
    pub(crate) room: Option<RoomName>,
    /// Narrows the policy for this request: `{"execute": "ask", "default": "auto_deny"}`, or `"title:TEXT"`.
    #[serde(default)]
    #[schema(schema_with = narrowing)]
    pub(crate) permission: BTreeMap<String, String>,
    /// How long it waits for a person at most: `2m`, `1h 30m`. A second or more, and no longer than the policy has it.
    #[serde(default)]
    #[schema(max_length = 100, format = "span")]
    pub(crate) lifetime: Option<String>,
    /// It goes on while nobody asks for its outcome, hours or days. One that is not ends when its caller is gone.
    #[serde(default)]
    pub(crate) detached: bool,
    /// Where the paths of the tool call lead, as the caller looked it up.
    #[serde(default, deserialize_with = "object_or_null")]
    pub(crate) places: Option<WherePaths>,
}

/// One of the options, as ACP has it. Other members are allowed.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described here; whoever reads ACP reads it")]
#[schema(rename_all = "camelCase")]
pub(crate) struct Offer {
    /// Comes back as it was spelled. No two options have the same.
    #[schema(min_length = 1, max_length = 512)]
    option_id: String,
    /// The label, a string. Anything else counts as an empty one.
    #[schema(value_type = Value, required = false)]
    name: Value,
    /// `allow_once`, `allow_always`, `reject_once` or `reject_always`. Anything else counts as a kind that nobody knows.
    #[schema(value_type = Value, required = false)]
    kind: Value,
}

/// Verdicts by tool kind, by title and for all else.
fn narrowing() -> Object {
    let kinds = ToolKind::ALL.map(ToolKind::name).join("|");
    let key = format!("^(default|{kinds}|title:.*)$");
    let verdict = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["ask", "auto_deny"]));
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(
            "Narrows the policy for this request: `{\"execute\": \"ask\", \"default\": \"auto_deny\"}`, or `\"title:TEXT\"`.",
        ))
        .property_names(Some(ObjectBuilder::new().schema_type(Type::String).pattern(Some(key))))
        .additional_properties(Some(AdditionalProperties::RefOr(verdict.build().into())))
        .build()
}

/// The caller's session.
#[derive(Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Asker {
    #[schema(max_length = 4096)]
    pub id: Option<String>,
    /// What cards call the agent.
    pub name: Option<String>,
    /// The agent's name for itself.
    pub agent: Option<String>,
    /// The agent's client.
    pub client: Option<String>,
    /// The folder in which it works.
    pub cwd: Option<String>,
    /// Its permission mode.
    pub mode: Option<String>,
}

/// Where paths lead, every link followed.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WherePaths {
    /// The folder in which the session works.
    pub root: Option<String>,
    /// By the path as the tool call names it.
    pub real: BTreeMap<String, String>,
}

/// The tool call of a request that waits has changed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    /// As it is by now, whole. `null`: it cannot be told.
    #[schema(value_type = Option<Object>)]
    pub(crate) tool_call: Option<Map<String, Value>>,
    #[serde(default, deserialize_with = "object_or_null")]
    pub(crate) places: Option<WherePaths>,
}

/// How a request is.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Status {
    #[schema(pattern = "^[0-9a-f]{16}$")]
    pub id: String,
    pub state: State,
    /// While it is held: the room that is asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub room: Option<String>,
    /// While it is held: its number on the card.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub number: Option<u64>,
    /// While it is held: milliseconds until it is refused.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires_in_ms: Option<u64>,
    /// Once it is settled: what the agent is told, as an `outcome` of ACP. Missing where there is nobody to be told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<Told>)]
    pub outcome: Option<Box<RawValue>>,
    /// Once it is settled: how it ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ending: Option<HowEnded>,
    /// Once it is settled: how it ended, for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub words: Option<String>,
}

/// An `outcome` of ACP.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described here, since an option's id is written as it was spelled")]
#[schema(rename_all = "camelCase")]
pub(crate) struct Told {
    outcome: Way,
    /// The chosen option's, where one is selected.
    option_id: Option<String>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described here")]
#[schema(rename_all = "snake_case")]
enum Way {
    Selected,
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It waits for a person.
    Held,
    Settled,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HowEnded {
    /// A person chose.
    Answered,
    /// The policy allowed it, without a person.
    Allowed,
    /// The policy, a limit or a fault refused it.
    Refused,
    /// Nobody answered in time.
    Expired,
    /// The caller took it back, or was gone.
    Withdrawn,
}

impl HowEnded {
    pub(crate) fn of(ending: Option<&Ending>) -> Self {
        match ending {
            None => Self::Allowed,
            Some(Ending::Answered { .. }) => Self::Answered,
            Some(Ending::Expired) => Self::Expired,
            Some(Ending::Withdrawn(_)) => Self::Withdrawn,
            Some(Ending::Refused(_)) => Self::Refused,
        }
    }
}

/// How it ended, for people.
pub(crate) fn words(ending: Option<&Ending>, at: Option<Timestamp>) -> String {
    ending.map_or_else(|| "The policy allowed it, without a person.".to_owned(), |ending| wording::ending_text(ending, at))
}

/// Why a request is taken back, as the card then says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TakenBack {
    #[default]
    ByAgent,
    TurnCancelled,
    TurnEnded,
    Superseded,
    AgentGone,
    ClientGone,
}

impl TakenBack {
    /// As it is said.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ByAgent => "by_agent",
            Self::TurnCancelled => "turn_cancelled",
            Self::TurnEnded => "turn_ended",
            Self::Superseded => "superseded",
            Self::AgentGone => "agent_gone",
            Self::ClientGone => "client_gone",
        }
    }
}

impl From<TakenBack> for Withdrawn {
    fn from(why: TakenBack) -> Self {
        match why {
            TakenBack::ByAgent => Self::ByAgent,
            TakenBack::TurnCancelled => Self::TurnCancelled,
            TakenBack::TurnEnded => Self::TurnEnded,
            TakenBack::Superseded => Self::Superseded,
            TakenBack::AgentGone => Self::AgentGone,
            TakenBack::ClientGone => Self::ClientGone,
        }
    }
}

/// Requests of one token.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Listed {
    /// A thousand at most: those that are open come first.
    #[schema(max_items = 1000)]
    pub(crate) requests: Vec<Status>,
}

/// Why something was not done.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct Problem {
    /// For programs.
    pub error: String,
    /// For people: what is wrong, and what to do about it.
    pub message: String,
    /// Where in the body it is, as a JSON pointer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
}
