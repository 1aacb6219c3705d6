//! A card as a Discord message, and the edit that says how it ended.
//!
//! Everything an agent wrote stands in code, inline or fenced, where Discord's clients link, ping and format nothing. A
//! backtick in it is followed by U+200B, so that no run of them ends the code; it can hold no U+200B of its own. No markup
//! of ours encloses code, since it would end at the first mark of its kind within.

use bridge_core::RoomError;
use bridge_core::wording::{self, Words, does};
use bridge_model::{ButtonStyle, Card, ClosedCard, RequestId, Section, SectionBody, Shown};
use serde::Serialize;
use serenity::all::{
    self as discord, ButtonStyle as Colour, CreateActionRow, CreateAllowedMentions, CreateAttachment, CreateButton,
    CreateInteractionResponse, CreateInteractionResponseFollowup, CreateInteractionResponseMessage, CreateMessage, EditMessage,
    MessageFlags, Nonce,
};

use crate::send::Outgoing;
use crate::{Mention, file, id};

/// A message holds this many characters. Which kind is meant Discord does not say; UTF-16 units are the most.
pub(crate) const CONTENT_MAX: usize = 2_000;
const ROW_MAX: usize = 5;
/// Phones cut a line of code at the screen's edge, and narrow ones show about this many characters before.
const CODE_WIDTH: usize = 30;
/// What joins one command to the next in a shell. It stands at the beginning of a line, where it is seen.
const JOINTS: [&str; 5] = ["&&", "||", "|", ";", "&"];
/// What begins the rest of a line that was too long. An agent's own is spelled out.
const CONTINUED: char = '↪';
const ZERO_WIDTH_SPACE: &str = "\u{200b}";
/// What a button's id begins with, before its token.
pub(crate) const CUSTOM_ID: &str = "countersign:";
/// Characters that are kept of a section that does not fit whole, from the most to the least.
const KEPT: [usize; 8] = [1_400, 1_000, 700, 450, 300, 200, 120, 60];

/// The card, whole: what does not fit into the message is cut there and attached.
pub(crate) fn card(card: &Card, mention: &Mention, may_attach: bool) -> Result<Outgoing, RoomError> {
    let head = headline(card.headline.as_str(), card.request);
    let tail = tail(card, mention);
    let join = |sections: &[String]| [std::slice::from_ref(&head), sections, std::slice::from_ref(&tail)].concat().join("\n");
    // What is longer than a message by itself need not be drawn to know that it does not fit.
    let length: usize = card.sections.iter().map(|section| section.text().len()).sum();
    let whole = (length <= 4 * CONTENT_MAX).then(|| join(&card.sections.iter().map(section).collect::<Vec<_>>()));
    let (content, file) = if let Some(whole) = whole.filter(|whole| units(whole) <= CONTENT_MAX) {
        (whole, None)
    } else if may_attach {
        let file = file::whole(card);
        let note = file::note(&file);
        let room = CONTENT_MAX.saturating_sub(units(&join(&[])) + 1);
        let content = join(&cut_sections(card, note, room)?);
        (content, Some(CreateAttachment::bytes(file.bytes, file.name)))
    } else {
        return Err(not_showable("it does not fit into a message, and the bot may not attach files there"));
    };
    let rows = card.buttons.chunks(ROW_MAX).map(|row| CreateActionRow::Buttons(row.iter().map(button).collect()));
    let mut body = new_message(content, card.request).components(rows.collect()).allowed_mentions(allowed(mention));
    if let Some(file) = &file {
        body = body.add_file(file.clone());
    }
    Ok(Outgoing { body, file })
}

/// What is said about a request that has no card.
pub(crate) fn notice(closed: &ClosedCard) -> Outgoing {
    let body = new_message(closing_text(closed), closed.request).allowed_mentions(CreateAllowedMentions::new());
    Outgoing { body, file: None }
}

/// The edit that makes a card's buttons go and says how it ended.
pub(crate) fn closing(closed: &ClosedCard) -> Result<Vec<u8>, RoomError> {
    let content = closing_text(closed);
    json(&EditMessage::new().content(content).components(Vec::new()).allowed_mentions(CreateAllowedMentions::new()))
}

/// The edit that only makes buttons go.
pub(crate) fn without_buttons() -> Result<Vec<u8>, RoomError> {
    json(&EditMessage::new().components(Vec::new()).allowed_mentions(CreateAllowedMentions::new()))
}

/// Takes note of a click; nothing changes for anybody.
pub(crate) fn acknowledgement() -> Result<Vec<u8>, RoomError> {
    json(&CreateInteractionResponse::Acknowledge)
}

/// Answers a click with words that only its person sees.
pub(crate) fn private_answer(words: &str) -> Result<Vec<u8>, RoomError> {
    let message = CreateInteractionResponseMessage::new().content(words).ephemeral(true);
    json(&CreateInteractionResponse::Message(message.allowed_mentions(CreateAllowedMentions::new())))
}

