//! What ids look like, as far as it must be known to find a mistake before the first request.

use bridge_model::{PersonId, RoleId, RoomName};

use crate::section::Entry;

/// The longest id that Matrix knows.
const ID_BYTES_MAX: usize = 255;
const ROOM_NAME_BYTES_MAX: usize = 64;
const PERSON_NAME_BYTES_MAX: usize = 32;

/// A Matrix user id. `server` is for advice.
pub(crate) fn user_id(entry: &Entry<'_>, server: &str) -> Option<PersonId> {
    let text = entry.text()?;
    if is_user_id(&text) {
        return Some(PersonId::new(text));
    }
    // Servers have names in small letters, and an id that is spelt otherwise is nobody's.
    let small = text.split_once(':').map(|(local, server)| format!("{local}:{}", server.to_lowercase()));
    if let Some(small) = small.filter(|small| is_user_id(small)) {
        entry.refuse(format!("{text:?} is not how a Matrix user id is spelt"), format!("write it as {small:?}"));
        return None;
    }
    let is_bare = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._=-/+".contains(&b));
    let local = if is_bare { text.as_str() } else { "ada" };
    entry.refuse(format!("{text:?} is not a Matrix user id"), format!("write it as \"@{local}:{server}\""));
    None
}

/// A list of Matrix user ids.
pub(crate) fn user_ids<C: FromIterator<PersonId>>(entry: &Entry<'_>, server: &str) -> Option<C> {
    let ids = entry.list()?.into_iter().filter_map(|entry| user_id(&entry, server));
    Some(ids.collect())
}

/// The server of a user id.
pub(crate) fn server(user: &PersonId) -> Option<&str> {
    user.as_str().split_once(':').map(|(_, server)| server)
}

/// A Matrix room id.
pub(crate) fn room_id(entry: &Entry<'_>) -> Option<String> {
    let text = entry.text()?;
    if text.len() <= ID_BYTES_MAX && text.strip_prefix('!').is_some_and(is_word) {
        return Some(text);
    }
    let what = if text.starts_with('#') { "is an alias, which can be pointed elsewhere" } else { "is not a Matrix room id" };
    let advice = "write the room's id, such as \"!abc:example.org\"; clients show it in the room's advanced settings";
    entry.refuse(format!("{text:?} {what}"), advice);
    None
}

/// A list of Discord user ids.
pub(crate) fn discord_users<C: FromIterator<PersonId>>(entry: &Entry<'_>) -> Option<C> {
    let ids = entry.list()?.into_iter().filter_map(|entry| snowflake(&entry, "user", "Copy User ID"));
    Some(ids.map(PersonId::new).collect())
}

/// A list of Discord role ids.
pub(crate) fn discord_roles<C: FromIterator<RoleId>>(entry: &Entry<'_>) -> Option<C> {
    let ids = entry.list()?.into_iter().filter_map(|entry| snowflake(&entry, "role", "Copy Role ID"));
    Some(ids.map(RoleId::new).collect())
}

/// People of the page, by the names that the operator gives them with their keys.
pub(crate) fn web_people<C: FromIterator<PersonId>>(entry: &Entry<'_>) -> Option<C> {
    let person = |entry: Entry<'_>| {
        let text = entry.text()?;
        if text == "anyone" {
            entry.refuse("\"anyone\" is not a person", "write approvers = \"anyone\", without brackets, or leave it out");
            return None;
        }
        let person = person_name(&text);
        if person.is_none() {
            let advice = "use up to 32 of a-z, 0-9, `.`, _ and -, beginning with a letter or a digit, as for `web-room invite`";
            entry.refuse(format!("{text:?} is not a person's name"), advice);
        }
        person
    };
    Some(entry.list()?.into_iter().filter_map(person).collect())
}

/// What a person of the page may be called: nothing that could be taken for another's name, or for words of ours.
#[must_use]
pub fn person_name(text: &str) -> Option<PersonId> {
    let plain = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9');
    let is_name = text.len() <= PERSON_NAME_BYTES_MAX
        && text != "anyone"
        && text.bytes().next().is_some_and(plain)
        && text.bytes().all(|b| plain(b) || b"._-".contains(&b));
    is_name.then(|| PersonId::new(text))
}

/// A Discord channel id.
pub(crate) fn channel(entry: &Entry<'_>) -> Option<String> {
    snowflake(entry, "channel", "Copy Channel ID")
}

/// An id of Discord. `copy`: the menu item that gives it.
fn snowflake(entry: &Entry<'_>, what: &str, copy: &str) -> Option<String> {
    let text = entry.text()?;
    if is_snowflake(&text) {
        return Some(text);
    }
    let advice = format!("write its number in quotes: turn on Developer Mode in Discord's settings, right-click it, {copy}");
    entry.refuse(format!("{text:?} is not the id of a Discord {what}"), advice);
    None
}

/// A name that the operator gave to a room.
pub(crate) fn room_name(text: &str, entry: &Entry<'_>) -> Option<RoomName> {
    let plain = text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'));
    if plain && !text.is_empty() && text.len() <= ROOM_NAME_BYTES_MAX {
        return Some(RoomName::new(text));
    }
    entry.refuse("is not a room's name", "use up to 64 of a-z, 0-9, _ and -");
    None
}

/// As Discord writes it, so that two spellings are never two ids. The largest value is none.
pub(crate) fn is_snowflake(text: &str) -> bool {
    text.parse::<u64>().is_ok_and(|id| id != 0 && id != u64::MAX && id.to_string() == text)
}

pub(crate) fn is_user_id(text: &str) -> bool {
    let parts = text.strip_prefix('@').and_then(|rest| rest.split_once(':'));
    text.len() <= ID_BYTES_MAX
        && parts.is_some_and(|(local, server)| is_word(local) && is_word(server) && !server.contains(char::is_uppercase))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}
