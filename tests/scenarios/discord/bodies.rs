//! What the bridge sends to Discord.

use serde_json::{Value, json};

use super::Stage;
use crate::stage::{PLAIN, Place, Who, selected};

#[tokio::test]
async fn nothing_that_an_agent_writes_pings_anybody() {
    let mut stage = Stage::set(PLAIN).await;
    let ada = stage.place.id(Who::Ada).to_owned();
    let name = format!("@everyone @here <@{ada}> <@&{}> ```", stage.place.server.world.guild);
    let prompt = stage.ask_with("x", &json!([["y", name, "allow_once"], ["n", "@everyone", "reject_once"]])).await;
    let card = stage.card("x").await;
    stage.place.press(Who::Mallory, &card, "@everyone").await;
    stage.place.private_reply(Who::Mallory, "not among the approvers").await;
    stage.place.press(Who::Bob, &card, "@everyone").await;
    assert_eq!(stage.outcome(&prompt, "x").await, (selected("n"), false));
    stage.place.closing(&card, "The agent has it").await;
    let requests = stage.place.server.requests().await;
    let said: Vec<&Value> = requests.iter().map(|request| &request["body"]).filter(|body| body["content"].is_string()).collect();
    assert!(said.len() >= 3, "{said:?}");
    for body in said {
        let allowed = &body["allowed_mentions"];
        let names_nobody = |key: &str| allowed[key].as_array().is_none_or(Vec::is_empty);
        assert!(allowed["parse"].as_array().is_some_and(Vec::is_empty), "{body}");
        assert!(names_nobody("users") && names_nobody("roles"), "{body}");
    }
}

#[tokio::test]
async fn an_option_id_is_in_no_request() {
    let mut stage = Stage::set(PLAIN).await;
    let secret = "an-id-that-stays";
    // Long enough for a file.
    let name = "a long command ".repeat(200);
    let ask = json!({"title": "long", "kind": "execute", "command": name, "options": [[secret, "Yes", "allow_once"]]});
    stage.bridge.prompt(&stage.session, &json!({"ask": [ask]}).to_string()).await;
    let card = stage.place.card(name.trim_end()).await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    stage.place.closing(&card, "The agent has it").await;
    let requests = stage.place.server.requests().await;
    assert!(requests.iter().any(|request| request["files"] != json!([])));
    assert!(!json!(requests).to_string().contains(secret));
}
