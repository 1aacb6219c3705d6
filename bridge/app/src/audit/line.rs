//! One line of the audit.

use bridge_core::Entry;
use bridge_model::{Ending, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// As it is written. Its members stay in this order, since its hash is of the text.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    pub(super) seq: u64,
    /// Milliseconds since the Unix epoch.
    pub(super) at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) request: Option<String>,
    #[serde(flatten)]
    pub(super) what: What<'a>,
}

#[derive(Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(super) enum What<'a> {
    /// It waits for a person from now on. `shown`: what its card shows, by its digest.
    Held {
        room: &'a str,
        deadline: u64,
        shown: String,
    },
    Posted {
        room: &'a str,
        card: &'a str,
    },
    ChosenFirst {
        person: &'a str,
        option: &'a str,
    },
    /// Once more when it is known whether the agent has the answer.
    Settled {
        ending: &'a Ending,
    },
    /// The lines up to this one were left out as too old. `hash`: of the last of them.
    Forgotten {
        up_to: u64,
        hash: &'a str,
    },
}

impl<'a> What<'a> {
    pub(super) fn of(entry: &'a Entry) -> Self {
        match entry {
            Entry::Held { room, deadline, shown, .. } => {
                Self::Held { room: room.as_str(), deadline: deadline.unix_millis(), shown: shown.to_string() }
            }
            Entry::Posted { card, .. } => Self::Posted { room: card.room.as_str(), card: card.control.as_str() },
            Entry::ChosenFirst { person, option, .. } => Self::ChosenFirst { person: person.as_str(), option: option.as_str() },
            Entry::Settled { ending, .. } => Self::Settled { ending },
        }
    }
}

/// What a line says of itself.
pub(super) struct Told {
    pub(super) seq: u64,
    pub(super) at: u64,
    /// The last line that was left out, and its hash.
    pub(super) forgotten: Option<(u64, String)>,
}

#[derive(Deserialize)]
struct Read {
    seq: u64,
    at: u64,
    what: String,
    up_to: Option<u64>,
    hash: Option<String>,
}

impl Told {
    pub(super) fn read(line: &str) -> Option<Self> {
        let Read { seq, at, what, up_to, hash } = serde_json::from_str(line).ok()?;
        Some(Self { seq, at, forgotten: up_to.zip(hash).filter(|_| what == "forgotten") })
    }
}

/// A line for people.
pub(super) fn for_people(line: &str) -> String {
    let Ok(line) = serde_json::from_str::<Value>(line) else { return format!("(not readable) {line}") };
    let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let at = Timestamp::from_unix_millis(line["at"].as_u64().unwrap_or_default());
    let told = match line["what"].as_str() {
        Some("held") => {
            let until = Timestamp::from_unix_millis(line["deadline"].as_u64().unwrap_or_default());
            format!("waits in {} until {until}, shown as {}", text("room"), text("shown"))
        }
        Some("posted") => format!("is on the card {} in {}", text("card"), text("room")),
        Some("chosen_first") => format!("{} is the first of two who chose {:?}", text("person"), text("option")),
        Some("settled") => {
            serde_json::from_value(line["ending"].clone()).map_or_else(|_| "ended".to_owned(), |ending| ended(&ending))
        }
        Some("forgotten") => format!("lines up to {} were left out as too old; the last was {}", line["up_to"], text("hash")),
        Some(_) | None => line.to_string(),
    };
    let request = text("request");
    let about = if request.is_empty() { String::new() } else { format!("request {request}  ") };
    format!("{}  {at}  {about}{told}", line["seq"])
}

fn ended(ending: &Ending) -> String {
    match ending {
        Ending::Answered { person, option, first, delivery, .. } => {
            let with = first.as_ref().map(|first| format!(", after {}", first.person)).unwrap_or_default();
            format!("{person} chose {:?}{with}; {delivery:?}", option.as_str())
        }
        Ending::Expired => "nobody answered in time; refused".to_owned(),
        Ending::Withdrawn(why) => format!("withdrawn: {why:?}"),
        Ending::Refused(why) => format!("refused: {why:?}"),
    }
}
