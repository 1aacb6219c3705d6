//! What a card shows whole though a message cannot hold it: a text file.

use std::fmt::Write as _;

use bridge_core::wording::{does, plain_card};
use bridge_model::Card;
use sha2::{Digest as _, Sha256};

pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Every detail of the card, as plain text.
pub(crate) fn whole(card: &Card) -> File {
    let mut text = plain_card(card);
    let _ = writeln!(text, "\nButtons:");
    for button in &card.buttons {
        let _ = writeln!(text, "    {} ({})", button.label, does(button.style));
    }
    File { name: format!("request-{}.txt", card.request.number), bytes: text.into_bytes() }
}

/// What the message says about its file.
pub(crate) fn note(file: &File) -> String {
    let digest = Sha256::digest(&file.bytes).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let characters = String::from_utf8_lossy(&file.bytes).chars().count();
    format!("**Read the file before you decide:** `{}`, {characters} characters\n-# SHA-256 `{digest}`", file.name)
}
