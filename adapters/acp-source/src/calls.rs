//! Follows sessions and their tool calls, so that a thin request shows what it is about.

use std::collections::{BTreeMap, VecDeque};

use bridge_model::{Session, SessionId};
use serde_json::Value;

use crate::json::RpcId;
use crate::shape::Fields;

/// Sessions followed at once; beyond it the oldest is forgotten, and its requests show only what they say themselves.
const SESSIONS_MAX: usize = 128;

/// Tool calls followed in a session; beyond it the oldest is forgotten.
const CALLS_MAX: usize = 128;

/// Bytes of an update that is kept. A larger one is not followed.
pub(crate) const UPDATE_BYTES_MAX: usize = 2 << 20;

/// The client's requests whose answers matter; beyond it the oldest is forgotten.
const WAITING_MAX: usize = 1_024;

/// What the client asked the agent for and is waiting for.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Initialize,
    /// A session is made or opened; the id is known beforehand only for the latter.
    Session {
        id: Option<String>,
        cwd: Option<String>,
    },
    Prompt {
        session: String,
    },
}

/// Everything known about the connection and its sessions.
#[derive(Default)]
pub(crate) struct Sessions {
    /// The protocol version of the agent's answer to `initialize`.
    pub(crate) version: u64,
    pub(crate) agent: Option<String>,
    pub(crate) client: Option<String>,
    /// What the operator calls the agent.
    name: Option<String>,
    followed: VecDeque<(String, Followed)>,
    waiting: VecDeque<(RpcId, Asked)>,
    calls: BTreeMap<String, VecDeque<(String, Fields)>>,
}

#[derive(Clone, Debug, Default)]
struct Followed {
    cwd: Option<String>,
    mode: Option<String>,
    parent: Option<String>,
}

impl Sessions {
    /// `name`: what the operator calls the agent.
    pub(crate) fn of(name: Option<String>) -> Self {
        Self { name, ..Self::default() }
    }

    pub(crate) fn asked(&mut self, key: RpcId, asked: Asked) {
        if WAITING_MAX <= self.waiting.len() {
            self.waiting.pop_front();
        }
        self.waiting.push_back((key, asked));
    }

    pub(crate) fn answered(&mut self, key: &RpcId) -> Option<Asked> {
        let at = self.waiting.iter().position(|(waiting, _)| waiting == key)?;
        self.waiting.remove(at).map(|(_, asked)| asked)
    }

    /// The prompt the client asked for under this id, while it is unanswered.
    pub(crate) fn prompt(&self, key: &RpcId) -> Option<String> {
        self.waiting.iter().find_map(|(waiting, asked)| match asked {
            Asked::Prompt { session } if waiting == key => Some(session.clone()),
            Asked::Prompt { .. } | Asked::Initialize | Asked::Session { .. } => None,
        })
    }

    pub(crate) fn opened(&mut self, id: &str, cwd: Option<String>, mode: Option<String>) {
        let session = self.session_mut(id);
        session.cwd = cwd.or(session.cwd.take());
        session.mode = mode.or(session.mode.take());
    }

    pub(crate) fn has_mode(&mut self, id: &str, mode: String) {
        self.session_mut(id).mode = Some(mode);
    }

    pub(crate) fn has_child(&mut self, parent: &str, child: &str) {
        self.session_mut(child).parent = Some(parent.to_owned());
    }

    /// Whether `session` is `ancestor` or one of its sub-agents' sessions.
    pub(crate) fn is_within(&self, session: &str, ancestor: &str) -> bool {
        self.line(session).any(|id| id == ancestor)
    }

    /// What a card says about the session. A sub-agent's session lacks what only its parent told.
    pub(crate) fn describe(&self, id: &str) -> Session {
        let line: Vec<_> = self.line(id).filter_map(|id| self.session(id)).collect();
        Session {
            id: Some(SessionId::new(id)),
            name: self.name.clone(),
            agent: self.agent.clone(),
            client: self.client.clone(),
            cwd: line.iter().find_map(|session| session.cwd.clone()),
            mode: line.iter().find_map(|session| session.mode.clone()),
        }
    }

    /// The tool call's fields so far.
    pub(crate) fn call(&self, session: &str, call: &str) -> Fields {
        let calls = self.calls.get(session).into_iter().flatten();
        calls.rev().find(|(id, _)| id == call).map(|(_, fields)| fields.clone()).unwrap_or_default()
    }

