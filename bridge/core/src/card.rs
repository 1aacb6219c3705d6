//! Draws the card of a request: everything a person needs to decide, in a fixed order, safe to look at.

mod details;
mod diff;

use std::time::Duration;

use bridge_model::{
    Button, ButtonStyle, ButtonToken, Card, CardLimits, OptionKind, Origin, PermissionRequest, RequestId, RoomName, Section,
    SectionBody, Shown, Timestamp, ToolKind,
};

use crate::wording::{AN_AGENT, does, quoted, verb};

/// Characters of a person's or an agent's name on a card.
pub(crate) const NAME_MAX: usize = 64;

/// Characters of the headline's object. A phone's notification shows less.
const OBJECT_MAX: usize = 160;

/// Characters of a label in a closing.
const LABEL_MAX: usize = 200;

/// A card, and which of the agent's options its buttons stand for.
pub(crate) struct Drawn {
    pub(crate) card: Card,
    /// Each live button's option, by its place in the agent's list.
    pub(crate) live: Vec<(ButtonToken, usize)>,
    pub(crate) within: Duration,
}

/// Draws the card with one button per option, `tokens` being theirs in order.
///
/// Details that do not fit whole leave only the refusing options live. If there are none, or there are more options than
/// the room has buttons, it is not drawn at all, and the error says why.
pub(crate) fn draw(
    request: RequestId,
    room: &RoomName,
    asked: &PermissionRequest,
    tokens: Vec<ButtonToken>,
    deadline: Timestamp,
    limits: CardLimits,
) -> Result<Drawn, String> {
    let options = asked.options.as_slice();
    if limits.buttons_max < options.len() {
        return Err(format!("it offers {} options and this room can show {}", options.len(), limits.buttons_max));
    }
    let (labels, legend) = labels(asked, limits);
    let headline = headline(asked);
    let fixed = headline.as_str().len() + labels.iter().map(|label| label.as_str().len()).sum::<usize>();
    let (mut sections, whole) = details::fit(details::sections(asked), limits.text_bytes_max.saturating_sub(fixed), legend)?;
    let is_live = |kind: &OptionKind| whole || kind.refuses();
    if !whole {
        sections.push(Section {
            heading: Section::ONLY_REFUSING,
            body: SectionBody::Text(Shown::line("The request is too long to be shown whole, so it cannot be allowed from here.")),
        });
    }
    let mut buttons = Vec::new();
    let mut live = Vec::new();
    for (at, ((option, label), token)) in options.iter().zip(labels).zip(tokens).enumerate() {
        if is_live(&option.kind) {
            buttons.push(Button { token, label, style: style(&option.kind) });
            live.push((token, at));
        }
    }
    if buttons.is_empty() {
        return Err("it is too long to be shown whole, and it offers no option that only refuses".to_owned());
    }
    let origin = Origin { source: asked.from.source.clone(), session: asked.session.id.clone(), agent: agent(asked) };
    let card = Card { request, room: room.clone(), origin, headline, sections, buttons, deadline };
    Ok(Drawn { card, live, within: Duration::ZERO })
}

/// Who wants what, in one line.
pub(crate) fn headline(asked: &PermissionRequest) -> Shown {
    let kind = asked.tool_call.as_ref().map_or(ToolKind::Other, |tool_call| tool_call.kind);
    let object = details::object(asked).map_or_else(|| Shown::line("(it does not say what)"), |object| Shown::line(&object));
    agent(asked).then(&Shown::line(&format!(" wants to {}: ", verb(kind)))).then(&cut_counted(&object))
}

fn agent(asked: &PermissionRequest) -> Shown {
    let name = asked.session.agent.as_deref().map(str::trim).filter(|name| !name.is_empty());
    // Always in quotes: a name can be a sentence of its own.
    name.map_or_else(|| Shown::line(AN_AGENT), |name| Shown::line(&quoted(Shown::line(name).cut(NAME_MAX).as_str())))
}

/// The beginning of what is long, and how much of it is missing: a bare ellipsis could hide a word or a page.
fn cut_counted(object: &Shown) -> Shown {
    let total = object.as_str().chars().count();
    if total <= OBJECT_MAX {
        object.clone()
    } else {
        object.cut(OBJECT_MAX).then(&Shown::line(&format!(" (+{} characters)", total + 1 - OBJECT_MAX)))
    }
}

/// What can be said about a request that could not be understood.
pub(crate) fn plain_headline(text: &str) -> Shown {
    Shown::line(text).cut(OBJECT_MAX)
}

/// An agent's label in a closing or a legend.
pub(crate) fn label(name: &str) -> Shown {
    if name.trim().is_empty() { Shown::line("(no label)") } else { Shown::line(name).cut(LABEL_MAX) }
}

/// The buttons' labels; numbered, with a legend that has them whole, where they are long, empty, or alike as far as every
/// screen shows them.
fn labels(asked: &PermissionRequest, limits: CardLimits) -> (Vec<Shown>, Option<Section>) {
    let options = asked.options.as_slice();
    let whole: Vec<Shown> = options.iter().map(|option| Shown::line(option.name.trim())).collect();
    let seen: Vec<Shown> = whole.iter().map(|label| label.cut(limits.label_seen)).collect();
    let fits = |label: &Shown| !label.is_empty() && label.as_str().encode_utf16().count() <= limits.label_max;
    let alike = |at: usize| seen[..at].contains(&seen[at]);
    if whole.iter().all(fits) && !(0..whole.len()).any(alike) {
        return (whole, None);
    }
    let numbered = |at: usize, name: &Shown| {
        let name = if name.is_empty() { Shown::line("(no label)") } else { name.clone() };
        Shown::line(&format!("{}. ", at + 1)).then(&name)
    };
    let numbered: Vec<Shown> = whole.iter().enumerate().map(|(at, name)| numbered(at, name)).collect();
    let legend = numbered.iter().zip(options).map(|(name, option)| format!("{name} ({})", does(style(&option.kind))));
    let legend =
        Section { heading: Section::OPTIONS, body: SectionBody::Text(Shown::block(&legend.collect::<Vec<_>>().join("\n"))) };
    (numbered.iter().map(|label| label.cut_inside(limits.label_seen)).collect(), Some(legend))
}

pub(crate) fn style(kind: &OptionKind) -> ButtonStyle {
    match kind {
        OptionKind::AllowOnce => ButtonStyle::AllowOnce,
        OptionKind::AllowAlways => ButtonStyle::AllowAlways,
        OptionKind::RejectOnce => ButtonStyle::Reject,
        OptionKind::RejectAlways => ButtonStyle::RejectAlways,
        OptionKind::Unknown(_) => ButtonStyle::Neutral,
    }
}

#[cfg(test)]
mod tests;
