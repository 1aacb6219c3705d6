//! Tool calls and options as ACP writes them, for whoever carries them over another wire.

use bridge_model::{Content, Location, OptionId, OptionKind, Options, PermissionOption, ToolCall, ToolKind};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::json::{object, read, text};

/// Members of a tool call, the agent's last word on each.
pub type Fields = Map<String, Value>;

/// Options whose text together is longer are an attack on whoever has to read them.
const OPTIONS_BYTES_MAX: usize = 1 << 20;

/// What is wrong with a list of options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// A JSON pointer below the list.
    pub at: String,
    /// Starts in the middle of a sentence.
    pub what: String,
}

impl Fault {
    fn of(at: &str, what: &str) -> Self {
        Self { at: at.to_owned(), what: what.to_owned() }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawOption<'a> {
    #[serde(borrow, rename = "optionId")]
    option_id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// Reads the options that an agent offers. Kinds are read leniently, ids strictly.
pub fn options(raw: &RawValue) -> Result<Options, Fault> {
    if OPTIONS_BYTES_MAX < raw.get().len() {
        return Err(Fault::of("", "its options are too long"));
    }
    let options: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(|_| Fault::of("", "its options are not a list"))?;
    let option = |(at, raw): (usize, &&RawValue)| -> Result<PermissionOption, Fault> {
        let option: RawOption<'_> = object(raw).ok_or_else(|| Fault::of(&format!("/{at}"), "an option is not an object"))?;
        let at = format!("/{at}/optionId");
        let id = option.option_id.ok_or_else(|| Fault::of(&at, "an option has no id"))?;
        Ok(PermissionOption {
            id: OptionId::parse(id).map_err(|error| Fault::of(&at, &error.to_string()))?,
            name: option.name.and_then(text).unwrap_or_default(),
            kind: OptionKind::parse(&option.kind.and_then(text).unwrap_or_default()),
            meta: option.meta.and_then(read),
        })
    };
    let options = options.iter().take(Options::MAX + 1).enumerate().map(option).collect::<Result<_, _>>()?;
    Options::new(options).map_err(|error| Fault::of("", &error.to_string()))
}

/// Members that are shown in a form of their own, or that only steer the protocol.
const UNDERSTOOD: [&str; 10] =
    ["toolCallId", "title", "kind", "name", "status", "locations", "content", "rawInput", "sessionUpdate", "_meta"];

/// Whatever of it is not understood is kept as it came, to be shown as it came.
///
/// `id`: empty where it has none.
pub fn tool_call(id: &str, fields: &Fields) -> ToolCall {
    let text = |key| fields.get(key).and_then(Value::as_str).map(str::to_owned);
    let list = |key| fields.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_odd = |key: &str, value: &Value| match key {
        "title" | "kind" | "name" => !value.is_string(),
        "locations" => !value.as_array().is_some_and(|list| list.iter().all(|value| location(value).is_some())),
        "content" => !value.is_array(),
        _ => !UNDERSTOOD.contains(&key),
    };
    let odd: Fields = fields
        .iter()
        .filter(|(key, value)| !value.is_null() && is_odd(key, value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let odd = (!odd.is_empty()).then(|| Content::Other(Value::Object(odd)));
    ToolCall {
        id: (!id.is_empty()).then(|| id.to_owned()),
        title: text("title"),
        kind: text("kind").and_then(|kind| ToolKind::named(&kind)).unwrap_or_default(),
        name: text("name"),
        mcp_server: mcp_server(fields),
        locations: list("locations").iter().filter_map(location).collect(),
        content: list("content").iter().filter_map(content).chain(odd).collect(),
        raw_input: fields.get("rawInput").filter(|input| !input.is_null()).cloned(),
    }
}

/// As agents tell it: beside their own remarks, or in the tool's name.
fn mcp_server(fields: &Fields) -> Option<String> {
    let told = fields.get("_meta").and_then(Value::as_object).into_iter().flat_map(serde_json::Map::values).find_map(|own| {
        let server = own.get("mcpServer")?;
        server.get("name").unwrap_or(server).as_str()
    });
    let named = || fields.get("name")?.as_str()?.strip_prefix("mcp__")?.split_once("__").map(|(server, _)| server);
    let given = || {
        let input = fields.get("rawInput")?;
        input.get("tool")?.as_str().and_then(|_| input.get("server")?.as_str())
    };
    told.or_else(named).or_else(given).map(str::to_owned)
}

fn location(value: &Value) -> Option<Location> {
    let path = value.get("path")?.as_str()?.to_owned();
    Some(Location { path, line: value.get("line").and_then(Value::as_u64) })
}

fn content(value: &Value) -> Option<Content> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let has_only = |value: &Value, keys: &[&str]| {
        value.as_object().is_some_and(|members| {
            members.keys().all(|key| keys.contains(&key.as_str()) || key == "_meta" || key == "annotations")
        })
    };
    let known = match value.get("type").and_then(Value::as_str) {
        Some("content") if has_only(value, &["type", "content"]) => value
            .get("content")
            .filter(|content| has_only(content, &["type", "text"]))
            .and_then(|content| text(content, "text"))
            .map(Content::Text),
        Some("diff") if has_only(value, &["type", "path", "oldText", "newText"]) && has_text_or_nothing(value, "oldText") => {
            text(value, "path").zip(text(value, "newText")).map(|(path, new)| Content::Diff {
                path,
                old: text(value, "oldText"),
                new,
            })
        }
        Some("diff") if has_only(value, &["type", "changes", "patch"]) && changes_are_plain(value) => value
            .get("patch")
            .filter(|patch| has_only(patch, &["format", "text"]))
            .and_then(|patch| text(patch, "text"))
            .map(|patch| Content::Patch { paths: changed_paths(value), text: patch }),
        // It only says where output will appear.
        Some("terminal") if has_only(value, &["type", "terminalId"]) => return None,
        Some(_) | None => None,
    };
    // What has members that are not understood is shown as it came, all of it.
    known.or_else(|| Some(Content::Other(value.clone())))
}

fn has_text_or_nothing(value: &Value, key: &str) -> bool {
    value.get(key).is_none_or(|text| text.is_string() || text.is_null())
}

/// Whether a change says no more than which file it is of. A file that moves has two names.
fn changes_are_plain(diff: &Value) -> bool {
    const PLAIN: [&str; 4] = ["path", "operation", "fileType", "_meta"];
    let is_plain = |change: &Value| {
        let members = change.as_object();
        members.is_some_and(|members| members.keys().all(|key| PLAIN.contains(&key.as_str())) && members.contains_key("path"))
    };
    diff.get("changes").and_then(Value::as_array).is_some_and(|changes| changes.iter().all(is_plain))
}

fn changed_paths(diff: &Value) -> Vec<String> {
    let changes = diff.get("changes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    changes.iter().filter_map(|change| change.get("path")?.as_str().map(str::to_owned)).collect()
}

/// An option as ACP has it, its id spelled as it came.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WrittenOption<'a> {
    option_id: &'a RawValue,
    name: &'a str,
    kind: &'a str,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a Value>,
}

/// Writes what [`options`] reads.
pub fn written_options(options: &Options) -> Vec<WrittenOption<'_>> {
    let written = options.as_slice().iter().map(|PermissionOption { id, name, kind, meta }| WrittenOption {
        option_id: id.raw(),
        name,
        kind: kind.name(),
        meta: meta.as_ref(),
    });
    written.collect()
}

/// Writes what [`tool_call`] reads.
pub fn written_tool_call(call: &ToolCall) -> Fields {
    let location = |Location { path, line }: &Location| match line {
        Some(line) => json!({ "path": path, "line": line }),
        None => json!({ "path": path }),
    };
    let content = |content: &Content| match content {
        Content::Text(text) => json!({ "type": "content", "content": { "type": "text", "text": text } }),
        Content::Diff { path, old, new } => json!({ "type": "diff", "path": path, "oldText": old, "newText": new }),
        Content::Patch { paths, text } => {
            let changes: Vec<_> = paths.iter().map(|path| json!({ "path": path })).collect();
            json!({ "type": "diff", "changes": changes, "patch": { "format": "unified", "text": text } })
        }
        Content::Other(value) => value.clone(),
    };
    let list = |values: Vec<Value>| (!values.is_empty()).then_some(Value::Array(values));
    let members = [
        ("toolCallId", call.id.clone().map(Value::from)),
        ("title", call.title.clone().map(Value::from)),
        ("kind", (call.kind != ToolKind::Unknown).then(|| call.kind.name().into())),
        ("name", call.name.clone().map(Value::from)),
        ("locations", list(call.locations.iter().map(location).collect())),
        ("content", list(call.content.iter().map(content).collect())),
        ("rawInput", call.raw_input.clone()),
        ("_meta", call.mcp_server.as_ref().map(|server| json!({ "countersign": { "mcpServer": server } }))),
    ];
    members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
