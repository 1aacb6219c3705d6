//! A card that waits, in a browser: what changes on it, who is called to it, and what is asked of one person alone.

use std::time::Duration;

use countersign_tests::rest;

use super::Stage;
use super::desk::Desk;
use crate::stage::{PLAIN, Place, Plan, Web, Who, press_option, selected};

const ASKED: &str = "document.querySelector('dialog.confirm[open]')";

#[tokio::test]
async fn neither_escape_nor_back_nor_a_press_too_soon_nor_a_key_that_is_held_confirms_anything() {
    let mut stage = Stage::set(Plan { room: "confirm = [\"allow_always\"]", ..PLAIN }).await;
    let (prompt, card) = stage.ask_and_see("sure").await;
    let page = stage.place.page(Who::Ada).await;
    stage.place.press(Who::Ada, &card, "Always").await;
    // Whoever presses twice hits what has just come under the finger.
    page.wait_for("a question", ASKED).await;
    let press = "document.querySelector('dialog.confirm .option').dispatchEvent(new MouseEvent('click', { detail: 2 }))";
    page.eval(&format!("document.querySelector('dialog.confirm .option').dataset.settling = ''; {press}")).await;
    page.wait_for("a word", "document.querySelector('dialog.confirm .reply').textContent.includes('Nothing was sent')").await;
    assert_eq!(page.eval("document.activeElement.textContent").await, "Back");
    page.key("Escape").await;
    stage.place.private_reply(Who::Ada, "You did not confirm it").await;
    assert_eq!(page.eval("document.activeElement.querySelector('.label').textContent").await, "Always");
    page.key("Enter").await;
    page.wait_for("a question", ASKED).await;
    page.key("Enter").await;
    page.wait_for("nothing to be asked", &format!("{ASKED} === null")).await;
    stage.place.press(Who::Ada, &card, "Always").await;
    page.click("dialog.confirm .quiet").await;
    page.wait_for("nothing to be asked", &format!("{ASKED} === null")).await;
    stage.assert_open("sure");
    stage.place.press(Who::Bob, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "sure").await, (selected("no 3"), false));
}

#[tokio::test]
async fn nobody_is_asked_any_more_about_what_has_ended() {
    let mut stage = Stage::set(Plan { room: "confirm = [\"allow_always\"]", ..PLAIN }).await;
    let (prompt, card) = stage.ask_and_see("over").await;
    stage.place.press(Who::Ada, &card, "Always").await;
    let page = stage.place.page(Who::Ada).await;
    page.wait_for("a question", ASKED).await;
    stage.place.press(Who::Bob, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "over").await, (selected("no 3"), false));
    let page = stage.place.page(Who::Ada).await;
    page.wait_for("nothing to be asked", &format!("{ASKED} === null")).await;
}

#[tokio::test]
async fn the_button_that_confirms_is_its_persons_alone() {
    let mut desk = Desk::with(&Plan { room: "confirm = [\"allow_always\"]", ..PLAIN }, "").await;
    let ((ada, mut events), (bob, _theirs)) = (desk.present("ada").await, desk.present("bob").await);
    let prompt = desk.ask("mine").await;
    let card = events.card("waiting").await;
    let asked = ada.press(&card, 1).await.json();
    assert_eq!((&asked["counted"], &asked["confirm"]["button"]["label"]), (&false.into(), &"Always".into()), "{asked}");
    let confirm = serde_json::json!({"card": card["id"], "token": asked["confirm"]["button"]["token"]}).to_string();
    let told = bob.post("/api/click", &confirm).await.json();
    assert!(told["counted"] == false && told["confirm"].is_null(), "{told}");
    assert_eq!(ada.post("/api/click", &confirm).await.json()["counted"], true);
    desk.assert_answered(&prompt, "mine", "always/2", true).await;
}

#[tokio::test]
async fn a_card_that_is_drawn_anew_keeps_what_its_reader_has_opened() {
    let mut stage = Stage::set(Plan { room: "approvals = 2", ..PLAIN }).await;
    let prompt = stage.ask_to_run("long", &format!("touch long; echo {}", "x ".repeat(20_000))).await;
    let card = stage.card("long").await;
    let page = stage.place.page(Who::Bob).await;
    page.click(".file .acts button").await;
    page.wait_for("all of it", "document.querySelector('.all')?.checkVisibility() && document.querySelector('.all .line')").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    stage.place.shows(&card, "chose \"Yes\"").await;
    assert_eq!(page.eval("document.querySelectorAll('.all .line').length > 0").await, true);
    assert_eq!(page.eval("document.querySelector('.all').checkVisibility()").await, true);
    page.wait_for("it to be heard", "document.getElementById('said').textContent.includes('chose \"Yes\"')").await;
    stage.place.private_reply(Who::Ada, "Your choice counts").await;
    stage.place.press(Who::Bob, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "long").await, (selected("once:1"), true));
}

#[tokio::test]
async fn whoever_is_called_in_another_room_is_notified_and_nobody_is_once_it_has_ended() {
    let more = "[rooms.ops]\nweb = true\napprovers = [\"bob\"]\n[acp]\nroom = \"builds\"\n";
    let room = "escalate = { after = \"1s\", room = \"ops\", mention = [\"bob\"] }";
    let place = Web::gather(&Plan { room, more, ..PLAIN }).await;
    let mut stage = place.play().await;
    for who in [Who::Ada, Who::Bob] {
        let page = stage.place.page(who).await;
        page.eval(
            "document.hasFocus = () => false; seen = []; Notification = class { static permission = 'granted'; \
            constructor(title) { seen.push(title) } close() {} }; 0",
        )
        .await;
    }
    let (prompt, card) = stage.ask_and_see("called").await;
    let said = stage.place.said(&["bob: ", "still waits for an answer in builds", "touch called"]).await;
    assert!(said.contains("ops, "), "{said}");
    let (ada, bob) = (stage.place.page(Who::Ada).await, stage.place.page(Who::Bob).await);
    bob.wait_for("a call", "seen.some(title => title.startsWith('bob: Request #'))").await;
    assert_eq!(ada.eval("seen.some(title => title.startsWith('bob: Request #'))").await, false);
    press_option(ada, "No").await;
    assert_eq!(stage.outcome(&prompt, "called").await, (selected("no 3"), false));
    stage.place.wait_until_dead(&card).await;
    let bob = stage.place.page(Who::Bob).await;
    bob.wait_for("no call", "document.getElementById('lines').hidden").await;
}

#[tokio::test]
async fn a_page_that_is_open_is_somebody_who_is_there() {
    let plan = Plan { room: "when_nobody = \"refuse\"", ..PLAIN };
    let mut desk = Desk::with(&plan, "").await;
    // Until then nobody knows who had a page open before, and may be back.
    rest(Duration::from_secs(9)).await;
    let prompt = desk.ask("alone").await;
    let report = desk.report(&prompt).await;
    assert_eq!((report["outcome"]["optionId"].as_str(), report["ran"].as_bool()), (Some("no 3"), Some(false)), "{report}");
    let (_mallory, _theirs) = desk.present("mallory").await;
    let prompt = desk.ask("watched").await;
    let report = desk.report(&prompt).await;
    assert_eq!(report["outcome"]["optionId"], "no 3", "mallory may not answer: {report}");
    let (ada, mut events) = desk.present("ada").await;
    let prompt = desk.ask("seen").await;
    let card = events.card("waiting").await;
    assert_eq!(ada.press(&card, 0).await.json()["counted"], true);
    desk.assert_answered(&prompt, "seen", "once:1", true).await;
}
