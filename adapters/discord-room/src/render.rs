//! A card as a Discord message, and the edit that says how it ended.

use bridge_core::wording::{self, Words, capitalised, does};
use bridge_core::{CardFile, Laid, RoomError, file, lay_out, rows};
use bridge_model::{Button, ButtonStyle, Card, ClosedCard, RequestId, Section, Shown};
use serde::Serialize;
use serenity::all::{
    self as discord, ButtonStyle as Colour, CreateActionRow, CreateAllowedMentions, CreateButton, CreateInteractionResponse,
    CreateInteractionResponseFollowup, CreateInteractionResponseMessage, CreateMessage, EditMessage, MessageFlags, Nonce,
};

use crate::board::UNATTACHED_TEXT_BYTES_MAX;
use crate::draw::{self, Rest, WARNING};
use crate::markup::code;
use crate::send::Outgoing;
use crate::{Mention, id};

/// A message holds this many characters. Which kind is meant Discord does not say; UTF-16 units are the most.
pub(crate) const CONTENT_MAX: usize = 2_000;
/// Rows of so many columns, as a phone has them: some four screens.
const ROWS_MAX: usize = 160;
const COLUMNS: usize = 30;
const ROW_MAX: usize = 5;
/// What it can take to say who has chosen already.
const NEWS_MAX: usize = 400;
/// A message has up to five rows of five buttons.
pub(crate) const BUTTONS_MAX: usize = 25;
/// What a button's id begins with, before its token.
pub(crate) const CUSTOM_ID: &str = "countersign:";

/// The card: what does not fit into the message is cut there, and attached whole if all of it is on the card.
pub(crate) fn card(card: &Card, mention: &Mention, may_attach: bool) -> Result<Outgoing, RoomError> {
    let count = card.buttons.len();
    if count == 0 || BUTTONS_MAX < count {
        return Err(RoomError::NotShowable(format!("a message has 1 to {BUTTONS_MAX} buttons and the card has {count}")));
    }
    let sheet = Sheet::new(card, mention);
    let sheet = if may_attach { sheet.with_room_for_news() } else { sheet };
    // What may go without a file needs none for its rows.
    let is_small = sheet.file.text.len() <= UNATTACHED_TEXT_BYTES_MAX;
    let laid = lay_out(card, |laid| (is_small || rows(laid, COLUMNS) <= ROWS_MAX) && sheet.fits(laid));
    let laid = laid.ok_or_else(|| RoomError::NotShowable("what must be seen of it does not fit into a message".to_owned()))?;
    let content = sheet.content(&laid);
    let file = sheet.needs_file(&laid).then_some(sheet.file);
    if file.is_some() && !may_attach {
        return Err(RoomError::NotAttached("the bot lacks the permission \"Attach Files\" there".to_owned()));
    }
    let body = new_message(content, nonce(card.request)).components(buttons(card)).allowed_mentions(allowed(mention));
    Ok(Outgoing::new(body, file))
}

/// What the text of a card is put together from.
pub(crate) struct Sheet<'a> {
    card: &'a Card,
    head: String,
    tail: Vec<String>,
    file: CardFile,
    /// Whether there is a file with it already; `None`: it has none yet.
    has_file: Option<bool>,
    units_max: usize,
}

impl<'a> Sheet<'a> {
    fn new(card: &'a Card, mention: &Mention) -> Self {
        let (head, tail) = (head(card, mention), what_buttons_do(card));
        Self { card, head, tail, file: file(card), has_file: None, units_max: CONTENT_MAX }
    }

    /// Of a message that is there, with or without a file.
    pub(crate) fn of_posted(card: &'a Card, mention: &Mention, has_file: bool) -> Self {
        Self { has_file: Some(has_file), ..Self::new(card, mention) }
    }

    /// A card that has no file when it is posted cannot be given one later.
    fn with_room_for_news(self) -> Self {
        let news = if self.card.sections.iter().any(|section| section.heading == Section::TWO_PEOPLE) { NEWS_MAX } else { 0 };
        Self { units_max: self.units_max - news, ..self }
    }

    pub(crate) fn fits(&self, laid: &Laid) -> bool {
        // What is longer than a message by itself need not be drawn to know that it does not fit.
        let bytes: usize = laid.sections.iter().map(|section| section.heading.len() + section.text().len()).sum();
        bytes <= 4 * CONTENT_MAX && units(&self.content(laid)) <= self.units_max
    }

    fn needs_file(&self, laid: &Laid) -> bool {
        self.has_file.unwrap_or(self.card.is_whole && !laid.is_whole)
    }

    pub(crate) fn content(&self, laid: &Laid) -> String {
        let rest = if self.card.is_whole { Rest::InFile } else { Rest::Nowhere };
        let mut lines = vec![self.head.clone(), String::new()];
        lines.extend(draw::sections(laid, rest));
        if self.needs_file(laid) {
            let (name, characters, digest) = (code(&self.file.name), self.file.characters(), self.card.digest);
            lines.push(format!("{WARNING} **Read the file before you decide:** {name}, {characters} characters"));
            lines.push(format!("-# SHA-256 `{digest}`"));
        }
        if !self.tail.is_empty() {
            // Set apart from what agents write.
            lines.push(String::new());
            lines.extend(self.tail.iter().cloned());
        }
        lines.join("\n")
    }
}

