//! The parts of a card below its headline: which there are, and in which order.

use std::borrow::Cow;
use std::collections::HashSet;

use bridge_model::{Content, Gap, Location, PermissionOption, PermissionRequest, Section, SectionBody, Shown, ToolCall};
use policy::is_outside;
use serde_json::Value;

use super::deed::{Deed, changed_paths};
use super::diff::{self, Change, Effort};
use super::ink::{Form, Ink, line};
use super::{Details, NAME_MAX};
use crate::wording::About;

/// Paths outside of the workspace that are named; more are counted.
const OUTSIDE_MAX: usize = 4;
/// Characters of each.
const OUTSIDE_PATH_MAX: usize = 120;
/// Changes, texts and other content that have a part of their own. A request with more is not shown whole.
const CONTENT_MAX: usize = 64;
/// Locations that are listed.
const LOCATIONS_MAX: usize = 1_024;
/// Characters of a session's id that are shown. It only helps to tell sessions apart.
const SESSION_ID_MAX: usize = 16;

/// What the request is about, for the headline: the command, the address, the file; the agent's title last, since it is
/// only what the agent calls it, which is said.
pub(super) fn object(asked: &PermissionRequest, details: Details) -> Option<(About, Cow<'_, str>)> {
    let call = asked.tool_call.as_ref();
    let deed = call.map(Deed::of);
    let said = |text: &Cow<'_, str>| !text.trim().is_empty();
    let files = || {
        let files = deed.as_ref()?.files();
        let about = if files.len() == 1 { About::Deed } else { About::Files(files.len()) };
        Some((about, Cow::from(*files.first()?))).filter(|(_, file)| said(file))
    };
    let title = || {
        let titles = [call.and_then(|call| call.title.as_deref()), asked.title.as_deref()];
        titles.into_iter().flatten().map(Cow::from).find(said).map(|title| (About::Title, title))
    };
    let input = || {
        let deed = deed.as_ref()?;
        let found = deed.command().filter(said).or_else(|| deed.url().map(Cow::from).filter(said));
        found.map(|found| (About::Deed, found))
    };
    let name = || call.and_then(|call| call.name.as_deref()).map(Cow::from).filter(said).map(|name| (About::Title, name));
    match details {
        Details::Full => input().or_else(files).or_else(title).or_else(name),
        Details::Described => title().or_else(files),
    }
}

/// Everything the agent told, each part whole: what would be done first, then the agent's own words on it, then who asks.
pub(super) fn sections(asked: &PermissionRequest, details: Details) -> Vec<Section> {
    let deed = asked.tool_call.as_ref().map(Deed::of);
    let mut sections: Vec<Section> = outside(asked, deed.as_ref(), details).into_iter().collect();
    if let Some(deed) = &deed {
        match details {
            Details::Full => {
                sections.extend(command(deed));
                sections.extend(files(deed.call));
                sections.extend(changes(deed.call));
                sections.extend(tool(deed));
            }
            Details::Described => {
                sections.extend(files(deed.call));
                sections.extend(changes(deed.call));
            }
        }
        sections.extend(attached(deed, details));
    }
    sections.extend(agents_words(asked, deed.as_ref(), details));
    sections.extend(who_asks(asked, deed.as_ref(), details));
    match details {
        Details::Full => {
            sections.extend(what_options_cover(asked));
            sections.extend(notes(asked));
        }
        Details::Described => sections.push(Section::new(
            Section::NOT_SHOWN,
            SectionBody::Ours("What the agent gave the tool: this room shows only descriptions.".to_owned()),
        )),
    }
    sections
}

/// A marked warning: what the request touches beyond the folder in which the session works, or whatever it touches where
/// that is not known.
fn outside(asked: &PermissionRequest, deed: Option<&Deed<'_>>, details: Details) -> Option<Section> {
    let deed = deed?;
    let paths = match details {
        Details::Full => deed.paths(),
        Details::Described => deed.files(),
    };
    let paths: Vec<_> = paths.into_iter().filter(|path| is_outside(asked, path)).collect();
    let named = paths.iter().take(OUTSIDE_MAX).map(|path| line(visible(path)).cut_inside(OUTSIDE_PATH_MAX).to_string());
    let named = SectionBody::Code(Shown::block(&named.collect::<Vec<_>>().join("\n")));
    let unknown = asked.session.cwd.is_none().then(|| "it is not known where the session works".to_owned());
    let more = (OUTSIDE_MAX < paths.len()).then(|| format!("{OUTSIDE_MAX} of {} are named", paths.len()));
    let note = unknown.into_iter().chain(more).collect::<Vec<_>>().join("; ");
    (!paths.is_empty()).then(|| Section { note, ..Section::new(Section::OUTSIDE, named) })
}

/// Every file and folder that a request names, none twice.
pub(super) fn paths(asked: &PermissionRequest) -> Vec<&str> {
    asked.tool_call.as_ref().map(|call| Deed::of(call).paths()).unwrap_or_default()
}

