//! What a tool call would do, found in the input that its agent gave: command, address, files, and everything else.

use std::borrow::Cow;
use std::collections::HashSet;

use bridge_model::{Content, ToolCall};
use serde_json::{Map, Value};
use url::Url;

/// Members of a tool's input that hold the command, the words after it, where it runs and in what environment. All others
/// are listed as they are.
const COMMAND_KEYS: [&str; 2] = ["command", "cmd"];
const WORDS_KEYS: [&str; 2] = ["args", "argv"];
const CWD_KEYS: [&str; 3] = ["cwd", "workdir", "working_directory"];
const ENVIRONMENT_KEYS: [&str; 3] = ["env", "environment", "environment_variables"];
const URL_KEYS: [&str; 2] = ["url", "uri"];
/// Members that hold text, whatever it begins with.
const TEXT_KEYS: [&str; 12] = [
    "command",
    "cmd",
    "args",
    "argv",
    "content",
    "old_string",
    "new_string",
    "old_str",
    "new_str",
    "description",
    "prompt",
    "env",
];
/// Bytes of a path, as systems have it.
const PATH_BYTES_MAX: usize = 4_096;
/// Members that name a file or folder.
const PATH_KEYS: [&str; 10] = [
    "file_path",
    "filePath",
    "filepath",
    "path",
    "notebook_path",
    "target_file",
    "absolute_path",
    "directory",
    "dir_path",
    "dir",
];
/// Members of an input that are listed. One that has more is shown as it came.
const MEMBERS_MAX: usize = 256;
/// Hosts that are named.
const HOSTS_MAX: usize = 8;
/// Addresses that are looked at for their hosts, and bytes of each.
const ADDRESSES_MAX: usize = 128;
const ADDRESS_MAX: usize = 2_048;
const SCHEME_MAX: usize = 32;

/// A tool call, looked into.
pub(super) struct Deed<'a> {
    pub(super) call: &'a ToolCall,
    members: Option<&'a Map<String, Value>>,
}

impl<'a> Deed<'a> {
    pub(super) fn of(call: &'a ToolCall) -> Self {
        Self { call, members: call.raw_input.as_ref().and_then(Value::as_object) }
    }

