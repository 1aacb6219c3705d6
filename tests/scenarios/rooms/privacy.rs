//! Secrets stay with the bridge.

use countersign_tests::{Launch, scripted_agent};

use crate::stage::{Place, Plan, Stage, Who, selected};

in_every_room! {
    no_level_of_logging_shows_a_secret,
}

/// Also what is off unless it is asked for by its name.
const EVERYTHING: &str = r#"
[log]
level = "trace,matrix_sdk=trace,matrix_sdk_base=trace,matrix_sdk_crypto=trace,matrix_sdk::http_client=trace,serenity=trace"
"#;

async fn no_level_of_logging_shows_a_secret<P: Place>(plan: Plan) {
    let mut place = P::gather(&Plan { more: EVERYTHING, ..plan }).await;
    // A second start resumes what the first has left.
    for name in ["first", "second"] {
        let launch = Launch::acp(Some(&place.home().config()), &scripted_agent()).await;
        let mut bridge = place.with_all_secrets(launch).start();
        let session = bridge.open_session().await;
        let mut stage = Stage { bridge, session, place };
        let (prompt, card) = stage.ask_and_see(name).await;
        stage.place.press(Who::Ada, &card, "Yes").await;
        assert_eq!(stage.outcome(&prompt, name).await, (selected("once:1"), true));
        stage.bridge.rest_of_output().await;
        stage.bridge.wait_exit().await;
        let said = stage.bridge.stderr();
        place = stage.place;
        assert!(said.contains(P::FINEST_LOG), "{said}");
        for secret in place.secrets() {
            assert_eq!(said.lines().find(|line| line.contains(&secret)), None);
        }
    }
}
