//! The Discord bot, its channels, and who could answer there.

mod problems;

use serde_json::json;

use super::check;
use crate::stage::{Discord, PLAIN, Place, Who};

/// View Channel, Send Messages, Attach Files, Read Message History, Send Messages in Threads.
const NEEDED: u64 = 1 << 10 | 1 << 11 | 1 << 15 | 1 << 16 | 1 << 38;
const CREATE_PUBLIC_THREADS: u64 = 1 << 35;
const MENTION_EVERYONE: u64 = 1 << 17;

#[tokio::test]
async fn a_channel_that_works_is_described() {
    let place = Discord::gather(&PLAIN).await;
    let (world, api) = (&place.server.world, place.server.api());
    let application = api.get("/oauth2/applications/@me").await.expect_ok();
    let name = application["name"].as_str().expect("a name");
    for _ in 0..2 {
        let (code, said) = check(&place).await;
        assert_eq!(code, Some(0), "{said}");
        for expected in [
            format!("configuration  {}\n", place.home().config().display()),
            format!("bot            {name} ({})\n", world.bot),
            format!("room builds  ({})\n", world.channel),
            "  reachable          #approvals on A guild\n".into(),
            "  permissions        View Channel yes, Send Messages yes, Attach Files yes, Read Message History yes\n".into(),
            format!("  who could answer   Ada ({}), Bob ({})\n", world.people.ada, world.people.bob),
        ] {
            assert!(said.contains(&expected), "{expected:?} is not in:\n{said}");
        }
        assert!(!said.contains("  ! ") && !said.contains(&world.token), "{said}");
    }
}

#[tokio::test]
async fn the_invite_asks_for_exactly_what_is_needed() {
    let place = Discord::gather(&PLAIN).await;
    let role = place.server.act("make_role", json!({"name": "release"})).await;
    let mut so_far = "[rooms.builds]\n".to_owned();
    for (more, permissions) in [
        ("", NEEDED),
        ("threads = \"per-session\"\n", NEEDED | CREATE_PUBLIC_THREADS),
        ("mention = true\n", NEEDED | CREATE_PUBLIC_THREADS),
        (&format!("approver_roles = [{role}]\n"), NEEDED | CREATE_PUBLIC_THREADS | MENTION_EVERYONE),
    ] {
        let with_more = format!("{so_far}{more}");
        place.home().reconfigure(&so_far, &with_more);
        so_far = with_more;
        let (code, said) = check(&place).await;
        let application = &place.server.world.application;
        let link = format!(
            "invite         https://discord.com/oauth2/authorize?client_id={application}&scope=bot&integration_type=0\
             &permissions={permissions}\n"
        );
        assert!(code == Some(0) && said.contains(&link), "{link:?} is not in:\n{said}");
    }
}

#[tokio::test]
async fn a_check_posts_nothing() {
    let place = Discord::gather(&PLAIN).await;
    place.home().reconfigure("[rooms.builds]", "[rooms.builds]\nthreads = \"per-session\"");
    assert_eq!(check(&place).await.0, Some(0));
    let requests = place.server.requests().await;
    assert!(!requests.is_empty() && requests.iter().all(|request| request["method"] == "GET"), "{requests:?}");
    assert_eq!(place.server.act("threads", json!({})).await, json!([]));
}

#[tokio::test]
async fn an_approver_who_is_not_there_is_named() {
    let place = Discord::gather(&PLAIN).await;
    let (ada, bob) = (place.id(Who::Ada), place.id(Who::Bob));
    let told =
        [format!("  who could answer   Ada ({ada})\n"), format!("  ! {bob} is an approver but not in the room; invite them\n")];
    let hidden = json!({"target": bob, "permissions": ["view_channel"]});
    for (act, with) in [("deny", hidden), ("leave", json!({"user": bob}))] {
        place.server.act(act, with).await;
        let (code, said) = check(&place).await;
        assert!(code == Some(0) && told.iter().all(|line| said.contains(line)), "{act}: {said}");
    }
}

#[tokio::test]
async fn a_role_is_named_and_one_that_is_not_there_is_told() {
    let place = Discord::gather(&PLAIN).await;
    let role = place.server.act("make_role", json!({"name": "release"})).await;
    place.home().reconfigure("[rooms.builds]", &format!("[rooms.builds]\napprover_roles = [{role}]"));
    let (code, said) = check(&place).await;
    let members = format!(", members of the role release ({}), if it has any\n", role.as_str().expect("an id"));
    assert!(code == Some(0) && said.contains(&members), "{said}");
    // Somebody who has the role and no other would not see the card.
    place.server.act("deny", json!({"target": role, "permissions": ["view_channel"]})).await;
    let (_, said) = check(&place).await;
    assert!(said.contains("members of the role release cannot see the channel by it") && !said.contains(&members), "{said}");
    place.server.act("delete_role", json!({"role": role})).await;
    let gone =
        format!("the server has no role {}, whose members may answer; change approver_roles", role.as_str().expect("an id"));
    fails(&place, &[&gone], &["members of the role"]).await;
}

#[tokio::test]
async fn without_an_approver_nobody_could_answer() {
    let place = Discord::gather(&PLAIN).await;
    let listed = format!("approvers = [\"{}\", \"{}\"]", place.id(Who::Ada), place.id(Who::Bob));
    let nobody = ["  who could answer   NOBODY\n", "list people who are in the room under rooms.builds.approvers"];
    place.home().reconfigure(&listed, "approvers = [\"345678901234567890\"]");
    fails(&place, &nobody, &[]).await;
    place.home().reconfigure("approvers = [\"345678901234567890\"]", "approvers = []");
    fails(&place, &nobody, &[]).await;
    place.home().reconfigure("approvers = []", "");
    fails(&place, &nobody, &[]).await;
}

/// All of `told` is told, and nothing of `not`; what was said.
async fn fails(place: &Discord, told: &[&str], not: &[&str]) -> String {
    let (code, said) = check(place).await;
    assert_eq!(code, Some(1), "{said}");
    for told in told {
        assert!(said.contains(told), "{told:?} is not in:\n{said}");
    }
    assert!(!not.iter().any(|not| said.contains(not)), "{said}");
    said
}
