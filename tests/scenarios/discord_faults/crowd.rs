//! Who is in the channel, what they press, and which of it may count.

use std::time::Duration;

use countersign_tests::discord_double::{Click, DiscordDouble, Oddity, Snowflake, StoredMessage};
use fastrand::Rng;

pub(crate) struct Crowd {
    /// May answer.
    pub(crate) approvers: [Snowflake; 2],
    others: [Snowflake; 2],
    presses: Vec<Press>,
}

/// A press, and whether it may count if Discord takes its acknowledgement.
#[derive(Clone, Debug)]
pub(crate) struct Press {
    pub(crate) interaction: Snowflake,
    pub(crate) message: Snowflake,
    pub(crate) label: String,
    pub(crate) may_count: bool,
}

impl Crowd {
    pub(crate) fn gather(discord: &DiscordDouble) -> Self {
        let crowd = Self {
            approvers: [discord.join("ada"), discord.join("bob")],
            others: [discord.join("mallory"), discord.join("eve")],
            presses: Vec::new(),
        };
        discord.alter_member(crowd.others[1], |eve| eve.pending = true);
        crowd
    }

    /// Somebody presses some button, mostly as it can be pressed.
    pub(crate) fn press(&mut self, discord: &DiscordDouble, dice: &mut Rng) {
        let cards: Vec<StoredMessage> =
            discord.messages().into_iter().filter(|message| !message.posted_buttons.is_empty()).collect();
        let Some(card) = dice.choice(cards.iter()) else { return };
        let Some(button) = dice.choice(card.posted_buttons.iter()) else { return };
        if dice.u8(..100) < 15
            && let Some(earlier) = dice.choice(self.presses.iter())
        {
            return discord.repeat(earlier.interaction);
        }
        let is_approver = dice.u8(..100) < 70;
        let user = dice.choice(if is_approver { self.approvers } else { self.others }).expect("somebody");
        let (mut message, mut may_count) = (card.id, is_approver);
        if dice.u8(..100) < 10
            && let Some(other) = dice.choice(cards.iter())
        {
            // One card's button on another card.
            may_count &= other.id == card.id;
            message = other.id;
        }
        let mut click = Click::new(user, message, &button.custom_id);
        if dice.u8(..100) < 25 {
            let oddity = Oddity::ALL[dice.usize(..Oddity::ALL.len())];
            may_count &= oddity.is_harmless();
            click = click.odd(oddity);
        }
        if dice.u8(..100) < 10 {
            click = click.aged(Duration::from_millis(dice.u64(..6_000)));
        }
        let interaction = discord.click(click);
        self.presses.push(Press { interaction, message, label: button.label.clone(), may_count });
    }

    /// Whether somebody may have chosen the option with this label on the card whose text names `title`.
    pub(crate) fn may_have_chosen(&self, discord: &DiscordDouble, title: &str, label: &str) -> bool {
        let acks = discord.acks();
        let is_acknowledged =
            |press: &Press| acks.iter().any(|ack| ack.interaction == press.interaction && ack.status == 204 && ack.kind == 6);
        let is_of = |press: &Press| press.label == label && is_card_of(&discord.message(press.message), title);
        self.presses.iter().any(|press| press.may_count && is_of(press) && is_acknowledged(press))
    }

    pub(crate) fn presses(&self) -> &[Press] {
        &self.presses
    }
}

/// Whether it was posted as the card of this request.
pub(crate) fn is_card_of(message: &StoredMessage, title: &str) -> bool {
    !message.posted_buttons.is_empty() && message.posted_content.contains(title)
}
