//! Reads `session/request_permission`, of protocol versions 1 and 2: kinds leniently, ids strictly.

use bridge_model::{
    Content, Location, OptionId, OptionKind, Options, PermissionOption, PermissionRequest, ReplyTo, Session, ToolCall, ToolKind,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::calls::{Fields, Sessions, laid_over};
use crate::json::{object, read, text};

/// Bytes of a session's id, which is kept for as long as its requests are.
const SESSION_BYTES_MAX: usize = 4_096;

/// Options whose text together is longer are an attack on whoever has to read them.
const OPTIONS_BYTES_MAX: usize = 1 << 20;

/// A request as it stood on the wire, its parts found but not yet judged.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Params<'a> {
    #[serde(borrow, rename = "sessionId")]
    session_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolCall")]
    tool_call: Option<&'a RawValue>,
    #[serde(borrow)]
    subject: Option<&'a RawValue>,
    #[serde(borrow)]
    title: Option<&'a RawValue>,
    #[serde(borrow)]
    description: Option<&'a RawValue>,
    #[serde(borrow)]
    options: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
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

/// A request that was understood.
pub(crate) struct Understood {
    pub(crate) session: String,
    pub(crate) call: Option<Call>,
    title: Option<String>,
    description: Option<String>,
    options: Options,
    meta: Option<Value>,
}

/// The tool call that a request is about.
pub(crate) struct Call {
    pub(crate) id: String,
    /// What people see of it; an update that says anything else is a change.
    pub(crate) shown: Fields,
}

/// Reads the request and lays it over what is known of its tool call. The error says what is wrong, and starts in the
/// middle of a sentence.
pub(crate) fn understand(params: Option<&RawValue>, sessions: &Sessions) -> Result<Understood, String> {
    let params = params.ok_or("it has no parameters")?;
    let params: Params<'_> = object(params).ok_or("its parameters are not an object")?;
    let session = params.session_id.and_then(text).ok_or("its session id is missing or not a string")?;
    if SESSION_BYTES_MAX < session.len() {
        return Err(format!("its session id has {} bytes, and may have {SESSION_BYTES_MAX}", session.len()));
    }
    let options = options(params.options.ok_or("no options were offered")?)?;
    let call = match call(&params, sessions.version)? {
        // Without the id it could not be noticed that a later update changes what would be done.
        Some(own) => {
            let id = own
                .get("toolCallId")
                .and_then(Value::as_str)
                .ok_or("its tool call has no id, or one that is not a string")?
                .to_owned();
            let shown = laid_over(sessions.call(&session, &id), own);
            Some(Call { id, shown })
        }
        None => None,
    };
    let [title, description] = [params.title, params.description].map(|raw| raw.and_then(text));
    Ok(Understood { session, call, title, description, options, meta: params.meta.and_then(read) })
}

impl Understood {
    /// As it is to be asked; with what is known of its tool call by now.
    pub(crate) fn request(&self, from: ReplyTo, session: Session) -> PermissionRequest {
        PermissionRequest {
            from,
            session,
            title: self.title.clone(),
            description: self.description.clone(),
            tool_call: self.call.as_ref().map(|call| tool_call(&call.id, &call.shown)),
            options: self.options.clone(),
            meta: self.meta.clone(),
            places: None,
        }
    }
}

/// The request's own words on its tool call. Version 1 must have them; version 2 may be about something else.
fn call(params: &Params<'_>, version: u64) -> Result<Option<Fields>, String> {
    let fields = |raw: &RawValue| match read(raw) {
        Some(Value::Object(fields)) => Ok(fields),
        Some(_) | None => Err("its tool call is not an object, or nested too deeply".to_owned()),
    };
    if let Some(raw) = params.tool_call {
        return fields(raw).map(Some);
    }
    match params.subject.map(fields).transpose()? {
        Some(mut subject) => match subject.remove("toolCall") {
            Some(Value::Object(fields)) => Ok(Some(fields)),
            Some(_) => Err("its tool call is not an object".to_owned()),
            // Whatever else it is about is shown as it came, and no update can change it.
            None => Ok(Some(
                [("rawInput".to_owned(), Value::Object(subject)), ("toolCallId".to_owned(), Value::from(""))]
                    .into_iter()
                    .collect(),
            )),
        },
        None if version < 2 => Err("it has no tool call".to_owned()),
        None => Ok(None),
    }
}

fn options(raw: &RawValue) -> Result<Options, String> {
    if OPTIONS_BYTES_MAX < raw.get().len() {
        return Err("its options are too long".to_owned());
    }
    let options: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(|_| "its options are not a list")?;
    let option = |raw: &&RawValue| -> Result<PermissionOption, String> {
        let option: RawOption<'_> = object(raw).ok_or("an option is not an object")?;
        let id = option.option_id.ok_or("an option has no id")?;
        Ok(PermissionOption {
            id: OptionId::parse(id).map_err(|error| error.to_string())?,
            name: option.name.and_then(text).unwrap_or_default(),
            kind: OptionKind::parse(&option.kind.and_then(text).unwrap_or_default()),
            meta: option.meta.and_then(read),
        })
    };
    let options = options.iter().take(Options::MAX + 1).map(option).collect::<Result<_, _>>()?;
    Options::new(options).map_err(|error| error.to_string())
}

/// Members that are shown in a form of their own, or that only steer the protocol.
const UNDERSTOOD: [&str; 10] =
    ["toolCallId", "title", "kind", "name", "status", "locations", "content", "rawInput", "sessionUpdate", "_meta"];

/// Whatever of it is not understood is kept as it came, to be shown as it came.
pub(crate) fn tool_call(id: &str, fields: &Fields) -> ToolCall {
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
