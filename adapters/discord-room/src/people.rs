//! Facts about a person, all from the click itself: Discord computes them at that instant.

use std::collections::BTreeSet;

use bridge_model::{Humanity, Person, Presence, Signature, Standing};
use serenity::all::{Member, Permissions, UserId};

use crate::id;

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
