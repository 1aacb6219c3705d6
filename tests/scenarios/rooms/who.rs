//! Whose click counts, decided when they click.

use nix::sys::signal::Signal;

use crate::stage::{Place, Plan, Stage, Who, selected};

in_every_room! {
    somebody_who_is_no_approver_changes_nothing_and_is_told,
    a_bot_does_not_count_though_it_is_listed,
    somebody_who_has_left_by_the_time_of_the_check_does_not_count,
}

async fn somebody_who_is_no_approver_changes_nothing_and_is_told<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(plan).await;
    let (prompt, card) = stage.ask_and_see("stranger").await;
    stage.place.press(Who::Mallory, &card, "Yes").await;
    stage.place.private_reply(Who::Mallory, "not among the approvers").await;
    stage.assert_open("stranger");
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "stranger").await, (selected("no 3"), false));
}

async fn a_bot_does_not_count_though_it_is_listed<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(Plan { room: "bots = [\"BOB\"]", ..plan }).await;
    let (prompt, card) = stage.ask_and_see("robot").await;
    stage.place.press(Who::Bob, &card, "Yes").await;
    stage.assert_open("robot");
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "robot").await, (selected("no 3"), false));
}

async fn somebody_who_has_left_by_the_time_of_the_check_does_not_count<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(plan).await;
    let (prompt, card) = stage.ask_and_see("left").await;
    // The bridge stands still while the click is made and its maker leaves; it then sees both at once.
    stage.bridge.signal(Signal::SIGSTOP);
    stage.place.press_and_leave(Who::Bob, &card, "Yes").await;
    stage.bridge.signal(Signal::SIGCONT);
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "left").await, (selected("no 3"), false));
}
