//! The parts of a card below its headline, and how they are made to fit.

use bridge_model::{Content, PermissionRequest, Section, SectionBody, Shown, ToolCall};
use serde_json::Value;

use super::diff;

/// Members of a tool's input that hold the command or where it runs. All others are listed as they are.
const COMMAND_KEYS: [&str; 2] = ["command", "cmd"];
const CWD_KEYS: [&str; 3] = ["cwd", "workdir", "working_directory"];
const URL_KEYS: [&str; 2] = ["url", "uri"];
/// Members that often say what a change or a location says already. Left out where it is the very same.
const CHANGE_KEYS: [&str; 8] = ["file_path", "path", "old_string", "new_string", "old_str", "new_str", "content", "description"];

/// What the request is about, for the headline: the command, the path, the address; the agent's title last, since it is
/// only what the agent calls it.
pub(super) fn object(asked: &PermissionRequest) -> Option<String> {
    let tool_call = asked.tool_call.as_ref();
    let command = tool_call.and_then(command);
    let url = || tool_call.and_then(|tool_call| input_text(tool_call, &URL_KEYS));
    let paths = || tool_call.and_then(paths);
    let title = || tool_call.and_then(|tool_call| tool_call.title.clone()).or_else(|| asked.title.clone());
    let name = || tool_call.and_then(|tool_call| tool_call.name.clone());
    let said = |text: &String| !text.trim().is_empty();
    command
        .filter(said)
        .or_else(|| url().filter(said))
        .or_else(|| paths().filter(said))
        .or_else(|| title().filter(said))
        .or_else(name)
}

/// Everything the agent told, each part whole, the most telling first.
pub(super) fn sections(asked: &PermissionRequest) -> Vec<Section> {
    let mut sections = Vec::new();
    // Running text stays in one line, lest it pass for lines of the card's own.
    let mut text = |heading, text: Option<&str>| {
        sections.extend(
            text.filter(|text| !text.trim().is_empty())
                .map(|text| Section { heading, body: SectionBody::Text(Shown::line(text)) }),
        );
    };
    let tool_call = asked.tool_call.as_ref();
    let title = asked.title.as_deref();
    let call_title = tool_call.and_then(|tool_call| tool_call.title.as_deref());
    // Many agents name a command by itself.
    let command = tool_call.and_then(command);
    let is_command = |title: &&str| command.as_ref().is_some_and(|command| title.trim().trim_matches('`') == command.trim());
    text("Title, in the agent's words", title.or(call_title).filter(|title| !is_command(title)));
    text("Tool call, in the agent's words", call_title.filter(|call_title| title.is_some_and(|title| title != *call_title)));
    text("Tool", tool_call.and_then(|tool_call| tool_call.name.as_deref()));
    text("Kind", tool_call.map(|tool_call| tool_call.kind.name()));
    if let Some(tool_call) = tool_call {
        sections.extend(tool_call_sections(tool_call));
    }
    if let Some(explanation) = asked.description.as_deref().filter(|explanation| !explanation.trim().is_empty()) {
        sections
            .push(Section { heading: "Explanation, in the agent's words", body: SectionBody::Code(Shown::block(explanation)) });
    }
    let session = [
        ("works in", asked.session.cwd.as_deref()),
        ("mode", asked.session.mode.as_deref()),
        ("id", asked.session.id.as_ref().map(bridge_model::SessionId::as_str)),
    ];
    let session: Vec<_> =
        session.iter().filter_map(|(name, value)| value.map(|value| format!("{name}: {}", Shown::line(value)))).collect();
    if !session.is_empty() {
        sections.push(Section { heading: "Session", body: SectionBody::Text(Shown::block(&session.join("\n"))) });
    }
    sections
}

fn tool_call_sections(tool_call: &ToolCall) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut code = |heading, text: String| sections.push(Section { heading, body: SectionBody::Code(Shown::block(&text)) });
    if let Some(command) = command(tool_call) {
        code("Command", command);
    }
    if let Some(cwd) = input_text(tool_call, &CWD_KEYS) {
        code("Runs in", cwd);
    }
    let locations = tool_call.locations.iter().map(|location| match location.line {
        Some(line) => format!("{}:{line}", Shown::line(&location.path)),
        None => Shown::line(&location.path).to_string(),
    });
    let locations: Vec<_> = locations.collect();
    if !locations.is_empty() {
        code("Files", locations.join("\n"));
    }
    for content in &tool_call.content {
        match content {
            Content::Text(text) if text.trim().is_empty() => {}
            Content::Text(text) => code("Attached, in the agent's words", text.clone()),
            Content::Diff { path, old, new } => {
                code("Change", format!("{}\n{}", Shown::line(path), diff::unified(old.as_deref(), new)));
            }
            Content::Patch { paths, text } if text.trim().is_empty() => code("Change", paths.join("\n")),
            Content::Patch { paths, text } => code("Change", format!("{}\n{text}", paths.join("\n"))),
            Content::Other(value) => code("Attached", value.to_string()),
        }
    }
    if let Some(arguments) = arguments(tool_call) {
        code("Arguments", arguments);
    }
    sections
}

