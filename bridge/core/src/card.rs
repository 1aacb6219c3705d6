//! Draws the card of a request: everything a person needs to decide, in a fixed order, safe to look at.

mod deed;
mod details;
mod diff;
mod ink;

use bridge_model::{
    Button, ButtonStyle, ButtonToken, Card, CardLimits, Digest, OptionKind, Origin, PermissionOption, PermissionRequest,
    RequestId, RoomName, Section, SectionBody, Shown, Timestamp,
};
use policy::{Approvals, Policy, Reach, Ruled, is_outside};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use self::ink::Ink;
use crate::file::file;
use crate::held::{First, InsteadOf};
use crate::layout::{KEPT_MIN, cut};
use crate::wording::{AN_AGENT, About, labelled, quoted, wants};

/// Characters of a person's or an agent's name on a card.
pub(crate) const NAME_MAX: usize = 64;

/// Characters of the headline's object. A phone's notification shows less.
pub(crate) const OBJECT_MAX: usize = 160;

/// Characters of a label in a closing.
const LABEL_MAX: usize = 200;

/// How much a room shows of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Details {
    /// Everything.
    #[default]
    Full,
    /// Title, kind, files and content, and not what the agent gave the tool, such as a command.
    Described,
}

/// A card, and which of the agent's options its buttons stand for.
pub(crate) struct Drawn {
    pub(crate) card: Card,
    /// Each live button's option, by its place in the agent's list.
    pub(crate) live: Vec<(ButtonToken, usize)>,
    pub(crate) limits: CardLimits,
    pub(crate) details: Details,
}

/// What a card is to be drawn of.
pub(crate) struct Sketch<'a> {
    pub(crate) request: RequestId,
    pub(crate) room: &'a RoomName,
    pub(crate) asked: &'a PermissionRequest,
    pub(crate) deadline: Timestamp,
    pub(crate) limits: CardLimits,
    pub(crate) details: Details,
    /// The number of the card that it takes the place of, and what is not as it was there.
    pub(crate) instead_of: Option<&'a InsteadOf>,
    pub(crate) approvals: Approvals,
    pub(crate) first: Option<&'a First>,
    /// Why no file can be attached, if it is known.
    pub(crate) no_file: Option<&'a str>,
}

