//! A turn of the scripted agent: one deed after the other, each announced, asked for, and reported.

use std::sync::{Arc, PoisonError};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, PermissionOption, PermissionOptionKind, PromptResponse, RequestPermissionOutcome,
    RequestPermissionRequest, SessionNotification, SessionUpdate, StopReason, TextContent, ToolCall, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields,
};
use agent_client_protocol::{Client, Result};

use super::agent::Session;
use super::deeds::{Deed, deeds};
use super::report::{Answer, Report};

pub(super) struct Turn {
    pub(super) session: Arc<Session>,
    pub(super) connection: ConnectionTo<Client>,
}

impl Turn {
    pub(super) async fn run(self) -> Result<PromptResponse> {
        let deeds = deeds(self.session.page.address);
        let of = deeds.len();
        for (deed, at) in deeds.iter().zip(1..) {
            if *self.session.cancelled.borrow() {
                return Ok(PromptResponse::new(StopReason::Cancelled));
            }
            self.step(deed, at, of).await?;
        }
        Ok(PromptResponse::new(StopReason::EndTurn))
    }

    async fn step(&self, deed: &Deed, at: usize, of: usize) -> Result<()> {
        let id = format!("call-{at}");
        let call = deed.tool_call(&id, &self.session.folder);
        let what = deed.what();
        let need_not_ask = self.session.always.lock().unwrap_or_else(PoisonError::into_inner).contains(&deed.kind());
        let may = if need_not_ask {
            self.announce(call, Report::NeedNotAsk { at, of, what })?;
            true
        } else {
            self.announce(call.clone(), Report::Asks { at, of, what })?;
            let answer = self.ask(call, deed.options()).await;
            if answer.is_always() {
                self.session.always.lock().unwrap_or_else(PoisonError::into_inner).push(deed.kind());
            }
            let may = answer.allows();
            let fields = ToolCallUpdateFields::new().status(may.then_some(ToolCallStatus::InProgress));
            self.update(&id, fields, Report::Told { answer })?;
            may
        };
        let carried_out = if may { Some(deed.carry_out(&self.session.folder).await) } else { None };
        let (said, problem, output) = match carried_out {
            None => ("I did not do it.".to_owned(), None, String::new()),
            Some(Ok(output)) => ("I did it.".to_owned(), None, output),
            Some(Err(problem)) => (format!("I could not do it: {problem}"), Some(problem), String::new()),
        };
        let done = may && problem.is_none();
        let status = if done { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
        let content = (!output.is_empty()).then(|| vec![text_block(&output).into()]);
        let fields = ToolCallUpdateFields::new().status(status).content(content);
        self.update(&id, fields, Report::Ended { done, problem, output })?;
        self.send(SessionUpdate::AgentMessageChunk(ContentChunk::new(text_block(&format!("{}: {said}\n", deed.what())))))
    }

    /// Waits for the answer, unless the turn is cancelled.
    async fn ask(&self, call: ToolCall, options: Vec<PermissionOption>) -> Answer {
        let request = RequestPermissionRequest::new(self.session.id.clone(), call.into(), options.clone());
        let sent = self.connection.send_request(request);
        let withdraw = sent.cancellation_handle();
        let mut cancelled = self.session.cancelled.subscribe();
        tokio::select! {
            answered = sent.block_task() => match answered {
                Ok(response) => answer(&options, &response.outcome),
                Err(error) => Answer::None { why: error.to_string() },
            },
            _ = cancelled.wait_for(|cancelled| *cancelled) => {
                let _ = withdraw.cancel();
                Answer::Cancelled
            }
        }
    }

    fn announce(&self, call: ToolCall, report: Report) -> Result<()> {
        self.send(SessionUpdate::ToolCall(call.meta(report.into_meta())))
    }

    fn update(&self, id: &str, fields: ToolCallUpdateFields, report: Report) -> Result<()> {
        self.send(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id.to_owned(), fields).meta(report.into_meta())))
    }

    fn send(&self, update: SessionUpdate) -> Result<()> {
        self.connection.send_notification(SessionNotification::new(self.session.id.clone(), update))
    }
}

/// What an outcome means: an option counts only if it is one of those that were offered.
fn answer(offered: &[PermissionOption], outcome: &RequestPermissionOutcome) -> Answer {
    let RequestPermissionOutcome::Selected(selected) = outcome else { return Answer::Cancelled };
    let option = selected.option_id.to_string();
    match offered.iter().find(|offered| offered.option_id == selected.option_id) {
        None => Answer::NotOffered { option },
        Some(PermissionOption { name, kind, .. }) => {
            let always = *kind == PermissionOptionKind::AllowAlways;
            let allows = always || *kind == PermissionOptionKind::AllowOnce;
            Answer::Selected { option, label: name.clone(), allows, always }
        }
    }
}

fn text_block(text: &str) -> ContentBlock {
    ContentBlock::Text(TextContent::new(text))
}
