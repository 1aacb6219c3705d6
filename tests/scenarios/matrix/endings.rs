//! Every way to end without an answer refuses, and says so.

use countersign_tests::{Launch, RawAgent, Seen, Synapse, until};
use nix::sys::signal::Signal;

use crate::stage::{PLAIN, People, Plan, Stage, cancelled, selected};

#[tokio::test]
async fn nobody_answers_and_it_is_refused_and_a_late_click_hears_so() {
    let mut stage = Stage::set(Plan { lifetime: "4s", ..PLAIN }).await;
    let (prompt, card) = stage.ask_and_see("late").await;
    assert_eq!(stage.outcome(&prompt, "late").await, (selected("no 3"), false));
    stage.closing(&card, "Nobody answered in time").await;
    stage.people.bob.press(&card, "Yes").await;
    let (bob, bot, room) = (&stage.people.bob, &stage.people.bot.user_id, stage.people.room.as_str());
    bob.accept_invites_from(bot).await;
    bob.wait_for_direct_message(bot, &[room], |text| text.contains("too late") && text.contains("Nothing was allowed")).await;
}

#[tokio::test]
async fn a_cancelled_turn_is_answered_cancelled() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("cancel").await;
    let session = stage.session.clone();
    stage.bridge.cancel(&session).await;
    assert_eq!(stage.outcome(&prompt, "cancel").await, (cancelled(), false));
    stage.closing(&card, "turn was cancelled").await;
}

#[tokio::test]
async fn a_moderator_who_removes_the_card_withdraws_the_request() {
    for whole in [true, false] {
        let mut stage = Stage::set(PLAIN).await;
        let (prompt, card) = stage.ask_and_see("removed").await;
        let part = if whole { &card.message_event } else { &card.poll_event };
        stage.people.ada.http.redact(&stage.people.room, part).await;
        assert_eq!(stage.outcome(&prompt, "removed").await, (cancelled(), false));
    }
}

#[tokio::test]
async fn what_others_do_to_the_card_means_nothing() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("meddling").await;
    let (mallory, room) = (&stage.people.mallory, stage.people.room.as_str());
    let reference = serde_json::json!({"rel_type": "m.reference", "event_id": card.poll_event});
    let end =
        serde_json::json!({"m.relates_to": reference, "org.matrix.msc3381.poll.end": {}, "org.matrix.msc1767.text": "over"});
    mallory.http.try_send(room, "org.matrix.msc3381.poll.end", &end).await;
    let replace = serde_json::json!({"rel_type": "m.replace", "event_id": card.poll_event});
    let edit = serde_json::json!({"m.relates_to": replace, "m.new_content": {}, "org.matrix.msc3381.poll.start": {}});
    mallory.http.try_send(room, "org.matrix.msc3381.poll.start", &edit).await;
    stage.people.ada.press(&card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "meddling").await, (selected("once:1"), true));
}

#[tokio::test]
async fn a_room_that_is_lost_refuses_what_waits_and_what_comes() {
    for (what, lose) in [("kick", 0), ("ban", 1), ("tombstone", 2), ("power", 3)] {
        let mut stage = Stage::set(PLAIN).await;
        let (prompt, _) = stage.ask_and_see(what).await;
        let (ada, bot, room) = (&stage.people.ada.http, &stage.people.bot.user_id, stage.people.room.as_str());
        match lose {
            0 => ada.kick(room, bot).await,
            1 => ada.ban(room, bot).await,
            2 => drop(ada.tombstone(room, "!elsewhere:localhost").await),
            _ => ada.set_power(room, bot, -1).await,
        }
        assert_eq!(stage.outcome(&prompt, what).await, (selected("no 3"), false), "{what}");
        stage.bridge.stderr_contains("the room builds is lost").await;
        let prompt = stage.ask("again").await;
        assert_eq!(stage.outcome(&prompt, "again").await, (selected("no 3"), false), "{what}");
    }
}

