//! A card as Matrix events: an HTML message that carries the details, a poll that carries the buttons, and the edit that
//! says how it ended.

pub(crate) mod asking;
mod note;
mod redraw;

use std::fmt::Write as _;
use std::time::Duration;

use bridge_core::wording::{self, Words, ending_text};
use bridge_core::{CardFile, Laid, RoomError, lay_out, rows};
use bridge_model::{Card, ClosedCard, Ending, RequestId, Section, SectionBody};
use matrix_sdk::ruma::EventId;
use serde_json::{Value, json};

pub(crate) use self::note::note;
pub(crate) use self::redraw::redraw;
use crate::draft::{CodeForm, Draft, LINE_MAX, inert};

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
/// Characters of a card that a message shows; nobody scrolls through more on a phone.
const INLINE_MAX: usize = 6_000;
/// Rows as a phone has them: some six screens.
const ROWS_MAX: usize = 240;
/// A card with a file of so many bytes fits into an encrypted message whole: each byte takes seven there at worst, such as
/// those of lines that are but an ampersand.
pub(crate) const UNATTACHED_BYTES_MAX: usize = 5_500;

const WARNING: &str = "\u{26a0}\u{fe0f} ";

/// A card as it is sent.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub(crate) message: Value,
    pub(crate) poll: Value,
    /// What has to be in the room before the message is: the message tells of it.
    pub(crate) file: Option<CardFile>,
}

/// Draws a card, with a file where the message cannot hold it whole.
pub(crate) fn draw(card: &Card, within: Duration, encrypted: bool) -> Result<Drawn, RoomError> {
    let (file, max) = (bridge_core::file(card), event_max(encrypted));
    let sketch = Sketch { card, file: card.is_whole.then_some(&file), within };
    // What may go without a file never needs one.
    let is_small = file.text.len() <= UNATTACHED_BYTES_MAX;
    // What is longer than an event by itself need not be drawn to know that it does not fit.
    let may_fit = |laid: &Laid| laid.sections.iter().map(|section| section.text().len()).sum::<usize>() <= max;
    let fits = |laid: &Laid| {
        may_fit(laid)
            && characters(laid) <= INLINE_MAX
            && (is_small || rows(laid, LINE_MAX) <= ROWS_MAX)
            && size(&sketch.message(laid, max)) <= max
    };
    let laid = lay_out(card, fits).ok_or_else(|| {
        RoomError::NotShowable(format!("a message of this room holds {max} bytes, and even its parts take more"))
    })?;
    let drawn =
        Drawn { message: sketch.message(&laid, max), poll: poll(card), file: (card.is_whole && !laid.is_whole).then_some(file) };
    check_size(&drawn.message, encrypted)?;
    check_size(&drawn.poll, encrypted)?;
    Ok(drawn)
}

/// What can be cut, as far as it is shown.
fn characters(laid: &Laid) -> usize {
    laid.sections.iter().filter(|section| !section.is_vital()).map(|section| section.text().chars().count()).sum()
}

/// What a message is drawn of.
struct Sketch<'a> {
    card: &'a Card,
    /// Where all of the card is, if it is anywhere.
    file: Option<&'a CardFile>,
    within: Duration,
}

impl Sketch<'_> {
    /// In the more legible form, if that fits.
    fn message(&self, laid: &Laid, max: usize) -> Value {
        let legible = self.drafted(laid, CodeForm::Lines);
        if size(&legible) <= max { legible } else { self.drafted(laid, CodeForm::Block) }
    }

    fn drafted(&self, laid: &Laid, form: CodeForm) -> Value {
        let mut draft = Draft::new(form);
        draft.paragraph(|draft| draft.strong(|draft| headline(draft, self.card.headline.as_str(), self.card.request)));
        if let Some(file) = self.file.filter(|_| !laid.is_whole) {
            draft.paragraph(|draft| self.read_the_file(draft, file));
        }
        for group in laid.sections.chunk_by(are_one_line) {
            draft.paragraph(|draft| {
                for (at, section) in group.iter().enumerate() {
                    if at > 0 {
                        draft.ours(" · ");
                    }
                    self.section(draft, section);
                }
            });
        }
        if 0 < laid.missing {
            let parts = if laid.missing == 1 { "1 more part is" } else { &format!("{} more parts are", laid.missing) };
            draft.paragraph(|draft| draft.strong(|draft| draft.ours(&format!("[{parts} {}]", self.where_else()))));
        }
        let Self { card: Card { deadline, .. }, within, .. } = self;
        let expires = format!("Answer in the poll within {}, until {deadline}. After that it is refused.", span(*within));
        draft.paragraph(|draft| draft.ours(&expires));
        draft.content("m.text")
    }

    fn read_the_file(&self, draft: &mut Draft, file: &CardFile) {
        let CardFile { name, .. } = file;
        draft.strong(|draft| {
            draft.ours(&format!(
                "{WARNING}This message does not hold all of it. Read the file \"{name}\" above before you decide"
            ));
        });
        draft.ours(&format!(": {} characters, SHA-256 {}", file.characters(), self.card.digest));
    }

    fn section(&self, draft: &mut Draft, section: &Section) {
        let Section { heading, note, body, .. } = section;
        draft.strong(|draft| draft.ours(&format!("{}{heading}", if section.is_warning() { WARNING } else { "" })));
        draft.ours(&if note.is_empty() { ":".to_owned() } else { format!(" ({note}):") });
        let (head, after) = section.around_gap();
        let lines = |draft: &mut Draft, text: &str| match body {
            SectionBody::Ours(_) => draft.ours(text),
            SectionBody::Text(_) => draft.theirs(text),
            SectionBody::Code(_) | SectionBody::Diff(_) => draft.lines(text),
        };
        if let SectionBody::Ours(_) | SectionBody::Text(_) = body {
            draft.ours(" ");
        }
        lines(draft, head);
        if let Some((characters, tail)) = after {
            draft.new_line();
            draft.strong(|draft| draft.ours(&format!("[{characters} characters here are {}]", self.where_else())));
            if let SectionBody::Ours(_) | SectionBody::Text(_) = body {
                draft.new_line();
            }
            lines(draft, tail);
        }
    }

    fn where_else(&self) -> &'static str {
        if self.file.is_some() { "only in the file" } else { "not shown" }
    }
}

