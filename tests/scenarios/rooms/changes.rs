//! A card shows what would be done, or it ends.

use countersign_tests::{BridgeProcess, Launch, RawAgent};
use serde_json::{Value, json};

use crate::stage::{Place, Plan, Who};

in_every_room! {
    what_changes_while_people_decide_is_refused_and_the_card_says_what,
    people_are_asked_again_where_the_operator_wants_it,
}

async fn what_changes_while_people_decide_is_refused_and_the_card_says_what<P: Place>(plan: Plan) {
    let place = P::gather(&plan).await;
    let (agent, mut bridge) = start(&place).await;
    let card = place.card("touch one").await;
    change(&mut bridge).await;
    let closing = place.closing(&card, "Not as it was").await;
    assert!(closing.contains("Command") && closing.contains("Nothing was allowed"), "{closing}");
    place.wait_until_dead(&card).await;
    assert_eq!(answer(&agent).await, json!({"outcome": "selected", "optionId": "n"}));
    assert_eq!(place.card_count().await, 1);
}

async fn people_are_asked_again_where_the_operator_wants_it<P: Place>(plan: Plan) {
    let place = P::gather(&plan).await;
    place.home().reconfigure("[policy]\n", "[policy]\nwhen_changed = \"ask_again\"\n");
    let (agent, mut bridge) = start(&place).await;
    let before = place.card("touch one").await;
    change(&mut bridge).await;
    place.closing(&before, "asked anew").await;
    place.wait_until_dead(&before).await;
    let after = place.card("rm -rf").await;
    assert!(P::text(&after).contains("takes the place of #1"), "{}", P::text(&after));
    place.press(Who::Ada, &after, "Go").await;
    assert_eq!(answer(&agent).await, json!({"outcome": "selected", "optionId": "o"}));
    place.closing(&after, "The agent has it").await;
}

/// An agent that asks to run one thing and, told to, means another.
async fn start<P: Place>(place: &P) -> (RawAgent, BridgeProcess) {
    let options = json!([
        {"optionId": "o", "name": "Go", "kind": "allow_once"},
        {"optionId": "n", "name": "Stay", "kind": "reject_once"},
    ]);
    let call = |command: &str| json!({"toolCallId": "c", "kind": "execute", "rawInput": {"command": command}});
    let params = json!({"sessionId": "s", "toolCall": call("touch one"), "options": options});
    let request = json!({"jsonrpc": "2.0", "id": "r", "method": "session/request_permission", "params": params});
    let mut update = call("touch two; rm -rf ~");
    update["sessionUpdate"] = json!("tool_call_update");
    let update = json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}});
    let agent = RawAgent::new(&[
        json!({"send": request}),
        json!({"expect": {"method": "_change"}}),
        json!({"send": update}),
        json!({"expect": {"id": "r"}}),
    ]);
    let bridge = Launch::acp(Some(&place.home().config()), &agent.command()).await.start();
    (agent, bridge)
}

async fn change(bridge: &mut BridgeProcess) {
    bridge.send(&json!({"jsonrpc": "2.0", "method": "_change"})).await;
}

/// What the agent was told, once and for all.
async fn answer(agent: &RawAgent) -> Value {
    let answer = agent.wait_to_receive("the answer", |frame| frame["id"] == "r").await;
    let answers = agent.received_lines().iter().filter(|line| line.contains("\"outcome\"")).count();
    assert_eq!(answers, 1);
    answer["result"]["outcome"].clone()
}
