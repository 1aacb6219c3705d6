//! Conversions between the bridge's opaque ids and Discord's snowflakes.

use bridge_core::RoomError;
use bridge_model::{MessageId, PersonId, RoleId};
use serenity::all as discord;

/// Where a message is. As text it is the path of Discord's own links, so that a card of an earlier run is found though
/// its channel is no longer configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Spot {
    pub(crate) guild: discord::GuildId,
    pub(crate) channel: discord::ChannelId,
    pub(crate) message: discord::MessageId,
}

impl Spot {
    pub(crate) fn message_id(self) -> MessageId {
        MessageId::new(format!("{}/{}/{}", self.guild, self.channel, self.message))
    }

    /// Reads what [`Spot::message_id`] wrote, in this run or an earlier one.
    pub(crate) fn parse(message: &MessageId) -> Result<Self, RoomError> {
        let mut parts = message.as_str().split('/').map(snowflake);
        match (parts.next().flatten(), parts.next().flatten(), parts.next().flatten(), parts.next()) {
            (Some(guild), Some(channel), Some(message), None) => {
                Ok(Self { guild: guild.into(), channel: channel.into(), message: message.into() })
            }
            _ => Err(RoomError::Refused(format!("{message} is not a Discord message"))),
        }
    }
}

pub(crate) fn person_id(user: discord::UserId) -> PersonId {
    PersonId::new(user.to_string())
}

pub(crate) fn role_id(role: discord::RoleId) -> RoleId {
    RoleId::new(role.to_string())
}

pub(crate) fn channel_id(text: &str) -> Result<discord::ChannelId, RoomError> {
    let hint = "is not a Discord channel id; turn on Developer Mode in Discord, right-click the channel, Copy Channel ID";
    snowflake(text).map(Into::into).ok_or_else(|| RoomError::Refused(format!("{text} {hint}")))
}

/// A snowflake in the one way that Discord writes it.
pub(crate) fn snowflake(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    // Serenity keeps ids apart from nothing by leaving out zero, and these two values panic.
    (number != 0 && number != u64::MAX && number.to_string() == text).then_some(number)
}

/// When a snowflake was made, in milliseconds of Discord's own clock.
pub(crate) const fn made_at(snowflake: u64) -> u64 {
    const DISCORD_EPOCH: u64 = 1_420_070_400_000;
    (snowflake >> 22) + DISCORD_EPOCH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spot_reads_back_as_it_was_written() {
        let spot = Spot { guild: 1.into(), channel: 22.into(), message: 333.into() };
        assert_eq!(spot.message_id().as_str(), "1/22/333");
        assert_eq!(Spot::parse(&spot.message_id()), Ok(spot));
        for foreign in ["", "1/2", "1/2/3/4", "1/2/", "$event", "01/2/3", "0/1/2", "+1/2/3", "18446744073709551615/1/1"] {
            assert!(Spot::parse(&MessageId::new(foreign)).is_err(), "{foreign:?}");
        }
    }

    #[test]
    fn a_snowflake_tells_its_time() {
        // Discord's documentation has this one.
        assert_eq!(made_at(175_928_847_299_117_063), 1_462_015_105_796);
    }
}
