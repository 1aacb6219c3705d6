//! From a body to a permission request.

use std::collections::BTreeMap;
use std::time::Duration;

use acp_source::shape::{self, Fields};
use bridge_core::Terms;
use bridge_model::{PermissionRequest, Places, ReplyTo, RoomName, Session, SessionId, ToolCall};
use data_encoding::HEXLOWER;
use policy::{Key, Launch, Policy, Verdict, Verdicts};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::RoomFacts;
use crate::api::{Asker, Change, Raise, WherePaths};
use crate::fault::Fault;
use crate::read::escaped;
use crate::tokens::Grant;

const KEY_MAX: usize = 200;
/// Characters of a session's id, which is kept for as long as its requests are.
const SESSION_MAX: usize = 4_096;
/// Characters of an option's id, which is kept with the outcome.
const OPTION_ID_MAX: usize = 512;
/// Characters of a span of time.
const SPAN_MAX: usize = 100;

/// What may be asked, and under which policy.
pub(crate) struct Bounds<'a> {
    pub(crate) policy: &'a Policy,
    /// Whether each has to know who asks.
    pub(crate) rooms: &'a BTreeMap<RoomName, RoomFacts>,
    /// The one that is asked where none is named.
    pub(crate) default: Option<&'a RoomName>,
}

/// The request that a body asks for, but for whom it is to be told, and the terms that it is under.
pub(crate) fn request(
    raise: &Raise,
    from: ReplyTo,
    grant: &Grant,
    bounds: &Bounds<'_>,
) -> Result<(PermissionRequest, Terms), Fault> {
    if !(1..=KEY_MAX).contains(&raise.key.chars().count()) {
        return Err(Fault::unprocessable("/key", &format!("use 1 to {KEY_MAX} characters")));
    }
    if raise.session.id.as_ref().is_some_and(|id| SESSION_MAX < id.chars().count()) {
        return Err(Fault::unprocessable("/session/id", &format!("use at most {SESSION_MAX} characters")));
    }
    let options =
        shape::options(&raise.options).map_err(|fault| Fault::unprocessable(&format!("/options{}", fault.at), &fault.what))?;
    if let Some(at) = options.as_slice().iter().position(|option| OPTION_ID_MAX < characters(option.id.raw())) {
        let most = format!("use at most {OPTION_ID_MAX} characters");
        return Err(Fault::unprocessable(&format!("/options/{at}/optionId"), &most));
    }
    let room = raise.room.as_ref().or(bounds.default);
    let room =
        room.ok_or_else(|| Fault::unprocessable("/room", "name the room; none is configured for programs (`http.room`)"))?;
    if !grant.may_ask(room) {
        return Err(Fault::forbidden(&format!("this token may not ask the room {:?}", room.as_str())));
    }
    let Some(facts) = bounds.rooms.get(room) else {
        return Err(Fault::unprocessable("/room", "there is no room of this name"));
    };
    if facts.asks_who_launched && grant.requester.is_none() {
        let what = "whoever asks may not answer in this room, so the token has to say who that is: `token new --requester ID`";
        return Err(Fault::forbidden(what));
    }
    let launch = launch(raise)?;
    if let Err(widens) = bounds.policy.check(&launch, raise.detached) {
        let at = if launch.lifetime.is_some() && launch.verdicts == Verdicts::default() { "/lifetime" } else { "/permission" };
        return Err(Fault::unprocessable(at, &format!("it asks for more than the policy has: {widens}")));
    }
    let request = PermissionRequest {
        from,
        session: session(&raise.session),
        title: raise.title.clone(),
        description: raise.description.clone(),
        tool_call: Some(tool_call(&raise.tool_call)),
        options,
        meta: raise.meta.clone().map(Value::Object),
        places: Some(places(raise.places.as_ref(), grant)),
    };
    let terms = Terms {
        room: Some(room.clone()),
        launches: [grant.launch.clone(), launch].into_iter().filter(|launch| *launch != Launch::default()).collect(),
        requester: grant.requester.clone(),
        detached: raise.detached,
        comes_back: None,
    };
    Ok((request, terms))
}

