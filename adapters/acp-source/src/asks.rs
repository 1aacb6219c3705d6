//! Reads `session/request_permission`, of protocol versions 1 and 2: kinds leniently, ids strictly.

use bridge_model::{Options, PermissionRequest, ReplyTo, Session};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::calls::{Sessions, laid_over};
use crate::json::{object, read, text};
use crate::shape::{self, Fields};

/// Bytes of a session's id, which is kept for as long as its requests are.
const SESSION_BYTES_MAX: usize = 4_096;

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
    let options = shape::options(params.options.ok_or("no options were offered")?).map_err(|fault| fault.what)?;
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
            tool_call: self.call.as_ref().map(|call| shape::tool_call(&call.id, &call.shown)),
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
