//! The scripted agent, on the official crate: it asks before each of its deeds, and does it only if it may.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, Implementation, InitializeRequest, InitializeResponse, NewSessionRequest,
    NewSessionResponse, PromptRequest, SessionId, ToolKind,
};
use agent_client_protocol::{Agent, ConnectTo, Error, Result, Stdio};
use tokio::sync::watch;

use super::page::Page;
use super::turn::Turn;
use super::workspace;

pub(crate) async fn run() -> ExitCode {
    if serve(Stdio::new()).await.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A session; the agent has one at a time.
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) folder: PathBuf,
    pub(super) page: Page,
    /// Kinds for which it need not ask again.
    pub(super) always: Mutex<Vec<ToolKind>>,
    pub(super) cancelled: watch::Sender<bool>,
}

/// The newest session, and how many there were.
#[derive(Default)]
struct Sessions(Mutex<(usize, Option<Arc<Session>>)>);

pub(super) async fn serve(transport: impl ConnectTo<Agent> + 'static) -> Result<()> {
    let sessions = Arc::new(Sessions::default());
    let (opening, prompting, cancelling) = (Arc::clone(&sessions), Arc::clone(&sessions), sessions);
    Agent
        .v1()
        .name("countersign-demo-agent")
        .on_receive_request(
            async move |initialize: InitializeRequest, responder, _connection| {
                let response = InitializeResponse::new(initialize.protocol_version);
                let info = Implementation::new("demo-agent", env!("CARGO_PKG_VERSION"));
                responder.respond(response.agent_capabilities(AgentCapabilities::new()).agent_info(info))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |new: NewSessionRequest, responder, _connection| match opening.open(new.cwd).await {
                Ok(id) => responder.respond(NewSessionResponse::new(id)),
                Err(error) => responder.respond_with_error(error),
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |prompt: PromptRequest, responder, connection| match prompting.find(&prompt.session_id) {
                Some(session) => {
                    session.cancelled.send_replace(false);
                    let turn = Turn { session, connection: connection.clone() };
                    // The loop must go on: answers and cancellings arrive while the turn runs.
                    connection.spawn(async move { responder.respond(turn.run().await?) })
                }
                None => responder.respond_with_error(Error::invalid_params().data("there is no such session")),
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancel: CancelNotification, _connection| {
                if let Some(session) = cancelling.find(&cancel.session_id) {
                    session.cancelled.send_replace(true);
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_to(transport)
        .await
}

impl Sessions {
    async fn open(&self, folder: PathBuf) -> Result<SessionId> {
        if !workspace::is_one(&folder) {
            return Err(Error::invalid_params().data("this agent works only in a folder that `countersign demo` has made"));
        }
        let page = Page::serve().await.map_err(Error::into_internal_error)?;
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.0 += 1;
        let id = SessionId::new(format!("demo-{}", sessions.0));
        let (always, cancelled) = (Mutex::default(), watch::Sender::new(false));
        sessions.1 = Some(Arc::new(Session { id: id.clone(), folder, page, always, cancelled }));
        Ok(id)
    }

    fn find(&self, id: &SessionId) -> Option<Arc<Session>> {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.1.clone().filter(|session| session.id == *id)
    }
}
