//! What the operator's rules make of requests and of clicks.

use nix::sys::signal::Signal;
use serde_json::json;

use crate::stage::{Place, Plan, Stage, Who, selected};

in_every_room! {
    two_people_choose_the_same_before_it_is_allowed_and_the_card_shows_who_is_in,
    one_of_two_is_enough_to_refuse,
    what_is_to_be_confirmed_takes_a_second_press_of_the_same_person,
    a_card_that_has_just_appeared_can_only_be_refused,
    where_nobody_could_answer_it_is_refused_at_once_and_the_room_is_told,
    a_request_that_waits_is_called_to_mind,
    what_a_rule_allows_or_refuses_has_no_card,
    an_agents_client_is_asked_what_people_are_asked_and_nothing_else,
    more_cards_than_people_can_look_at_are_refused,
    what_people_refuse_time_and_again_is_not_asked_again,
    stricter_rules_count_for_what_waits_once_they_are_read_again,
}

async fn two_people_choose_the_same_before_it_is_allowed_and_the_card_shows_who_is_in<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(Plan { room: "approvals = 2", ..plan }).await;
    let (prompt, card) = stage.ask_and_see("both").await;
    assert!(P::text(&card).contains("Two people have to allow it"), "{}", P::text(&card));
    stage.place.press(Who::Ada, &card, "Yes").await;
    stage.place.shows(&card, "chose \"Yes\"").await;
    stage.place.press(Who::Bob, &card, "Always").await;
    stage.place.private_reply(Who::Bob, "two people have to choose the same").await;
    stage.assert_open("both");
    stage.place.press(Who::Bob, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "both").await, (selected("once:1"), true));
    let closing = stage.place.closing(&card, "The agent has it").await;
    assert!(closing.contains(" and ") && closing.contains("chose \"Yes\""), "{closing}");
    stage.place.wait_until_dead(&card).await;
}

async fn one_of_two_is_enough_to_refuse<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(Plan { room: "approvals = 2", ..plan }).await;
    let (prompt, card) = stage.ask_and_see("either").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    stage.place.shows(&card, "chose \"Yes\"").await;
    stage.place.press(Who::Bob, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "either").await, (selected("no 3"), false));
    stage.place.wait_until_dead(&card).await;
}

async fn what_is_to_be_confirmed_takes_a_second_press_of_the_same_person<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(Plan { room: "confirm = [\"allow_always\"]", ..plan }).await;
    let (prompt, card) = stage.ask_and_see("sure").await;
    stage.place.press(Who::Ada, &card, "Always").await;
    // Somebody else's choice of what needs no more settles it; hers waits for her.
    stage.place.press(Who::Mallory, &card, "No").await;
    stage.place.private_reply(Who::Mallory, "not among the approvers").await;
    stage.assert_open("sure");
    stage.place.confirm(Who::Ada, "Always").await;
    assert_eq!(stage.outcome(&prompt, "sure").await, (selected("always/2"), true));
    // What allows it only this once does not ask for more.
    let (prompt, card) = stage.ask_and_see("once").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "once").await, (selected("once:1"), true));
}

async fn a_card_that_has_just_appeared_can_only_be_refused<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(Plan { room: "arm_delay = \"1m\"", ..plan }).await;
    let (prompt, card) = stage.ask_and_see("new").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    stage.place.private_reply(Who::Ada, "only just appeared").await;
    stage.assert_open("new");
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "new").await, (selected("no 3"), false));
}

async fn where_nobody_could_answer_it_is_refused_at_once_and_the_room_is_told<P: Place>(plan: Plan) {
    let place = P::gather(&plan).await;
    place.home().reconfigure("approvers = [", "approvers = [] # [");
    let mut stage = place.play().await;
    let prompt = stage.ask("alone").await;
    assert_eq!(stage.outcome(&prompt, "alone").await, (selected("no 3"), false));
    stage.place.said(&["touch alone", "nobody who may answer is in this room"]).await;
    assert_eq!(stage.place.card_count().await, 0);
}

async fn a_request_that_waits_is_called_to_mind<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(Plan { room: "remind_at = [1]", lifetime: "2m", ..plan }).await;
    let (prompt, card) = stage.ask_and_see("waits").await;
    stage.place.said(&["still waits for an answer", "touch waits"]).await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "waits").await, (selected("once:1"), true));
}

