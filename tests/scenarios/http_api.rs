//! The HTTP API keeps to its own description, whatever it is sent.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use countersign_tests::{Launch, port_to_listen_on, schemathesis};

use crate::stage::Home;

/// Requests end soon, and none is refused for there being too many.
const CONFIG: &str = r#"
state_dir = "STATE"
[policy]
lifetime = "2s"
[limits]
requests = 10000
requests_in_room = 10000
requests_of_session = 10000
cards_a_minute = 10000
cards_a_minute_in_room = 10000
cards_a_minute_of_session = 10000
[http]
listen = "127.0.0.1:HTTP"
[web]
listen = "127.0.0.1:WEB"
[rooms.ops]
web = true
approvers = ["ada"]
when_nobody = "wait"
"#;

#[tokio::test]
async fn whatever_it_is_sent_it_answers_as_it_is_described() {
    let (home, http) = (Home::new(), port_to_listen_on());
    let state = home.file("state").display().to_string();
    let config = CONFIG.replace("STATE", &state).replace("HTTP", &http.to_string());
    home.secret("countersign.toml", &config.replace("WEB", &port_to_listen_on().to_string()));
    fs::create_dir(&state).expect("made");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).expect("set");
    let token = home.countersign(&["token", "new", "ci"]).await;
    let config = home.config();
    let bridge = Launch::countersign(&["serve", "--config", config.to_str().expect("UTF-8")]).await.start();
    bridge.stderr_contains("programs can connect to http").await;

    let hooks = own("hooks.py");
    let tries = schemathesis(&own("schemathesis.toml"), &format!("http://127.0.0.1:{http}/openapi.json"))
        .env("COUNTERSIGN_TEST_TOKEN", &token)
        .env("COUNTERSIGN_TEST_HOOKS", hooks.to_str().expect("UTF-8"));
    let mut tries = tries.start();
    let said = String::from_utf8_lossy(&tries.rest_of_output().await).into_owned();
    assert!(tries.wait_exit().await.success() && said.contains("No issues found"), "{said}\n{}", tries.stderr());
    // It looked at all of it, in each of its ways but for examples, of which the description has none.
    let phases = "  ✅ Coverage\n  ✅ Fuzzing\n  ✅ Stateful\n";
    assert!(said.contains("Tested: 6\n") && said.contains(phases), "{said}");
    assert!(!bridge.stderr().contains("panicked"), "{}", bridge.stderr());
}

fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/http_api").join(name)
}
