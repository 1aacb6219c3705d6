//! What people are told, in the same words in every room.

use bridge_model::{
    Approver, ButtonStyle, ClickReply, Delivery, Ending, NotDelivered, PersonId, Refused, RequestId, RoomName, Timestamp,
    ToConfirm, ToolKind, Withdrawn,
};

use crate::card::OBJECT_MAX;

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
    Time(Timestamp),
    /// An instant to come, after a verb: "at …", or what is left until then.
    Due(Timestamp),
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
            Self::Time(at) => at.to_string(),
            Self::Due(at) => format!("at {at}"),
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

/// What a headline begins with: a notification keeps it however long the rest is, and nothing of the agent's runs into it.
#[must_use]
pub fn number(request: RequestId) -> String {
    format!("#{} · ", request.number)
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
        is_wants(ours).then_some(())?;
        // Only what was cut is longer than what is kept, and what follows that is ours.
        let kept = object.char_indices().nth(OBJECT_MAX).map_or(object.len(), |(at, _)| at);
        let (object, more) = object.split_at(kept);
        let more = (!more.is_empty()).then(|| Words::ours(more));
        Some([agent, Words::Ours(format!("{ours}: ")), Words::Theirs(object.to_owned())].into_iter().chain(more).collect())
    };
    parts().unwrap_or_else(|| vec![Words::Theirs(text.to_owned())])
}

/// How a request ended and when, in sentences that are true whenever they are read.
#[must_use]
pub fn ending(ending: &Ending, at: Option<Timestamp>) -> Vec<Words> {
    let when = |before: &str| at.into_iter().flat_map(|at| [Words::ours(before), Words::Time(at)]).collect::<Vec<_>>();
    let ended = |said: Vec<Words>| {
        let full_stop = at.map(|_| Words::ours("."));
        said.into_iter().chain(when(" Ended at ")).chain(full_stop).collect()
    };
    match ending {
        Ending::Answered { person, name, option, does, first, delivery } => {
            let also = first.iter().flat_map(|Approver { person, name }| {
                [Words::Person { name: name.to_string(), id: person.clone() }, Words::ours(" and ")]
            });
            let chose = also.chain([
                Words::Person { name: name.to_string(), id: person.clone() },
                Words::ours(" chose "),
                Words::Name(option.to_string()),
                Words::Ours(format!(" ({})", self::does(*does))),
            ]);
            [chose.collect(), when(" at "), vec![Words::Ours(format!(". {}", delivery_text(*delivery)))]].concat()
        }
        Ending::Expired => ended(vec![Words::ours("Nobody answered in time. Nothing was allowed.")]),
        Ending::Withdrawn(why) => ended(vec![Words::ours(withdrawn_text(*why))]),
        Ending::Refused(why) => ended(refused(why).into_iter().chain([Words::ours(" Nothing was allowed.")]).collect()),
    }
}

/// [`ending`] as plain text.
#[must_use]
pub fn ending_text(ending: &Ending, at: Option<Timestamp>) -> String {
    plain(&self::ending(ending, at))
}

/// What somebody is told about their click; nothing where it counted, since the card says that already.
#[must_use]
pub fn reply(reply: &ClickReply) -> Option<Vec<Words>> {
    let said = match reply {
        ClickReply::Chosen => return None,
        ClickReply::IsFirst => vec![Words::ours("Your choice counts. One more person has to choose the same.")],
        ClickReply::Differs { name, option } => vec![
            Words::ours("Your click did not count: "),
            Words::Name(name.to_string()),
            Words::ours(" chose "),
            Words::Name(option.to_string()),
            Words::ours(", and two people have to choose the same. Choose that, or refuse."),
        ],
        ClickReply::ToConfirm(asked) => confirm(asked),
        ClickReply::TooLate(ending) => [vec![Words::ours("Your click came too late: ")], self::ending(ending, None)].concat(),
        ClickReply::MayNotAnswer(why) => vec![Words::Ours(format!("Your click did not count: {why}"))],
        ClickReply::NothingWaits => vec![Words::ours("Your click did not count: nothing waits for an answer there.")],
    };
    Some(said)
}

/// What somebody is asked to confirm, above the one button that does.
fn confirm(asked: &ToConfirm) -> Vec<Words> {
    let chose = vec![
        Words::ours("You chose "),
        Words::Name(asked.button.label.to_string()),
        Words::Ours(format!(", which {}. ", allows(asked.button.style))),
    ];
    let covers = asked.covers.iter().flat_map(|covers| {
        [Words::ours("It covers, in the agent's words: "), Words::Theirs(covers.to_string()), Words::ours(". ")]
    });
    let another = asked.needs_another.then(|| Words::ours(" One more person has to choose the same afterwards."));
    let until = [
        Words::ours(". If you mean it, confirm it."),
        another.unwrap_or_else(|| Words::ours("")),
        Words::ours(" Otherwise nothing is decided. This question expires "),
        Words::Due(asked.until),
        Words::ours("."),
    ];
    [chose, covers.collect(), headline(asked.headline.as_str()), until.to_vec()].concat()
}

