//! What people were asked to confirm, each on a message that only they see.

use bridge_model::{ClickRef, MessageId as Control, PersonId};
use serenity::all::MessageId;

use crate::recent::Recent;

/// Questions that wait for a press. Beyond them the oldest stays where it is, though it no longer counts.
pub(crate) const QUESTIONS_MAX: usize = 256;

#[derive(Debug)]
pub(crate) struct Questions(Recent<MessageId, Question>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) message: MessageId,
    /// Of the click that it followed; with it the message can be taken away.
    pub(crate) token: String,
    person: PersonId,
    /// The card whose button was pressed.
    card: Control,
}

impl Question {
    pub(crate) fn new(message: MessageId, token: &str, click: &ClickRef) -> Self {
        Self { message, token: token.to_owned(), person: click.person.clone(), card: click.control.clone() }
    }
}

impl Default for Questions {
    fn default() -> Self {
        Self(Recent::new(QUESTIONS_MAX))
    }
}

impl Questions {
    /// The one that it takes the place of: a person is asked one thing about a card at a time.
    pub(crate) fn asked(&mut self, question: Question) -> Option<Question> {
        let same = |old: &Question| (&old.person, &old.card) == (&question.person, &question.card);
        let old = self.0.iter().map(|(_, old)| old).find(|old| same(old)).map(|old| old.message);
        let replaced = old.and_then(|old| self.over(old));
        self.0.insert(question.message, question);
        replaced
    }

    /// `None`: its button was pressed, another took its place, or it is too long ago.
    pub(crate) fn over(&mut self, message: MessageId) -> Option<Question> {
        self.0.remove(&message)
    }
}

#[cfg(test)]
mod tests {
    use bridge_model::RoomName;

    use super::*;

    #[test]
    fn a_person_is_asked_one_thing_about_a_card_at_a_time() {
        let mut questions = Questions::default();
        assert_eq!(questions.asked(question(1, "ada", "card")), None);
        assert_eq!(questions.asked(question(2, "bob", "card")), None);
        assert_eq!(questions.asked(question(3, "ada", "other card")), None);
        assert_eq!(questions.asked(question(4, "ada", "card")), Some(question(1, "ada", "card")));
        assert_eq!(questions.over(MessageId::new(1)), None);
    }

    #[test]
    fn a_question_is_over_once() {
        let mut questions = Questions::default();
        questions.asked(question(1, "ada", "card"));
        assert_eq!(questions.over(MessageId::new(1)), Some(question(1, "ada", "card")));
        assert_eq!(questions.over(MessageId::new(1)), None);
    }

    #[test]
    fn not_all_that_was_ever_asked_is_remembered() {
        let mut questions = Questions::default();
        for at in 1..=2_000 {
            questions.asked(question(at, &at.to_string(), "card"));
        }
        assert_eq!(questions.0.len(), QUESTIONS_MAX);
    }

    fn question(message: u64, person: &str, card: &str) -> Question {
        let click = ClickRef {
            room: RoomName::new("ops"),
            control: Control::new(card),
            person: PersonId::new(person),
            click: Control::new("1"),
        };
        Question::new(MessageId::new(message), "token", &click)
    }
}