/// What is said about a request that has no card.
pub(crate) fn notice(closed: &ClosedCard) -> Outgoing {
    let body = new_message(closing_text(closed), nonce(closed.request)).allowed_mentions(CreateAllowedMentions::new());
    Outgoing::new(body, None)
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

/// The same for all that is ever posted for a request, so that there is one message of it: at most 24 of the 25 characters
/// that Discord takes.
fn nonce(request: RequestId) -> Nonce {
    // No run of the bridge sees four billion requests.
    Nonce::String(format!("{:016x}{:x}", request.run, request.number & u64::from(u32::MAX)))
}

pub(crate) fn new_message(content: String, nonce: Nonce) -> CreateMessage {
    CreateMessage::new().content(content).nonce(nonce).enforce_nonce(true).flags(MessageFlags::SUPPRESS_EMBEDS)
}

pub(crate) fn allowed(mention: &Mention) -> CreateAllowedMentions {
    let users = mention.people.iter().filter_map(|person| id::snowflake(person.as_str())).map(discord::UserId::new);
    let roles = mention.roles.iter().filter_map(|role| id::snowflake(role.as_str())).map(discord::RoleId::new);
    CreateAllowedMentions::new().users(users.collect::<Vec<_>>()).roles(roles.collect::<Vec<_>>())
}

/// In rows, in the agent's order.
pub(crate) fn buttons(card: &Card) -> Vec<CreateActionRow> {
    card.buttons.chunks(ROW_MAX).map(|row| CreateActionRow::Buttons(row.iter().map(button).collect())).collect()
}

pub(crate) fn button(button: &Button) -> CreateButton {
    let colour = match button.style {
        ButtonStyle::AllowOnce => Colour::Success,
        ButtonStyle::Reject | ButtonStyle::RejectAlways => Colour::Danger,
        ButtonStyle::AllowAlways | ButtonStyle::Neutral => Colour::Secondary,
    };
    CreateButton::new(custom_id(button)).label(button.label.as_str()).style(colour)
}

/// What a press on it says.
pub(crate) fn custom_id(button: &Button) -> String {
    format!("{CUSTOM_ID}{}", button.token)
}

/// Who wants what: the first line, which is all that a phone's notification shows.
fn headline(text: &str, request: RequestId) -> String {
    format!("{}{}", wording::number(request), sentence(&wording::headline(text)))
}

fn closing_text(closed: &ClosedCard) -> String {
    let headline = headline(closed.headline.as_str(), closed.request);
    format!("{headline}\n{}", sentence(&wording::ending(&closed.ending, closed.at)))
}

pub(crate) fn sentence(words: &[Words]) -> String {
    /// In no sentence of a few parts do so many characters of others come to a message's limit.
    const THEIRS_MAX: usize = 300;
    sentence_of(words, THEIRS_MAX)
}

/// A sentence with so many characters of each part that others wrote.
pub(crate) fn sentence_of(words: &[Words], theirs_max: usize) -> String {
    let said = words.iter().map(|words| match words {
        Words::Ours(text) => text.clone(),
        Words::Theirs(text) | Words::Name(text) => code(Shown::line(text).cut(theirs_max).as_str()),
        // Discord shows whose id it is, which no name can forge, and pings nobody whom the message does not allow.
        Words::Person { name, id } if id::snowflake(id.as_str()).is_some() => format!("{} (<@{id}>)", code(name)),
        Words::Person { name, id } => code(&format!("{} ({id})", wording::quoted(name))),
        // With the date, on each reader's own clock: a card may be read on another day.
        Words::Time(at) => format!("<t:{}:f>", at.unix_millis() / 1_000),
        Words::Due(at) => format!("<t:{}:R>", at.unix_millis() / 1_000),
    });
    said.collect()
}

/// Who wants what, until when, and who is called.
fn head(card: &Card, mention: &Mention) -> String {
    let users = mention.people.iter().map(|person| format!(" <@{person}>"));
    let roles = mention.roles.iter().map(|role| format!(" <@&{role}>"));
    let called: String = roles.chain(users).collect();
    let expires = format!("Expires <t:{}:R>, then refused.{called}", card.deadline.unix_millis() / 1_000);
    format!("{}\n{expires}", headline(card.headline.as_str(), card.request))
}

/// The labels by what they do, since colours do not tell all kinds apart, as far as it takes to know them: the buttons have
/// them whole. Numbered ones have that in their legend.
fn what_buttons_do(card: &Card) -> Vec<String> {
    if card.sections.iter().any(|section| section.heading == Section::OPTIONS) {
        return Vec::new();
    }
    // In the order in which they stand below.
    let mut styles: Vec<ButtonStyle> = Vec::new();
    for button in &card.buttons {
        if !styles.contains(&button.style) {
            styles.push(button.style);
        }
    }
    let group = |style: ButtonStyle| {
        let labels = card.buttons.iter().filter(|button| button.style == style).map(|button| code(&known_by(button, card)));
        format!("**{}:** {}", capitalised(does(style)), labels.collect::<Vec<_>>().join(", "))
    };
    styles.into_iter().map(group).collect()
}

/// The beginning of a label, unless another begins so too.
fn known_by(button: &Button, card: &Card) -> String {
    /// With what its button does, two lines of a phone.
    const BEGINNING: usize = 48;
    let beginning = |button: &Button| button.label.cut(BEGINNING);
    let alike = card.buttons.iter().filter(|other| beginning(other) == beginning(button)).count();
    if alike == 1 { beginning(button).to_string() } else { button.label.to_string() }
}

pub(crate) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
#[path = "render_tests.rs"]
pub(crate) mod tests;
