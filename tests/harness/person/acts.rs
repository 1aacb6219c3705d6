//! What a person does.

use serde_json::{Value, json};

use crate::cards::SeenCard;
use crate::person::Member;

const POLL_RESPONSE: &str = "org.matrix.msc3381.poll.response";

impl Member {
    /// Makes a private room with these people invited, encrypted or not. They get power 50, enough for any bot.
    pub async fn create_room(&self, encrypted: bool, invited: &[&str]) -> String {
        let encryption = json!({"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}});
        let state = if encrypted { json!([encryption]) } else { json!([]) };
        let room = json!({"preset": "private_chat", "invite": invited, "initial_state": state});
        let room = self.http.create_room(&room).await;
        for user in invited {
            self.http.set_power(&room, user, 50).await;
        }
        self.joined(&room).await;
        room
    }

    /// Joins, and returns once this client knows.
    pub async fn join(&self, room: &str) {
        self.http.join(room).await;
        self.joined(room).await;
    }

    /// Presses the button with this label; the id of the event.
    pub async fn press(&self, card: &SeenCard, label: &str) -> String {
        self.press_token(card, card.token(label)).await
    }

    pub async fn press_token(&self, card: &SeenCard, token: &str) -> String {
        self.press_raw(&card.room, &response_to(&card.poll_event, &[token])).await
    }

    /// Sends any content as the answer to a poll.
    pub async fn press_raw(&self, room: &str, content: &Value) -> String {
        self.send(room, POLL_RESPONSE, content).await
    }

    pub async fn say(&self, room: &str, text: &str) -> String {
        self.send(room, "m.room.message", &json!({"msgtype": "m.text", "body": text})).await
    }

    /// Reactions are in clear in every room.
    pub async fn react(&self, room: &str, event: &str, key: &str) -> String {
        self.http.react(room, event, key).await
    }

    /// Sends an event, encrypted where the room is; the id of the event.
    pub async fn send(&self, room: &str, kind: &str, content: &Value) -> String {
        self.try_send(room, kind, content).await.expect("the event can be sent")
    }

    /// Like [`Member::send`], for what may be refused.
    pub async fn try_send(&self, room: &str, kind: &str, content: &Value) -> matrix_sdk::Result<String> {
        let room = self.joined(room).await;
        let sent = room.send_raw(kind, content.clone()).await?;
        Ok(sent.response.event_id.to_string())
    }

    /// Joins every room that `from` has invited this person to.
    pub async fn accept_invites_from(&self, from: &str) {
        for room in self.client().invited_rooms() {
            let inviter = room.invite_details().await.ok().and_then(|invite| invite.inviter);
            if inviter.is_some_and(|inviter| inviter.user_id() == from) {
                self.join(room.room_id().as_str()).await;
            }
        }
    }
}

/// The content of a poll response.
fn response_to(poll: &str, tokens: &[&str]) -> Value {
    json!({"m.relates_to": {"rel_type": "m.reference", "event_id": poll}, POLL_RESPONSE: {"answers": tokens}})
}