#[tokio::test]
async fn a_revoked_token_refuses_everything() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, _) = stage.ask_and_see("revoked").await;
    let bot = countersign_tests::HttpMember::log_in(&stage.people.bot).await;
    bot.log_out_everywhere().await;
    assert_eq!(stage.outcome(&prompt, "revoked").await, (selected("no 3"), false));
    stage.bridge.stderr_contains("the room builds is lost").await;
}

#[tokio::test]
async fn an_agent_that_dies_leaves_no_live_card() {
    let stage = Stage::set(PLAIN).await;
    let Stage { mut bridge, session, people } = stage;
    let ask = serde_json::json!({"ask": [{"title": "dies", "kind": "execute", "command": "touch dies", "marker": people.file("dies"), "options": [["y", "Yes", "allow_once"]]}]});
    bridge.prompt(&session, &ask.to_string()).await;
    let card = people.ada.wait_for_card(&people.room).await;
    bridge.signal(Signal::SIGTERM);
    bridge.wait_exit().await;
    people.bob.wait_for_edit(&card.message_event, |shown| shown.body.contains("Nothing was allowed")).await;
    assert!(!people.file("dies").exists());
}

#[tokio::test]
async fn a_client_that_leaves_cancels_and_closes() {
    let mut stage = Stage::set(PLAIN).await;
    let (_, card) = stage.ask_and_see("leaves").await;
    stage.bridge.close_stdin();
    stage.bridge.wait_exit().await;
    stage.closing(&card, "Nothing was allowed").await;
    stage.assert_open("leaves");
}

#[tokio::test]
async fn a_killed_bridge_allows_nothing_and_its_card_is_closed_at_the_next_start() {
    let mut stage = Stage::set(PLAIN).await;
    let (_, card) = stage.ask_and_see("killed").await;
    until("the card to be on record", async || stage.bridge.stderr().contains("is in its room").then_some(())).await;
    stage.bridge.kill().await;
    let _again = stage.people.start().await;
    stage.closing(&card, "The bridge restarted. Nothing was allowed.").await;
    stage.people.ada.wait_for_poll_end(&card.poll_event).await;
    stage.assert_open("killed");
}

#[tokio::test]
async fn a_second_bridge_on_the_same_rooms_is_refused() {
    let people: People = Stage::set(PLAIN).await.people;
    let _first = people.start().await;
    let mut second = people.start().await;
    let mut third = people.start().await;
    let exits = [second.wait_exit().await.code(), third.wait_exit().await.code()];
    assert!(exits.contains(&Some(78)), "{exits:?}");
}

#[tokio::test]
async fn a_request_that_cannot_be_understood_is_refused_and_shown() {
    let ask = |id: &str, options: serde_json::Value| {
        let params = serde_json::json!({"sessionId": "s", "toolCall": {"toolCallId": "c", "title": "x"}, "options": options});
        serde_json::json!({"send": {"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params}})
    };
    let twice = serde_json::json!([{"optionId": "a", "name": "A", "kind": "allow_once"}, {"optionId": "a", "name": "B", "kind": "reject_once"}]);
    let agent = RawAgent::new(&[ask("none", serde_json::json!([])), ask("twice", twice)]);
    let people = People::gather(Synapse::shared().await, &PLAIN).await;
    let _bridge = Launch::acp(Some(&people.config()), &agent.command()).await.start();
    for (id, problem) in [("none", "no options were offered"), ("twice", "two options have the same id")] {
        let answer = agent.wait_to_receive("a refusal", |frame| frame["id"] == id).await;
        assert_eq!(answer["result"], serde_json::json!({"outcome": {"outcome": "cancelled"}}));
        let says = |seen: &Seen| seen.event["content"]["body"].as_str().is_some_and(|body| body.contains(problem));
        people.ada.wait_for_event("what was wrong with it", &people.room, says).await;
    }
    assert_eq!(people.ada.cards(&people.room).len(), 0);
}
