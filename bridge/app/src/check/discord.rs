//! The Discord bot and its channels.

use bridge_config::Config;
use bridge_model::PersonId;
use discord_room::{Inspection, Options, RoomInspection};
use policy::Who;

use super::{say, say_who_could_answer, yes};

pub(super) async fn look(config: &Config, options: Options) -> bool {
    say("logging in     at Discord …");
    match discord_room::inspect(options, &people(config)).await {
        Err(problem) => {
            say(&format!("  ! {problem}"));
            false
        }
        Ok(inspection) => {
            bot(&inspection);
            let rooms = inspection.rooms.iter().map(|room| look_at(config, room));
            // All rooms are looked at, also after one that does not work.
            rooms.fold(true, |all, works| all & works)
        }
    }
}

/// Everybody whom a room lists.
fn people(config: &Config) -> Vec<PersonId> {
    let listed = config.rooms.values().filter_map(|room| match &room.answers.rules.approvers.who {
        Who::Anyone => None,
        Who::Listed(listed) => Some(&listed.people),
    });
    let mut people: Vec<_> = listed.flatten().cloned().collect();
    people.sort();
    people.dedup();
    people
}

fn bot(inspection: &Inspection) {
    say(&format!("bot            {} ({})", inspection.name, inspection.bot));
    say(&format!("invite         {}", inspection.invite_url));
}

fn look_at(config: &Config, room: &RoomInspection) -> bool {
    say(&format!("room {}  ({})", room.name, room.id));
    let Some(place) = &room.place else {
        say("  reachable          NO");
        room.problems.iter().for_each(|problem| say(&format!("  ! {problem}")));
        return false;
    };
    say(&format!("  reachable          {place}"));
    let permissions: Vec<_> = room.permissions.iter().map(|(name, has)| format!("{name} {}", yes(*has))).collect();
    say(&format!("  permissions        {}", permissions.join(", ")));
    let somebody = say_who_could_answer(config, &room.name, &room.members, &room.roles);
    for problem in room.problems.iter().chain(&room.notes) {
        say(&format!("  ! {problem}"));
    }
    somebody && room.problems.is_empty()
}
