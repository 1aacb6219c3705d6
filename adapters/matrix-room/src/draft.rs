//! A message that is being written, in both its forms at once, so that neither says what the other does not.
//!
//! What others wrote stands in `<code>`, where clients make neither links nor mentions of it, and our own words never do.
//! In the plain form, which clients draw as it is, what they would take for an id or a call is spelled out.

use std::fmt::Write as _;

use bridge_core::wording::{Words, quoted};
use bridge_core::wrapped;
use matrix_sdk::ruma::UserId;
use serde_json::{Value, json};

/// Characters of code that a phone shows beside one another. `FluffyChat` cuts what is longer off, even outside of `<pre>`.
pub(crate) const LINE_MAX: usize = 32;

/// How lines of code are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeForm {
    /// Each as code of its own: clients fold a long `<pre>`, and some drop line breaks inside of `<code>`.
    Lines,
    /// All in one `<pre>`, which takes fewer bytes.
    Block,
}

#[derive(Debug)]
pub(crate) struct Draft {
    html: String,
    body: String,
    code: CodeForm,
}

impl Draft {
    pub(crate) fn new(code: CodeForm) -> Self {
        Self { html: String::new(), body: String::new(), code }
    }

    pub(crate) fn paragraph(&mut self, write: impl FnOnce(&mut Self)) {
        if !self.body.is_empty() {
            self.body.push_str("\n\n");
        }
        self.html.push_str("<p>");
        write(self);
        self.html.push_str("</p>");
    }

    pub(crate) fn strong(&mut self, write: impl FnOnce(&mut Self)) {
        self.html.push_str("<strong>");
        write(self);
        self.html.push_str("</strong>");
    }

    pub(crate) fn new_line(&mut self) {
        self.html.push_str("<br>");
        self.body.push('\n');
    }

    /// Our own words.
    pub(crate) fn ours(&mut self, text: &str) {
        self.html.push_str(&escape(text));
        self.body.push_str(text);
    }

    /// One line that others wrote.
    pub(crate) fn theirs(&mut self, text: &str) {
        self.html.push_str(&code(text));
        self.body.push_str(&inert(text));
    }

    /// Lines that others wrote, below what stands there already.
    pub(crate) fn lines(&mut self, text: &str) {
        let text = text.trim_matches('\n');
        match self.code {
            CodeForm::Lines => text.split('\n').for_each(|line| self.html.extend(["<br>", &code(line)])),
            CodeForm::Block => {
                let lines: Vec<_> = text.split('\n').map(|line| wrapped(line, LINE_MAX)).collect();
                // Writing to a string cannot fail.
                let _ = write!(self.html, "<pre><code>{}</code></pre>", escape(&lines.join("\n")));
            }
        }
        // Set in, so that no line of it passes for a line of ours.
        text.split('\n').for_each(|line| self.body.extend(["\n    ", &inert(line)]));
    }

    pub(crate) fn words(&mut self, words: &[Words]) {
        for words in words {
            match words {
                Words::Ours(text) => self.ours(text),
                Words::Theirs(text) => self.within_a_sentence(text),
                Words::Name(name) => self.name(name),
                Words::Person { name, id } => {
                    self.name(name);
                    let _ = write!(self.html, " (<code>{}</code>)", spaced(id.as_str()));
                    let _ = write!(self.body, " ({id})");
                }
                Words::Time(_) | Words::Due(_) => self.ours(&words.plain()),
            }
        }
    }

    /// Names somebody whom the message calls, who is to be mentioned in [`Draft::content`] besides.
    pub(crate) fn call(&mut self, user: &UserId) {
        let link = escape(&user.matrix_to_uri().to_string()).replace('"', "&quot;");
        let _ = write!(self.html, "<a href=\"{link}\">{}</a>", escape(user.as_str()));
        self.body.push_str(user.as_str());
    }

    /// Not in pieces: a card says it elsewhere too, and a sentence is to stay one.
    fn within_a_sentence(&mut self, text: &str) {
        self.html.extend(["<code>", &spaced(text), "</code>"]);
        self.body.push_str(&inert(text));
    }

    /// Quotes that it cannot close mark it as not ours, so that most names can stand in plain letters.
    fn name(&mut self, name: &str) {
        let name = quoted(name);
        if name.trim_matches('"').split(' ').any(could_become_active) {
            return self.within_a_sentence(&name);
        }
        self.html.push_str(&spaced(&name));
        self.body.push_str(&name);
    }

    /// As `m.room.message`. Nobody is mentioned.
    pub(crate) fn content(self, kind: &str) -> Value {
        json!({
            "msgtype": kind,
            "body": self.body,
            "format": "org.matrix.custom.html",
            "formatted_body": self.html,
            "m.mentions": {},
        })
    }
}

/// One line as code, in pieces that fit.
fn code(line: &str) -> String {
    let piece = |piece: &str| if piece.is_empty() { String::new() } else { format!("<code>{}</code>", spaced(piece)) };
    wrapped(line, LINE_MAX).split('\n').map(piece).collect::<Vec<_>>().join("<br>")
}

