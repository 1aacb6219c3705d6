//! The Matrix account and its rooms.

use countersign_tests::Synapse;

use super::check;
use crate::stage::{Matrix, PLAIN, Plan};

#[tokio::test]
async fn a_room_that_works_is_described() {
    for (encrypted, says) in [(false, "NO"), (true, "yes")] {
        let people = Matrix::on(Synapse::shared().await, &Plan { encrypted, ..PLAIN }).await;
        // A second look resumes the session of the first.
        for _ in 0..2 {
            let (code, said) = check(&people).await;
            assert_eq!(code, Some(0), "{said}");
            let (ada, bob) = (&people.ada.user_id, &people.bob.user_id);
            for expected in [
                format!("configuration  {}\n", people.home.config().display()),
                format!("account        {}, device ", people.bot.user_id),
                format!("room builds  ({})\n", people.room),
                "  reachable          yes\n".into(),
                "  may post           messages yes, polls yes, remove own yes\n".into(),
                format!("  encrypted          {says}\n"),
            ] {
                assert!(said.contains(&expected), "{expected:?} is not in:\n{said}");
            }
            let who = said.lines().find(|line| line.contains("who could answer")).expect("who could answer");
            assert!(who.contains(ada) && who.contains(bob), "{who}");
            assert!(!who.contains(&people.mallory.user_id) && !who.contains(&people.bot.user_id), "{who}");
        }
    }
}

#[tokio::test]
async fn a_check_posts_nothing() {
    let people = Matrix::on(Synapse::shared().await, &PLAIN).await;
    assert_eq!(check(&people).await.0, Some(0));
    let newest = people.ada.http.newest(&people.room, 100).await;
    let by_bot: Vec<_> =
        newest.iter().filter(|event| event["sender"] == people.bot.user_id).map(|event| &event["type"]).collect();
    assert_eq!(by_bot, ["m.room.member"]);
}

#[tokio::test]
async fn a_wrong_password_is_told() {
    let people = Matrix::on(Synapse::shared().await, &PLAIN).await;
    people.home.secret("password", "wrong-guess");
    let (code, said) = check(&people).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("did not log {} in", people.bot.user_id)), "{said}");
    assert!(said.contains("Invalid username or password"), "{said}");
    assert!(!said.contains("wrong-guess"), "{said}");
}

#[tokio::test]
async fn a_bot_that_was_not_invited_asks_for_an_invite() {
    let people = Matrix::on(Synapse::shared().await, &PLAIN).await;
    let elsewhere = people.ada.create_room(false, &[]).await;
    people.home.reconfigure(&people.room, &elsewhere);
    let (code, said) = check(&people).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("  reachable          NO\n"), "{said}");
    assert!(said.contains(&format!("invite {} to {elsewhere}", people.bot.user_id)), "{said}");
}

#[tokio::test]
async fn a_bot_that_was_invited_by_a_stranger_asks_for_an_invite() {
    let people = Matrix::on(Synapse::shared().await, &PLAIN).await;
    let room = people.mallory.create_room(false, &[&people.bot.user_id, &people.ada.user_id]).await;
    people.home.reconfigure(&people.room, &room);
    let (code, said) = check(&people).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("invite {} to {room}", people.bot.user_id)), "{said}");
}

#[tokio::test]
async fn an_approver_who_is_not_in_the_room_is_named() {
    let server = Synapse::shared().await;
    let (people, carol) = (Matrix::on(server, &PLAIN).await, server.register("carol").await);
    people.home.reconfigure(&format!("\"{}\"]\n", people.bob.user_id), &format!("\"{}\"]\n", carol.user_id));
    let (code, said) = check(&people).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(&format!("  who could answer   {}\n", people.ada.user_id)), "{said}");
    assert!(said.contains(&format!("  ! {} is an approver but not in the room; invite them\n", carol.user_id)), "{said}");
}

#[tokio::test]
async fn without_an_approver_nobody_could_answer() {
    let server = Synapse::shared().await;
    let (people, carol) = (Matrix::on(server, &PLAIN).await, server.register("carol").await);
    let approvers = format!("approvers = [\"{}\", \"{}\"]", people.ada.user_id, people.bob.user_id);
    let absent = format!("approvers = [\"{}\"]", carol.user_id);
    people.home.reconfigure(&approvers, &absent);
    let nobody = async || {
        let (code, said) = check(&people).await;
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("  who could answer   NOBODY\n"), "{said}");
        assert!(said.contains("rooms.builds.approvers"), "{said}");
    };
    nobody().await;
    people.home.reconfigure(&absent, "approvers = []");
    nobody().await;
    people.home.reconfigure("approvers = []", "");
    nobody().await;
}

#[tokio::test]
async fn a_bot_that_may_not_post_polls_is_told_what_to_raise() {
    let people = Matrix::on(Synapse::shared().await, &PLAIN).await;
    people.ada.http.set_power_needed(&people.room, "org.matrix.msc3381.poll.start", 99).await;
    let (code, said) = check(&people).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("polls NO") && said.contains("the bot may not send polls in the room; raise"), "{said}");
}

#[tokio::test]
async fn a_homeserver_that_does_not_answer_is_told() {
    let people = Matrix::on(Synapse::shared().await, &PLAIN).await;
    people.home.reconfigure(&people.bot.homeserver, "http://127.0.0.1:9");
    let (code, said) = check(&people).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the homeserver cannot be reached"), "{said}");
}
