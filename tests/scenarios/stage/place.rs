//! What a scenario may ask of any kind of room.

use std::fmt::Debug;

use countersign_tests::{BridgeProcess, Launch};

use super::{Home, Plan, Stage};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// An approver.
    Ada,
    /// An approver, too.
    Bob,
    /// In the room, and no approver.
    Mallory,
}

/// A room with people and the bot in it, on a chat service, and the configuration of a bridge for it.
pub(crate) trait Place: Sized {
    /// A card as people saw it when it was new.
    type Card: Debug;

    /// Ways in which a moderator can remove a card.
    const REMOVALS: &'static [&'static str];
    /// Ways in which the bot can lose the room for good.
    const LOSSES: &'static [&'static str];

    /// The finest level at which anything that serves this kind of room logs.
    const FINEST_LOG: &'static str = "TRACE";

    async fn gather(plan: &Plan) -> Self;

    /// On a service that this place has for itself, so that a scenario can stop it.
    async fn gather_apart(plan: &Plan) -> Self;

    fn home(&self) -> &Home;

    /// What stands between a stranger and the bot's account.
    fn secrets(&self) -> Vec<String>;

    /// Gives the program all secrets that the adapter knows, with those that come from its environment.
    fn with_all_secrets(&self, launch: Launch) -> Launch;

    /// The next card whose text contains this, and that was not handed out before.
    async fn card(&self, containing: &str) -> Self::Card;

    /// How many cards there have been.
    async fn card_count(&self) -> usize;

    /// All that can be read on it, but for the buttons.
    fn text(card: &Self::Card) -> &str;

    /// What each button carries, and its label, in their order.
    fn buttons(card: &Self::Card) -> &[(String, String)];

    async fn press(&self, who: Who, card: &Self::Card, label: &str);

    /// Presses, and has left the room by the time that anybody looks.
    async fn press_and_leave(&self, who: Who, card: &Self::Card, label: &str);

    async fn say(&self, who: Who, text: &str);

    async fn reply_to(&self, who: Who, card: &Self::Card, text: &str);

    /// What the bot has told this person alone.
    async fn private_reply(&self, who: Who, containing: &str) -> String;

    /// A message of the bot in the room that contains all of this.
    async fn said(&self, containing: &[&str]) -> String;

    /// What the card says once it has been changed to say this.
    async fn closing(&self, card: &Self::Card, says: &str) -> String;

    /// Waits until the card contains this, with its buttons still there.
    async fn shows(&self, card: &Self::Card, says: &str);

    /// Presses the button with this label that is shown to this person alone.
    async fn confirm(&self, who: Who, label: &str);

    /// Whether it can be pressed.
    async fn is_live(&self, card: &Self::Card) -> bool;

    async fn wait_until_dead(&self, card: &Self::Card);

    /// `way`: one of [`Place::REMOVALS`].
    async fn remove_card(&self, card: &Self::Card, way: &str);

    /// `way`: one of [`Place::LOSSES`].
    async fn lose_bot(&self, way: &str);

    /// Only where it was gathered apart.
    async fn stop_service(&mut self);

    async fn restart_service(&mut self);

    fn labels(card: &Self::Card) -> Vec<&str> {
        Self::buttons(card).iter().map(|(_, label)| label.as_str()).collect()
    }

    /// What the button with this label carries.
    fn token<'a>(card: &'a Self::Card, label: &str) -> &'a str {
        let button = Self::buttons(card).iter().find(|(_, text)| text == label);
        button.map_or_else(|| panic!("no button {label:?} on {card:?}"), |(token, _)| token)
    }

    async fn start(&self) -> BridgeProcess {
        self.home().start().await
    }

    async fn play(self) -> Stage<Self> {
        let stage = self.open().await;
        stage.bridge.stderr_contains("connected").await;
        stage
    }

    /// Like [`Place::play`], though the service may be away.
    async fn open(self) -> Stage<Self> {
        let mut bridge = self.start().await;
        let session = bridge.open_session().await;
        Stage { bridge, session, place: self }
    }
}
