//! What people are told, in the same words in every room.

use std::fmt::Write as _;

use bridge_model::{
    ButtonStyle, Card, ClickReply, Delivery, Ending, NotDelivered, PersonId, Refused, Section, SectionBody, ToolKind, Withdrawn,
};

/// An agent that does not say its name.
pub(crate) const AN_AGENT: &str = "An agent";

/// A piece of a sentence. Rooms draw what others wrote so that it can neither link, ping nor format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    Ours(String),
    /// Anything else that is not ours.
    Theirs(String),
    /// A person's name or an agent's label, as they have it. Plain text has it in quotes that it cannot close.
    Name(String),
    /// A name can be anybody's, so the id stands beside it.
    Person {
        name: String,
        id: PersonId,
    },
}

impl Words {
    fn ours(text: &str) -> Self {
        Self::Ours(text.to_owned())
    }

    /// As plain text.
    #[must_use]
    pub fn plain(&self) -> String {
        match self {
            Self::Ours(text) | Self::Theirs(text) => text.clone(),
            Self::Name(name) => quoted(name),
            Self::Person { name, id } => format!("{} ({id})", quoted(name)),
        }
    }
}

/// In quotes that the text itself cannot close.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace(['"', '\u{201c}', '\u{201d}', '\u{201e}'], "'"))
}

/// All of it as plain text.
#[must_use]
pub fn plain(words: &[Words]) -> String {
    words.iter().map(Words::plain).collect()
}

/// A headline's own words told apart from the agent's. One that is not as [`crate::Bridge`] makes them is all the agent's.
#[must_use]
pub fn headline(text: &str) -> Vec<Words> {
    let parts = || {
        let (agent, rest) = match text.strip_prefix('"') {
            // The name cannot close its quotes.
            Some(quoted) => quoted.split_once('"').map(|(name, rest)| (Words::Name(name.to_owned()), rest))?,
            None => (Words::ours(AN_AGENT), text.strip_prefix(AN_AGENT)?),
        };
        let (ours, object) = rest.split_once(": ")?;
        let verb = ours.strip_prefix(" wants to ")?;
        ToolKind::ALL.iter().any(|kind| self::verb(*kind) == verb).then_some(())?;
        Some(vec![agent, Words::Ours(format!("{ours}: ")), Words::Theirs(object.to_owned())])
    };
    parts().unwrap_or_else(|| vec![Words::Theirs(text.to_owned())])
}

/// A card's headline and sections as plain text.
#[must_use]
pub fn plain_card(card: &Card) -> String {
    let mut text = format!("{} (#{})\n", card.headline, card.request.number);
    for Section { heading, body } in &card.sections {
        // Writing to a string cannot fail.
        let _ = match body {
            SectionBody::Text(theirs) => writeln!(text, "\n{heading}: {theirs}"),
            // Set in, so that no line of it passes for a line of the card's own.
            SectionBody::Code(theirs) => writeln!(text, "\n{heading}:\n    {}", theirs.as_str().replace('\n', "\n    ")),
        };
    }
    text
}

/// How a request ended, in sentences that are true whenever they are read.
#[must_use]
pub fn ending(ending: &Ending) -> Vec<Words> {
    match ending {
        Ending::Answered { person, name, option, does, delivery } => vec![
            Words::Person { name: name.to_string(), id: person.clone() },
            Words::ours(" chose "),
            Words::Name(option.to_string()),
            Words::Ours(format!(" ({}). {}", self::does(*does), delivery_text(*delivery))),
        ],
        Ending::Expired => vec![Words::ours("Nobody answered in time. Nothing was allowed.")],
        Ending::Withdrawn(why) => vec![Words::ours(withdrawn_text(*why))],
        Ending::Refused(why) => refused(why).into_iter().chain([Words::ours(" Nothing was allowed.")]).collect(),
    }
}

/// [`ending`] as plain text.
#[must_use]
pub fn ending_text(ending: &Ending) -> String {
    plain(&self::ending(ending))
}

/// What somebody is told about their click; nothing where it counted, since the card says that already.
#[must_use]
pub fn reply(reply: &ClickReply) -> Option<Vec<Words>> {
    let said = match reply {
        ClickReply::Chosen => return None,
        ClickReply::TooLate(ending) => [vec![Words::ours("Your click came too late: ")], self::ending(ending)].concat(),
        ClickReply::MayNotAnswer(why) => vec![Words::Ours(format!("Your click did not count: {why}"))],
        ClickReply::NothingWaits => vec![Words::ours("Your click did not count: nothing waits for an answer there.")],
    };
    Some(said)
}

/// What an agent wants, by the kind of its tool call.
pub(crate) const fn verb(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "run",
        ToolKind::Think => "think about",
        ToolKind::Fetch => "fetch",
        ToolKind::SwitchMode => "switch mode",
        ToolKind::Other => "do",
    }
}

/// What an option does, by its kind; a label may say anything.
#[must_use]
pub const fn does(style: ButtonStyle) -> &'static str {
    match style {
        ButtonStyle::AllowOnce => "allows once",
        ButtonStyle::AllowAlways => "allows always",
        ButtonStyle::Reject => "refuses",
        ButtonStyle::RejectAlways => "refuses always",
        ButtonStyle::Neutral => "of unknown kind",
    }
}

