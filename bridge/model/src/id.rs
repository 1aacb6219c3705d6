//! Ids, each its own type so that one cannot stand for another.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares an opaque text id: compared and handed on, never parsed.
macro_rules! text_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(String);

        impl $name {
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

text_id! {
    /// A room as the operator named it in the configuration, such as `builds`.
    RoomName;
    /// A source as the operator or the program named it, such as `acp`.
    SourceName;
    /// A message as its service names it: a Matrix event id, a Discord snowflake.
    MessageId;
    /// A person as their service names them: `@ada:example.org`, a Discord user id. Never a display name.
    PersonId;
    /// A role that a service lets people have, such as a Discord role id. Never its name.
    RoleId;
    /// An agent's session, in the agent's own words.
    SessionId;
}

/// What a button carries: 128 random bits that name one option of one held request, and nothing else.
///
/// There is no way to make one from an agent's text. It is a secret until its card is posted, so it is left out of
/// `Debug` output.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ButtonToken(u128);

impl ButtonToken {
    #[must_use]
    pub fn from_random(bits: u128) -> Self {
        Self(bits)
    }

    /// Reads what [`fmt::Display`] wrote: exactly 32 lowercase hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let canonical = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        canonical.then(|| u128::from_str_radix(text, 16).ok()).flatten().map(Self)
    }
}

impl fmt::Display for ButtonToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for ButtonToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ButtonToken(..)")
    }
}

/// A held request: which run of the bridge took it in, and its number in that run.
///
/// Agents restart their own numbering at will, so theirs never name a request here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId {
    /// Random per run of the bridge, so that a number of an earlier run names nothing today.
    pub run: u64,
    /// Counts from 1. Cards show it as `#1`.
    pub number: u64,
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.run, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back_as_it_was_written() {
        for bits in [0, 1, u128::MAX, 0x0123_4567_89ab_cdef] {
            let token = ButtonToken::from_random(bits);
            assert_eq!(ButtonToken::parse(&token.to_string()), Some(token));
        }
    }

    #[test]
    fn nothing_but_the_whole_token_names_a_button() {
        let whole = ButtonToken::from_random(0xabc).to_string();
        for text in ["", "abc", &whole[1..], &format!("{whole}0"), &whole.to_uppercase(), &format!("+{}", &whole[1..])] {
            assert_eq!(ButtonToken::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_token_does_not_reach_a_log() {
        assert!(!format!("{:?}", ButtonToken::from_random(0xdead_beef)).contains("deadbeef"));
    }
}
