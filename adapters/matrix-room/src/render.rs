//! A card as Matrix events: an HTML message that carries every detail, a poll that carries the buttons, and the edit
//! that says how it ended.
//!
//! An agent's text is hostile. It is escaped, and whatever a client would make a link or a mention of stands in
//! `<code>`, where clients do neither; `m.mentions` is always there and always empty.

use std::fmt::Write as _;
use std::time::Duration;

use bridge_core::RoomError;
use bridge_core::wording::{self, Words, does, ending_text, quoted};
use bridge_model::{Card, ClosedCard, Ending, RequestId, SectionBody, Timestamp};
use matrix_sdk::ruma::EventId;
use serde_json::{Value, json};

pub(crate) const MESSAGE: &str = "m.room.message";
pub(crate) const REACTION: &str = "m.reaction";
/// Element X and FluffyChat know only the unstable names, Element Web shows nothing for the stable ones.
pub(crate) const POLL_START: &str = "org.matrix.msc3381.poll.start";
pub(crate) const POLL_RESPONSE: &str = "org.matrix.msc3381.poll.response";
pub(crate) const POLL_END: &str = "org.matrix.msc3381.poll.end";
const TEXT: &str = "org.matrix.msc1767.text";

/// A server takes events of 65,536 bytes; the rest is for what servers add.
const EVENT_BYTES_MAX: usize = 60_000;
/// Encryption makes four bytes of three and adds its own envelope.
const ENCRYPTED_BYTES_MAX: usize = 44_000;

/// The details of a card, as `m.room.message`.
pub(crate) fn message(card: &Card, within: Duration) -> Value {
    let number = card.request.number;
    let mut body = wording::plain_card(card);
    let mut html = format!("<p><strong>{} (#{number})</strong></p>", sentence(&wording::headline(card.headline.as_str())));
    for section in &card.sections {
        let heading = section.heading;
        let _ = match &section.body {
            SectionBody::Text(text) => write!(html, "<p><strong>{heading}:</strong> {}</p>", running(text.as_str())),
            SectionBody::Code(text) => write!(html, "<p><strong>{heading}:</strong><br>{}</p>", lines_of_code(text.as_str())),
        };
    }
    let expires =
        format!("Answer in the poll within {}, until {} UTC. After that it is refused.", span(within), clock(card.deadline));
    let _ = write!(body, "\n{expires}");
    let _ = write!(html, "<p>{expires}</p>");
    text_content(&body, &html)
}

/// The buttons of a card, as a poll with one answer per option: the agent's label, and what it does in our words.
pub(crate) fn poll(card: &Card) -> Value {
    let question = format!("{} (#{})", card.headline, card.request.number);
    let mut fallback = question.clone();
    let answers: Vec<Value> = card
        .buttons
        .iter()
        .enumerate()
        .map(|(at, button)| {
            let text = format!("{} ({})", button.label, does(button.style));
            let _ = write!(fallback, "\n{}. {text}", at + 1);
            json!({ "id": button.token.to_string(), TEXT: text })
        })
        .collect();
    json!({
        POLL_START: {
            "kind": "org.matrix.msc3381.poll.disclosed",
            "max_selections": 1,
            "question": { TEXT: question },
            "answers": answers,
        },
        TEXT: fallback,
        "m.mentions": {},
    })
}

/// A poll that nobody is to see: it takes the place of one that may have been lost, and is redacted at once.
pub(crate) fn empty_poll(closed: &ClosedCard) -> Value {
    let question = format!("{} (#{})", closed.headline, closed.request.number);
    json!({
        POLL_START: {
            "kind": "org.matrix.msc3381.poll.disclosed",
            "max_selections": 1,
            "question": { TEXT: question },
            "answers": [{ "id": "closed", TEXT: "Closed" }],
        },
        TEXT: question,
        "m.mentions": {},
    })
}

pub(crate) fn poll_end(poll: &EventId, closed: &ClosedCard) -> Value {
    json!({
        "m.relates_to": { "rel_type": "m.reference", "event_id": poll },
        POLL_END: {},
        TEXT: ending_text(&closed.ending),
        "m.mentions": {},
    })
}

pub(crate) fn reaction(message: &EventId, key: &str) -> Value {
    json!({ "m.relates_to": { "rel_type": "m.annotation", "event_id": message, "key": key } })
}

/// What the card says once it is closed, as a message of its own.
pub(crate) fn closing(closed: &ClosedCard) -> Value {
    let number = closed.request.number;
    let ending = wording::ending(&closed.ending);
    let body = format!("{} (#{number})\n\n{}", closed.headline, ending_text(&closed.ending));
    let html = format!(
        "<p>{} (#{number})</p><p><strong>{}</strong></p>",
        sentence(&wording::headline(closed.headline.as_str())),
        sentence(&ending)
    );
    text_content(&body, &html)
}

