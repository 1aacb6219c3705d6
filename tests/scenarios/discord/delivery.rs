//! An agent that does not read keeps nobody waiting who clicks.

use countersign_tests::{Launch, deaf_agent, until};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::json;

use crate::stage::{Discord, PLAIN, Place, Who};

#[tokio::test]
async fn a_click_is_acknowledged_within_a_second_though_the_agent_does_not_read() {
    let place = Discord::gather(&PLAIN).await;
    is_acknowledged_and_delivered_later(&place).await;
}

#[tokio::test]
async fn a_click_is_acknowledged_within_a_second_though_discord_is_slow_as_well() {
    let place = Discord::gather(&PLAIN).await;
    let slow = json!({"kind": "delay", "seconds": 0.5, "method": "POST", "path": "/interactions/*", "times": 1_000});
    place.server.act("fault", slow).await;
    is_acknowledged_and_delivered_later(&place).await;
}

async fn is_acknowledged_and_delivered_later(place: &Discord) {
    let (gate, received) = (place.home().file("gate"), place.home().file("received"));
    mkfifo(&gate, Mode::S_IRWXU).expect("a named pipe");
    let mut bridge = Launch::acp(Some(&place.home().config()), &deaf_agent(&gate, &received)).await.start();
    bridge.stderr_contains("connected").await;
    let card = place.card("touch deaf").await;
    bridge.stderr_contains("is in its room").await;
    bridge.send(&json!({"jsonrpc": "2.0", "method": "_notice", "params": {"words": "many ".repeat(20_000)}})).await;
    bridge.wait_for(|frame| frame["method"] == "_full").await;

    let (ada, token) = (place.id(Who::Ada), Discord::token(&card, "Go"));
    let click = place.server.click(ada, &card.message, token).await;
    let is_acknowledged = async || {
        let known = place.server.act("interaction", json!({"interaction": click})).await;
        known["after"].as_f64()
    };
    let after = until("an acknowledgement", is_acknowledged).await;
    assert!(after < 1.0, "it took {after} seconds");
    place.closing(&card, "It is being delivered to the agent").await;
    // Nobody else waits for the agent either.
    place.press(Who::Bob, &card, "Go").await;
    let told = place.private_reply(Who::Bob, "too late").await;
    assert!(told.contains("It is being delivered to the agent"), "{told}");

    tokio::fs::write(&gate, "now").await.expect("it is opened at the other end");
    place.closing(&card, "The agent has it").await;
    let answer = r#"{"jsonrpc":"2.0","id":"r","result":{"outcome":{"outcome":"selected","optionId":"o"}}}"#;
    until("the answer", async || {
        let received = std::fs::read_to_string(&received).unwrap_or_default();
        received.lines().any(|line| line == answer).then_some(())
    })
    .await;
}
