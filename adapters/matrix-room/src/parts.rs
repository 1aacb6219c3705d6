//! The events that a card is made of, and how they are named in a [`CardRef`].

use bridge_core::RoomError;
use bridge_model::{CardRef, MessageId, RoomName};
use matrix_sdk::ruma::OwnedEventId;

use crate::id;

/// Tells the file from the seeds, which go when the card is closed. No event id begins so.
const FILE: &str = "file:";

/// A card as it stands in its room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) control: OwnedEventId,
    pub(crate) message: OwnedEventId,
    pub(crate) file: Option<OwnedEventId>,
    pub(crate) seeds: Vec<OwnedEventId>,
}

impl Parts {
    /// Reads what [`Parts::card_ref`] wrote, in this run or an earlier one.
    pub(crate) fn parse(card: &CardRef) -> Result<Self, RoomError> {
        let unknown = || RoomError::Refused("the card's message is not known".to_owned());
        let (message, rest) = card.parts.split_first().ok_or_else(unknown)?;
        let (mut file, mut seeds) = (None, Vec::new());
        for part in rest {
            match part.as_str().strip_prefix(FILE) {
                Some(event) => file = Some(id::event_id(&MessageId::new(event))?),
                None => seeds.push(id::event_id(part)?),
            }
        }
        Ok(Self { control: id::event_id(&card.control)?, message: id::event_id(message)?, file, seeds })
    }

    pub(crate) fn card_ref(&self, room: &RoomName) -> CardRef {
        let file = self.file.iter().map(|file| MessageId::new(format!("{FILE}{file}")));
        let seeds = self.seeds.iter().map(|seed| id::message_id(seed));
        let parts = [id::message_id(&self.message)].into_iter().chain(file).chain(seeds).collect();
        CardRef { room: room.clone(), control: id::message_id(&self.control), parts }
    }
}

#[cfg(test)]
mod tests {
    use matrix_sdk::ruma::EventId;

    use super::*;

    #[test]
    fn what_a_card_is_made_of_reads_back_as_it_was_written() {
        for (file, seeds) in [(None, vec![]), (Some("$file"), vec![]), (None, vec!["$a", "$b"]), (Some("$file"), vec!["$a"])] {
            let parts = Parts {
                control: event("$poll"),
                message: event("$message"),
                file: file.map(event),
                seeds: seeds.into_iter().map(event).collect(),
            };
            let card = parts.card_ref(&RoomName::new("ops"));
            assert_eq!((card.control.as_str(), card.parts[0].as_str()), ("$poll", "$message"));
            assert_eq!(Parts::parse(&card), Ok(parts));
        }
    }

    #[test]
    fn what_names_no_events_is_no_card() {
        for parts in [vec![], vec!["message"], vec!["$message", "seed"], vec!["$message", "file:"]] {
            let parts = parts.into_iter().map(MessageId::new).collect();
            let card = CardRef { room: RoomName::new("ops"), control: MessageId::new("$poll"), parts };
            assert!(Parts::parse(&card).is_err(), "{card:?}");
        }
    }

    fn event(id: &str) -> OwnedEventId {
        EventId::parse(id).expect("an id")
    }
}
