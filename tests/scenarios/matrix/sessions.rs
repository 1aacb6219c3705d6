//! Ways to log in, and what outlives a run.

use std::fs;

use countersign_tests::{HttpMember, Synapse};

use super::Stage;
use crate::stage::{Matrix, PLAIN, Place, Plan, selected};

const PASSWORD_LINE: &str = "password_file = \"password\"";

#[tokio::test]
async fn a_saved_session_needs_no_login_and_still_reads_encrypted_rooms() {
    let people = Matrix::on(Synapse::shared().await, &Plan { encrypted: true, ..PLAIN }).await;
    let Stage { mut bridge, place: people, .. } = people.play().await;
    bridge.close_stdin();
    bridge.wait_exit().await;
    people.home.reconfigure(PASSWORD_LINE, "");
    is_answered(&mut people.play().await).await;
}

#[tokio::test]
async fn an_access_token_made_elsewhere_is_enough() {
    let people = Matrix::on(Synapse::shared().await, &PLAIN).await;
    let (token, device) = HttpMember::new_token(&people.bot).await;
    people.home.secret("token", &token);
    people.home.reconfigure(PASSWORD_LINE, &format!("access_token_file = \"token\"\ndevice_id = \"{device}\""));
    is_answered(&mut people.play().await).await;
}

#[tokio::test]
async fn short_lived_tokens_are_refreshed_while_it_serves() {
    let server = Synapse::start_with("refreshable_access_token_lifetime: 5s\n").await;
    let mut stage = Matrix::on(&server, &Plan { lifetime: "8s", ..PLAIN }).await.play().await;
    // Nobody answers for longer than a token lives.
    let (prompt, _) = stage.ask_and_see("unanswered").await;
    assert_eq!(stage.outcome(&prompt, "unanswered").await, (selected("no 3"), false));
    is_answered(&mut stage).await;
}

#[tokio::test]
async fn a_wrong_passphrase_opens_nothing_and_everything_is_refused() {
    let people = Matrix::on(Synapse::shared().await, &PLAIN).await;
    people.home.secret("passphrase", "right");
    people.home.reconfigure(PASSWORD_LINE, &format!("{PASSWORD_LINE}\nstore_passphrase_file = \"passphrase\""));
    let mut stage = people.play().await;
    is_answered(&mut stage).await;
    let Stage { mut bridge, place: people, .. } = stage;
    bridge.close_stdin();
    bridge.wait_exit().await;
    people.home.secret("passphrase", "wrong");
    let mut bridge = people.start().await;
    let session = bridge.open_session().await;
    bridge.stderr_contains("the room builds is lost").await;
    let mut stage = Stage { bridge, session, place: people };
    let prompt = stage.ask("locked").await;
    assert_eq!(stage.outcome(&prompt, "locked").await, (selected("no 3"), false));
}

#[tokio::test]
async fn what_it_keeps_is_readable_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::set(PLAIN).await;
    let folder = stage.place.home.file("state");
    let saved = fs::read_dir(folder.join("matrix")).expect("a folder").map(|entry| entry.expect("an entry").path());
    assert!(saved.into_iter().any(|path| path.extension().is_some_and(|extension| extension == "json")));
    assert_eq!(fs::metadata(folder).expect("a folder").permissions().mode() & 0o077, 0);
}

async fn is_answered(stage: &mut Stage) {
    let (prompt, card) = stage.ask_and_see("answered").await;
    stage.place.ada.press(&card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "answered").await, (selected("once:1"), true));
}