/// What is asked and who asks stand apart.
fn are_one_line(before: &Section, after: &Section) -> bool {
    is_short(before) && is_short(after) && before.tells_who_asks() == after.tells_who_asks()
}

/// Whether others may stand on the same line.
fn is_short(section: &Section) -> bool {
    const SHORT: usize = 48;
    let is_text = matches!(section.body, SectionBody::Text(_));
    is_text && section.note.is_empty() && section.gap.is_none() && section.text().chars().count() <= SHORT
}

fn headline(draft: &mut Draft, headline: &str, request: RequestId) {
    draft.ours(&wording::number(request));
    draft.words(&wording::headline(headline));
}

/// The buttons of a card, as a poll with one answer per option: what it does in our words, and the agent's label.
fn poll(card: &Card) -> Value {
    // All that is in sight on a phone that opens the room.
    let warnings = card.sections.iter().filter(|section| section.is_warning());
    let warned: String = warnings.flat_map(|section| [WARNING, section.heading, ". "]).collect();
    let question = format!("{warned}{}{}", wording::number(card.request), inert(card.headline.as_str()));
    let mut fallback = question.clone();
    let answers: Vec<Value> = card
        .buttons
        .iter()
        .enumerate()
        .map(|(at, button)| {
            let text = wording::labelled(&inert(button.label.as_str()), button.style);
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
    let question = format!("{}{}", wording::number(closed.request), inert(closed.headline.as_str()));
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
        TEXT: ending_text(&closed.ending, closed.at),
        "m.mentions": {},
    })
}

pub(crate) fn reaction(message: &EventId, key: &str) -> Value {
    json!({ "m.relates_to": { "rel_type": "m.annotation", "event_id": message, "key": key } })
}

/// What the card says once it is closed, as a message of its own.
pub(crate) fn closing(closed: &ClosedCard) -> Value {
    let mut draft = Draft::new(CodeForm::Lines);
    draft.paragraph(|draft| headline(draft, closed.headline.as_str(), closed.request));
    draft.paragraph(|draft| draft.strong(|draft| draft.words(&wording::ending(&closed.ending, closed.at))));
    draft.content("m.text")
}

/// What one person alone is told.
pub(crate) fn told(words: &[Words]) -> Value {
    let mut draft = Draft::new(CodeForm::Lines);
    draft.words(words);
    draft.content("m.notice")
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
fn check_size(content: &Value, encrypted: bool) -> Result<(), RoomError> {
    let (bytes, max) = (size(content), event_max(encrypted));
    if max < bytes {
        return Err(RoomError::NotShowable(format!("the card takes {bytes} bytes and a message of this room holds {max}")));
    }
    Ok(())
}

const fn event_max(encrypted: bool) -> usize {
    if encrypted { ENCRYPTED_BYTES_MAX } else { EVENT_BYTES_MAX }
}

fn size(content: &Value) -> usize {
    content.to_string().len()
}

/// The part of a transaction id that tells one ending's edit from another's, the same in every run.
pub(crate) fn edit_part(ending: &Ending) -> String {
    // FNV-1a: short, and the same in every version of the program.
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = ending_text(ending, None).bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    format!("edit-{hash:016x}")
}

/// The transaction id of one part of a request's card.
pub(crate) fn txn(request: RequestId, part: &str) -> matrix_sdk::ruma::OwnedTransactionId {
    bridge_core::part_name(request, part).into()
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