/// What choosing an option does, after "which".
const fn allows(style: ButtonStyle) -> &'static str {
    match style {
        ButtonStyle::Neutral => "is of unknown kind and does what the agent decides",
        ButtonStyle::AllowOnce | ButtonStyle::AllowAlways | ButtonStyle::Reject | ButtonStyle::RejectAlways => does(style),
    }
}

/// What calls a request to mind. `elsewhere`: the room of its card, if that is another.
pub(crate) fn still_waits(id: RequestId, headline: &str, deadline: Timestamp, elsewhere: Option<&RoomName>) -> Vec<Words> {
    let place = elsewhere.map(|room| format!(" in {room}")).unwrap_or_default();
    let begin =
        vec![Words::Ours(format!("Request #{} still waits for an answer{place}. It expires ", id.number)), Words::Due(deadline)];
    [begin, vec![Words::ours(": ")], self::headline(headline)].concat()
}

/// What is told of refusals that were not told each.
pub(crate) fn refused_meanwhile(count: u64) -> String {
    let (requests, were) = if count == 1 { ("request", "was") } else { ("requests", "were") };
    format!("{count} more {requests} {were} refused within a minute, because too many came. Nothing was allowed.")
}

/// What a headline's object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    Deed,
    /// The first of so many.
    Files(usize),
    /// Only what the agent calls it.
    Title,
}

/// The middle of a headline, in our own words.
pub(crate) fn wants(kind: ToolKind, about: About) -> String {
    let how = match about {
        About::Deed => String::new(),
        About::Files(count) => format!(", among {count} files"),
        About::Title => AS_IT_CALLS_IT.to_owned(),
    };
    format!(" wants to {}{how}: ", verb(kind))
}

const AS_IT_CALLS_IT: &str = ", as it calls it";

/// Whether this is what [`wants`] says, without what divides it from the object.
fn is_wants(ours: &str) -> bool {
    let how = |rest: &str| {
        let count = rest.strip_prefix(", among ").and_then(|rest| rest.strip_suffix(" files"));
        rest.is_empty() || rest == AS_IT_CALLS_IT || count.is_some_and(|count| count.parse::<usize>().is_ok())
    };
    let said = ours.strip_prefix(" wants to ");
    said.is_some_and(|said| ToolKind::ALL.iter().any(|kind| said.strip_prefix(verb(*kind)).is_some_and(how)))
}

/// What an agent wants, by the kind of its tool call.
const fn verb(kind: ToolKind) -> &'static str {
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
        ToolKind::Other | ToolKind::Unknown => "do",
    }
}

/// What an option does, by its kind; a label may say anything. How far an "always" goes, and what an option of unknown kind
/// does, only the agent knows.
#[must_use]
pub const fn does(style: ButtonStyle) -> &'static str {
    match style {
        ButtonStyle::AllowOnce => "allows once",
        ButtonStyle::AllowAlways => "allows more than this once, as far as the agent decides",
        ButtonStyle::Reject => "refuses",
        ButtonStyle::RejectAlways => "refuses more than this once, as far as the agent decides",
        ButtonStyle::Neutral => "of unknown kind, does what the agent decides",
    }
}

/// An option: first what it does, since its label may claim anything.
#[must_use]
pub fn labelled(label: &str, style: ButtonStyle) -> String {
    format!("{}: {label}", capitalised(does(style)))
}

/// The label of the button that confirms the choice of an option.
#[must_use]
pub fn confirming(label: &str) -> String {
    format!("Confirm: {label}")
}

/// One of our own phrases as the beginning of a line.
#[must_use]
pub fn capitalised(phrase: &str) -> String {
    let mut letters = phrase.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
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
        Withdrawn::AskedAgain => {
            "The agent changed what it would do. This card no longer counts, and people are asked anew on another."
        }
        Withdrawn::CardRemoved => "The card was removed from the room, or its thread was closed. Nothing was allowed.",
        Withdrawn::BridgeStopped => "The bridge stopped. Nothing was allowed.",
        Withdrawn::BridgeRestarted => "The bridge restarted. Nothing was allowed.",
    }
}

