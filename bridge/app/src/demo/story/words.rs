//! The words for what came back.

use crate::demo::log::Ending;
use crate::demo::report::Answer;
use crate::demo::screen::in_quotes;

/// Who decided, for what came back.
pub(super) fn decided(ending: Option<&Ending>, answer: &Answer) -> String {
    match (ending, answer) {
        (Some(Ending::Answered), Answer::Selected { label, .. }) => format!("You pressed {}.", in_quotes(label)),
        (Some(ending), _) => ended(ending),
        (None, _) => "It has ended.".to_owned(),
    }
}

pub(super) fn ended(ending: &Ending) -> String {
    match ending {
        Ending::Answered => "You pressed.".to_owned(),
        Ending::Expired => "Nobody pressed in time.".to_owned(),
        Ending::Withdrawn => "It was withdrawn.".to_owned(),
        Ending::Other(why) => format!("The bridge: {why}"),
    }
}

/// What came back.
pub(super) fn told(ending: Option<&Ending>, answer: &Answer) -> String {
    match (answer, ending) {
        (Answer::Selected { option, .. }, Some(Ending::Answered)) => format!("The agent was told {option}."),
        (Answer::Selected { option, label, .. }, _) => {
            format!("The agent was told {option}, which is its own {}.", in_quotes(label))
        }
        (Answer::NotOffered { option }, _) => format!("The agent was told {}, which it never offered.", in_quotes(option)),
        (Answer::Cancelled, _) => "The agent was told that it is cancelled.".to_owned(),
        (Answer::None { why }, _) => format!("The agent was told nothing: {why}"),
    }
}

/// The same, for the table.
pub(super) fn briefly(answer: &Answer, ending: Option<&Ending>) -> String {
    let outcome = match answer {
        Answer::Selected { option, .. } => option,
        Answer::NotOffered { .. } => "something else",
        Answer::Cancelled => "cancelled",
        Answer::None { .. } => "nothing",
    };
    match ending {
        Some(Ending::Expired) => format!("{outcome} (expired)"),
        Some(Ending::Other(_)) => format!("{outcome} (refused)"),
        Some(Ending::Answered | Ending::Withdrawn) | None => outcome.to_owned(),
    }
}
