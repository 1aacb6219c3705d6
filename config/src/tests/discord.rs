use bridge_model::RoleId;

use super::*;

#[test]
fn a_discord_room_is_a_channel_with_people_and_roles() {
    let lines = "approvers = [\"11\"]\napprover_roles = [\"22\"]\nthreads = \"per-session\"\nmention = true";
    let config = check(&format!("{DISCORD}{lines}"), &[], &[]).expect("a configuration");
    let room = &config.rooms[&RoomName::new("chat")];
    let listed = Listed { people: [PersonId::new("11")].into(), roles: [RoleId::new("22")].into() };
    assert_eq!(room.answers.rules.approvers, Approvers { who: Who::Listed(listed), power_min: None, bots: BTreeSet::new() });
    assert_eq!(room.service, Service::Discord { channel: "123".into(), thread_per_session: true, mention: true });
    assert_eq!(config.discord.expect("a bot").token.expose(), SECRET);
}

#[test]
fn ids_of_discord_are_numbers_as_discord_writes_them() {
    for id in ["ada", "0", "007", "+7", "18446744073709551615", "", "<@11>", "@ada:x"] {
        let approvers = format!("{DISCORD}approvers = [\"{id}\"]");
        check(
            &approvers,
            &[],
            &[&format!("rooms.chat.approvers[0]: \"{id}\" is not the id of a Discord user; write its number")],
        );
    }
    check(&DISCORD.replace("123", "#builds"), &[], &["rooms.chat.discord: \"#builds\" is not the id of a Discord channel"]);
}

#[test]
fn keys_of_one_service_are_refused_in_rooms_of_the_other() {
    let discord = format!("{DISCORD}approvers = [\"11\"]\nreactions = true\npower_min = 3");
    check(&discord, &[], &["rooms.chat.reactions: is for Matrix", "rooms.chat.power_min: is for Matrix"]);
    let matrix = format!("{MATRIX}{BUILDS}threads = \"none\"\nmention = true\napprover_roles = []");
    let for_discord = ["approver_roles", "threads", "mention"].map(|key| format!("rooms.builds.{key}: is for Discord rooms"));
    check(&matrix, &[], &for_discord.each_ref().map(String::as_str));
    let both = format!("{DISCORD}matrix = \"!abc:example.org\"\nmention = true");
    check(&both, &[], &["rooms.chat.discord: stands beside matrix"]);
    check("[rooms.chat]\nmention = true", &[], &["rooms.chat.matrix, discord or web: is missing"]);
}

#[test]
fn a_discord_room_needs_a_bot_and_a_lifetime_that_threads_outlive() {
    let room = DISCORD.split_once("[rooms").map(|(_, room)| format!("[rooms{room}approvers = [\"11\"]")).expect("a room");
    check(&room, &[], &["rooms.chat.discord: needs a bot to post with"]);
    check(&format!("[discord]\n{room}"), &[], &["discord.token_file: is missing"]);
    check(&format!("[discord]\ntoken = \"x\"\n{room}"), &[], &["discord.token: would be a secret in plain sight"]);
    let address = format!("[discord]\ntoken_file = \"t\"\nconnect_to = \"localhost\"\n{room}");
    check(&address, &[], &["discord.connect_to: \"localhost\" is not an address"]);
    let long = format!("[policy]\nlifetime = \"7days\"\n{DISCORD}approvers = [\"11\"]\nthreads = \"per-session\"");
    check(&long, &[], &["rooms.chat.threads: does not go with requests that wait for more than 6 days"]);
    check(&long.replace("per-session", "none"), &[], &[]);
    check(&long.replace("per-session", "yes"), &[], &["rooms.chat.threads: \"yes\" is not known"]);
}

#[test]
fn anyone_on_discord_has_no_roles_and_is_not_mentioned() {
    let anyone = format!("{DISCORD}approvers = \"anyone\"\n");
    check(&anyone, &[], &[]);
    check(&format!("{anyone}approver_roles = [\"22\"]"), &[], &["rooms.chat.approver_roles: stands beside"]);
    check(&format!("{anyone}mention = true"), &[], &["warning: rooms.chat.mention mentions nobody"]);
    let many: Vec<_> = (1..=21).map(|id| format!("\"{id}\"")).collect();
    let many = format!("{DISCORD}mention = true\napprovers = [{}]", many.join(", "));
    check(&many, &[], &["rooms.chat.mention: would mention 21 people and roles on every card"]);
    check(&format!("{DISCORD}approver_roles = [\"22\"]"), &[], &[]);
}

#[test]
fn what_is_surely_no_token_is_said_at_once() {
    let with = |token: &'static str| {
        let text = format!("{DISCORD}approvers = [\"11\"]");
        let home: Environment = [("HOME", "/home/ada")].iter().copied().collect();
        parse(Path::new("c.toml"), &text, &home, &|_, _| Ok(token.to_owned()))
    };
    for fine in ["MTA1.Gx-y_z.abc", "Bot MTA1.x.y", " MTA1.x.y \n"] {
        assert!(with(fine).is_ok(), "{fine:?}");
    }
    for odd in [" ", "\"MTA1.x.y\"", "MTA1.\nx.y", "MTA1 x y", "\u{feff}MTA1.x.y"] {
        let told = with(odd).expect_err("a problem").to_string();
        assert!(told.starts_with("c.toml: discord.token: leads to something that is no token; put the token"), "{told}");
    }
}