async fn what_a_rule_allows_or_refuses_has_no_card<P: Place>(plan: Plan) {
    let place = P::gather(&plan).await;
    let rules = "[policy.kinds]\nexecute = \"auto_allow\"\n[policy.titles]\nnever = \"auto_deny\"\nfirst = \"ask\"\n";
    place.home().reconfigure("[rooms.builds]", &format!("{rules}[rooms.builds]"));
    place.home().reconfigure("[policy]\n", "[policy]\ntell_refusals = \"room\"\n");
    let mut stage = place.play().await;
    let prompt = stage.ask("allowed").await;
    assert_eq!(stage.outcome(&prompt, "allowed").await, (selected("once:1"), true));
    let prompt = stage.ask("never").await;
    assert_eq!(stage.outcome(&prompt, "never").await, (selected("no 3"), false));
    stage.place.said(&["touch never", "the policy says title:never = auto_deny"]).await;
    assert_eq!(stage.place.card_count().await, 0);
    let (prompt, card) = stage.ask_and_see("first").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "first").await, (selected("once:1"), true));
}

async fn an_agents_client_is_asked_what_people_are_asked_and_nothing_else<P: Place>(plan: Plan) {
    let place = P::gather(&plan).await;
    let rules = "[acp]\nalso_ask_client = true\n[policy.titles]\nnever = \"auto_deny\"\n";
    place.home().reconfigure("[rooms.builds]", &format!("{rules}[rooms.builds]"));
    let mut stage = place.play().await;
    let prompt = stage.ask("never").await;
    assert_eq!(stage.outcome(&prompt, "never").await, (selected("no 3"), false));
    let asks = |line: &[u8]| String::from_utf8_lossy(line).contains("session/request_permission");
    assert!(!stage.bridge.skipped().any(asks));
    let (prompt, card) = stage.ask_and_see("either").await;
    let asked = stage.bridge.wait_for(|frame| frame["method"] == "session/request_permission").await;
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": selected("once:1")}});
    stage.bridge.send(&answer).await;
    assert_eq!(stage.outcome(&prompt, "either").await, (selected("once:1"), true));
    stage.place.closing(&card, "agent's own client").await;
    stage.place.wait_until_dead(&card).await;
}

async fn more_cards_than_people_can_look_at_are_refused<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(Plan { more: "[limits]\ncards_a_minute_of_session = 1\n", ..plan }).await;
    let (prompt, card) = stage.ask_and_see("one").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "one").await, (selected("once:1"), true));
    let prompt = stage.ask("two").await;
    assert_eq!(stage.outcome(&prompt, "two").await, (selected("no 3"), false));
    stage.place.said(&["touch two", "more requests came within a minute"]).await;
}

async fn what_people_refuse_time_and_again_is_not_asked_again<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(Plan { more: "[limits]\nrefused_in_a_row = 2\n", ..plan }).await;
    for _ in 0..2 {
        let (prompt, card) = stage.ask_and_see("please").await;
        stage.place.press(Who::Ada, &card, "No").await;
        assert_eq!(stage.outcome(&prompt, "please").await, (selected("no 3"), false));
    }
    let prompt = stage.ask("please").await;
    assert_eq!(stage.outcome(&prompt, "please").await, (selected("no 3"), false));
    stage.place.said(&["touch please", "are not asked again yet"]).await;
    assert_eq!(stage.place.card_count().await, 2);
}

async fn stricter_rules_count_for_what_waits_once_they_are_read_again<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(plan).await;
    let (prompt, card) = stage.ask_and_see("held").await;
    let home = stage.place.home();
    home.reconfigure("[policy]\n", "[policy]\ndefault = \"auto_allow\"\n");
    stage.bridge.signal(Signal::SIGHUP);
    stage.bridge.stderr_contains("nothing has changed").await;
    stage.assert_open("held");
    home.reconfigure("default = \"auto_allow\"", "default = \"auto_deny\"");
    home.countersign(&["reload"]).await;
    assert_eq!(stage.outcome(&prompt, "held").await, (selected("no 3"), false));
    stage.place.closing(&card, "the policy says default = auto_deny").await;
    stage.place.wait_until_dead(&card).await;
}