/// Makes the sections fit into `bytes_max`; `false` if something had to be left out. The legend is never cut.
pub(super) fn fit(sections: Vec<Section>, bytes_max: usize, legend: Option<Section>) -> Result<(Vec<Section>, bool), String> {
    let size = |section: &Section| section.heading.len() + section.text().len();
    let bytes_max = bytes_max
        .checked_sub(legend.as_ref().map_or(0, size))
        .ok_or_else(|| "the names of its options are too long to be shown".to_owned())?;
    let whole = sections.iter().map(size).sum::<usize>() <= bytes_max;
    let mut sections: Vec<_> = if whole {
        sections
    } else {
        // A note of its own follows each cut and the card; half of the room is left to them.
        let each_max = bytes_max / 2 / sections.len().max(1) / 4;
        sections.into_iter().map(|section| cut(section, each_max)).collect()
    };
    sections.extend(legend);
    Ok((sections, whole))
}

/// Keeps head and tail, and says how much is missing between them. `max`: characters.
fn cut(section: Section, max: usize) -> Section {
    let text = section.text();
    let total = text.chars().count();
    if total <= max {
        return section;
    }
    let half = max / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(total - half).collect();
    section.with_text(&format!("{head}\n[… {} characters are not shown …]\n{tail}", total - 2 * half))
}

/// A command as one text; an argument list as the list it is, so that its borders stay visible.
fn command(tool_call: &ToolCall) -> Option<String> {
    COMMAND_KEYS.iter().find_map(|key| tool_call.raw_input.as_ref()?.get(key)).and_then(|command| match command {
        Value::String(text) => Some(text.clone()),
        Value::Array(_) => Some(command.to_string()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    })
}

fn input_text(tool_call: &ToolCall, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| tool_call.raw_input.as_ref()?.get(key)?.as_str()).map(str::to_owned)
}

fn paths(tool_call: &ToolCall) -> Option<String> {
    let located = tool_call.locations.iter().map(|location| location.path.as_str());
    let changed = tool_call.content.iter().flat_map(|content| match content {
        Content::Diff { path, .. } => vec![path.as_str()],
        Content::Patch { paths, .. } => paths.iter().map(String::as_str).collect(),
        Content::Text(_) | Content::Other(_) => vec![],
    });
    let paths: Vec<_> = if tool_call.locations.is_empty() { changed.collect() } else { located.collect() };
    let (first, more) = paths.split_first()?;
    Some(if more.is_empty() { (*first).to_owned() } else { format!("{first} and {} more", more.len()) })
}

/// Texts that other sections show whole.
fn shown_texts(tool_call: &ToolCall) -> Vec<&str> {
    let locations = tool_call.locations.iter().map(|location| location.path.as_str());
    let content = tool_call.content.iter().flat_map(|content| match content {
        Content::Diff { path, old, new } => vec![Some(path.as_str()), old.as_deref(), Some(new.as_str())],
        Content::Text(text) => vec![Some(text.as_str())],
        Content::Patch { .. } | Content::Other(_) => Vec::new(),
    });
    locations.chain(content.flatten()).filter(|text| !text.is_empty()).collect()
}

/// Every member of the input that no other section shows, in the agent's order.
fn arguments(tool_call: &ToolCall) -> Option<String> {
    let input = tool_call.raw_input.as_ref()?;
    let Value::Object(members) = input else { return (!input.is_null()).then(|| input.to_string()) };
    let shown_as_command = COMMAND_KEYS.iter().find(|key| members.contains_key(**key)).filter(|_| command(tool_call).is_some());
    let shown_as_cwd = CWD_KEYS.iter().find(|key| members.get(**key).is_some_and(Value::is_string));
    let shown = shown_texts(tool_call);
    let is_repeated = |key: &str| {
        let text = members.get(key).and_then(Value::as_str);
        CHANGE_KEYS.contains(&key) && text.is_some_and(|text| shown.contains(&text))
    };
    let is_shown =
        |key: &String| [shown_as_command, shown_as_cwd].into_iter().flatten().any(|shown| shown == key) || is_repeated(key);
    let lines: Vec<_> = members
        .iter()
        .filter(|(key, _)| !is_shown(key))
        .map(|(key, value)| match value {
            // Set in, so that a line of a value cannot pass for another member.
            Value::String(text) => format!("{}: {}", Shown::line(key), text.replace('\n', "\n    ")),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                format!("{}: {value}", Shown::line(key))
            }
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