fn refused(why: &Refused) -> Vec<Words> {
    let because = |before, what: &str, after| vec![Words::ours(before), Words::Theirs(what.to_owned()), Words::ours(after)];
    match why {
        Refused::ByPolicy(what) => because("Refused without asking anybody, because ", what, "."),
        Refused::Malformed(what) => because("Refused: the request could not be understood (", what, ")."),
        Refused::TooMany => vec![Words::ours("Refused: too many requests are waiting already.")],
        Refused::TooFast => vec![Words::ours("Refused: more requests came within a minute than people can look at.")],
        Refused::RefusedBefore => {
            vec![Words::ours("Refused: people refused the same thing several times just now, and are not asked again yet.")]
        }
        Refused::Nobody => vec![Words::ours("Refused: nobody who may answer is in this room.")],
        Refused::NotShowable(what) => because("Refused: it cannot be shown here whole, because ", what, "."),
        Refused::RoomUnavailable(what) => because("Refused: this room could not be used (", what, ")."),
        Refused::Changed(what) if what.is_empty() => {
            vec![Words::ours(
                "Refused: the agent changed what it would do while people were deciding, in a way that cannot be shown.",
            )]
        }
        Refused::Changed(what) => {
            because("Refused: the agent changed what it would do while people were deciding. Not as it was: ", what, ".")
        }
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
        let said = |delivery| ending_text(&answered("Ada", "Yes", delivery), None);
        assert_eq!(
            said(Delivery::Pending),
            "\"Ada\" (@ada:localhost) chose \"Yes\" (allows once). It is being delivered to the agent."
        );
        assert_eq!(said(Delivery::Taken), "\"Ada\" (@ada:localhost) chose \"Yes\" (allows once). The agent has it.");
    }

    #[test]
    fn what_only_the_agent_knows_is_said_to_be_the_agents() {
        for style in [ButtonStyle::AllowAlways, ButtonStyle::RejectAlways, ButtonStyle::Neutral] {
            assert!(does(style).ends_with(" the agent decides"), "{style:?}");
        }
        assert_eq!([does(ButtonStyle::AllowOnce), does(ButtonStyle::Reject)], ["allows once", "refuses"]);
    }

    #[test]
    fn an_ending_says_when_it_was() {
        let at = Some(Timestamp::from_unix_millis(0));
        assert_eq!(
            ending_text(&answered("Ada", "Yes", Delivery::Taken), at),
            "\"Ada\" (@ada:localhost) chose \"Yes\" (allows once) at 1970-01-01 00:00:00 UTC. The agent has it."
        );
        assert_eq!(
            ending_text(&Ending::Expired, at),
            "Nobody answered in time. Nothing was allowed. Ended at 1970-01-01 00:00:00 UTC."
        );
    }

    #[test]
    fn a_headline_is_taken_apart_where_it_was_put_together() {
        let said = |text: &str| headline(text);
        let theirs = |text: &str| Words::Theirs(text.to_owned());
        assert_eq!(
            said("\"Ada's: x wants to read: y\" wants to run: rm: -rf"),
            [Words::Name("Ada's: x wants to read: y".to_owned()), Words::ours(" wants to run: "), theirs("rm: -rf")]
        );
        for ours in [" wants to edit, among 2 files: ", " wants to run, as it calls it: "] {
            assert_eq!(said(&format!("An agent{ours}x")), [Words::ours("An agent"), Words::ours(ours), theirs("x")]);
        }
        assert_eq!(said("An agent wants to do: x"), [Words::ours("An agent"), Words::ours(" wants to do: "), theirs("x")]);
        for other in [
            "An agent wants to [read it](https://evil.example): x",
            "\"x\" wants to <@1>: y",
            "Ada has approved: x",
            "An agent wants to run, which is harmless: x",
            "An agent wants to edit, among no files: x",
            "\"Ada\" says: x",
            "An agent",
            "\"Ada wants to run: x",
            "",
        ] {
            assert_eq!(said(other), [theirs(other)], "{other:?}");
        }
    }

    #[test]
    fn how_much_of_a_headline_is_missing_only_we_can_say() {
        let cut = format!("{}…", "x".repeat(OBJECT_MAX - 1));
        let more = " (+7 characters)";
        let pieces = headline(&format!("An agent wants to run: {cut}{more}"));
        assert_eq!(pieces[2..], [Words::Theirs(cut), Words::ours(more)]);
        let forged = format!("rm -rf ~…{more}");
        assert_eq!(headline(&format!("An agent wants to run: {forged}")).last(), Some(&Words::Theirs(forged)));
    }

    #[test]
    fn neither_a_name_nor_a_label_leaves_its_quotes() {
        let said = ending_text(&answered("Ada\" (@eve:x) chose \"Yes", "No\". The \u{201c}agent", Delivery::Taken), None);
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
            first: None,
            delivery,
        }
    }
}
