//! What the bridge sends to Discord.

use bridge_model::{
    Button, ButtonStyle, ButtonToken, Card, Digest, Origin, RequestId, RoomName, Section, SectionBody, Shown, SourceName,
    Timestamp,
};
use countersign_tests::discord_double::{UploadedFile, problems_of_message};
use discord_room::{Preview, preview};
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

#[test]
fn whatever_is_on_a_card_discord_takes_its_message() {
    let texts = ["", "ls", "```", "\u{202e}x", "🦀", "@everyone <t:0> # x", "a\nb\tc", "\u{1f468}\u{200d}\u{1f469}"];
    let kinds = [SectionBody::Code, SectionBody::Diff, |text: Shown| SectionBody::Text(Shown::line(text.as_str()))];
    for text in texts {
        for times in [1, 40, 400, 4_000, 60_000] {
            for count in [1, 25] {
                let text = Shown::block(&text.repeat(times));
                let sections =
                    kinds.map(|kind| Section { note: "@everyone `x`".to_owned(), ..Section::new("Command", kind(text.clone())) });
                takes(&card(sections.to_vec(), count));
            }
        }
    }
}

fn takes(card: &Card) {
    let Preview { bodies, file } = preview(card).expect("a message");
    let files: Vec<_> = file
        .into_iter()
        .map(|file| UploadedFile { part: "files[0]".to_owned(), name: file.name, content: file.text.into() })
        .collect();
    let [body] = &bodies[..] else { panic!("{bodies:?}") };
    assert_eq!(problems_of_message(body, &files), [""; 0], "{body:#}");
    assert_eq!(body["attachments"].as_array().map_or(0, Vec::len), files.len(), "{body:#}");
    assert!(body["content"].as_str().expect("a text").encode_utf16().count() <= 2_000, "{body:#}");
}

fn card(sections: Vec<Section>, buttons: u128) -> Card {
    let button = |at| Button { token: ButtonToken::from_random(at), label: Shown::line("Yes"), style: ButtonStyle::AllowOnce };
    Card {
        request: RequestId { run: u64::MAX, number: u64::MAX },
        room: RoomName::new("builds"),
        origin: Origin { source: SourceName::new("acp"), session: None, agent: Shown::line("Coder") },
        headline: Shown::line("\"Coder\" wants to run: ls"),
        sections,
        buttons: (0..buttons).map(button).collect(),
        deadline: Timestamp::from_unix_millis(1_796_020_000_000),
        is_whole: true,
        digest: Digest::from_bytes([0; 32]),
    }
}
