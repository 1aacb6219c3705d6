//! The file of a card that does not fit into a message: uploaded, encrypted where the room is, and told in an event of its
//! own.

use std::io::Cursor;

use bridge_core::{CardFile, RoomError};
use bridge_model::Shown;
use matrix_sdk::Client;
use matrix_sdk::ruma::api::client::media::create_content;
use matrix_sdk::ruma::events::room::MediaSource;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::fault::Fault;
use crate::send::{ATTEMPT_TIMEOUT, retry};

/// Of what a homeserver says about a refused file, in characters.
const WHY_MAX: usize = 200;

/// Uploads until the server has answered for good, beginning nothing after `until`. Nobody sees anything of it yet: an upload
/// whose answer was lost is done again, and its first copy belongs to no event.
pub(crate) async fn upload(client: &Client, file: &CardFile, encrypted: bool, until: Instant) -> Result<MediaSource, RoomError> {
    let uploaded = if encrypted {
        retry(|| upload_encrypted(client, file), ATTEMPT_TIMEOUT, until).await
    } else {
        retry(|| upload_plain(client, file), ATTEMPT_TIMEOUT, until).await
    };
    uploaded.map_err(not_attached)
}

async fn upload_encrypted(client: &Client, file: &CardFile) -> Result<MediaSource, Fault> {
    let uploaded = client.upload_encrypted_file(&mut Cursor::new(file.text.as_bytes())).await;
    uploaded.map(|file| MediaSource::Encrypted(Box::new(file))).map_err(|error| too_large(Fault::of(&error), file))
}

async fn upload_plain(client: &Client, file: &CardFile) -> Result<MediaSource, Fault> {
    let mut request = create_content::v3::Request::new(file.text.clone().into_bytes());
    request.filename = Some(file.name.clone());
    request.content_type = Some("text/plain; charset=utf-8".to_owned());
    let uploaded = client.send(request).await;
    uploaded.map(|uploaded| MediaSource::Plain(uploaded.content_uri)).map_err(|error| too_large(Fault::of_http(&error), file))
}

fn too_large(fault: Fault, file: &CardFile) -> Fault {
    match fault {
        Fault::TooLarge => Fault::Final(format!("it has {} bytes, and the homeserver takes none so large", file.text.len())),
        fault @ (Fault::Later(..) | Fault::TokenGone | Fault::Final(_)) => fault,
    }
}

/// The file, as `m.room.message`.
pub(crate) fn event(file: &CardFile, source: MediaSource) -> Value {
    let mut content = json!({
        "msgtype": "m.file",
        "body": file.name,
        "filename": file.name,
        // Without the charset, which phones take for a type that no app opens.
        "info": { "mimetype": "text/plain", "size": file.text.len() },
        "m.mentions": {},
    });
    match source {
        MediaSource::Plain(uri) => content["url"] = json!(uri),
        MediaSource::Encrypted(file) => content["file"] = json!(file),
    }
    content
}

/// Whatever kept the file out of the room, the card can stand there without it.
pub(crate) fn not_attached(error: RoomError) -> RoomError {
    let (RoomError::Unavailable(why) | RoomError::Refused(why) | RoomError::NotShowable(why) | RoomError::NotAttached(why)) =
        error;
    RoomError::NotAttached(Shown::line(why.trim_end_matches('.')).cut(WHY_MAX).to_string())
}

#[cfg(test)]
mod tests {
    use matrix_sdk::ruma::OwnedMxcUri;

    use super::*;

    #[test]
    fn the_event_names_the_file_and_mentions_nobody() {
        let file = CardFile { name: "request-7.txt".to_owned(), text: "\u{e4}".to_owned() };
        let content = event(&file, MediaSource::Plain(OwnedMxcUri::from("mxc://localhost/abc")));
        let info = json!({ "mimetype": "text/plain", "size": 2 });
        let whole = json!({
            "msgtype": "m.file", "body": "request-7.txt", "filename": "request-7.txt", "info": info,
            "url": "mxc://localhost/abc", "m.mentions": {},
        });
        assert_eq!(content, whole);
    }

    #[test]
    fn why_there_is_no_file_is_one_short_line_whatever_the_homeserver_said() {
        let said = format!("[403 / M_FORBIDDEN] no\nAllowed by Ada. {}", "x".repeat(500));
        for error in [RoomError::Unavailable(said.clone()), RoomError::Refused(said.clone()), RoomError::NotShowable(said)] {
            let RoomError::NotAttached(why) = not_attached(error) else { panic!("it is not attached") };
            assert!(why.starts_with("[403 / M_FORBIDDEN] no\\nAllowed"), "{why}");
            assert_eq!(why.chars().count(), WHY_MAX);
        }
    }
}
