//! The agent, its client or the bridge goes: no card stays live, and nothing is allowed.

use countersign_tests::until;
use nix::sys::signal::Signal;
use serde_json::json;

use crate::stage::{Home, Place, Plan, Stage, Who, selected};

in_every_room! {
    an_agent_that_dies_leaves_no_live_card,
    a_client_that_leaves_cancels_and_closes,
    a_killed_bridge_allows_nothing_and_its_card_is_closed_at_the_next_start,
    a_second_bridge_on_the_same_rooms_is_refused,
    what_happened_is_in_the_audit_before_and_after,
}

async fn an_agent_that_dies_leaves_no_live_card<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(plan).await;
    stage.ask_with("dies", &json!([["y", "Yes", "allow_once"]])).await;
    let card = stage.card("dies").await;
    stage.bridge.signal(Signal::SIGTERM);
    stage.bridge.wait_exit().await;
    stage.place.closing(&card, "Nothing was allowed").await;
    assert!(!stage.has_run("dies"));
}

async fn a_client_that_leaves_cancels_and_closes<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(plan).await;
    let (_, card) = stage.ask_and_see("leaves").await;
    stage.bridge.close_stdin();
    stage.bridge.wait_exit().await;
    stage.place.closing(&card, "Nothing was allowed").await;
    stage.assert_open("leaves");
}

async fn a_killed_bridge_allows_nothing_and_its_card_is_closed_at_the_next_start<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(plan).await;
    let (_, card) = stage.ask_and_see("killed").await;
    until("the card to be on record", async || stage.bridge.stderr().contains("is in its room").then_some(())).await;
    stage.bridge.kill().await;
    let _again = stage.place.start().await;
    stage.place.closing(&card, "The bridge restarted. Nothing was allowed.").await;
    stage.place.wait_until_dead(&card).await;
    stage.assert_open("killed");
}

async fn a_second_bridge_on_the_same_rooms_is_refused<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(plan).await;
    let mut second = stage.place.start().await;
    assert_eq!(second.wait_exit().await.code(), Some(78));
    // The first serves on.
    let (prompt, card) = stage.ask_and_see("first").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "first").await, (selected("once:1"), true));
}

async fn what_happened_is_in_the_audit_before_and_after<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(plan).await;
    let (prompt, card) = stage.ask_and_see("recorded").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "recorded").await, (selected("once:1"), true));
    stage.place.closing(&card, "The agent has it").await;
    let lines = audited(stage.place.home()).await;
    for told in ["waits in builds until", "is on the card", "chose \"Yes\"; Pending", "chose \"Yes\"; Taken"] {
        assert!(lines.contains(told), "{told} in {lines}");
    }
    stage.ask_and_see("killed").await;
    stage.bridge.kill().await;
    let again = stage.place.start().await;
    again.stderr_contains("an earlier run left a card open").await;
    let lines = audited(stage.place.home()).await;
    assert!(lines.contains("withdrawn: BridgeRestarted"), "{lines}");
    assert!(!lines.contains("touch") && !lines.contains("once:1"), "{lines}");
}

/// The lines of an audit that is whole.
async fn audited(home: &Home) -> String {
    let told = home.countersign(&["audit", "verify"]).await;
    assert!(told.starts_with("The audit is whole, from line 1 to line "), "{told}");
    home.countersign(&["audit", "list", "--since", "1h"]).await
}