/// Of a JSON string, whichever way it is spelled. One that is no Unicode text counts by its bytes.
fn characters(text: &RawValue) -> usize {
    serde_json::from_str::<String>(text.get()).map_or(text.get().len(), |text| text.chars().count())
}

/// A request as it is after a change; `None`: it cannot be told.
pub(crate) fn changed(change: &Change, before: &PermissionRequest, grant: &Grant) -> Option<PermissionRequest> {
    let call = change.tool_call.as_ref()?;
    Some(PermissionRequest {
        tool_call: Some(tool_call(call)),
        places: Some(places(change.places.as_ref(), grant)),
        ..before.clone()
    })
}

/// SHA-256, in hexadecimal digits, of what is asked and under which terms. Who asks, and from where, may differ when it is raised
/// again.
pub(crate) fn digest(raise: &Raise) -> String {
    let Raise { tool_call, options, title, description, meta, room, permission, lifetime, detached, .. } = raise;
    let asked = (tool_call, options, title, description, meta, room, permission, lifetime, detached);
    // These types hold nothing that JSON cannot.
    HEXLOWER.encode(&Sha256::digest(serde_json::to_vec(&asked).unwrap_or_default()))
}

fn tool_call(fields: &Fields) -> ToolCall {
    let id = fields.get("toolCallId").and_then(Value::as_str).unwrap_or_default();
    shape::tool_call(id, fields)
}

fn session(asker: &Asker) -> Session {
    let Asker { id, name, agent, client, cwd, mode } = asker;
    Session {
        id: id.as_ref().map(SessionId::new),
        // What the operator calls it only the operator can say.
        name: None,
        agent: name.clone().or_else(|| agent.clone()),
        client: client.clone(),
        cwd: cwd.clone(),
        mode: mode.clone(),
    }
}

/// What a caller says of it counts only where its token is trusted with that: by it a rule may allow without a person. All else
/// is outside of the workspace.
fn places(told: Option<&WherePaths>, grant: &Grant) -> Places {
    let told = told.filter(|_| grant.trust_paths);
    told.map_or_else(Places::default, |told| Places { root: told.root.clone(), real: told.real.clone() })
}

fn launch(raise: &Raise) -> Result<Launch, Fault> {
    let mut verdicts = Verdicts::default();
    for (key, verdict) in &raise.permission {
        let at = format!("/permission/{}", escaped(key));
        let no_verdict = || Fault::unprocessable(&at, &format!("{verdict:?} is not a verdict; use ask or auto_deny"));
        let verdict = Verdict::named(verdict).ok_or_else(no_verdict)?;
        match Key::named(key) {
            Some(Key::Default) => verdicts.default = Some(verdict),
            Some(Key::Kind(kind)) => drop(verdicts.by_kind.insert(kind, verdict)),
            Some(Key::Title(title)) => drop(verdicts.by_title.insert(title, verdict)),
            None => return Err(Fault::unprocessable(&at, "is not a tool kind of ACP, \"default\" or \"title:TEXT\"")),
        }
    }
    let lifetime = raise.lifetime.as_deref().map(lifetime).transpose()?;
    Ok(Launch { verdicts, lifetime })
}

fn lifetime(text: &str) -> Result<Duration, Fault> {
    span(text).filter(|span| Duration::from_secs(1) <= *span).ok_or_else(|| {
        Fault::unprocessable("/lifetime", &format!("{text:?} is no span of time of a second or more; write it as 2m or 1h 30m"))
    })
}

/// `30s`, `1h 30m`.
pub(crate) fn span(text: &str) -> Option<Duration> {
    (text.chars().count() <= SPAN_MAX).then(|| humantime::parse_duration(text).ok()).flatten()
}
