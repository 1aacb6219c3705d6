//! One click of a person who may, and the agent has its own option back.

use countersign_tests::{Launch, RawAgent};
use serde_json::json;

use crate::stage::{Place, Plan, Stage, Who, selected};

in_every_room! {
    each_button_returns_its_option,
    option_ids_of_any_shape_come_back_as_they_were_and_never_reach_the_room,
    of_two_cards_the_pressed_one_is_answered,
    the_first_of_two_people_wins_and_the_other_hears_who_it_was,
    a_double_click_and_a_changed_mind_change_nothing,
    a_raw_answer_is_what_the_protocol_has,
}

async fn each_button_returns_its_option<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(plan).await;
    for (label, id, runs) in [("Yes", "once:1", true), ("No", "no 3", false), ("Always", "always/2", true)] {
        let (prompt, card) = stage.ask_and_see(label).await;
        assert_eq!(P::labels(&card), ["Yes", "Always", "No"]);
        stage.assert_open(label);
        stage.place.press(Who::Ada, &card, label).await;
        assert_eq!(stage.outcome(&prompt, label).await, (selected(id), runs));
        let closing = stage.place.closing(&card, "The agent has it").await;
        assert!(closing.contains(&format!("chose \"{label}\"")) && !closing.contains("pproved"), "{closing}");
        stage.place.wait_until_dead(&card).await;
    }
}

async fn option_ids_of_any_shape_come_back_as_they_were_and_never_reach_the_room<P: Place>(plan: Plan) {
    let long = "x".repeat(10_000);
    let ids =
        ["a:b:c", "a/b?c=d#e", "✅🏴", " spaces ", "\"quoted\\\"", "{\"json\":1}", "\n\t", "0", "cancelled", "selected", &long];
    let mut stage = Stage::<P>::set(plan).await;
    for (at, id) in ids.into_iter().enumerate() {
        let name = format!("awkward {at}");
        let prompt = stage.ask_with(&name, &json!([[id, "Do it", "allow_once"], ["no", "Leave it", "reject_once"]])).await;
        let card = stage.card(&name).await;
        assert!(id.len() < 6 || !format!("{card:?}").contains(id), "{card:?}");
        stage.place.press(Who::Ada, &card, "Do it").await;
        assert_eq!(stage.outcome(&prompt, &name).await, (selected(id), true));
    }
}

async fn of_two_cards_the_pressed_one_is_answered<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(plan).await;
    let prompt = stage.ask_all(&["first", "second"], &json!([["y", "Yes", "allow_once"]])).await;
    let (first, second) = (stage.card("first").await, stage.card("second").await);
    stage.place.press(Who::Ada, &second, "Yes").await;
    stage.place.closing(&second, "The agent has it").await;
    assert!(!stage.has_run("first") && stage.place.is_live(&first).await);
    stage.place.press(Who::Ada, &first, "Yes").await;
    stage.bridge.answer(&prompt).await;
    assert!(stage.has_run("first") && stage.has_run("second"));
}

async fn the_first_of_two_people_wins_and_the_other_hears_who_it_was<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(plan).await;
    let (prompt, card) = stage.ask_and_see("race").await;
    stage.place.press(Who::Ada, &card, "No").await;
    stage.place.press(Who::Bob, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "race").await, (selected("no 3"), false));
    let told = stage.place.private_reply(Who::Bob, "too late").await;
    assert!(told.contains("chose \"No\""), "{told}");
}

async fn a_double_click_and_a_changed_mind_change_nothing<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(plan).await;
    let (prompt, card) = stage.ask_and_see("twice").await;
    stage.place.press(Who::Ada, &card, "No").await;
    stage.place.press(Who::Ada, &card, "No").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "twice").await, (selected("no 3"), false));
    stage.place.closing(&card, "chose \"No\"").await;
}

async fn a_raw_answer_is_what_the_protocol_has<P: Place>(plan: Plan) {
    let request = json!({"jsonrpc": "2.0", "id": "r", "method": "session/request_permission", "params": {"sessionId": "s",
        "toolCall": {"toolCallId": "c", "rawInput": {"command": "touch raw"}}, "options": [{"optionId": "o", "name": "Go", "kind": "allow_once"}]}});
    let agent = RawAgent::new(&[json!({"send": request}), json!({"expect": {"id": "r"}})]);
    let place = P::gather(&plan).await;
    let _bridge = Launch::acp(Some(&place.home().config()), &agent.command()).await.start();
    let card = place.card("touch raw").await;
    place.press(Who::Ada, &card, "Go").await;
    agent.wait_to_receive("the answer", |frame| frame["id"] == "r").await;
    assert_eq!(
        agent.received_lines(),
        [r#"{"jsonrpc":"2.0","id":"r","result":{"outcome":{"outcome":"selected","optionId":"o"}}}"#]
    );
}
