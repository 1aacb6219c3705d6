//! How a held request ends, and what became of the answer.

use serde::{Deserialize, Serialize};

use crate::{ButtonStyle, PersonId, Shown};

/// How a held request ended. The card says exactly this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// A person chose an option.
    Answered {
        person: PersonId,
        /// The person's name at that time, or their id where they have none.
        name: Shown,
        /// The agent's own label.
        option: Shown,
        /// What the option does, by its kind.
        #[serde(default)]
        does: ButtonStyle,
        /// Who chose the same before, where it took two.
        #[serde(default)]
        first: Option<Approver>,
        delivery: Delivery,
    },
    /// The deadline passed first.
    Expired,
    Withdrawn(Withdrawn),
    Refused(Refused),
}

/// Somebody who chose an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approver {
    pub person: PersonId,
    /// The person's name at that time, or their id where they have none.
    pub name: Shown,
}

/// What the agent's side did with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Delivery {
    /// On its way.
    Pending,
    /// The agent's side has taken it.
    Taken,
    NotDelivered(NotDelivered),
}

/// Why an answer did not reach the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NotDelivered {
    /// The agent had withdrawn the request in the meantime.
    Withdrawn,
    /// The agent is gone, or its input is closed.
    AgentGone,
    /// The bridge stopped before it was known whether the agent had it.
    BridgeRestarted,
    /// The decision could not be written to the ledger, so the agent was refused instead.
    NotRecorded,
}

/// Who or what took a request back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Withdrawn {
    /// The agent cancelled its own request.
    ByAgent,
    /// The agent's client cancelled the turn.
    TurnCancelled,
    /// The turn, or the tool call, ended without waiting for an answer.
    TurnEnded,
    /// The agent asked anew under the same id.
    Superseded,
    AgentGone,
    ClientGone,
    /// The client was also asked and answered first.
    AnsweredInClient,
    /// A moderator removed the card.
    CardRemoved,
    /// The agent changed what it would do, and people are asked anew on another card.
    AskedAgain,
    BridgeStopped,
    /// A run of the bridge that is over had asked; what it held was refused when it ended.
    BridgeRestarted,
}

/// Why a request was refused without a person choosing so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refused {
    /// The operator's policy denies it; the text says by which rule and reads after "because ".
    ByPolicy(String),
    /// The request could not be understood; the text says what was wrong with it.
    Malformed(String),
    /// Too many requests are held already.
    TooMany,
    /// More came within a minute than people can look at.
    TooFast,
    /// People refused the same thing time and again a short while ago.
    RefusedBefore,
    /// Nobody who may answer is in the room.
    Nobody,
    /// The card cannot show the request as it must; the text says why.
    NotShowable(String),
    /// The room could not be reached or is lost; the text says why.
    RoomUnavailable(String),
    /// The agent changed what it would do while people were deciding; the text names the parts of the card that are not
    /// as they were.
    Changed(String),
    /// It could not be written to the ledger.
    NotRecorded,
    /// No room is configured.
    NoRoom,
}
