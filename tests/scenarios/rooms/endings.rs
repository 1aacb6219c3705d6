//! Every way to end without an answer refuses, and says so.

use countersign_tests::{Launch, RawAgent};
use serde_json::{Value, json};

use crate::stage::{Place, Plan, Stage, Who, cancelled, selected};

in_every_room! {
    nobody_answers_and_it_is_refused_and_a_late_click_hears_so,
    a_cancelled_turn_is_answered_cancelled,
    a_moderator_who_removes_the_card_withdraws_the_request,
    a_room_that_is_lost_refuses_what_waits_and_what_comes,
    a_request_that_cannot_be_understood_is_refused_and_shown,
}

async fn nobody_answers_and_it_is_refused_and_a_late_click_hears_so<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(Plan { lifetime: "4s", ..plan }).await;
    let (prompt, card) = stage.ask_and_see("late").await;
    assert_eq!(stage.outcome(&prompt, "late").await, (selected("no 3"), false));
    stage.place.closing(&card, "Nobody answered in time").await;
    stage.place.wait_until_dead(&card).await;
    // A click may have been on its way meanwhile.
    stage.place.press(Who::Bob, &card, "Yes").await;
    let told = stage.place.private_reply(Who::Bob, "too late").await;
    assert!(told.contains("Nothing was allowed"), "{told}");
}

async fn a_cancelled_turn_is_answered_cancelled<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(plan).await;
    let (prompt, card) = stage.ask_and_see("cancel").await;
    let session = stage.session.clone();
    stage.bridge.cancel(&session).await;
    assert_eq!(stage.outcome(&prompt, "cancel").await, (cancelled(), false));
    stage.place.closing(&card, "turn was cancelled").await;
    stage.place.wait_until_dead(&card).await;
}

async fn a_moderator_who_removes_the_card_withdraws_the_request<P: Place>(plan: Plan) {
    for way in P::REMOVALS {
        let mut stage = Stage::<P>::set(plan).await;
        let (prompt, card) = stage.ask_and_see("removed").await;
        stage.place.remove_card(&card, way).await;
        assert_eq!(stage.outcome(&prompt, "removed").await, (cancelled(), false), "{way}");
    }
}

async fn a_room_that_is_lost_refuses_what_waits_and_what_comes<P: Place>(plan: Plan) {
    for way in P::LOSSES {
        let mut stage = Stage::<P>::set(plan).await;
        let (prompt, _) = stage.ask_and_see(way).await;
        stage.place.lose_bot(way).await;
        assert_eq!(stage.outcome(&prompt, way).await, (selected("no 3"), false), "{way}");
        stage.bridge.stderr_contains("the room builds is lost").await;
        let prompt = stage.ask("again").await;
        assert_eq!(stage.outcome(&prompt, "again").await, (selected("no 3"), false), "{way}");
    }
}

async fn a_request_that_cannot_be_understood_is_refused_and_shown<P: Place>(plan: Plan) {
    let ask = |id: &str, options: Value| {
        let params = json!({"sessionId": "s", "toolCall": {"toolCallId": "c", "title": "x"}, "options": options});
        json!({"send": {"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params}})
    };
    let twice =
        json!([{"optionId": "a", "name": "A", "kind": "allow_once"}, {"optionId": "a", "name": "B", "kind": "reject_once"}]);
    let agent = RawAgent::new(&[ask("none", json!([])), ask("twice", twice)]);
    let place = P::gather(&plan).await;
    let _bridge = Launch::acp(Some(&place.home().config()), &agent.command()).await.start();
    for (id, problem) in [("none", "no options were offered"), ("twice", "two options have the same id")] {
        let answer = agent.wait_to_receive("a refusal", |frame| frame["id"] == id).await;
        assert_eq!(answer["result"], json!({"outcome": {"outcome": "cancelled"}}));
        place.said(&[problem]).await;
    }
    assert_eq!(place.card_count().await, 0);
}
