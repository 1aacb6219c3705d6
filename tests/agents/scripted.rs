//! An agent that does what the prompt says, on the official crate.
//!
//! The prompt's text is JSON:
//!
//! ```json
//! {"ask": [{"title": "touch x", "kind": "execute", "command": "touch x", "marker": "/tmp/x",
//!           "options": [["allow-once", "Yes", "allow_once"], ["reject", "No", "reject_once"]]}],
//!  "parallel": true, "withdraw_on_cancel": true}
//! ```
//!
//! It announces each tool call, asks for permission, and runs the tool, which is to create the file `marker`, only if an
//! option was selected whose kind is an allowance. It reports each outcome in a message,
//! `{"title": ..., "outcome": ..., "ran": true}`. Any other text is echoed.
//!
//! After `session/cancel` the turn ends as cancelled, once all outcomes are in; with `withdraw_on_cancel` the agent
//! also cancels its open requests by itself.

mod session;

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, Implementation, InitializeRequest, InitializeResponse, NewSessionRequest,
    NewSessionResponse, PromptRequest,
};
use agent_client_protocol::{Agent, Result, Stdio};

use session::Sessions;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let sessions = Arc::new(Sessions::default());
    let (opening, prompting, cancelling) = (Arc::clone(&sessions), Arc::clone(&sessions), sessions);
    Agent
        .v1()
        .name("scripted-agent")
        .on_receive_request(
            async move |initialize: InitializeRequest, responder, _connection| {
                let response = InitializeResponse::new(initialize.protocol_version);
                let info = Implementation::new("scripted-agent", "1");
                responder.respond(response.agent_capabilities(AgentCapabilities::new()).agent_info(info))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |_: NewSessionRequest, responder, _connection| responder.respond(NewSessionResponse::new(opening.open())),
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |prompt: PromptRequest, responder, connection| {
                let turn = prompting.turn(prompt, connection.clone());
                // The loop must go on: outcomes and cancellings arrive while the turn runs.
                connection.spawn(async move { responder.respond(turn.run().await?) })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancel: CancelNotification, _connection| {
                cancelling.cancel(&cancel.session_id);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_to(Stdio::new())
        .await
}