impl Sketch<'_> {
    /// Draws the card with one button per option, `tokens` being theirs in order.
    ///
    /// Details that do not fit whole leave only the refusing options live. If there are none, or there are more options than
    /// the room has buttons, it is not drawn at all, and the error says why.
    pub(crate) fn draw(&self, tokens: Vec<ButtonToken>) -> Result<Drawn, String> {
        let options = self.asked.options.as_slice();
        if self.limits.buttons_max < options.len() {
            return Err(format!("it offers {} options and this room can show {}", options.len(), self.limits.buttons_max));
        }
        let (labels, legend) = labels(self.asked, self.limits);
        let live = options
            .iter()
            .zip(labels)
            .zip(tokens)
            .enumerate()
            .map(|(at, ((option, label), token))| (at, &option.kind, Button { token, label, style: style(&option.kind) }));
        let mut live: Vec<_> = live.collect();
        let (whole, bytes) = self.card(self.sections(legend), live.iter().map(|(_, _, button)| button.clone()).collect());
        let card = match self.why_not_whole(&whole, bytes) {
            None => whole,
            Some(why) => {
                live.retain(|(_, kind, _)| kind.refuses());
                if live.is_empty() {
                    return Err("it is too long to be shown whole, and it offers no option that only refuses".to_owned());
                }
                self.part(whole.sections, &why, live.iter().map(|(_, _, button)| button.clone()).collect())?
            }
        };
        let live = live.into_iter().map(|(at, _, button)| (button.token, at)).collect();
        Ok(Drawn { card, live, limits: self.limits, details: self.details })
    }

    fn sections(&self, legend: Option<Section>) -> Vec<Section> {
        let again = self.instead_of.map(|(number, changed)| {
            let what = format!(
                "This takes the place of #{number}, because the agent changed what it would do. Not as it was: {changed}."
            );
            Section::new(Section::CHANGED, SectionBody::Ours(what))
        });
        self.two_people().into_iter().chain(again).chain(details::sections(self.asked, self.details)).chain(legend).collect()
    }

    fn two_people(&self) -> Option<Section> {
        let body = match (self.approvals, self.first) {
            (Approvals::One, _) => return None,
            (Approvals::Two, None) => SectionBody::Ours("Nobody has yet.".to_owned()),
            (Approvals::Two, Some(First { by, at })) => {
                let option = label(&self.asked.options.as_slice()[*at].name);
                let said = format!("{} chose {}", quoted(by.name.as_str()), quoted(option.as_str()));
                SectionBody::Text(Shown::line(&said))
            }
        };
        let note = self.first.map(|_| "one more has to choose the same").unwrap_or_default().to_owned();
        Some(Section { note, ..Section::new(Section::TWO_PEOPLE, body) })
    }

    /// With how many bytes its file has.
    fn card(&self, sections: Vec<Section>, buttons: Vec<Button>) -> (Card, usize) {
        let session = &self.asked.session;
        let origin = Origin { source: self.asked.from.source.clone(), session: session.id.clone(), agent: agent(self.asked) };
        let is_whole = sections.iter().all(|section| section.gap.is_none());
        let mut card = Card {
            request: self.request,
            room: self.room.clone(),
            origin,
            headline: headline(self.asked, self.details),
            sections,
            buttons,
            deadline: self.deadline,
            is_whole,
            digest: Digest::from_bytes([0; 32]),
        };
        let text = file(&card).text;
        card.digest = Digest::from_bytes(Sha256::digest(&text).into());
        (card, text.len())
    }

    fn why_not_whole(&self, whole: &Card, bytes: usize) -> Option<String> {
        let CardLimits { text_bytes_max, unattached_bytes_max, .. } = self.limits;
        let takes_files = unattached_bytes_max < text_bytes_max;
        if whole.is_whole && bytes <= if self.no_file.is_some() { unattached_bytes_max } else { text_bytes_max } {
            return None;
        }
        Some(match self.no_file {
            Some(why) => format!("The request does not fit into a message, and its file could not be attached: {why}."),
            None if takes_files || !whole.is_whole => {
                let most = text_bytes_max.div_ceil(1_024);
                format!("The request is too long to be shown whole: a card and its file show {most} KiB at most.")
            }
            None => "The request does not fit into a message, and the bridge may not attach files in this room.".to_owned(),
        })
    }

    /// As much of the sections as may fit, which its room may have to cut further, and why that is not enough.
    fn part(&self, sections: Vec<Section>, why: &str, buttons: Vec<Button>) -> Result<Card, String> {
        let only_refusing =
            Section::new(Section::ONLY_REFUSING, SectionBody::Ours(format!("{why} So it cannot be allowed from here.")));
        let sections: Vec<Section> = [only_refusing].into_iter().chain(sections).collect();
        let size = |section: &Section| section.heading.len() + section.note.len() + section.text().len();
        let vital: usize = sections.iter().filter(|section| section.is_vital()).map(size).sum();
        let left = self.limits.unattached_bytes_max.checked_sub(vital);
        let left = left.ok_or_else(|| "the names of its options are too long to be shown".to_owned())?;
        let lengths = sections.iter().filter(|section| !section.is_vital()).map(|section| section.text().chars().count());
        let lengths: Vec<usize> = lengths.collect();
        let longest = lengths.iter().copied().max().unwrap_or_default();
        let each_max = share(lengths, left);
        if each_max < longest.min(KEPT_MIN) {
            return Err("there is too much of it to show something of each part".to_owned());
        }
        let (card, _) = self.card(sections.iter().map(|section| cut(section, each_max)).collect(), buttons);
        Ok(Card { is_whole: false, ..card })
    }
}

/// How many characters of each may be kept, so that all together are `max`: what short ones leave goes to the long ones.
fn share(mut lengths: Vec<usize>, max: usize) -> usize {
    lengths.sort_unstable();
    let (mut left, mut each) = (max, max);
    for (at, length) in lengths.iter().enumerate() {
        each = left / (lengths.len() - at);
        if each < *length {
            return each;
        }
        left -= length;
    }
    each.max(lengths.last().copied().unwrap_or_default())
}

/// The headings of the sections that are not the same on two cards; empty if people would see no difference.
pub(crate) fn changed(before: &PermissionRequest, now: &PermissionRequest, details: Details) -> String {
    let [before, now] = [before, now].map(|asked| details::sections(asked, details));
    let mut headings: Vec<&str> = Vec::new();
    let differing = |some: &[Section], others: &[Section]| -> Vec<&'static str> {
        some.iter().filter(|section| !others.contains(section)).map(|section| section.heading).collect()
    };
    for heading in differing(&now, &before).into_iter().chain(differing(&before, &now)) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    headings.join(", ")
}