/// Browsers swallow a space at either end of a line and all but one between words.
fn spaced(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        let is_lone = before != ' ' && chars.peek().is_some_and(|after| *after != ' ');
        match c {
            ' ' if !is_lone => html.push('\u{a0}'),
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            _ => html.push(c),
        }
        before = c;
    }
    html
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Whether a client might make a link, a mention or a command of this word.
fn could_become_active(word: &str) -> bool {
    let word = word.trim_end_matches([':', '.', ',', ';', '!', '?']);
    word.contains(['@', '#', '!', '/', ':', '.'])
}

/// With the first letter of every user id, room alias, room id and `@room` spelled out.
pub(crate) fn inert(text: &str) -> String {
    let mut inert = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if matches!(c, '@' | '#' | '!') && begins_a_word(&text[..at]) && names_something(&text[at..]) {
            let _ = write!(inert, "\\u{{{:x}}}", u32::from(c));
        } else {
            inert.push(c);
        }
    }
    inert
}

/// Whether what follows is not the rest of a word. A spelled-out line break is none.
fn begins_a_word(before: &str) -> bool {
    !before.ends_with(char::is_alphanumeric) || ["\\n", "\\r", "\\t"].iter().any(|escape| before.ends_with(escape))
}

/// Whether it begins with an id, or with what calls the whole room.
fn names_something(text: &str) -> bool {
    /// No id is longer than 255 bytes, and a word of any length may follow each of very many signs.
    const ID_BYTES_MAX: usize = 256;
    let text = text.get(..text.floor_char_boundary(ID_BYTES_MAX)).unwrap_or(text);
    let word = text.split(' ').next().unwrap_or_default();
    let calls_all = word.strip_prefix("@room").is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    let is_id = word[1..].split_once(':').is_some_and(|(local, server)| {
        local.ends_with(char::is_alphanumeric) && server.starts_with(|c: char| c.is_alphanumeric() || c == '[')
    });
    calls_all || is_id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_only_text_in_all_that_is_written() {
        let hostile = "</code></pre></strong><a href=\"https://evil.example\">x</a> &lt;<img src=x>";
        for form in [CodeForm::Lines, CodeForm::Block] {
            let mut draft = Draft::new(form);
            draft.ours(hostile);
            draft.theirs(hostile);
            draft.lines(hostile);
            draft.words(&[Words::Name(hostile.to_owned()), Words::Theirs(hostile.to_owned())]);
            assert!(!draft.html.contains("<a") && !draft.html.contains("<img"), "{}", draft.html);
            assert!(draft.html.contains("&amp;lt;"), "{}", draft.html);
            assert_eq!(draft.html.matches("<code>").count(), draft.html.matches("</code>").count());
        }
    }

    #[test]
    fn what_others_wrote_is_code_and_a_name_is_where_it_would_become_active() {
        let said = |words| {
            let mut draft = Draft::new(CodeForm::Lines);
            draft.words(&[words]);
            draft.html
        };
        assert_eq!(said(Words::Theirs("ls".to_owned())), "<code>ls</code>");
        assert_eq!(said(Words::Name("Ada L.".to_owned())), "\"Ada L.\"");
        for active in ["@room", "#ops:x.example", "!abc", "see evil.example", "https://evil.example", "a@b.example"] {
            assert_eq!(said(Words::Name(active.to_owned())), format!("<code>\"{active}\"</code>"));
        }
    }

    #[test]
    fn spaces_are_shown_as_they_are() {
        for (text, html) in [("a b", "a b"), ("a  b", "a__b"), (" a", "_a"), ("a ", "a_"), ("&nbsp;", "&amp;nbsp;")] {
            assert_eq!(spaced(text), html.replace('_', "\u{a0}"), "{text:?}");
        }
    }

    #[test]
    fn a_long_line_goes_on_below_and_says_so() {
        assert_eq!(code(&"x".repeat(60)), format!("<code>{}</code><br><code>↳{}</code>", "x".repeat(32), "x".repeat(28)));
    }

    #[test]
    fn in_plain_text_nothing_is_an_id_or_calls_anybody() {
        for (text, plain) in [
            ("@room", "\\u{40}room"),
            ("(@room)", "(\\u{40}room)"),
            ("x\\n@room", "x\\n\\u{40}room"),
            ("hi @ada:localhost.", "hi \\u{40}ada:localhost."),
            ("https://matrix.to/#/@ada:localhost", "https://matrix.to/\\u{23}/\\u{40}ada:localhost"),
            ("#ops:example.org !abc:example.org", "\\u{23}ops:example.org \\u{21}abc:example.org"),
            ("@v6:[::1]", "\\u{40}v6:[::1]"),
            ("npm i @types/node # then: go", "npm i @types/node # then: go"),
            ("@roomy git@example.org:x !ls", "@roomy git@example.org:x !ls"),
        ] {
            assert_eq!(inert(text), plain, "{text:?}");
        }
    }
}
