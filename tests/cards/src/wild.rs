//! Permission requests as only an attacker would write them.

use arbitrary::{Result, Unstructured};
use bridge_model::{
    Content, Location, OptionId, OptionKind, Options, PermissionOption, PermissionRequest, ReplyTo, Session, SessionId,
    SourceName, ToolCall, ToolKind,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// What has hidden, pinged, linked, formatted, closed a fence or passed for something else, somewhere.
const FRAGMENTS: [&str; 96] = [
    "\u{200b}",
    "\u{202e}",
    "\u{2066}",
    "\u{2069}",
    "\u{ad}",
    "\u{a0}",
    "\u{3164}",
    "\u{2800}",
    "\u{feff}",
    "\u{fe0f}",
    "\u{e0100}",
    "\u{e0041}",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{1b}[31m",
    "\u{1b}]8;;http://x\u{7}",
    "\u{7}",
    "\u{0}",
    "\u{7f}",
    "\r",
    "\n",
    "\r\n",
    "\t",
    " ",
    "  ",
    "\u{301}",
    "\u{489}",
    "\u{20dd}",
    "א",
    "م",
    "削除",
    "👍",
    "👩‍👩‍👧",
    "ﷺ",
    "\u{fffd}",
    "\u{10ffff}",
    "`",
    "``",
    "```",
    "~~~",
    "*",
    "**",
    "_",
    "__",
    "~~",
    "||",
    "|",
    "> ",
    ">>> ",
    "# ",
    "-# ",
    "- ",
    "1. ",
    "[x](http://evil.example)",
    "http://evil.example",
    "https://a:b@evil.example/x?y#z",
    "<http://x>",
    "discord.gg/x",
    "matrix.to/#/@a:b",
    "@everyone",
    "@here",
    "@room",
    "<@1>",
    "<@&1>",
    "<#1>",
    "</x:1>",
    "<t:0:R>",
    "<id:home>",
    "<:x:1>",
    "@ada:example.org",
    "#room:example.org",
    "!room:example.org",
    "$event",
    "<b>",
    "</code>",
    "<script>",
    "&lt;",
    "&amp;",
    "\"",
    "'",
    "\\",
    "\\n",
    "\\u{200b}",
    "…",
    "↳",
    "×",
    "[redacted: aws key]",
    "Nothing was allowed.",
    "**Command:**",
    "Only refusing is possible",
    "Ada chose \"Yes\".",
    "#1 · ",
    "rm -rf ~",
    "; rm -rf ~",
    "chose",
];

/// Any bytes make a request; few of them a dull one.
#[must_use]
pub fn request(bytes: &[u8]) -> PermissionRequest {
    let mut wild = Wild(Unstructured::new(bytes));
    wild.request().unwrap_or_else(|_| plain())
}

struct Wild<'a>(Unstructured<'a>);

impl Wild<'_> {
    fn request(&mut self) -> Result<PermissionRequest> {
        Ok(PermissionRequest {
            from: from(),
            session: self.session()?,
            title: self.maybe(Self::text)?,
            description: self.maybe(Self::text)?,
            tool_call: self.maybe(Self::tool_call)?,
            options: self.options()?,
            meta: self.maybe(|wild| wild.value(0))?,
            places: None,
        })
    }

    fn session(&mut self) -> Result<Session> {
        Ok(Session {
            id: self.maybe(Self::text)?.map(SessionId::new),
            name: self.maybe(Self::text)?,
            agent: self.maybe(Self::text)?,
            client: self.maybe(Self::text)?,
            cwd: self.maybe(Self::text)?,
            mode: self.maybe(Self::text)?,
        })
    }

    fn options(&mut self) -> Result<Options> {
        const KINDS: [&str; 6] = ["allow_once", "allow_always", "reject_once", "reject_always", "banana", ""];
        let count = if self.one_in(16)? { self.0.int_in_range(1..=40)? } else { self.0.int_in_range(1..=5)? };
        let options = (0..count).map(|at: usize| {
            Ok(PermissionOption {
                id: id(at),
                name: self.text()?,
                kind: OptionKind::parse(self.0.choose(&KINDS)?),
                meta: self.maybe(|wild| wild.value(0))?,
            })
        });
        let options = options.collect::<Result<Vec<_>>>()?;
        Options::new(options).map_err(|_| arbitrary::Error::IncorrectFormat)
    }

    fn tool_call(&mut self) -> Result<ToolCall> {
        Ok(ToolCall {
            id: None,
            title: self.maybe(Self::text)?,
            kind: *self.0.choose(&ToolKind::ALL)?,
            name: self.maybe(Self::text)?,
            mcp_server: self.maybe(Self::text)?,
            locations: self.some(3, |wild| Ok(Location { path: wild.text()?, line: wild.maybe(|wild| wild.0.arbitrary())? }))?,
            content: self.some(3, Self::content)?,
            raw_input: self.maybe(Self::input)?,
        })
    }

    fn content(&mut self) -> Result<Content> {
        Ok(match self.0.int_in_range(0..=3)? {
            0 => Content::Text(self.text()?),
            1 => Content::Diff { path: self.text()?, old: self.maybe(Self::text)?, new: self.text()? },
            2 => Content::Patch { paths: self.some(3, Self::text)?, text: self.text()? },
            _ => Content::Other(self.value(0)?),
        })
    }

    fn input(&mut self) -> Result<Value> {
        const KEYS: [&str; 10] =
            ["command", "cmd", "args", "cwd", "env", "url", "file_path", "content", "description", "password"];
        let mut members = Map::new();
        for _ in 0..self.0.int_in_range(0..=4)? {
            let key = if self.one_in(3)? { self.text()? } else { (*self.0.choose(&KEYS)?).to_owned() };
            let value = self.value(0)?;
            members.insert(key, value);
        }
        if self.one_in(8)? { self.value(0) } else { Ok(Value::Object(members)) }
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        let kinds = if depth < 3 { 5 } else { 3 };
        Ok(match self.0.int_in_range(0..=kinds)? {
            0 | 1 => Value::String(self.text()?),
            2 => Value::from(self.0.arbitrary::<i64>()?),
            3 => Value::Null,
            4 => Value::Array(self.some(3, |wild| wild.value(depth + 1))?),
            _ => {
                let members = self.some(3, |wild| Ok((wild.text()?, wild.value(depth + 1)?)))?;
                Value::Object(members.into_iter().collect())
            }
        })
    }

    /// Fragments, now and then very many of one, and whatever else the bytes have.
    fn text(&mut self) -> Result<String> {
        let mut text = String::new();
        for _ in 0..self.0.int_in_range(0..=6)? {
            match self.0.int_in_range(0..=9)? {
                0 => text.push_str(self.0.arbitrary::<&str>()?),
                1 => {
                    let fragment = *self.0.choose(&FRAGMENTS)?;
                    let most = if self.one_in(24)? { 300_000 / fragment.len() } else { 3_000 };
                    text.push_str(&fragment.repeat(self.0.int_in_range(2..=most)?));
                }
                2 => text.push(self.0.arbitrary()?),
                3 => text.push_str("make && echo done"),
                _ => text.push_str(self.0.choose(&FRAGMENTS)?),
            }
        }
        Ok(text)
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        if self.0.arbitrary()? { make(self).map(Some) } else { Ok(None) }
    }

    fn some<T>(&mut self, max: usize, mut make: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let count = self.0.int_in_range(0..=max)?;
        (0..count).map(|_| make(self)).collect()
    }

    fn one_in(&mut self, of: u8) -> Result<bool> {
        Ok(self.0.int_in_range(1..=of)? == 1)
    }
}

fn plain() -> PermissionRequest {
    let option = PermissionOption { id: id(0), name: "Yes".into(), kind: OptionKind::AllowOnce, meta: None };
    let Ok(options) = Options::new(vec![option]) else { unreachable!("one option is enough") };
    PermissionRequest {
        from: from(),
        session: Session::default(),
        title: None,
        description: None,
        tool_call: None,
        options,
        meta: None,
        places: None,
    }
}

fn from() -> ReplyTo {
    ReplyTo { source: SourceName::new("acp"), ask: 1 }
}

fn id(at: usize) -> OptionId {
    let json = RawValue::from_string(format!("\"id {at}\"")).ok();
    let Some(id) = json.and_then(|json| OptionId::parse(&json).ok()) else { unreachable!("a string that is not empty") };
    id
}
