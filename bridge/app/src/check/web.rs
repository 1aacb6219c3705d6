//! The page that the bridge serves itself.

use bridge_config::Config;
use bridge_model::RoomName;
use web_room::{Inspection, Options, inspect};

use super::{say, say_who_could_answer};

pub(super) async fn look(config: &Config, options: &Options) -> bool {
    match inspect(options).await {
        Err(problem) => {
            say(&format!("  ! {problem}"));
            false
        }
        Ok(inspection) => {
            say(&format!("page           {} can be served", inspection.url));
            // All rooms are looked at, also after one that does not work.
            options.rooms.iter().map(|room| look_at(config, room, &inspection)).fold(true, |all, works| all & works)
        }
    }
}

fn look_at(config: &Config, room: &RoomName, inspection: &Inspection) -> bool {
    say(&format!("room {room}"));
    let members = inspection.members.get(room).map_or(&[][..], Vec::as_slice);
    let somebody = say_who_could_answer(config, room, members, &[]);
    if !somebody {
        say("  ! people come in by a link of their own: countersign web-room invite NAME");
    }
    somebody
}
