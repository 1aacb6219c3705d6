//! A session's turns.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, PermissionOption, PermissionOptionKind, PromptRequest, PromptResponse, RequestPermissionOutcome,
    RequestPermissionRequest, SessionId, SessionNotification, SessionUpdate, StopReason, TextContent, ToolCall, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind,
};
use agent_client_protocol::{Client, Error, RequestCancellationHandle, Result};
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Sessions {
    opened: Mutex<usize>,
    turns: Mutex<BTreeMap<String, Arc<Mutex<State>>>>,
}

/// What a cancelling has to reach.
#[derive(Default)]
struct State {
    cancelled: bool,
    withdraw: bool,
    open: Vec<RequestCancellationHandle>,
}

pub(crate) struct Turn {
    session: SessionId,
    text: String,
    connection: ConnectionTo<Client>,
    state: Arc<Mutex<State>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    ask: Vec<Ask>,
    #[serde(default)]
    parallel: bool,
    #[serde(default)]
    withdraw_on_cancel: bool,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    title: String,
    #[serde(default)]
    kind: ToolKind,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    marker: Option<PathBuf>,
    options: Vec<(String, String, PermissionOptionKind)>,
}

impl Sessions {
    pub(crate) fn open(&self) -> SessionId {
        let mut opened = locked(&self.opened);
        *opened += 1;
        SessionId::new(format!("scripted-{opened}"))
    }

    pub(crate) fn turn(&self, prompt: PromptRequest, connection: ConnectionTo<Client>) -> Turn {
        let state = Arc::<Mutex<State>>::default();
        locked(&self.turns).insert(prompt.session_id.to_string(), Arc::clone(&state));
        let text = prompt
            .prompt
            .into_iter()
            .filter_map(|block| if let ContentBlock::Text(text) = block { Some(text.text) } else { None });
        Turn { session: prompt.session_id, text: text.collect(), connection, state }
    }

    pub(crate) fn cancel(&self, session: &SessionId) {
        let Some(state) = locked(&self.turns).get(&session.to_string()).cloned() else { return };
        let mut state = locked(&state);
        state.cancelled = true;
        if state.withdraw {
            for open in state.open.drain(..) {
                let _ = open.cancel();
            }
        }
    }
}

impl Turn {
    pub(crate) async fn run(self) -> Result<PromptResponse> {
        match serde_json::from_str::<Script>(&self.text) {
            Ok(script) => self.play(script).await?,
            Err(_) => self.say(self.text.clone())?,
        }
        let reason = if locked(&self.state).cancelled { StopReason::Cancelled } else { StopReason::EndTurn };
        Ok(PromptResponse::new(reason))
    }

    async fn play(&self, script: Script) -> Result<()> {
        locked(&self.state).withdraw = script.withdraw_on_cancel;
        let asks = script.ask.iter().enumerate().map(|(at, ask)| self.ask(at, ask));
        if script.parallel {
            join_all(asks).await.into_iter().collect()
        } else {
            for ask in asks {
                ask.await?;
            }
            Ok(())
        }
    }

    async fn ask(&self, at: usize, ask: &Ask) -> Result<()> {
        let id = format!("call-{at}");
        let input = ask.command.as_ref().map(|command| json!({"command": command}));
        let call = ToolCall::new(id.clone(), ask.title.clone()).kind(ask.kind).raw_input(input.clone());
        self.update(SessionUpdate::ToolCall(call))?;
        let fields = ToolCallUpdateFields::new().title(ask.title.clone()).kind(ask.kind).raw_input(input);
        let options = ask.options.iter().map(|(id, name, kind)| PermissionOption::new(id.clone(), name.clone(), *kind));
        let request = RequestPermissionRequest::new(self.session.clone(), ToolCallUpdate::new(id, fields), options.collect());
        let sent = self.connection.send_request(request);
        locked(&self.state).open.push(sent.cancellation_handle());
        let (outcome, ran) = match sent.block_task().await {
            Ok(response) => (json!(response.outcome), run(ask, &response.outcome)?),
            Err(error) => (json!({"error": error}), false),
        };
        self.say(json!({"title": ask.title, "outcome": outcome, "ran": ran}).to_string())
    }

    fn say(&self, text: String) -> Result<()> {
        self.update(SessionUpdate::AgentMessageChunk(ContentChunk::new(ContentBlock::Text(TextContent::new(text)))))
    }

    fn update(&self, update: SessionUpdate) -> Result<()> {
        self.connection.send_notification(SessionNotification::new(self.session.clone(), update))
    }
}

/// Runs the tool if, and only if, it was allowed.
fn run(ask: &Ask, outcome: &RequestPermissionOutcome) -> Result<bool> {
    let RequestPermissionOutcome::Selected(selected) = outcome else { return Ok(false) };
    let selected = ask.options.iter().find(|(id, _, _)| *id == selected.option_id.to_string());
    let allowed =
        selected.is_some_and(|(_, _, kind)| matches!(kind, PermissionOptionKind::AllowOnce | PermissionOptionKind::AllowAlways));
    if let (true, Some(marker)) = (allowed, &ask.marker) {
        File::create(marker).map_err(Error::into_internal_error)?;
    }
    Ok(allowed)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
