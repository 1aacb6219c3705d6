//! What the scripted agent wants to do: five things, all of them harmless and within its folder.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use agent_client_protocol::v1::schema::{
    Content, ContentBlock, Diff, PermissionOption, PermissionOptionKind, TextContent, ToolCall, ToolCallContent,
    ToolCallLocation, ToolKind,
};
use serde_json::json;

use super::page;
use super::workspace::{BACKUP, NOTES, SETTINGS, SETTINGS_AFTER, SETTINGS_BEFORE};

/// How long a command or a page may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// One thing that it asks for, and does if it may.
#[derive(Clone, Debug)]
pub(super) enum Deed {
    /// A program with its arguments, started without a shell.
    Run(&'static [&'static str]),
    Rewrite {
        file: &'static str,
        before: &'static str,
        after: &'static str,
    },
    Remove {
        file: &'static str,
    },
    Fetch {
        page: SocketAddr,
    },
}

/// In their order. The last is of the first one's kind, so that it can be seen what an "always" does.
pub(super) fn deeds(page: SocketAddr) -> [Deed; 5] {
    [
        Deed::Run(&["cp", SETTINGS, BACKUP]),
        Deed::Rewrite { file: SETTINGS, before: SETTINGS_BEFORE, after: SETTINGS_AFTER },
        Deed::Remove { file: NOTES },
        Deed::Fetch { page },
        Deed::Run(&["ls", "-1"]),
    ]
}

impl Deed {
    pub(super) fn kind(&self) -> ToolKind {
        match self {
            Self::Run(_) => ToolKind::Execute,
            Self::Rewrite { .. } => ToolKind::Edit,
            Self::Remove { .. } => ToolKind::Delete,
            Self::Fetch { .. } => ToolKind::Fetch,
        }
    }

    /// As in "The agent asks to …".
    pub(super) fn what(&self) -> String {
        match self {
            Self::Run(command) => format!("run {}", command.join(" ")),
            Self::Rewrite { file, .. } => format!("edit {file}"),
            Self::Remove { file } => format!("delete {file}"),
            Self::Fetch { page } => format!("fetch {}", page::url(*page)),
        }
    }

    pub(super) fn tool_call(&self, id: &str, folder: &Path) -> ToolCall {
        let at = |file: &str| folder.join(file);
        let said = |text: &str| ToolCallContent::Content(Content::new(ContentBlock::Text(TextContent::new(text))));
        let call = match self {
            Self::Run(command) => {
                let command = command.join(" ");
                let input = json!({"command": command, "cwd": folder});
                ToolCall::new(id.to_owned(), command).raw_input(input)
            }
            Self::Rewrite { file, before, after } => {
                let diff = Diff::new(at(file), *after).old_text((*before).to_owned());
                let input = json!({"file_path": at(file)});
                ToolCall::new(id.to_owned(), format!("Edit {file}"))
                    .content(vec![ToolCallContent::Diff(diff)])
                    .locations(vec![ToolCallLocation::new(at(file))])
                    .raw_input(input)
            }
            Self::Remove { file } => ToolCall::new(id.to_owned(), format!("Delete {file}"))
                .content(vec![said("It has not been opened for months.")])
                .locations(vec![ToolCallLocation::new(at(file))])
                .raw_input(json!({"path": at(file)})),
            Self::Fetch { page } => {
                let url = page::url(*page);
                ToolCall::new(id.to_owned(), format!("Fetch {url}")).raw_input(json!({"url": url}))
            }
        };
        call.kind(self.kind())
    }

    /// As agents word and order them; for a deletion there is no "always".
    pub(super) fn options(&self) -> Vec<PermissionOption> {
        let always = match self {
            Self::Run(_) => Some("Yes, and don't ask again for commands".to_owned()),
            Self::Rewrite { .. } => Some("Yes, allow all edits during this session".to_owned()),
            Self::Remove { .. } => None,
            Self::Fetch { page } => Some(format!("Yes, and don't ask again for {}", page.ip())),
        };
        let always = always.map(|label| PermissionOption::new("allow-always", label, PermissionOptionKind::AllowAlways));
        let once = PermissionOption::new("allow-once", "Yes", PermissionOptionKind::AllowOnce);
        let reject = PermissionOption::new("reject", "No", PermissionOptionKind::RejectOnce);
        [Some(once), always, Some(reject)].into_iter().flatten().collect()
    }

    /// Does it, and returns what came out of it.
    pub(super) async fn carry_out(&self, folder: &Path) -> Result<String, String> {
        let within = |file: &str| folder.join(file);
        match self {
            Self::Run(command) => run(command, folder).await,
            Self::Rewrite { file, before, after } => {
                let is_as_shown = fs::read_to_string(within(file)).is_ok_and(|text| text == *before);
                if !is_as_shown {
                    return Err(format!("{file} is not what it was when this was asked"));
                }
                fs::write(within(file), after).map(|()| String::new()).map_err(|error| error.to_string())
            }
            Self::Remove { file } => fs::remove_file(within(file)).map(|()| String::new()).map_err(|error| error.to_string()),
            Self::Fetch { page } => {
                let fetched = tokio::time::timeout(PATIENCE, page::fetch(*page)).await;
                fetched.map_err(|_| "the page does not answer".to_owned())?.map_err(|error| error.to_string())
            }
        }
    }

    /// Whether the folder shows that it was done, and what there is to see; `None` for what leaves no trace there.
    pub(super) fn seen(&self, folder: &Path) -> Option<(bool, &'static str)> {
        let (is_done, [done, not_done]) = match self {
            Self::Run(["cp", _, copy]) => (folder.join(copy).exists(), ["the copy is there", "there is no copy"]),
            Self::Run(_) | Self::Fetch { .. } => return None,
            Self::Rewrite { file, after, .. } => {
                let is_done = fs::read_to_string(folder.join(file)).is_ok_and(|text| text == *after);
                (is_done, ["it is changed", "it is as it was"])
            }
            Self::Remove { file } => (!folder.join(file).exists(), ["it is gone", "it is still there"]),
        };
        Some((is_done, if is_done { done } else { not_done }))
    }
}

async fn run(command: &[&str], folder: &Path) -> Result<String, String> {
    let [program, arguments @ ..] = command else { return Err("there is no command".to_owned()) };
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await.map_err(|_| format!("{program} does not end"))?;
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
