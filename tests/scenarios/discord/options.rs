//! What a message can hold, who else may answer, and who is mentioned.

use serde_json::{Value, json};

use super::Stage;
use crate::stage::{Discord, PLAIN, Place, Who, cancelled, selected};

#[tokio::test]
async fn as_many_options_as_a_message_holds_are_all_there_in_order() {
    let mut stage = Stage::set(PLAIN).await;
    for count in [1, 5, 6, 25] {
        let name = format!("choices-{count}");
        let prompt = stage.ask_with(&name, &options(count)).await;
        let card = stage.card(&name).await;
        let labels: Vec<String> = (0..count).map(|at| format!("Choice {at}")).collect();
        assert_eq!(Discord::labels(&card), labels);
        stage.place.press(Who::Ada, &card, &labels[count - 1]).await;
        assert_eq!(stage.outcome(&prompt, &name).await, (selected(&format!("id {}", count - 1)), true));
    }
}

#[tokio::test]
async fn more_options_than_a_message_holds_are_refused_and_the_channel_hears_why() {
    let mut stage = Stage::set(PLAIN).await;
    for count in [26, 41] {
        let name = format!("choices-{count}");
        let prompt = stage.ask_with(&name, &options(count)).await;
        assert_eq!(stage.outcome(&prompt, &name).await, (cancelled(), false));
        let why = format!("it offers {count} options and this room can show 25");
        stage.place.said(&[&format!("touch {name}"), &why, "Nothing was allowed"]).await;
    }
    assert_eq!(stage.place.card_count().await, 0);
}

#[tokio::test]
async fn a_role_is_enough() {
    let place = Discord::gather(&PLAIN).await;
    let role = with_role(&place).await;
    place.home().reconfigure(&people(&place), "");
    let mut stage = place.play().await;
    let (prompt, card) = stage.ask_and_see("role").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    stage.place.private_reply(Who::Ada, "did not count").await;
    stage.assert_open("role");
    stage.place.server.act("set_roles", json!({"user": stage.place.id(Who::Ada), "roles": [role]})).await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "role").await, (selected("once:1"), true));
}

#[tokio::test]
async fn a_card_mentions_exactly_those_who_may_answer_and_its_closing_nobody() {
    let place = Discord::gather(&PLAIN).await;
    let role = with_role(&place).await;
    place.server.act("make_role", json!({"name": "another"})).await;
    place.home().reconfigure("[rooms.builds]", "[rooms.builds]\nmention = true");
    let mut stage = place.play().await;
    let (prompt, card) = stage.ask_and_see("mention").await;
    stage.place.press(Who::Bob, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "mention").await, (selected("once:1"), true));
    stage.place.closing(&card, "The agent has it").await;
    let requests = stage.place.server.requests().await;
    let said = |method: &str| -> Vec<&Value> {
        let of_method = requests.iter().filter(|request| request["method"] == method).map(|request| &request["body"]);
        of_method.filter(|body| body["content"].is_string()).collect()
    };
    let (ada, bob) = (stage.place.id(Who::Ada), stage.place.id(Who::Bob));
    let [card] = said("POST")[..] else { panic!("{requests:?}") };
    assert_eq!(card["allowed_mentions"], json!({"parse": [], "users": [ada, bob], "roles": [role]}));
    let content = card["content"].as_str().expect("a text");
    let mut mentioned: Vec<&str> =
        content.split("<@").skip(1).filter_map(|rest| rest.split_once('>')).map(|(id, _)| id).collect();
    let mut expected = [ada.to_owned(), bob.to_owned(), format!("&{}", role.as_str().expect("an id"))];
    mentioned.sort_unstable();
    expected.sort_unstable();
    assert_eq!(mentioned, expected, "{content}");
    let closings = said("PATCH");
    assert!(!closings.is_empty());
    for closing in closings {
        assert_eq!(closing["allowed_mentions"], json!({"parse": [], "users": [], "roles": []}), "{closing}");
    }
}

fn options(count: usize) -> Value {
    (0..count).map(|at| json!([format!("id {at}"), format!("Choice {at}"), "allow_once"])).collect()
}

/// The line that lists them.
fn people(place: &Discord) -> String {
    format!("approvers = [\"{}\", \"{}\"]", place.id(Who::Ada), place.id(Who::Bob))
}

/// A role whose members may answer.
async fn with_role(place: &Discord) -> Value {
    let role = place.server.act("make_role", json!({"name": "release"})).await;
    place.home().reconfigure("[rooms.builds]", &format!("[rooms.builds]\napprover_roles = [{role}]"));
    role
}