    /// Lays an update over the tool call, or begins it anew.
    pub(crate) fn update_call(&mut self, session: &str, call: &str, update: Fields, anew: bool) {
        self.session_mut(session);
        let calls = self.calls.entry(session.to_owned()).or_default();
        let fields = match calls.iter().position(|(id, _)| id == call).and_then(|at| calls.remove(at)) {
            Some((_, fields)) if !anew => laid_over(fields, update),
            Some(_) | None => update,
        };
        if CALLS_MAX <= calls.len() {
            calls.pop_front();
        }
        calls.push_back((call.to_owned(), fields));
    }

    pub(crate) fn end_call(&mut self, session: &str, call: &str) {
        if let Some(calls) = self.calls.get_mut(session) {
            calls.retain(|(id, _)| id != call);
        }
    }

    fn session(&self, id: &str) -> Option<&Followed> {
        self.followed.iter().find(|(known, _)| known == id).map(|(_, session)| session)
    }

    fn session_mut(&mut self, id: &str) -> &mut Followed {
        let at = self.followed.iter().position(|(known, _)| known == id);
        let at = at.unwrap_or_else(|| {
            if SESSIONS_MAX <= self.followed.len()
                && let Some((oldest, _)) = self.followed.pop_front()
            {
                self.calls.remove(&oldest);
            }
            self.followed.push_back((id.to_owned(), Followed::default()));
            self.followed.len() - 1
        });
        &mut self.followed[at].1
    }

    /// The session and its ancestors. As many steps as there are sessions at most, should an agent tell a circle.
    fn line<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a str> {
        let parent = |id: &&'a str| self.session(id).and_then(|session| session.parent.as_deref());
        std::iter::successors(Some(id), parent).take(SESSIONS_MAX)
    }
}

/// What one side of the wire calls itself: for people, or else for programs.
pub(crate) fn named(info: &Value) -> Option<String> {
    let said = |key| info.get(key)?.as_str().filter(|name| !name.trim().is_empty());
    said("title").or_else(|| said("name")).map(str::to_owned)
}

/// Members that are `null` say nothing new.
pub(crate) fn laid_over(mut fields: Fields, update: Fields) -> Fields {
    fields.extend(update.into_iter().filter(|(_, value)| !value.is_null()));
    fields
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(value: Value) -> Fields {
        if let Value::Object(fields) = value { fields } else { Fields::new() }
    }

    #[test]
    fn later_words_lie_over_earlier_ones() {
        let mut sessions = Sessions::default();
        sessions.update_call("s", "c", fields(json!({"title": "bash", "kind": "execute"})), true);
        sessions.update_call("s", "c", fields(json!({"title": "touch", "kind": null})), false);
        assert_eq!(sessions.call("s", "c"), fields(json!({"title": "touch", "kind": "execute"})));
        assert_eq!(sessions.call("other", "c"), Fields::new());
    }

    #[test]
    fn a_call_begun_anew_inherits_nothing() {
        let mut sessions = Sessions::default();
        sessions.update_call("s", "c", fields(json!({"rawInput": {"command": "old"}})), true);
        sessions.update_call("s", "c", fields(json!({"title": "new"})), true);
        assert_eq!(sessions.call("s", "c"), fields(json!({"title": "new"})));
    }

    #[test]
    fn sessions_and_calls_are_bounded() {
        let mut sessions = Sessions::default();
        for n in 0..10_000 {
            sessions.update_call(&format!("s{n}"), "c", Fields::new(), true);
            sessions.update_call("busy", &format!("c{n}"), Fields::new(), true);
            sessions.asked(RpcId::Other(n.to_string()), Asked::Initialize);
        }
        assert_eq!((sessions.followed.len(), sessions.waiting.len()), (SESSIONS_MAX, WAITING_MAX));
        assert!(sessions.calls.len() <= SESSIONS_MAX && sessions.calls.values().all(|calls| calls.len() <= CALLS_MAX));
    }

    #[test]
    fn a_sub_agent_belongs_to_its_parent_even_in_a_circle() {
        let mut sessions = Sessions::default();
        sessions.opened("root", Some("/srv".into()), Some("default".into()));
        sessions.has_child("root", "child");
        assert!(sessions.is_within("child", "root") && !sessions.is_within("root", "child"));
        assert_eq!(sessions.describe("child").cwd.as_deref(), Some("/srv"));
        sessions.has_child("child", "root");
        assert!(!sessions.is_within("child", "stranger"));
    }
}
