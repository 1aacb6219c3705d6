//! Secrets and ids that the page hands out. All are 256 random bits; none can be read back from what is stored.

use std::fmt;

use bridge_model::{CardRef, MessageId, RequestId, RoomName};
use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest as _, Sha256};

const BYTES: usize = 32;

/// A personal key, one half of a session, or what names an open stream. It never prints itself.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token([u8; BYTES]);

/// What is stored of a [`Token`]. Comparing hashes tells nothing about what would have matched.
pub(crate) type TokenHash = [u8; BYTES];

impl Token {
    pub(crate) fn from_random(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// Exactly what [`Token::text`] wrote.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        BASE64URL_NOPAD.decode(text.as_bytes()).ok()?.try_into().ok().map(Self)
    }

    /// 43 characters that a link and a header can hold as they are.
    pub(crate) fn text(&self) -> String {
        BASE64URL_NOPAD.encode(&self.0)
    }

    pub(crate) fn hash(&self) -> TokenHash {
        Sha256::digest(self.0).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// A card's id on the page.
pub(crate) fn of_request(request: RequestId) -> MessageId {
    MessageId::new(request.to_string())
}

pub(crate) fn card_ref(request: RequestId, room: &RoomName) -> CardRef {
    CardRef { room: room.clone(), control: of_request(request), parts: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back_exactly_as_it_was_written() {
        let token = Token::from_random([7; BYTES]);
        assert_eq!(Token::parse(&token.text()), Some(token.clone()));
        assert_eq!(token.text().len(), 43);
        let text = token.text();
        // The last character carries two bits that nothing stands for.
        for other in ["", "AAAA", &text[1..], &format!("{text}A"), &format!("{}x", &text[..42]), &format!("{text}=")] {
            assert_eq!(Token::parse(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_token_does_not_reach_a_log() {
        assert_eq!(format!("{:?}", Token::from_random([7; BYTES])), "Token(..)");
    }
}