/// The closing as an edit of `message`.
pub(crate) fn edit(message: &EventId, closed: &ClosedCard) -> Value {
    let new = closing(closed);
    let mut content = new.clone();
    // Clients that know no edits show this, and mark it so by custom.
    for field in ["body", "formatted_body"] {
        if let Some(text) = content[field].as_str() {
            content[field] = Value::from(format!("* {text}"));
        }
    }
    content["m.new_content"] = new;
    content["m.relates_to"] = json!({ "rel_type": "m.replace", "event_id": message });
    content
}

/// Refuses what a server would not take, before anything is sent.
pub(crate) fn check_size(content: &Value, encrypted: bool) -> Result<(), RoomError> {
    let (bytes, max) = (content.to_string().len(), if encrypted { ENCRYPTED_BYTES_MAX } else { EVENT_BYTES_MAX });
    if max < bytes {
        return Err(RoomError::NotShowable(format!("the card takes {bytes} bytes and a message of this room holds {max}")));
    }
    Ok(())
}

/// The part of a transaction id that tells one ending's edit from another's, the same in every run.
pub(crate) fn edit_part(ending: &Ending) -> String {
    // FNV-1a: short, and the same in every version of the program.
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = ending_text(ending).bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    format!("edit-{hash:016x}")
}

/// The transaction id of one part of a request's card.
pub(crate) fn txn(request: RequestId, part: &str) -> matrix_sdk::ruma::OwnedTransactionId {
    bridge_core::part_name(request, part).into()
}

/// Each line as code of its own, which phones wrap; what stands in `<pre>` they cut off at the edge of the screen.
fn lines_of_code(text: &str) -> String {
    let line = |line: &str| {
        let unindented = line.trim_start_matches([' ', '\t']);
        let indent: String = line[..line.len() - unindented.len()]
            .chars()
            .map(|c| if c == '\t' { "&nbsp;&nbsp;&nbsp;&nbsp;" } else { "&nbsp;" })
            .collect();
        if line.is_empty() { String::new() } else { format!("<code>{indent}{}</code>", escape(unindented)) }
    };
    text.trim_end_matches('\n').split('\n').map(line).collect::<Vec<_>>().join("<br>")
}

fn text_content(body: &str, html: &str) -> Value {
    json!({
        "msgtype": "m.text",
        "body": body,
        "format": "org.matrix.custom.html",
        "formatted_body": html,
        "m.mentions": {},
    })
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Running text as HTML that shows every space and line break, and no word of which becomes a link or a mention: a line
/// with a word that might is code as a whole.
fn running(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            html.push_str("<br>");
        }
        // Our own words end at the colon.
        match line.split_once(": ") {
            Some((ours, theirs)) => html.extend([&phrase(ours), ": ", &phrase(theirs)]),
            None => html.push_str(&phrase(line)),
        }
    }
    html
}

/// Our own words as they are, and others' so that nothing in them becomes active.
fn sentence(words: &[Words]) -> String {
    let html = words.iter().map(|words| match words {
        Words::Ours(text) => escape(text),
        Words::Theirs(text) => phrase(text),
        Words::Name(name) => phrase(&quoted(name)),
        Words::Person { name, id } => format!("{} ({})", phrase(&quoted(name)), phrase(id.as_str())),
    });
    html.collect()
}

fn phrase(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    let mut before: Option<&str> = None;
    for word in text.split(' ') {
        // Browsers swallow a space at the beginning of a line and all but one between words.
        match before.replace(word) {
            None => {}
            Some("") => html.push_str("&nbsp;"),
            Some(_) => html.push_str(if word.is_empty() { "&nbsp;" } else { " " }),
        }
        html.push_str(&escape(word));
    }
    if text.split(' ').any(could_become_active) { format!("<code>{html}</code>") } else { html }
}

/// Whether a client might make a link, a mention or a command of this word.
fn could_become_active(word: &str) -> bool {
    let word = word.trim_end_matches([':', '.', ',', ';', '!', '?']);
    word.contains(['@', '#', '!', '/', ':', '.'])
}

/// `14:32:05`, with the date before it where `at` is all there is to go by.
fn clock(at: Timestamp) -> String {
    let seconds = at.unix_millis() / 1_000;
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}", of_day / 3_600, of_day / 60 % 60, of_day % 60)
}

/// The date of a day since 1970-01-01, by Howard Hinnant's method.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

fn span(span: Duration) -> String {
    // A card is posted a moment after its request came, so the last unit is rounded.
    let rounded = |unit: u64| (span.as_millis() + u128::from(unit) * 500) / (u128::from(unit) * 1_000);
    match rounded(1) {
        0..120 => format!("{} s", rounded(1)),
        120..7_200 => format!("{} min", rounded(60)),
        _ => format!("{} h", rounded(3_600)),
    }
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
