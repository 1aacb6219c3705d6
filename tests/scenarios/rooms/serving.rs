//! One bridge for many programs: scripts and agents elsewhere, whose requests wait through its restarts.

use countersign_tests::BridgeProcess;
use nix::sys::signal::Signal;

use crate::stage::{Place, Plan, Stage, Who, selected};

in_every_room! {
    a_script_asks_and_is_told_what_was_chosen,
    a_script_that_is_interrupted_takes_its_request_back,
    an_agent_behind_a_bridge_is_told_the_very_option_that_was_chosen,
    what_waits_goes_on_after_the_bridge_was_killed_and_on_the_same_card,
    what_is_detached_is_there_for_whoever_asks_for_it_again,
    an_agent_whose_bridge_is_gone_is_refused_at_its_own_deadline,
}

async fn a_script_asks_and_is_told_what_was_chosen<P: Place>(plan: Plan) {
    let place = P::gather(&plan).await;
    let _bridge = place.home().serve().await;
    for (name, label, status) in [("yes", "Apply", 0), ("no", "Stop it", 1)] {
        let mut script = ask(&place, name, &[]).await;
        let card = place.card(name).await;
        assert_eq!(P::labels(&card), ["Apply", "Stop it"]);
        assert!(P::text(&card).contains("the plan is long"), "{}", P::text(&card));
        place.press(Who::Ada, &card, label).await;
        assert_eq!(ended(&mut script).await, (Some(status), if status == 0 { "go 1" } else { "stop" }.to_owned()));
        place.closing(&card, "The agent has it").await;
        place.wait_until_dead(&card).await;
    }
}

async fn a_script_that_is_interrupted_takes_its_request_back<P: Place>(plan: Plan) {
    let place = P::gather(&plan).await;
    let _bridge = place.home().serve().await;
    let mut script = ask(&place, "interrupted", &[]).await;
    let card = place.card("interrupted").await;
    script.stderr_contains("Waiting for a person in builds, as #1").await;
    script.signal(Signal::SIGINT);
    assert_eq!(ended(&mut script).await, (Some(130), String::new()));
    place.closing(&card, "withdrew its request. Nothing was allowed").await;
    place.wait_until_dead(&card).await;
}

async fn an_agent_behind_a_bridge_is_told_the_very_option_that_was_chosen<P: Place>(plan: Plan) {
    let place = P::gather(&plan).await;
    let _bridge = place.home().serve().await;
    let mut bridge = place.home().start_behind(&[]).await;
    let session = bridge.open_session().await;
    let mut stage = Stage { bridge, session, place };
    let (prompt, card) = stage.ask_and_see("remote").await;
    stage.place.press(Who::Mallory, &card, "Yes").await;
    stage.place.private_reply(Who::Mallory, "not among the approvers").await;
    stage.assert_open("remote");
    stage.place.press(Who::Ada, &card, "Always").await;
    assert_eq!(stage.outcome(&prompt, "remote").await, (selected("always/2"), true));
    stage.place.closing(&card, "The agent has it").await;
    // Its client cancels the turn.
    let (prompt, card) = stage.ask_and_see("cancelled").await;
    stage.bridge.cancel(&stage.session).await;
    assert_eq!(stage.outcome(&prompt, "cancelled").await, (crate::stage::cancelled(), false));
    stage.place.closing(&card, "The turn was cancelled").await;
    // It ends while it waits.
    let (_, card) = stage.ask_and_see("ends").await;
    stage.bridge.close_stdin();
    stage.bridge.wait_exit().await;
    stage.place.closing(&card, "Nothing was allowed").await;
    assert!(!stage.has_run("ends"));
}

async fn what_waits_goes_on_after_the_bridge_was_killed_and_on_the_same_card<P: Place>(plan: Plan) {
    let place = P::gather(&plan).await;
    let mut bridge = place.home().serve().await;
    let mut script = ask(&place, "goes on", &[]).await;
    let card = place.card("goes on").await;
    bridge.stderr_contains("is in its room").await;
    bridge.kill().await;
    let mut bridge = place.home().serve().await;
    bridge.stderr_contains("is in its room").await;
    assert!(place.is_live(&card).await);
    place.press(Who::Ada, &card, "Apply").await;
    assert_eq!(ended(&mut script).await, (Some(0), "go 1".to_owned()));
    place.closing(&card, "The agent has it").await;
    assert_eq!(place.card_count().await, 1);
    // One that is asked to end leaves what can come back, too.
    let mut script = ask(&place, "again", &[]).await;
    let card = place.card("again").await;
    bridge.signal(Signal::SIGTERM);
    assert!(bridge.wait_exit().await.success());
    let bridge = place.home().serve().await;
    bridge.stderr_contains("is in its room").await;
    place.press(Who::Ada, &card, "Stop it").await;
    assert_eq!(ended(&mut script).await, (Some(1), "stop".to_owned()));
    place.closing(&card, "The agent has it").await;
    assert_eq!(place.card_count().await, 2);
}

async fn what_is_detached_is_there_for_whoever_asks_for_it_again<P: Place>(plan: Plan) {
    let place = P::gather(&plan).await;
    let mut bridge = place.home().serve().await;
    let more = ["--detached", "--key", "release 7"];
    let mut script = ask(&place, "detached", &more).await;
    let card = place.card("detached").await;
    script.stderr_contains("Waiting for a person").await;
    script.kill().await;
    bridge.stderr_contains("is in its room").await;
    bridge.kill().await;
    let mut bridge = place.home().serve().await;
    bridge.stderr_contains("is in its room").await;
    place.press(Who::Ada, &card, "Apply").await;
    place.closing(&card, "It is being delivered to the agent").await;
    // What was chosen is there after another restart.
    bridge.kill().await;
    let _bridge = place.home().serve().await;
    let mut script = ask(&place, "detached", &more).await;
    assert_eq!(ended(&mut script).await, (Some(0), "go 1".to_owned()));
    // The same key is not another question.
    let mut script = ask(&place, "other", &more).await;
    assert_eq!(ended(&mut script).await, (Some(4), String::new()));
    assert_eq!(place.card_count().await, 1);
}

async fn an_agent_whose_bridge_is_gone_is_refused_at_its_own_deadline<P: Place>(plan: Plan) {
    let place = P::gather(&plan).await;
    let mut serving = place.home().serve().await;
    let mut bridge = place.home().start_behind(&["--lifetime", "4s"]).await;
    let session = bridge.open_session().await;
    let mut stage = Stage { bridge, session, place };
    let (prompt, card) = stage.ask_and_see("alone").await;
    serving.stderr_contains("is in its room").await;
    serving.kill().await;
    assert_eq!(stage.outcome(&prompt, "alone").await, (selected("no 3"), false));
    // The next start says what became of it.
    let _serving = stage.place.home().serve().await;
    stage.place.closing(&card, "Nothing was allowed").await;
    stage.place.wait_until_dead(&card).await;
}

async fn ask<P: Place>(place: &P, title: &str, more: &[&str]) -> BridgeProcess {
    let options = ["--option", "go 1=Apply:allow_once", "--option", "stop=Stop it:reject_once"];
    place.home().ask(&[&["--title", title, "--detail", "the plan is long"], &options[..], more].concat()).await
}

/// Its exit status, and what it printed.
async fn ended(script: &mut BridgeProcess) -> (Option<i32>, String) {
    let printed = script.rest_of_output().await;
    let status = script.wait_exit().await;
    (status.code(), String::from_utf8(printed).expect("UTF-8").trim_end().to_owned())
}
