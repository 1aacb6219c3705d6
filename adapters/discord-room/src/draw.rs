//! The sections of a card, as far as a message holds them.

use bridge_core::Laid;
use bridge_model::{Section, SectionBody};

use crate::markup::{Lines, code, fence, fence_after_gap, plain};

/// Set before what must not be overlooked.
pub(crate) const WARNING: &str = "⚠️";
/// Lines that are read one by one, and that a client may break where it likes.
const LISTS: [&str; 2] = [Section::OUTSIDE, Section::OPTIONS];
/// Characters of a fact up to which it shares its line with others.
const FACT_MAX: usize = 48;
/// Characters up to which a single line of code needs no fence.
const INLINE_MAX: usize = 40;

/// Where the rest of what is cut is.
#[derive(Clone, Copy)]
pub(crate) enum Rest {
    InFile,
    Nowhere,
}

/// A line, or several that belong together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Fact,
    SmallFact,
    Other,
}

pub(crate) fn sections(laid: &Laid, rest: Rest) -> Vec<String> {
    let mut parts: Vec<(Part, String)> = Vec::new();
    for section in &laid.sections {
        let (part, text) = (part(section), self::section(section, rest));
        match parts.last_mut() {
            Some((last, facts)) if *last == part && part != Part::Other => {
                facts.push_str(" · ");
                facts.push_str(&text);
            }
            Some(_) | None => parts.push((part, text)),
        }
    }
    let drawn = |(part, text)| match part {
        Part::SmallFact => format!("-# {text}"),
        Part::Fact | Part::Other => text,
    };
    parts.into_iter().map(drawn).chain(missing(laid, rest)).collect()
}

fn part(section: &Section) -> Part {
    match &section.body {
        // Who asks matters least.
        SectionBody::Text(_) if section.tells_who_asks() => Part::SmallFact,
        SectionBody::Text(text) if text.as_str().chars().count() <= FACT_MAX => Part::Fact,
        SectionBody::Text(_) | SectionBody::Ours(_) | SectionBody::Code(_) | SectionBody::Diff(_) => Part::Other,
    }
}

fn missing(laid: &Laid, rest: Rest) -> Option<String> {
    let place = match rest {
        Rest::InFile => "in the file",
        Rest::Nowhere => "not shown",
    };
    match laid.missing {
        0 => None,
        1 => Some(format!("**And 1 more part,** {place}.")),
        count => Some(format!("**And {count} more parts,** {place}.")),
    }
}

fn section(section: &Section, rest: Rest) -> String {
    let heading = heading(section);
    let (head, after) = section.around_gap();
    match &section.body {
        SectionBody::Ours(text) => format!("{heading} {}", plain(text)),
        SectionBody::Text(_) => match after {
            None => format!("{heading} {}", code(head)),
            Some((characters, tail)) => format!("{heading} {} {} {}", code(head), gap(characters, rest), code(tail)),
        },
        SectionBody::Code(_) if after.is_none() && is_short(head) => format!("{heading} {}", code(head)),
        SectionBody::Code(_) if after.is_none() && LISTS.contains(&section.heading) => {
            lines([heading].into_iter().chain(head.lines().map(code)))
        }
        SectionBody::Code(_) => lines([heading, fence(Lines::Code, head)].into_iter().chain(tail(Lines::Code, after, rest))),
        SectionBody::Diff(_) => {
            // The first line names the file, and is neither added nor removed.
            let (file, change) = head.split_once('\n').unwrap_or((head, ""));
            let change = (!change.trim_matches('\n').is_empty()).then(|| fence(Lines::Diff, change));
            let named = format!("{heading} {}", code(file));
            lines([named].into_iter().chain(change).chain(tail(Lines::Diff, after, rest)))
        }
    }
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

fn heading(section: &Section) -> String {
    let Section { heading, note, .. } = section;
    let mark = if section.is_warning() { format!("{WARNING} ") } else { String::new() };
    if note.is_empty() { format!("{mark}**{heading}:**") } else { format!("{mark}**{heading}** ({}):", plain(note)) }
}

fn is_short(text: &str) -> bool {
    !text.contains(['\n', '\t']) && (1..=INLINE_MAX).contains(&text.chars().count())
}

fn tail(kind: Lines, after: Option<(usize, &str)>, rest: Rest) -> Option<String> {
    let (characters, text) = after?;
    let gap = gap(characters, rest);
    Some(if text.is_empty() { gap } else { format!("{gap}\n{}", fence_after_gap(kind, text)) })
}

/// Outside of code, where nobody else can say it.
fn gap(characters: usize, rest: Rest) -> String {
    let (count, they_are) = if characters == 1 {
        ("1 character is".to_owned(), "it is")
    } else {
        (format!("{characters} characters are"), "they are")
    };
    match rest {
        Rest::InFile => format!("*… {count} left out here; {they_are} in the file …*"),
        Rest::Nowhere => format!("*… {count} not shown …*"),
    }
}
