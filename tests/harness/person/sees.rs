//! What a person sees, and waits to see.

use matrix_sdk::media::{MediaFormat, MediaRequestParameters};
use matrix_sdk::ruma::events::room::MediaSource;

use crate::cards::{self, SeenCard, SeenFile, Shown};
use crate::person::Member;
use crate::sight::Seen;
use crate::wait::until;

impl Member {
    /// The next card in this room that was not handed out before.
    pub async fn wait_for_card(&self, room: &str) -> SeenCard {
        self.wait_for_card_where(room, |_| true).await
    }

    pub async fn wait_for_card_where(&self, room: &str, mut is_it: impl FnMut(&SeenCard) -> bool) -> SeenCard {
        let new = |events: &[Seen]| {
            let taken = self.taken.lock().expect("no panic while it was locked");
            cards::cards(events, room).into_iter().find(|card| !taken.contains(&card.poll_event) && is_it(card))
        };
        let card = self.sight.wait_for(&format!("a card in {room}"), new).await;
        self.taken.lock().expect("no panic while it was locked").insert(card.poll_event.clone());
        card
    }

    /// All cards of this room so far.
    pub fn cards(&self, room: &str) -> Vec<SeenCard> {
        cards::cards(&self.sight.events(), room)
    }

    /// What asks this person to confirm that they chose `label` on a card.
    pub async fn wait_for_confirmation(&self, room: &str, label: &str) -> SeenCard {
        let find = |events: &[Seen]| {
            let asked = cards::confirmations(events, room, &self.user_id);
            asked.into_iter().find(|asked| asked.labels() == [label])
        };
        self.sight.wait_for(&format!("being asked about {label:?}"), find).await
    }

    /// All events of this room so far.
    pub fn events(&self, room: &str) -> Vec<Seen> {
        self.sight.events().iter().filter(|seen| seen.room == room).cloned().collect()
    }

    /// Waits for an event in this room.
    pub async fn wait_for_event(&self, what: &str, room: &str, mut is_it: impl FnMut(&Seen) -> bool) -> Seen {
        let find = |events: &[Seen]| events.iter().find(|seen| seen.room == room && is_it(seen)).cloned();
        self.sight.wait_for(what, find).await
    }

    /// A message as it is shown after its author's edits so far.
    pub fn latest_edit_of(&self, message: &str) -> Option<Shown> {
        cards::latest(&self.sight.events(), message)
    }

    /// Waits until a message is shown, edited or not, in a way that satisfies.
    pub async fn wait_for_edit(&self, message: &str, satisfies: impl Fn(&Shown) -> bool) -> Shown {
        let find = |events: &[Seen]| cards::latest(events, message).filter(|shown| satisfies(shown));
        self.sight.wait_for(&format!("an edit of {message}"), find).await
    }

    /// Downloads a file, and decrypts it where it is encrypted.
    pub async fn read(&self, file: &SeenFile) -> Vec<u8> {
        let source: MediaSource = serde_json::from_value(file.content.clone()).expect("it says where it is");
        let request = MediaRequestParameters { source, format: MediaFormat::File };
        self.client().media().get_media_content(&request, false).await.expect("it can be downloaded")
    }

    pub fn poll_ended(&self, poll: &str) -> bool {
        cards::is_ended(&self.sight.events(), poll)
    }

    pub async fn wait_for_poll_end(&self, poll: &str) {
        self.sight.wait_for(&format!("the end of {poll}"), |events| cards::is_ended(events, poll).then_some(())).await;
    }

    /// Texts of `from` in rooms other than `but`, as a rule direct messages.
    pub async fn direct_messages_from(&self, from: &str, but: &[&str]) -> Vec<String> {
        self.accept_invites_from(from).await;
        let events = self.sight.events();
        let direct = events
            .iter()
            .filter(|seen| seen.kind() == "m.room.message" && seen.sender() == from && !but.contains(&seen.room.as_str()));
        direct.filter_map(|seen| seen.event["content"]["body"].as_str().map(str::to_owned)).collect()
    }

    /// Accepts invites from `from` until a direct message satisfies.
    pub async fn wait_for_direct_message(&self, from: &str, but: &[&str], satisfies: impl Fn(&str) -> bool) -> String {
        let ask = async || self.direct_messages_from(from, but).await.into_iter().find(|text| satisfies(text));
        until(&format!("a direct message from {from}"), ask).await
    }
}
