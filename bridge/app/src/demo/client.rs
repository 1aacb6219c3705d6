//! The ACP client, on the official crate. Permission requests never reach it, since the bridge holds them.

use std::path::Path;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AuthMethod, ClientCapabilities, ContentBlock, Implementation, InitializeRequest, NewSessionRequest, PromptRequest,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse, SessionId, SessionNotification, StopReason,
    TextContent,
};
use agent_client_protocol::{Agent, Client, ConnectTo, Error, ErrorCode, Result};
use tokio::sync::mpsc;

use super::News;

/// Converses with an agent for as long as `main` does.
pub(super) async fn connect<R>(
    transport: impl ConnectTo<Client> + 'static,
    news: mpsc::Sender<News>,
    main: impl AsyncFnOnce(ConnectionTo<Agent>) -> Result<R>,
) -> Result<R> {
    let (updates, requests) = (news.clone(), news);
    Client
        .v1()
        .name("countersign-demo")
        .on_receive_notification(
            async move |notification: SessionNotification, _connection| {
                let _ = updates.send(News::Update(Box::new(notification.update))).await;
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |_: RequestPermissionRequest, responder, _connection| {
                let _ = requests.send(News::AskedHere).await;
                responder.respond(RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(transport, main)
        .await
}

/// Which agent it is, and how it lets people log in.
#[derive(Clone, Debug, Default)]
pub(super) struct Introduction {
    pub(super) name: Option<String>,
    log_in: Vec<String>,
}

pub(super) async fn initialize(connection: &ConnectionTo<Agent>) -> Result<Introduction> {
    let info = Implementation::new("countersign-demo", env!("CARGO_PKG_VERSION"));
    // None: the agent reads and writes files and runs commands itself, if it may.
    let request = InitializeRequest::new(ProtocolVersion::V1).client_capabilities(ClientCapabilities::new()).client_info(info);
    let response = connection.send_request(request).block_task().await?;
    let method = |method: &AuthMethod| match method.description() {
        Some(description) => format!("{}: {description}", method.name()),
        None => method.name().to_owned(),
    };
    let name = response.agent_info.map(|info| info.title.unwrap_or(info.name));
    Ok(Introduction { name, log_in: response.auth_methods.iter().map(method).collect() })
}

pub(super) async fn open_session(connection: &ConnectionTo<Agent>, folder: &Path) -> Result<SessionId> {
    Ok(connection.send_request(NewSessionRequest::new(folder)).block_task().await?.session_id)
}

/// Returns when the turn has ended, and why.
pub(super) async fn prompt(connection: &ConnectionTo<Agent>, session: &SessionId, text: &str) -> Result<StopReason> {
    let text = vec![ContentBlock::Text(TextContent::new(text))];
    connection.send_request(PromptRequest::new(session.clone(), text)).block_task().await.map(|response| response.stop_reason)
}

/// What to say about an agent's error.
pub(super) fn explain(error: &Error, agent: &Introduction) -> String {
    let data = error.data.as_ref().map(|data| data.as_str().map_or_else(|| data.to_string(), ToOwned::to_owned));
    let said = data.map_or_else(|| error.message.clone(), |data| format!("{} ({data})", error.message));
    if error.code != ErrorCode::AUTH_REQUIRED {
        return format!("the agent says: {said}");
    }
    let mut lines = vec![format!("the agent wants you to log in first: {said}")];
    lines.extend(agent.log_in.iter().map(|way| format!("  {way}")));
    lines.push("Log in with the agent's own program, then come back.".to_owned());
    lines.join("\n")
}
