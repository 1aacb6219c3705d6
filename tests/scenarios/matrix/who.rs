//! Whose click counts, decided when they click.

use nix::sys::signal::Signal;

use crate::stage::{PLAIN, Plan, Stage, selected};

#[tokio::test]
async fn somebody_who_is_no_approver_changes_nothing_and_is_told() {
    for encrypted in [false, true] {
        let mut stage = Stage::set(Plan { encrypted, ..PLAIN }).await;
        let (prompt, card) = stage.ask_and_see("stranger").await;
        stage.people.mallory.press(&card, "Yes").await;
        let (mallory, bot, room) = (&stage.people.mallory, &stage.people.bot.user_id, stage.people.room.as_str());
        mallory.accept_invites_from(bot).await;
        mallory.wait_for_direct_message(bot, &[room], |text| text.contains("not among the approvers")).await;
        stage.assert_open("stranger");
        stage.people.ada.press(&card, "No").await;
        assert_eq!(stage.outcome(&prompt, "stranger").await, (selected("no 3"), false));
    }
}

#[tokio::test]
async fn a_bot_does_not_count_though_it_is_listed() {
    let mut stage = Stage::set(Plan { room: "bots = [\"BOB\"]", ..PLAIN }).await;
    let (prompt, card) = stage.ask_and_see("robot").await;
    stage.people.bob.press(&card, "Yes").await;
    stage.people.bob.accept_invites_from(&stage.people.bot.user_id).await;
    stage.assert_open("robot");
    stage.people.ada.press(&card, "No").await;
    assert_eq!(stage.outcome(&prompt, "robot").await, (selected("no 3"), false));
}

#[tokio::test]
async fn somebody_who_has_left_by_the_time_of_the_check_does_not_count() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("left").await;
    // The bridge stands still while the click is made and its maker leaves; it then sees both at once.
    stage.bridge.signal(Signal::SIGSTOP);
    stage.people.bob.press(&card, "Yes").await;
    stage.people.bob.http.leave(&stage.people.room).await;
    stage.bridge.signal(Signal::SIGCONT);
    stage.people.ada.press(&card, "No").await;
    assert_eq!(stage.outcome(&prompt, "left").await, (selected("no 3"), false));
}

#[tokio::test]
async fn power_is_asked_of_the_server_where_a_minimum_is_set() {
    let mut stage = Stage::set(Plan { room: "power_min = 60", ..PLAIN }).await;
    let (prompt, card) = stage.ask_and_see("power").await;
    // Bob has 50; Ada made the room.
    stage.people.bob.press(&card, "Yes").await;
    stage.people.bob.accept_invites_from(&stage.people.bot.user_id).await;
    stage.assert_open("power");
    stage.people.ada.press(&card, "No").await;
    assert_eq!(stage.outcome(&prompt, "power").await, (selected("no 3"), false));
}

#[tokio::test]
async fn a_button_pressed_in_another_room_does_not_count() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("elsewhere").await;
    let ada = &stage.people.ada;
    let elsewhere = ada.create_room(false, &[&stage.people.bot.user_id]).await;
    let relation = serde_json::json!({"rel_type": "m.reference", "event_id": card.poll_event});
    let answers = serde_json::json!({"answers": [card.token("Yes")]});
    let press = serde_json::json!({"m.relates_to": relation, "org.matrix.msc3381.poll.response": answers});
    ada.http.try_send(&elsewhere, "org.matrix.msc3381.poll.response", &press).await;
    ada.press(&card, "No").await;
    assert_eq!(stage.outcome(&prompt, "elsewhere").await, (selected("no 3"), false));
}
