//! What real agents tell.

use std::collections::BTreeMap;
use std::io::Write;

use agent_client_protocol::v1::schema::{
    ContentBlock, Plan, PlanEntryStatus, SessionUpdate, ToolCall, ToolCallStatus, ToolCallUpdate,
};

use crate::demo::screen::Screen;

/// Tool calls whose titles are remembered; one more is called by its id.
const TITLES_MAX: usize = 1000;

#[derive(Default)]
pub(super) struct Real {
    titles: BTreeMap<String, String>,
}

impl Real {
    pub(super) fn updated<W: Write>(&mut self, update: SessionUpdate, screen: &mut Screen<W>) {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the enum is open, and the rest is nothing to tell")]
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                if let ContentBlock::Text(text) = chunk.content {
                    screen.says(&text.text);
                }
            }
            SessionUpdate::ToolCall(ToolCall { tool_call_id, title, status, .. }) => {
                screen.tool(&title, status_word(status));
                self.remember(tool_call_id.to_string(), title);
            }
            SessionUpdate::ToolCallUpdate(ToolCallUpdate { tool_call_id, fields, .. }) => {
                let id = tool_call_id.to_string();
                let title = fields.title.filter(|title| self.titles.get(&id) != Some(title));
                if title.is_some() || fields.status.is_some() {
                    let shown = title.as_ref().or_else(|| self.titles.get(&id)).unwrap_or(&id);
                    screen.tool(shown, fields.status.map_or("", status_word));
                }
                if let Some(title) = title {
                    self.remember(id, title);
                }
            }
            SessionUpdate::Plan(Plan { entries, .. }) => {
                for entry in entries {
                    let status = match entry.status {
                        PlanEntryStatus::Completed => "done",
                        PlanEntryStatus::InProgress => "now",
                        _ => "to do",
                    };
                    screen.tool(&entry.content, status);
                }
            }
            _ => {}
        }
    }

    fn remember(&mut self, id: String, title: String) {
        if self.titles.len() < TITLES_MAX || self.titles.contains_key(&id) {
            self.titles.insert(id, title);
        }
    }
}

fn status_word(status: ToolCallStatus) -> &'static str {
    match status {
        ToolCallStatus::Pending => "pending",
        ToolCallStatus::InProgress => "in progress",
        ToolCallStatus::Completed => "completed",
        ToolCallStatus::Failed => "failed",
        _ => "",
    }
}