const fn delivery_text(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::Pending => "It is being delivered to the agent.",
        Delivery::Taken => "The agent has it.",
        Delivery::NotDelivered(NotDelivered::Withdrawn) => {
            "It was not delivered: the agent had withdrawn the request. Nothing was allowed."
        }
        Delivery::NotDelivered(NotDelivered::AgentGone) => "It was not delivered: the agent is gone. Nothing was allowed.",
        Delivery::NotDelivered(NotDelivered::NotRecorded) => {
            "It was not delivered: it could not be recorded, so the agent was refused."
        }
        Delivery::NotDelivered(NotDelivered::BridgeRestarted) => {
            "The bridge stopped before it was known whether the agent has it."
        }
    }
}

const fn withdrawn_text(why: Withdrawn) -> &'static str {
    match why {
        Withdrawn::ByAgent => "The agent withdrew its request. Nothing was allowed.",
        Withdrawn::TurnCancelled => "The turn was cancelled. Nothing was allowed.",
        Withdrawn::TurnEnded => "The agent went on without waiting for an answer. Nothing was allowed here.",
        Withdrawn::Superseded => "The agent asked anew, and this card no longer counts. Nothing was allowed here.",
        Withdrawn::AgentGone => "The agent is gone. Nothing was allowed.",
        Withdrawn::ClientGone => "The agent's client is gone. Nothing was allowed.",
        Withdrawn::AnsweredInClient => "It was answered in the agent's own client. Nothing was decided here.",
        Withdrawn::CardRemoved => "The card was removed from the room, or its thread was closed. Nothing was allowed.",
        Withdrawn::BridgeStopped => "The bridge stopped. Nothing was allowed.",
        Withdrawn::BridgeRestarted => "The bridge restarted. Nothing was allowed.",
    }
}

fn refused(why: &Refused) -> Vec<Words> {
    let because = |before, what: &str, after| vec![Words::ours(before), Words::Theirs(what.to_owned()), Words::ours(after)];
    match why {
        Refused::ByPolicy => vec![Words::ours("Refused by the operator's policy. Nobody was asked.")],
        Refused::Malformed(what) => because("Refused: the request could not be understood (", what, ")."),
        Refused::TooMany => vec![Words::ours("Refused: too many requests are waiting already.")],
        Refused::NotShowable(what) => because("Refused: it cannot be shown here whole, because ", what, "."),
        Refused::RoomUnavailable(what) => because("Refused: this room could not be used (", what, ")."),
        Refused::Changed => vec![Words::ours("Refused: the agent changed what it would do while people were deciding.")],
        Refused::NotRecorded => vec![Words::ours("Refused: it could not be recorded.")],
        Refused::NoRoom => vec![Words::ours("Refused: no room is configured for it.")],
    }
}

#[cfg(test)]
mod tests {
    use bridge_model::{PersonId, Shown};

    use super::*;

    #[test]
    fn a_choice_is_told_in_the_agents_label_with_the_persons_id() {
        let said = |delivery| ending_text(&answered("Ada", "Yes", delivery));
        assert_eq!(
            said(Delivery::Pending),
            "\"Ada\" (@ada:localhost) chose \"Yes\" (allows once). It is being delivered to the agent."
        );
        assert_eq!(said(Delivery::Taken), "\"Ada\" (@ada:localhost) chose \"Yes\" (allows once). The agent has it.");
    }

    #[test]
    fn a_headline_is_taken_apart_where_it_was_put_together() {
        let said = |text: &str| headline(text);
        let theirs = |text: &str| Words::Theirs(text.to_owned());
        assert_eq!(
            said("\"Ada's: x wants to read: y\" wants to run: rm: -rf"),
            [Words::Name("Ada's: x wants to read: y".to_owned()), Words::ours(" wants to run: "), theirs("rm: -rf")]
        );
        assert_eq!(said("An agent wants to do: x"), [Words::ours("An agent"), Words::ours(" wants to do: "), theirs("x")]);
        for other in [
            "An agent wants to [read it](https://evil.example): x",
            "\"x\" wants to <@1>: y",
            "Ada has approved: x",
            "\"Ada\" says: x",
            "An agent",
            "\"Ada wants to run: x",
            "",
        ] {
            assert_eq!(said(other), [theirs(other)], "{other:?}");
        }
    }

    #[test]
    fn neither_a_name_nor_a_label_leaves_its_quotes() {
        let said = ending_text(&answered("Ada\" (@eve:x) chose \"Yes", "No\". The \u{201c}agent", Delivery::Taken));
        assert_eq!(
            said,
            "\"Ada' (@eve:x) chose 'Yes\" (@ada:localhost) chose \"No'. The 'agent\" (allows once). The agent has it."
        );
    }

    #[test]
    fn a_choice_that_counted_is_not_answered() {
        assert_eq!(reply(&ClickReply::Chosen), None);
        let late = reply(&ClickReply::TooLate(Ending::Expired)).expect("a reply");
        assert_eq!(plain(&late), "Your click came too late: Nobody answered in time. Nothing was allowed.");
    }

    fn answered(name: &str, option: &str, delivery: Delivery) -> Ending {
        Ending::Answered {
            person: PersonId::new("@ada:localhost"),
            name: Shown::line(name),
            option: Shown::line(option),
            does: ButtonStyle::AllowOnce,
            delivery,
        }
    }
}
