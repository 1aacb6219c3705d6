//! Nothing but loopback is contacted, neither by the bridge nor by its tests.

use std::env;
use std::path::Path;
use std::process::Stdio;

use countersign_tests::{PATIENCE, countersign};
use tokio::process::Command;
use tokio::time::timeout;

/// One for each kind of service; that of the page has a browser.
const TRIED: [&str; 5] = [
    "rooms::choosing::discord::each_button_returns_its_option",
    "rooms::choosing::matrix_plain::each_button_returns_its_option",
    "discord_double::a_click_arrives_typed_and_is_acknowledged_once",
    "rooms::choosing::web::each_button_returns_its_option",
    "check::rooms_of_both_kinds_are_looked_at_though_one_does_not_work",
];

/// The kernel counts each attempt to reach a host to which there is no route, in a network that has loopback alone.
#[tokio::test]
async fn no_other_host_is_contacted() {
    if !may_unshare().await {
        eprintln!("not tried: `unshare --map-root-user --net` is not permitted here, as in a container without CAP_SYS_ADMIN");
        return;
    }
    // Built before, so that nothing has to be fetched.
    countersign().await;
    let (code, said) = without_network(&[&["--exact"], &TRIED[..]].concat()).await;
    assert!(said.contains(&format!("test result: ok. {} passed", TRIED.len())), "{said}");
    assert!(said.contains("attempts to reach another host: [0, 0]"), "{said}");
    assert_eq!(code, Some(0), "{said}");
}

/// Whether this system lets us have a network of our own.
async fn may_unshare() -> bool {
    let mut nothing = Command::new("unshare");
    nothing.args(["--map-root-user", "--net", "true"]).stdin(Stdio::null()).stderr(Stdio::null());
    nothing.status().await.expect("`unshare` can be run").success()
}

/// This program of tests, in a network of its own; its exit status and all that was said.
async fn without_network(arguments: &[&str]) -> (Option<i32>, String) {
    let wrapper = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/only_loopback.py");
    let mut unshare = Command::new("unshare");
    unshare.args(["--map-root-user", "--net", "python3"]).arg(wrapper).arg(env::current_exe().expect("this program's path"));
    unshare.args(arguments).env("CARGO_NET_OFFLINE", "true").stdin(Stdio::null()).kill_on_drop(true);
    // They start servers of their own, beside all other tests.
    let output = timeout(PATIENCE * 5, unshare.output()).await.expect("the tests without a network end");
    let output = output.expect("`unshare` can be run");
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    (output.status.code(), said.join("\n"))
}