/// Every file and folder that a request names, as far as can be told, none twice.
#[must_use]
pub fn paths(request: &PermissionRequest) -> Vec<String> {
    details::paths(request).into_iter().map(str::to_owned).collect()
}

/// What policy says about a request, by all that it names.
#[must_use]
pub fn ruled(policy: &Policy, request: &PermissionRequest) -> Ruled {
    let paths = paths(request);
    let outside: Vec<String> = paths.iter().filter(|path| is_outside(request, path)).cloned().collect();
    policy.rule(request, Reach { paths: &paths, outside: &outside, has_command: details::has_command(request) })
}

/// Who wants what, in one line.
pub(crate) fn headline(asked: &PermissionRequest, details: Details) -> Shown {
    let (about, object) = details::object(asked, details).unwrap_or((About::Deed, "(it does not say what)".into()));
    agent(asked).then(&Shown::line(&wants(asked.kind(), about))).then(&cut_counted(&object))
}

fn agent(asked: &PermissionRequest) -> Shown {
    let names = [asked.session.name.as_deref(), asked.session.agent.as_deref()].into_iter().flatten();
    let name = names.map(str::trim).find(|name| !name.is_empty());
    // Always in quotes: a name can be a sentence of its own.
    name.map_or_else(|| Shown::line(AN_AGENT), |name| Shown::line(&quoted(ink::line(name).cut(NAME_MAX).as_str())))
}

/// The beginning of what is long, and how much of it is missing: a bare ellipsis could hide a word or a page.
fn cut_counted(object: &str) -> Shown {
    let (shown, more) = ink::beginning(object);
    let total = shown.as_str().chars().count();
    if total <= OBJECT_MAX && more == 0 {
        shown
    } else if total <= OBJECT_MAX {
        shown.then(&Shown::line(&format!("… (+{more} characters)")))
    } else {
        shown.cut(OBJECT_MAX).then(&Shown::line(&format!(" (+{} characters)", total + more + 1 - OBJECT_MAX)))
    }
}

/// What can be said about a request that could not be understood.
pub(crate) fn plain_headline(text: &str) -> Shown {
    ink::line(text).cut(OBJECT_MAX)
}

/// What the agent says that an option covers, in one line.
pub(crate) fn covers(option: &PermissionOption) -> Option<Shown> {
    /// More nobody reads while deciding whether they meant it.
    const COVERS_MAX: usize = 300;
    details::what_it_covers(option).map(|said| Shown::line(&said.replace('\n', " ")).cut(COVERS_MAX))
}

/// An agent's label in a closing.
pub(crate) fn label(name: &str) -> Shown {
    if name.trim().is_empty() { Shown::line("(no label)") } else { ink::line(name).cut(LABEL_MAX) }
}

/// The buttons' labels; numbered, with a legend that has them whole, where they are long, empty, altered, or alike as far as
/// every screen shows them.
fn labels(asked: &PermissionRequest, limits: CardLimits) -> (Vec<Shown>, Option<Section>) {
    let options = asked.options.as_slice();
    let mut ink = Ink::default();
    let whole: Vec<Shown> = options.iter().map(|option| ink.line(option.name.trim())).collect();
    let seen: Vec<Shown> = whole.iter().map(|label| label.cut(limits.label_seen)).collect();
    let fits = |label: &Shown| !label.is_empty() && label.as_str().encode_utf16().count() <= limits.label_max;
    let alike = |at: usize| seen[..at].contains(&seen[at]);
    let note = ink.note();
    if note.is_empty() && whole.iter().all(fits) && !(0..whole.len()).any(alike) {
        return (whole, None);
    }
    let named: Vec<Shown> =
        whole.into_iter().map(|label| if label.is_empty() { Shown::line("(no label)") } else { label }).collect();
    let told = named.iter().zip(options).map(|(name, option)| labelled(name.as_str(), style(&option.kind)));
    let legend = told.enumerate().map(|(at, told)| format!("{}. {told}", at + 1));
    let numbered = named.iter().enumerate().map(|(at, name)| Shown::line(&format!("{}. ", at + 1)).then(name));
    let body = SectionBody::Code(Shown::block(&legend.collect::<Vec<_>>().join("\n")));
    let legend = Section { note, ..Section::new(Section::OPTIONS, body) };
    (numbered.map(|label| label.cut_inside(limits.label_seen)).collect(), Some(legend))
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
