//! Conversions between the bridge's opaque ids and Matrix's.

use bridge_core::RoomError;
use bridge_model::{MessageId, PersonId};
use matrix_sdk::ruma::{EventId, OwnedEventId, OwnedRoomId, OwnedUserId, RoomId, UserId};

pub(crate) fn message_id(event: &EventId) -> MessageId {
    MessageId::new(event.as_str())
}

pub(crate) fn person_id(user: &UserId) -> PersonId {
    PersonId::new(user.as_str())
}

/// An event id that this adapter made into a [`MessageId`] in this run or an earlier one.
pub(crate) fn event_id(message: &MessageId) -> Result<OwnedEventId, RoomError> {
    EventId::parse(message.as_str()).map_err(|_| RoomError::Refused(format!("{message} is not a Matrix event id")))
}

pub(crate) fn user_id(text: &str) -> Result<OwnedUserId, RoomError> {
    UserId::parse(text).map_err(|_| RoomError::Refused(format!("{text} is not a Matrix user id such as @bot:example.org")))
}

pub(crate) fn room_id(text: &str) -> Result<OwnedRoomId, RoomError> {
    let hint = "is not a Matrix room id; it begins with !, and an alias such as #room:example.org does not do";
    RoomId::parse(text).map_err(|_| RoomError::Refused(format!("{text} {hint}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_is_not_taken_for_a_room_id() {
        assert!(room_id("#room:example.org").is_err());
        assert!(room_id("!abc:example.org").is_ok());
        // Room version 12 has no server name in it.
        assert!(room_id("!31hneApxJ_1o-63DmFrpeqnkFfWppnzWso1JvH3ogLM").is_ok());
    }

    #[test]
    fn a_foreign_id_is_not_an_event() {
        assert!(event_id(&MessageId::new("1234567890")).is_err());
        assert!(event_id(&MessageId::new("$abc")).is_ok());
    }
}
