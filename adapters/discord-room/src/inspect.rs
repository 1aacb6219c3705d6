//! What `countersign check` asks: can this bot serve its channels, and if not, what is to be done.

use bridge_core::RoomError;
use bridge_model::{Person, PersonId, RoleId, RoomName};
use serenity::all::Permissions;
use tokio::sync::mpsc;

use crate::account::{Account, ServedRoom};
use crate::gateway::Gateway;
use crate::look;
use crate::{Options, Threads, id, people, session};

/// A bot, as it is now.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The application's name, as the Developer Portal has it.
    pub name: String,
    pub bot: PersonId,
    /// Where somebody who manages a server can invite the bot, with exactly the permissions that it needs.
    pub invite_url: String,
    pub rooms: Vec<RoomInspection>,
}

/// A configured channel, as it is now.
#[derive(Clone, Debug)]
pub struct RoomInspection {
    pub name: RoomName,
    /// The channel's id.
    pub id: String,
    /// Its name and its server's, where they can be seen.
    pub place: Option<String>,
    /// Each permission that is needed, by Discord's own name for it, and whether the bot has it.
    pub permissions: Vec<(&'static str, bool)>,
    /// Those of the listed people who are on the server.
    pub members: Vec<Person>,
    /// The listed roles whose members can see the channel, by id and name.
    pub roles: Vec<(RoleId, String)>,
    /// What keeps cards from being posted, each in a sentence that says what to do.
    pub problems: Vec<String>,
    /// What does not work as well as it could.
    pub notes: Vec<String>,
}

/// Logs in and looks at each room, and at those of `people` who are members there. Posts nothing.
pub async fn inspect(options: Options, people: &[PersonId]) -> Result<Inspection, RoomError> {
    // Nobody listens to what happens meanwhile.
    let (events, _) = mpsc::channel(1);
    let (account, application) = session::log_in(&options, events.downgrade()).await?;
    let account = std::sync::Arc::new(account);
    // Whether Discord lets the bot in.
    let (work, _) = mpsc::channel(1);
    drop(Gateway::connect(&account, events, work).await?);
    let mut rooms = Vec::new();
    for served in account.rooms.values() {
        rooms.push(look_at(&account, served, people).await);
    }
    Ok(Inspection { name: application.name, bot: id::person_id(account.bot), invite_url: invite_url(&account), rooms })
}

fn invite_url(account: &Account) -> String {
    let wants = |wanted: &dyn Fn(&ServedRoom) -> bool| account.rooms.values().any(wanted);
    let mut permissions = Permissions::VIEW_CHANNEL
        | Permissions::SEND_MESSAGES
        | Permissions::SEND_MESSAGES_IN_THREADS
        | Permissions::ATTACH_FILES
        | Permissions::READ_MESSAGE_HISTORY;
    if wants(&|room| room.options.threads == Threads::PerSession) {
        permissions |= Permissions::CREATE_PUBLIC_THREADS;
    }
    if wants(&|room| !room.options.mention.roles.is_empty()) {
        permissions |= Permissions::MENTION_EVERYONE;
    }
    let (application, bits) = (account.application, permissions.bits());
    format!("https://discord.com/oauth2/authorize?client_id={application}&scope=bot&integration_type=0&permissions={bits}")
}

async fn look_at(account: &Account, served: &ServedRoom, people: &[PersonId]) -> RoomInspection {
    let mut seen = RoomInspection {
        name: served.options.name.clone(),
        id: served.channel.to_string(),
        place: None,
        permissions: Vec::new(),
        members: Vec::new(),
        roles: Vec::new(),
        problems: Vec::new(),
        notes: Vec::new(),
    };
    let look = match look::look(account, served).await {
        Ok(look) => look,
        Err(fault) => {
            seen.problems.push(look::unseen(fault));
            return seen;
        }
    };
    seen.place = Some(format!("#{} on {}", look.channel.name, look.guild.name));
    for need in look::needs(served, &look) {
        let has = look.permissions.contains(need.permission);
        seen.permissions.push((need.name, has));
        if let Some(without) = need.without.filter(|_| !has) {
            seen.notes.push(format!("without the permission \"{}\", {without}", need.name));
        }
    }
    seen.problems = look.problems(served);
    for role in &served.options.roles {
        let Some(id) = id::snowflake(role.as_str()) else { continue };
        let Some(known) = look.guild.roles.get(&id.into()) else { continue };
        if look.is_seen_by(known.id) {
            seen.roles.push((role.clone(), known.name.clone()));
        } else {
            let name = &known.name;
            seen.notes.push(format!("members of the role {name} cannot see the channel by it; give it View Channel there"));
        }
    }
    for person in people {
        match people::member(account, &look, person).await {
            Ok(member) => seen.members.extend(member),
            Err(fault) => {
                let why = RoomError::from(fault);
                seen.notes.push(format!("whether {person} is on the server could not be learned ({why})"));
            }
        }
    }
    seen
}