    /// A command as one text; with an argument list as the list it is, so that its borders stay visible.
    pub(super) fn command(&self) -> Option<Cow<'a, str>> {
        let (_, command) = self.first(&COMMAND_KEYS)?;
        match (command, self.words()) {
            (Value::String(command), Some((_, words))) => {
                let words = std::iter::once(Value::from(command.as_str())).chain(words.iter().cloned());
                Some(Value::Array(words.collect()).to_string().into())
            }
            (Value::String(command), None) => Some(command.as_str().into()),
            (Value::Array(_), _) => Some(command.to_string().into()),
            (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_), _) => None,
        }
    }

    pub(super) fn cwd(&self) -> Option<&'a str> {
        self.first(&CWD_KEYS)?.1.as_str()
    }

    pub(super) fn url(&self) -> Option<&'a str> {
        self.first(&URL_KEYS)?.1.as_str()
    }

    /// Variables that the command would see, each with its value.
    pub(super) fn environment(&self) -> Vec<(&'a str, &'a Value)> {
        match self.first(&ENVIRONMENT_KEYS) {
            Some((_, Value::Object(members))) => members.iter().map(|(name, value)| (name.as_str(), value)).collect(),
            Some((_, Value::Array(list))) => list.iter().filter_map(variable).collect(),
            Some((_, Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_))) | None => Vec::new(),
        }
    }

    /// Whether its arguments are members that have names.
    pub(super) fn has_members(&self) -> bool {
        self.members.is_some_and(|members| members.len() <= MEMBERS_MAX)
    }

    /// Whether any text of the input has this in it.
    pub(super) fn names(&self, name: &str) -> bool {
        let mut texts = Vec::new();
        self.call.raw_input.iter().for_each(|input| strings(input, &mut texts));
        texts.iter().any(|text| text.contains(name))
    }

    /// All files and folders that are named: as locations, by changes, and by texts anywhere in the input that hold nothing
    /// else. None twice, and none left out: what is not seen here counts as inside of the workspace.
    pub(super) fn paths(&self) -> Vec<&'a str> {
        let mut named = Vec::new();
        if let Some(input) = &self.call.raw_input {
            named_paths(None, input, &mut named);
        }
        once(self.files().into_iter().chain(named))
    }

    /// The files that the call says it is about, and those that it changes.
    pub(super) fn files(&self) -> Vec<&'a str> {
        let located = self.call.locations.iter().map(|location| location.path.as_str());
        once(located.chain(changed_paths(self.call)))
    }

    /// Whom it would talk to, as far as addresses stand there in full.
    pub(super) fn hosts(&self) -> Option<String> {
        let mut texts = Vec::new();
        strings(self.call.raw_input.as_ref()?, &mut texts);
        let found = self.url().into_iter().chain(texts.into_iter().flat_map(addresses));
        let addresses: Vec<&str> = found.take(ADDRESSES_MAX + 1).collect();
        let mut hosts: Vec<String> = Vec::new();
        for host in addresses.iter().filter_map(|address| Some(Url::parse(address).ok()?.host_str()?.to_owned())) {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        let is_more = HOSTS_MAX < hosts.len() || ADDRESSES_MAX < addresses.len();
        hosts.truncate(HOSTS_MAX);
        let named = hosts.join(", ");
        (!named.is_empty()).then(|| if is_more { format!("{named} and more") } else { named })
    }

    /// Every member of the input that is shown nowhere else, in the agent's order; or the whole input, if it has none.
    pub(super) fn arguments(&self) -> Vec<(&'a str, &'a Value)> {
        let Some(members) = self.members.filter(|members| members.len() <= MEMBERS_MAX) else {
            let input = self.call.raw_input.as_ref().filter(|input| !input.is_null());
            return input.map(|input| ("", input)).into_iter().collect();
        };
        let keys = |found: Option<(&'static str, &Value)>, shown: bool| found.filter(|_| shown).map(|(key, _)| key);
        let environment = self.first(&ENVIRONMENT_KEYS);
        let all_variables = environment.is_some_and(|(_, value)| match value {
            Value::Object(_) => true,
            Value::Array(list) => list.iter().all(|entry| variable(entry).is_some()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        });
        let shown = [
            keys(self.first(&COMMAND_KEYS), self.command().is_some()),
            self.words()
                .filter(|_| self.first(&COMMAND_KEYS).is_some_and(|(_, command)| command.is_string()))
                .map(|(key, _)| key),
            keys(self.first(&CWD_KEYS), self.cwd().is_some()),
            keys(self.first(&URL_KEYS), self.url().is_some()),
            keys(environment, all_variables),
        ];
        let is_repeated = |key: &str, value: &Value| value.as_str().is_some_and(|text| self.says_already(key, text));
        let rest = members.iter().filter(|(key, value)| !shown.contains(&Some(key.as_str())) && !is_repeated(key, value));
        rest.map(|(key, value)| (key.as_str(), value)).collect()
    }

    /// Whether a change, a location or a text of the agent's says what this member says, in the same role.
    fn says_already(&self, key: &str, text: &str) -> bool {
        if text.is_empty() {
            return false;
        }
        let diffs = self.call.content.iter().filter_map(|content| match content {
            Content::Diff { path, old, new } => Some((path.as_str(), old.as_deref(), new.as_str())),
            Content::Patch { .. } | Content::Text(_) | Content::Other(_) => None,
        });
        let is_of_this_file = |path: &str| {
            let named = PATH_KEYS.iter().find_map(|key| self.members?.get(*key)?.as_str());
            named.is_none_or(|named| named == path)
        };
        let mut diffs = diffs.filter(|(path, ..)| is_of_this_file(path));
        match key {
            "old_string" | "old_str" => diffs.any(|(_, old, _)| old == Some(text)),
            "new_string" | "new_str" | "content" => diffs.any(|(.., new)| new == text),
            "description" => self.call.content.contains(&Content::Text(text.to_owned())),
            key => PATH_KEYS.contains(&key) && self.files().contains(&text),
        }
    }

    fn first(&self, keys: &[&'static str]) -> Option<(&'static str, &'a Value)> {
        keys.iter().find_map(|key| Some((*key, self.members?.get(*key)?)))
    }

    fn words(&self) -> Option<(&'static str, &'a Vec<Value>)> {
        self.first(&WORDS_KEYS).and_then(|(key, words)| Some((key, words.as_array()?)))
    }
}

pub(super) fn changed_paths(call: &ToolCall) -> impl Iterator<Item = &str> {
    call.content
        .iter()
        .flat_map(|content| match content {
            Content::Diff { path, .. } => std::slice::from_ref(path),
            Content::Patch { paths, .. } => paths.as_slice(),
            Content::Text(_) | Content::Other(_) => &[],
        })
        .map(String::as_str)
}

/// Each of them once, in their order.
fn once<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    paths.filter(|path| seen.insert(*path)).collect()
}

/// The texts in a part of an input that name a file or folder. `key`: of the member that it is in.
fn named_paths<'a>(key: Option<&str>, value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => {
            let is_text = key.is_some_and(|key| TEXT_KEYS.contains(&key));
            let is_path = key.is_some_and(|key| PATH_KEYS.contains(&key));
            if is_path || (!is_text && looks_like_path(text)) {
                found.push(text);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| named_paths(key, value, found)),
        Value::Object(members) => members.iter().for_each(|(key, value)| named_paths(Some(key), value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A text that is a path from the root, from a home folder or out of a folder, or an address of a file, and nothing else.
fn looks_like_path(text: &str) -> bool {
    let text = text.trim();
    let begins = ["/", "~", "../", "$"].iter().any(|begin| text.starts_with(begin));
    let is_address = text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let climbs = text == ".." || text.ends_with("/..") || text.contains("/../");
    (begins || is_address || climbs) && !text.contains('\n') && text.len() <= PATH_BYTES_MAX
}

/// `{"name": …, "value": …}` and nothing else.
fn variable(entry: &Value) -> Option<(&str, &Value)> {
    let members = entry.as_object().filter(|members| members.len() == 2)?;
    Some((members.get("name")?.as_str()?, members.get("value")?))
}

fn strings<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(members) => members.values().for_each(|value| strings(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What looks like an address in a text, in each way in which it can be read: up to what mostly ends one, and up to the next
/// space, since what stands before an `@` may hold anything. Their hosts are read as browsers read them: without what stands
/// before the `@`, with either kind of slash, and with letters of other scripts in the form that tells them apart.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_space = |c: char| c.is_whitespace() || c.is_control();
    let is_end = move |c: char| is_space(c) || matches!(c, '"' | '\'' | '`' | '<' | '>' | '|' | ';' | ')' | '}');
    let begins = text.match_indices([':']).filter(|(at, _)| text[at + 1..].starts_with(['/', '\\']));
    begins
        .filter_map(move |(at, _)| {
            let (start, _) = text[..at].char_indices().rev().take(SCHEME_MAX).take_while(|(_, c)| is_scheme(*c)).last()?;
            let most = text.floor_char_boundary(text.len().min(at + ADDRESS_MAX));
            let end = |is_end: &dyn Fn(char) -> bool| text[at..most].find(is_end).map_or(most, |length| at + length);
            let (likely, longest) = (end(&is_end), end(&is_space));
            let beyond = (likely != longest && text[likely..longest].contains('@')).then_some(&text[start..longest]);
            Some([Some(&text[start..likely]), beyond])
        })
        .flatten()
        .flatten()
}
