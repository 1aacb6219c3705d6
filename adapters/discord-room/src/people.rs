//! Facts about people. Those of a click are all from the click itself: Discord computes them at that instant.

use std::collections::BTreeSet;

use bridge_model::{Humanity, Person, PersonId, Presence, Signature, Standing};
use serenity::all::{ChannelType, Member, Permissions, UserId};
use serenity::http::Route;

use crate::account::{Account, ServedRoom};
use crate::fault::Fault;
use crate::id;
use crate::look::{self, Look};

/// People who are looked up, one after the other, while a request waits to be shown. Of more it is not known who is there.
pub(crate) const LOOKED_UP_MAX: usize = 16;

/// Those of `among` who are on the server, as clicks of theirs would show them now.
///
/// `None`: it cannot be told. Who has a role, or is there at all, Discord tells only those whom it trusts with everybody's
/// name.
pub(crate) async fn in_room(
    account: &Account,
    served: &ServedRoom,
    among: &BTreeSet<PersonId>,
) -> Result<Option<Vec<Person>>, Fault> {
    let look = look::look(account, served).await?;
    if look.channel.kind == ChannelType::PrivateThread {
        // Only some of those who see its channel are in it.
        return Ok(None);
    }
    let mut people = Vec::new();
    for person in among {
        people.extend(member(account, &look, person).await?);
    }
    Ok(Some(people))
}

/// The person as a click of theirs would show them now; `None`: not on the server.
pub(crate) async fn member(account: &Account, look: &Look, person: &PersonId) -> Result<Option<Person>, Fault> {
    let Some(user) = id::snowflake(person.as_str()) else { return Ok(None) };
    let member: Member = match account.rest.get(Route::GuildMember { guild_id: look.guild.id, user_id: user.into() }).await {
        Ok(member) => member,
        Err(Fault::NoMember) => return Ok(None),
        Err(fault) => return Err(fault),
    };
    let permissions = look.guild.user_permissions_in(&look.parent, &member);
    // Timed out or not is told by a click; nobody is timed out for ever.
    Ok(Some(self::person(&member, Some(permissions), account.bot, u64::MAX)))
}

/// `at`: when they clicked, in milliseconds of Discord's clock. `permissions`: the person's in that channel.
pub(crate) fn person(member: &Member, permissions: Option<Permissions>, bot: UserId, at: u64) -> Person {
    let user = &member.user;
    let name = member.nick.as_ref().or(user.global_name.as_ref()).unwrap_or(&user.name);
    Person {
        id: id::person_id(user.id),
        name: Some(name.chars().take(256).collect()),
        // Discord marks programs, and only accounts can click. An account that a program drives looks like a human.
        humanity: if user.bot || user.system || user.id == bot { Humanity::Bot } else { Humanity::Human },
        presence: match permissions {
            Some(permissions) if sees(permissions) => Presence::InRoom,
            Some(_) => Presence::Absent,
            None => Presence::Unknown,
        },
        standing: standing(member, at),
        signature: Signature::Service,
        power: None,
        roles: member.roles.iter().map(|role| id::role_id(*role)).collect::<BTreeSet<_>>(),
    }
}

pub(crate) fn sees(permissions: Permissions) -> bool {
    permissions.intersects(Permissions::VIEW_CHANNEL | Permissions::ADMINISTRATOR)
}

fn standing(member: &Member, at: u64) -> Standing {
    let until = member.communication_disabled_until.map(|until| until.unix_timestamp());
    let is_silenced = until.is_some_and(|until| u64::try_from(until).is_ok_and(|until| at / 1_000 <= until));
    match (member.pending, is_silenced) {
        (true, _) => Standing::Screening,
        (false, true) => Standing::Silenced,
        (false, false) => Standing::Full,
    }
}
