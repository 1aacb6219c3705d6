//! `countersign check` says what works, and what to do about the rest.

mod discord;
mod matrix;

use std::fs;

use countersign_tests::{Launch, Synapse};

use crate::stage::{Discord, Matrix, PLAIN, Place};

#[tokio::test]
async fn without_a_configuration_the_places_are_told() {
    let launch = Launch::countersign(&["check"]).await;
    let in_home = launch.home().join(".config/countersign/countersign.toml");
    let (code, said) = finish(launch).await;
    assert_eq!(code, Some(78), "{said}");
    assert!(said.contains("no configuration") && said.contains("  countersign.toml\n"), "{said}");
    assert!(said.contains(&in_home.display().to_string()), "{said}");
}

#[tokio::test]
async fn a_configuration_with_problems_is_not_tried() {
    let place = Discord::gather(&PLAIN).await;
    place.home().reconfigure("lifetime = \"10m\"", "lifetime = \"soon\"\ndefault = \"allow\"");
    let (code, said) = check(&place).await;
    assert_eq!(code, Some(78), "{said}");
    assert!(said.contains("policy.lifetime: ") && said.contains("policy.default: "), "{said}");
    assert!(!place.home().file("state").exists());
}

#[tokio::test]
async fn rooms_of_both_kinds_are_looked_at_though_one_does_not_work() {
    let (place, people) = (Discord::gather(&PLAIN).await, Matrix::on(Synapse::shared().await, &PLAIN).await);
    let config = fs::read_to_string(people.home.config()).expect("readable");
    let of_matrix = config.split_once("[matrix]").expect("a section").1.replace("[rooms.builds]", "[rooms.elsewhere]");
    place.home().secret("password", &people.bot.password);
    let both = format!("[acp]\nroom = \"builds\"\n[matrix]{of_matrix}[rooms.builds]");
    place.home().reconfigure("[rooms.builds]", &both);
    let described = [format!("room builds  ({})\n", place.server.world.channel), format!("room elsewhere  ({})\n", people.room)];
    let (code, said) = check(&place).await;
    assert!(code == Some(0) && described.iter().all(|room| said.contains(room)), "{said}");
    place.home().secret("password", "wrong-guess");
    fs::remove_dir_all(place.home().file("state/matrix")).expect("removed");
    let (code, said) = check(&place).await;
    assert!(code == Some(1) && said.contains("Invalid username or password") && said.contains(&described[0]), "{said}");
    place.home().secret("password", &people.bot.password);
    place.home().secret("token", "another-guess");
    let (code, said) = check(&place).await;
    assert!(code == Some(1) && said.contains("does not take the bot's token") && said.contains(&described[1]), "{said}");
}

/// Its exit status, and what it printed.
async fn check(place: &impl Place) -> (Option<i32>, String) {
    let config = place.home().config();
    finish(Launch::countersign(&["check", "--config", config.to_str().expect("a temporary directory with a UTF-8 name")]).await)
        .await
}

async fn finish(launch: Launch) -> (Option<i32>, String) {
    let mut check = launch.start();
    let said = String::from_utf8(check.rest_of_output().await).expect("text");
    (check.wait_exit().await.code(), said)
}
