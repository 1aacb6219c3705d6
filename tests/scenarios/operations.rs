//! What an operator sees of a bridge that serves.

use countersign_tests::port_to_listen_on;
use nix::sys::signal::Signal;

use crate::stage::{PLAIN, Place, Plan, Web, Who};

#[tokio::test]
async fn an_operator_sees_what_waits_whether_it_is_well_and_what_has_happened() {
    let port = port_to_listen_on();
    let more = format!("[metrics]\nlisten = \"127.0.0.1:{port}\"").leak();
    let place = Web::gather(&Plan { more, ..PLAIN }).await;
    let get = async |path: &str| {
        let told = reqwest::get(format!("http://127.0.0.1:{port}/{path}")).await.expect("an answer");
        (told.status().as_u16(), told.text().await.expect("text"))
    };
    let mut bridge = place.home().serve().await;
    assert!(place.home().countersign(&["status"]).await.contains(&format!("as process {}", bridge.pid())));
    assert_eq!(place.home().countersign(&["pending"]).await, "Nothing waits for a person.");
    assert_eq!([get("healthz").await.0, get("readyz").await.0, get("nowhere").await.0], [200, 200, 404]);
    let mut script = place.home().ask(&["--title", "a secret plan"]).await;
    let card = place.card("a secret plan").await;
    let pending = place.home().countersign(&["pending"]).await;
    assert!(pending.starts_with("#1  builds  ") && pending.contains("a secret plan"), "{pending}");
    let told: serde_json::Value =
        serde_json::from_str(&place.home().countersign(&["pending", "--json"]).await).expect("one line of JSON");
    assert_eq!((&told["number"], &told["room"]), (&serde_json::json!(1), &serde_json::json!("builds")));
    assert!(get("metrics").await.1.contains("countersign_held 1\n"));
    place.press(Who::Ada, &card, "Allow").await;
    assert!(script.wait_exit().await.success());
    place.closing(&card, "The agent has it").await;
    let (status, metrics) = get("metrics").await;
    for line in [
        "countersign_held 0",
        "countersign_answered_total{option=\"allow_once\"} 1",
        "countersign_delivery_seconds_count 1",
        "countersign_card_seconds_count 1",
        "countersign_room_connected{room=\"builds\"} 1",
    ] {
        assert!(status == 200 && metrics.lines().any(|told| told == line), "{line} in\n{metrics}");
    }
    assert!(!metrics.contains("secret") && !metrics.contains("ada"), "{metrics}");
    bridge.signal(Signal::SIGTERM);
    assert!(bridge.wait_exit().await.success());
}