pub(super) fn has_command(asked: &PermissionRequest) -> bool {
    asked.tool_call.as_ref().is_some_and(|call| Deed::of(call).command().is_some())
}

/// A path, or that there is none.
fn visible(path: &str) -> &str {
    if path.trim().is_empty() { "(an empty path)" } else { path }
}

fn command(deed: &Deed<'_>) -> Vec<Section> {
    let code = |heading, text: Option<Cow<'_, str>>| text.map(|text| Ink::default().section(heading, Form::Code, &text));
    let line = |heading, text: Option<&str>| text.map(|text| Ink::default().section(heading, Form::Line, text));
    let mut environment = Ink::default();
    let variables = deed.environment().into_iter().map(|(name, value)| {
        // A value that a command can get at by its name may be what it runs.
        let known_by = if deed.names(name) { "" } else { name };
        let value = environment.value(known_by, value).replace('\n', "\n    ");
        format!("{}={value}", environment.line(name))
    });
    let variables = variables.collect::<Vec<_>>().join("\n");
    let environment = (!variables.is_empty()).then(|| environment.spelled("Environment", &variables));
    [
        code("Command", deed.command()),
        line("Runs in", deed.cwd()),
        environment,
        code("Address", deed.url().map(Cow::from)),
        line("Hosts", deed.hosts().as_deref()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn files(call: &ToolCall) -> Option<Section> {
    let mut ink = Ink::default();
    let (shown, rest) = call.locations.split_at(call.locations.len().min(LOCATIONS_MAX));
    let locations = shown.iter().map(|location| match location.line {
        Some(line) => format!("{}:{line}", ink.line(visible(&location.path))),
        None => ink.line(visible(&location.path)).to_string(),
    });
    let locations = locations.collect::<Vec<_>>().join("\n");
    // A change names its file itself.
    let changed: HashSet<&str> = changed_paths(call).collect();
    let is_new = |location: &Location| location.line.is_some() || !changed.contains(location.path.as_str());
    let left_out = rest.iter().map(|location| location.path.chars().count()).sum();
    call.locations.iter().any(is_new).then(|| with_rest(ink.section("Files", Form::Code, &locations), left_out))
}

/// The section, after which so many characters more are left out.
fn with_rest(section: Section, characters: usize) -> Section {
    let gap = section.gap.or((characters > 0).then_some(Gap { at: section.text().len(), characters }));
    Section { gap, ..section }
}

/// Of an agent that attached very many things, how much is left out.
fn rest_of_content(call: &ToolCall) -> Option<Section> {
    let rest = call.content.get(CONTENT_MAX..).filter(|rest| !rest.is_empty())?;
    let characters = |content: &Content| match content {
        Content::Text(text) | Content::Patch { text, .. } => text.chars().count(),
        Content::Diff { old, new, .. } => old.as_ref().map_or(0, |old| old.chars().count()) + new.chars().count(),
        Content::Other(value) => value.to_string().chars().count(),
    };
    let said = SectionBody::Ours(format!("{} more changes and texts are not shown.", rest.len()));
    Some(with_rest(Section::new("More", said), rest.iter().map(characters).sum::<usize>().max(1)))
}

fn changes(call: &ToolCall) -> Vec<Section> {
    let change = |paths: &[String], change: &Change| {
        let mut ink = Ink::default();
        let paths = paths.iter().map(|path| visible(path)).collect::<Vec<_>>().join(", ");
        let paths = ink.line(&paths);
        let mut section = ink.section("Change", Form::Diff, &format!("{paths}\n{}", change.text));
        section.note = [change.count(), section.note].into_iter().filter(|note| !note.is_empty()).collect::<Vec<_>>().join("; ");
        section
    };
    let mut effort = Effort::default();
    let change_of = |content: &Content| match content {
        Content::Diff { path, old, new } => {
            Some(change(std::slice::from_ref(path), &diff::unified(old.as_deref(), new, &mut effort)))
        }
        Content::Patch { paths, text } => Some(change(paths, &diff::of_agent(text))),
        Content::Text(_) | Content::Other(_) => None,
    };
    call.content.iter().take(CONTENT_MAX).filter_map(change_of).collect()
}

fn tool(deed: &Deed<'_>) -> Vec<Section> {
    let named = |heading, text: &Option<String>| {
        let text = text.as_deref().filter(|text| !text.trim().is_empty())?;
        Some(Ink::default().section(heading, Form::Line, text))
    };
    let arguments = deed.arguments();
    let given_members = deed.has_members();
    let mut ink = Ink::default();
    let lines = arguments.iter().map(|(key, value)| {
        // Set in, so that a line of a value cannot pass for another member.
        let value = ink.value(key, value).replace('\n', "\n    ");
        // A name that could be read in two ways stands in quotes.
        let is_odd = key.trim() != *key || key.contains(": ") || key.is_empty() && given_members;
        match (key.is_empty() && !given_members, is_odd) {
            (true, _) => value,
            (false, true) => format!("{}: {value}", ink.line(&Value::from(*key).to_string())),
            (false, false) => format!("{}: {value}", ink.line(key)),
        }
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    let arguments = (!lines.is_empty()).then(|| ink.section("Arguments", Form::Code, &lines));
    [named("MCP server", &deed.call.mcp_server), named("Tool", &deed.call.name), arguments].into_iter().flatten().collect()
}

fn attached(deed: &Deed<'_>, details: Details) -> Vec<Section> {
    let arguments = match details {
        Details::Full => deed.arguments(),
        Details::Described => Vec::new(),
    };
    let is_argument = |text: &str| arguments.iter().any(|(_, value)| value.as_str() == Some(text));
    let attached = |content: &Content| match content {
        Content::Text(text) if text.trim().is_empty() || is_argument(text) => None,
        Content::Text(text) => Some(Ink::default().section("Attached, in the agent's words", Form::Code, text)),
        Content::Other(value) => {
            let mut ink = Ink::default();
            let text = ink.value("", value);
            Some(ink.section("Attached", Form::Code, &text))
        }
        Content::Diff { .. } | Content::Patch { .. } => None,
    };
    deed.call.content.iter().take(CONTENT_MAX).filter_map(attached).chain(rest_of_content(deed.call)).collect()
}

fn agents_words(asked: &PermissionRequest, deed: Option<&Deed<'_>>, details: Details) -> Vec<Section> {
    let title = asked.title.as_deref();
    let call_title = deed.and_then(|deed| deed.call.title.as_deref());
    // Many agents name a command, an address or a file by itself.
    let is_shown = |title: &str| {
        let title = title.trim().trim_matches('`');
        let named = |deed: &Deed<'_>| match details {
            Details::Full => {
                let name = deed.call.name.as_deref();
                let command = deed.command();
                [command.as_deref(), deed.url(), name].into_iter().flatten().any(|shown| shown.trim() == title)
            }
            Details::Described => false,
        };
        deed.is_some_and(|deed| named(deed) || deed.files().contains(&title))
    };
    let said = |text: &&str| !text.trim().is_empty();
    let section = |heading, form, text: Option<&str>| text.filter(said).map(|text| Ink::default().section(heading, form, text));
    // Running text stays in one line, lest it pass for lines of the card's own.
    let line = |heading, text: Option<&str>| section(heading, Form::Line, text.filter(|text| !is_shown(text)));
    [
        section("Explanation, in the agent's words", Form::Code, asked.description.as_deref()),
        line("Title, in the agent's words", title.or(call_title)),
        line("Tool call, in the agent's words", call_title.filter(|call_title| title.is_some_and(|title| title != *call_title))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn who_asks(asked: &PermissionRequest, deed: Option<&Deed<'_>>, details: Details) -> Vec<Section> {
    let session = &asked.session;
    let runs_in = deed.filter(|_| details == Details::Full).and_then(Deed::cwd);
    let said = |text: &&str| !text.trim().is_empty();
    let fact = |heading, text: Option<&str>| text.filter(said).map(|text| Ink::default().section(heading, Form::Line, text));
    let short = |heading, text: Option<&str>, max| {
        text.filter(said).map(|text| Section::new(heading, SectionBody::Text(line(text).cut_inside(max))))
    };
    let [kind, agent, client, works_in, mode, id] = Section::WHO_ASKS;
    [
        fact(kind, asked.tool_call.as_ref().map(|call| call.kind.name())),
        // The headline has the operator's name for it.
        short(agent, session.agent.as_deref().filter(|_| session.name.is_some()), NAME_MAX),
        short(client, session.client.as_deref(), NAME_MAX),
        fact(works_in, session.cwd.as_deref().filter(|cwd| runs_in != Some(cwd))),
        short(mode, session.mode.as_deref(), NAME_MAX),
        short(id, session.id.as_ref().map(bridge_model::SessionId::as_str), SESSION_ID_MAX),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Some agents say what an "always" would cover.
fn what_options_cover(asked: &PermissionRequest) -> Option<Section> {
    let mut ink = Ink::default();
    let mut lines = Vec::new();
    for option in asked.options.as_slice() {
        if let Some(meta) = option.meta.as_ref().filter(|meta| says_something(meta)) {
            let said = ink.value("", meta);
            lines.push(format!("{}: {}", ink.line(option.name.trim()), said.replace('\n', "\n    ")));
        }
    }
    (!lines.is_empty()).then(|| ink.section("What options cover, in the agent's words", Form::Code, &lines.join("\n")))
}

pub(super) fn what_it_covers(option: &PermissionOption) -> Option<String> {
    option.meta.as_ref().filter(|meta| says_something(meta)).map(|meta| Ink::default().value("", meta))
}

fn notes(asked: &PermissionRequest) -> Option<Section> {
    let mut ink = Ink::default();
    let meta = asked.meta.as_ref().filter(|meta| says_something(meta))?;
    let said = ink.value("", meta);
    Some(ink.section("Notes, in the agent's words", Form::Code, &said))
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(values) => !values.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
#[path = "details_tests.rs"]
mod tests;
