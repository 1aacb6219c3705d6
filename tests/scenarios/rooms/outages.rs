//! The chat service is away for a while: nothing is lost, and nothing is allowed by it.

use crate::stage::{Place, Plan, Who, selected};

in_every_room! {
    a_service_that_is_away_for_the_whole_lifetime_refuses_and_the_room_is_told_later,
    a_service_that_is_away_while_a_card_is_open_loses_no_click,
    an_agent_starts_though_the_service_does_not_and_is_asked_about_once_it_does,
}

async fn a_service_that_is_away_for_the_whole_lifetime_refuses_and_the_room_is_told_later<P: Place>(plan: Plan) {
    let mut stage = P::gather_apart(&Plan { lifetime: "3s", ..plan }).await.play().await;
    stage.place.stop_service().await;
    let prompt = stage.ask("away").await;
    assert_eq!(stage.outcome(&prompt, "away").await, (selected("no 3"), false));
    stage.place.restart_service().await;
    stage.place.said(&["touch away", "Nothing was allowed"]).await;
    // And the next one is shown as if nothing had been.
    let (prompt, card) = stage.ask_and_see("back").await;
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "back").await, (selected("no 3"), false));
}

async fn a_service_that_is_away_while_a_card_is_open_loses_no_click<P: Place>(plan: Plan) {
    let mut stage = P::gather_apart(&plan).await.play().await;
    let (prompt, card) = stage.ask_and_see("gap").await;
    stage.place.stop_service().await;
    stage.place.restart_service().await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "gap").await, (selected("once:1"), true));
}

async fn an_agent_starts_though_the_service_does_not_and_is_asked_about_once_it_does<P: Place>(plan: Plan) {
    let mut place = P::gather_apart(&plan).await;
    place.stop_service().await;
    let mut stage = place.open().await;
    let prompt = stage.ask("early").await;
    stage.place.restart_service().await;
    let card = stage.card("early").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "early").await, (selected("once:1"), true));
}