/// Words for the person of an acknowledged click alone.
pub(crate) fn private_follow_up(words: &[Words]) -> Result<Vec<u8>, RoomError> {
    json(
        &CreateInteractionResponseFollowup::new()
            .content(sentence(words))
            .ephemeral(true)
            .allowed_mentions(CreateAllowedMentions::new()),
    )
}

pub(crate) fn json(body: &impl Serialize) -> Result<Vec<u8>, RoomError> {
    serde_json::to_vec(body).map_err(|error| RoomError::Refused(error.to_string()))
}

/// The same for a card and for the notice that takes its place: at most 24 of the 25 characters that Discord takes.
fn nonce(request: RequestId) -> Nonce {
    // No run of the bridge sees four billion requests.
    Nonce::String(format!("{:016x}{:x}", request.run, request.number & u64::from(u32::MAX)))
}

fn new_message(content: String, request: RequestId) -> CreateMessage {
    CreateMessage::new().content(content).nonce(nonce(request)).enforce_nonce(true).flags(MessageFlags::SUPPRESS_EMBEDS)
}

fn allowed(mention: &Mention) -> CreateAllowedMentions {
    let users = mention.people.iter().filter_map(|person| id::snowflake(person.as_str())).map(discord::UserId::new);
    let roles = mention.roles.iter().filter_map(|role| id::snowflake(role.as_str())).map(discord::RoleId::new);
    CreateAllowedMentions::new().users(users.collect::<Vec<_>>()).roles(roles.collect::<Vec<_>>())
}

fn button(button: &bridge_model::Button) -> CreateButton {
    let colour = match button.style {
        ButtonStyle::AllowOnce => Colour::Success,
        ButtonStyle::Reject | ButtonStyle::RejectAlways => Colour::Danger,
        ButtonStyle::AllowAlways | ButtonStyle::Neutral => Colour::Secondary,
    };
    CreateButton::new(format!("{CUSTOM_ID}{}", button.token)).label(button.label.as_str()).style(colour)
}

/// Who wants what: the first line, which is all that a phone's notification shows.
fn headline(text: &str, request: RequestId) -> String {
    format!("{} (#{})", sentence(&wording::headline(text)), request.number)
}

fn closing_text(closed: &ClosedCard) -> String {
    let headline = headline(closed.headline.as_str(), closed.request);
    format!("{headline}\n{}", sentence(&wording::ending(&closed.ending)))
}

fn sentence(words: &[Words]) -> String {
    /// In no sentence do so many characters of several others come to a message's limit.
    const THEIRS_MAX: usize = 300;
    let said = words.iter().map(|words| match words {
        Words::Ours(text) => text.clone(),
        Words::Theirs(text) | Words::Name(text) => code(Shown::line(text).cut(THEIRS_MAX).as_str()),
        // Discord shows whose id it is, which no name can forge, and pings nobody whom the message does not allow.
        Words::Person { name, id } if id::snowflake(id.as_str()).is_some() => format!("{} (<@{id}>)", code(name)),
        Words::Person { name, id } => code(&format!("{} ({id})", wording::quoted(name))),
    });
    said.collect()
}

/// What the buttons do, until when, and who is called.
fn tail(card: &Card, mention: &Mention) -> String {
    let users = mention.people.iter().map(|person| format!(" <@{person}>"));
    let roles = mention.roles.iter().map(|role| format!(" <@&{role}>"));
    let called: String = roles.chain(users).collect();
    let expires = format!("Expires <t:{}:R>, and is refused then.{called}", card.deadline.unix_millis() / 1_000);
    // Set apart from what agents write.
    [String::new()].into_iter().chain(what_buttons_do(card)).chain([expires]).collect::<Vec<_>>().join("\n")
}

/// The labels by what they do, since colours do not tell all kinds apart. Numbered ones have that in their legend.
fn what_buttons_do(card: &Card) -> Vec<String> {
    const STYLES: [ButtonStyle; 5] =
        [ButtonStyle::AllowOnce, ButtonStyle::AllowAlways, ButtonStyle::Reject, ButtonStyle::RejectAlways, ButtonStyle::Neutral];
    if card.sections.iter().any(|section| section.heading == Section::OPTIONS) {
        return Vec::new();
    }
    let groups = STYLES.iter().filter_map(|style| {
        let labels = card.buttons.iter().filter(|button| button.style == *style).map(|button| code(button.label.as_str()));
        let labels: Vec<_> = labels.collect();
        (!labels.is_empty()).then(|| format!("**{}:** {}", capitalised(does(*style)), labels.join(", ")))
    });
    groups.collect()
}

fn capitalised(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}

