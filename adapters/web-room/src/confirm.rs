//! What somebody is asked who chose what has to be confirmed: told in the reply to their press, and to nobody else.

use bridge_core::wording;
use bridge_model::{ClickReply, Timestamp};
use serde::Serialize;

use crate::render::{DrawnButton, Piece, button, piece};

/// One button, and the words above it. Its press is like that of a card's button, on the same card.
#[derive(Debug, Serialize)]
pub(crate) struct Asked {
    words: Vec<Piece>,
    button: DrawnButton,
    /// After it the button counts no more, and the page takes it away.
    left_ms: u128,
}

impl Asked {
    /// `None`: this reply asks nothing.
    pub(crate) fn by(reply: &ClickReply, now: Timestamp) -> Option<Self> {
        let ClickReply::ToConfirm(asked) = reply else { return None };
        Some(Self {
            words: wording::reply(reply)?.iter().map(piece).collect(),
            button: button(&asked.button),
            left_ms: asked.until.since(now).as_millis(),
        })
    }
}

#[cfg(test)]
mod tests {
    use bridge_model::{Button, ButtonStyle, ButtonToken, Ending, Shown, ToConfirm};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_to_be_confirmed_has_one_button_with_the_agents_label_and_the_time_that_is_left() {
        let token = ButtonToken::from_random(9);
        let button = Button { token, label: Shown::line("<b>Always</b>"), style: ButtonStyle::AllowAlways };
        let asked = ToConfirm {
            button,
            headline: Shown::line("An agent wants to run: rm -rf x"),
            covers: Some(Shown::line("every rm")),
            needs_another: false,
            until: Timestamp::from_unix_millis(61_000),
        };
        let asked = Asked::by(&ClickReply::ToConfirm(asked), Timestamp::from_unix_millis(1_000)).expect("a question");
        let told = serde_json::to_value(&asked).expect("JSON");
        let does = wording::does(ButtonStyle::AllowAlways);
        let button = json!({"token": token.to_string(), "label": "<b>Always</b>", "does": does, "style": "allow-always"});
        assert_eq!((&told["button"], &told["left_ms"]), (&button, &json!(60_000)));
        let words = told["words"].as_array().expect("pieces");
        let theirs: Vec<_> = words.iter().filter(|piece| piece["by"] != "us").map(|piece| &piece["text"]).collect();
        assert_eq!(theirs, ["\"<b>Always</b>\"", "every rm", "rm -rf x", "at 1970-01-01 00:01:01 UTC"]);
    }

    #[test]
    fn no_other_reply_asks_anything() {
        for reply in [ClickReply::Chosen, ClickReply::IsFirst, ClickReply::NothingWaits, ClickReply::TooLate(Ending::Expired)] {
            assert!(Asked::by(&reply, Timestamp::from_unix_millis(0)).is_none(), "{reply:?}");
        }
    }
}