fn section(section: &Section) -> String {
    let heading = section.heading;
    match &section.body {
        SectionBody::Text(text) if text.as_str().contains('\n') => {
            let lines: Vec<_> = text.as_str().lines().map(code).collect();
            format!("**{heading}:**\n{}", lines.join("\n"))
        }
        SectionBody::Text(text) => format!("**{heading}:** {}", code(text.as_str())),
        SectionBody::Code(text) => format!("**{heading}:**\n{}", fence(text.as_str())),
    }
}

/// What says how many parts are only in the file.
const MORE: usize = 60;

/// The sections as far as they fit into `room`, and where the rest is. What must be seen is never cut.
fn cut_sections(card: &Card, note: String, room: usize) -> Result<Vec<String>, RoomError> {
    let size = |lines: &[String]| lines.iter().map(|line| units(line) + 1).sum::<usize>();
    for kept in KEPT {
        let cut: Vec<_> = card.sections.iter().map(|part| cut_section(part, kept)).chain([note.clone()]).collect();
        if size(&cut) <= room {
            return Ok(cut);
        }
    }
    let (vital, others): (Vec<_>, Vec<_>) = card.sections.iter().partition(|part| part.is_vital());
    let vital: Vec<_> = vital.into_iter().map(section).chain([note]).collect();
    let left = room
        .checked_sub(size(&vital) + MORE)
        .ok_or_else(|| not_showable("the names of its options do not fit into a message"))?;
    let mut used = 0;
    let fits = |line: &String| {
        used += units(line) + 1;
        used <= left
    };
    let mut shown: Vec<_> = others.iter().map(|part| cut_section(part, KEPT[KEPT.len() - 1])).take_while(fits).collect();
    shown.push(format!("**And {} more parts,** in the file.", others.len() - shown.len()));
    Ok(shown.into_iter().chain(vital).collect())
}

/// A section of which `kept` characters are shown, start and end. What is left out is said in our own words, outside of
/// the code, where nobody else can say it.
fn cut_section(part: &Section, kept: usize) -> String {
    let text = part.text();
    let total = text.chars().count();
    if part.is_vital() || total <= kept {
        return section(part);
    }
    let half = kept / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(total - half).collect();
    let (heading, left_out) = (part.heading, total - 2 * half);
    let left_out = format!("*{left_out} characters are left out here; they are in the file.*");
    match part.body {
        SectionBody::Text(_) => format!("**{heading}:** {}\n{left_out}\n{}", code(&one_line(&start)), code(&one_line(&end))),
        SectionBody::Code(_) => format!("**{heading}:**\n{}\n{left_out}\n{}", fence(&start), fence(&end)),
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}

/// One line of code.
fn code(text: &str) -> String {
    match text {
        "" => String::new(),
        text if text.contains('`') => format!("`` {} ``", unfenced(text)),
        text => format!("`{text}`"),
    }
}

/// Several lines of code. Discord takes a fence without anything in it for no fence, and what follows for its inside.
fn fence(text: &str) -> String {
    let text = text.trim_matches('\n');
    if text.is_empty() {
        return "*(only empty lines)*".to_owned();
    }
    let lines: Vec<_> = text.split('\n').map(wrapped).collect();
    format!("```\n{}\n```", unfenced(&lines.join("\n")))
}

fn unfenced(text: &str) -> String {
    text.replace('`', &format!("`{ZERO_WIDTH_SPACE}"))
}

/// A line in pieces that a phone shows, each but the first marked as the rest of the one before.
fn wrapped(line: &str) -> String {
    let spelled = line.replace('\t', "    ").replace(CONTINUED, "\\u{21aa}");
    let spelled: Vec<char> = spelled.chars().collect();
    let mut rest = spelled.as_slice();
    let mut pieces = String::with_capacity(line.len());
    let mut width = CODE_WIDTH;
    while width < rest.len() {
        let (piece, after) = rest.split_at(break_at(&rest[..width]));
        pieces.extend(piece);
        pieces.push('\n');
        pieces.push(CONTINUED);
        rest = after;
        // The mark takes its place.
        width = CODE_WIDTH - 1;
    }
    pieces.extend(rest);
    pieces
}

/// After a space in the second half of the line, else anywhere; never between a joint and what it joins.
fn break_at(line: &[char]) -> usize {
    let is_late = |at: &usize| line.len() / 2 < *at;
    let spaces: Vec<usize> = line.iter().enumerate().filter(|(_, c)| **c == ' ').map(|(at, _)| at + 1).collect();
    let Some(at) = spaces.last().copied().filter(is_late) else { return line.len() };
    let before = spaces.iter().rev().nth(1).copied().unwrap_or(0);
    let word: String = line[before..at - 1].iter().collect();
    let joins = JOINTS.contains(&word.as_str());
    if joins && 0 < before { before } else { at }
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

fn not_showable(why: &str) -> RoomError {
    RoomError::NotShowable(why.to_owned())
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
