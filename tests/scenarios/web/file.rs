//! The file that holds all of a card, where the page shows only a part: who gets it, and what they get.

use std::fs;

use bridge_model::Digest;
use countersign_tests::{Launch, Page, RawAgent, until, within};
use reqwest_serenity::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::Stage;
use super::desk::Desk;
use crate::stage::{OPTIONS, PLAIN, Place, Web, Who, selected};

/// What is said of a card's file, once there is something to say.
const SAID: &str = "[...document.querySelectorAll('.file .said')].map(p => p.textContent).find(text => text.endsWith('.'))";
/// All of a card, as it is shown.
const ALL: &str = "[...document.querySelectorAll('.all .line')].map(line => line.textContent).join('\\n') + '\\n'";

fn long_command() -> String {
    format!("echo {}; rm -rf ~", "all is well, ".repeat(4_000))
}

fn sha256(text: &str) -> String {
    Digest::from_bytes(Sha256::digest(text).into()).to_string()
}

/// The agent asks to run a command that no screen holds.
async fn ask_long(stage: &mut Stage, name: &str) -> String {
    ask(stage, name, &long_command()).await
}

async fn ask(stage: &mut Stage, name: &str, command: &str) -> String {
    let marker = stage.place.home().file(&format!("ran {name}"));
    let ask = json!({"title": name, "kind": "execute", "command": command, "marker": marker, "options": OPTIONS});
    stage.bridge.prompt(&stage.session, &json!({"ask": [ask]}).to_string()).await
}

#[tokio::test]
async fn the_end_of_a_long_command_is_in_sight_and_all_of_it_can_be_shown_and_saved() {
    let mut stage = Stage::set(PLAIN).await;
    let prompt = ask_long(&mut stage, "long").await;
    let card = stage.place.card("; rm -rf ~").await;
    let page = stage.place.page(Who::Ada).await;
    let told = page.eval("[document.querySelector('.gap').textContent, document.querySelector('.sum').textContent]").await;
    assert!(told[0].as_str().is_some_and(|gap| gap.ends_with(" characters are left out here; they are in the file.")), "{told}");
    let promised = told[1].as_str().expect("text");

    page.click(".file button:nth-of-type(1)").await;
    let said = page.wait_for("a word", SAID).await;
    assert_eq!(said, "All of it is shown below. Its SHA-256 is the one above.");
    let all = page.eval(ALL).await;
    let all = all.as_str().expect("text");
    assert!(all.contains(&long_command()) && sha256(all) == promised, "{} bytes", all.len());
    let expanded = "document.querySelector('.file button').getAttribute('aria-expanded')";
    assert_eq!(page.eval(expanded).await, "true");
    page.click(".file button:nth-of-type(1)").await;
    assert_eq!(
        (page.eval(expanded).await, page.eval("document.querySelector('.all').checkVisibility()").await),
        (json!("false"), json!(false))
    );

    let folder = tempfile::tempdir().expect("a folder");
    let saved = save(page, &folder).await;
    assert!(saved.0 == "request-1.txt", "{}", saved.0);
    assert_eq!(sha256(&saved.1), promised);
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "long").await, (selected("once:1"), true));
    // What was decided can be read afterwards, too.
    stage.place.closing(&card, "The agent has it").await;
    let page = stage.place.page(Who::Ada).await;
    page.click("article.card summary").await;
    page.click(".file button:nth-of-type(1)").await;
    page.wait_for("all of it", "document.querySelector('.all').checkVisibility()").await;
}

#[tokio::test]
async fn a_keyboard_reads_all_of_a_card() {
    let mut stage = Stage::set(PLAIN).await;
    let _prompt = ask_long(&mut stage, "keys").await;
    stage.place.card("; rm -rf ~").await;
    let page = stage.place.page(Who::Ada).await;
    page.eval("document.querySelector('.file button').focus()").await;
    page.key("Enter").await;
    page.wait_for("all of it", "document.querySelector('.all').checkVisibility()").await;
    page.key("Tab").await;
    page.key("Tab").await;
    assert_eq!(page.eval("document.activeElement.className").await, "lines all");
    page.key("End").await;
    page.wait_for("its end", "200 < document.querySelector('.all').scrollTop").await;
    let small = "[...document.querySelectorAll('.file button')].filter(b => b.getBoundingClientRect().height < 44).length";
    assert_eq!(page.eval(small).await, 0);
}

#[tokio::test]
async fn another_text_than_the_cards_is_neither_shown_nor_saved() {
    let mut stage = Stage::set(PLAIN).await;
    let _prompt = ask_long(&mut stage, "altered").await;
    stage.place.card("; rm -rf ~").await;
    let page = stage.place.page(Who::Ada).await;
    page.eval(
        "real = fetch; fetch = async (path, ...rest) => path.startsWith('/api/file') ? new Response('all is well') : real(path, ...rest); \
         saved = 0; URL.createObjectURL = () => { saved += 1; return '' }; 0",
    )
    .await;
    for button in 1..=2 {
        page.click(&format!(".file button:nth-of-type({button})")).await;
        let said = page.wait_for("a word", SAID).await;
        assert!(said.as_str().is_some_and(|said| said.contains("its SHA-256 is another")), "{said}");
    }
    assert_eq!(
        page.eval("[document.querySelector('.all').checkVisibility(), document.querySelector('.all').textContent, saved]").await,
        json!([false, "", 0])
    );
    // Nor is an error taken for it.
    page.eval("fetch = async () => { throw new TypeError('no network') }; 0").await;
    page.click(".file button:nth-of-type(1)").await;
    let failed = "document.querySelector('.said.wrong')?.textContent.includes('the bridge cannot be reached. Try again.')";
    page.wait_for("the failure to be told", failed).await;
    page.eval("fetch = real; 0").await;
    page.click(".file button:nth-of-type(1)").await;
    page.wait_for("all of it", "document.querySelector('.all').checkVisibility()").await;
}

#[tokio::test]
async fn a_file_is_for_those_who_see_its_card() {
    let (mut desk, ada, mut bob) = Desk::of_two_rooms().await;
    let (mut bobs, _) = bob.open().await.expect("open");
    let prompt = desk.ask_to_run("far", &long_command()).await;
    let card = within("a card", bobs.card("waiting")).await;
    let path = format!("/api/file?card={}", card["id"].as_str().expect("an id"));

    let file = bob.get(&path).await;
    assert_eq!((file.status, json!(sha256(&file.body))), (200, card["file"]["sha256"].clone()));
    assert!(file.body.contains(&long_command()));
    assert_eq!(json!(file.body.chars().count()), card["file"]["characters"]);
    let disposition = format!("attachment; filename=\"{}\"", card["file"]["name"].as_str().expect("a name"));
    for (name, value) in [
        ("content-type", "text/plain; charset=utf-8"),
        ("content-disposition", &disposition),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(file.headers[name], value);
    }
    let policy = &file.headers["content-security-policy"];
    assert!(policy.contains("; sandbox") && !policy.contains("script"), "{policy}");

    // Nobody learns from the answer whether there is such a card elsewhere.
    let unknown = ada.get("/api/file?card=0123456789abcdef-1").await;
    let elsewhere = ada.get(&path).await;
    assert_eq!((elsewhere.status, unknown.status), (404, 404));
    assert_eq!(elsewhere.body, unknown.body);
    let stranger = desk.stranger();
    assert_eq!(stranger.get(&path).await.status, 401);
    let (cookie, page) = (bob.headers["cookie"].as_str(), bob.headers["countersign-page"].as_str());
    for stolen in [[("cookie", cookie), ("countersign-page", "")], [("cookie", ""), ("countersign-page", page)]] {
        assert_eq!(stranger.ask(Method::GET, &path, &stolen, None).await.status, 401);
    }
    for foreign in [[("origin", "http://evil.example")], [("sec-fetch-site", "cross-site")], [("sec-fetch-site", "none")]] {
        assert_eq!(bob.ask(Method::GET, &path, &foreign, None).await.status, 403, "{foreign:?}");
    }
    assert_eq!(bob.post(&path, "").await.status, 405);

    assert_eq!(bob.press(&card, 0).await.json()["counted"], true);
    desk.assert_answered(&prompt, "far", "once:1", true).await;
    assert_eq!(bob.get(&path).await.body, file.body, "it can be read afterwards, too");
    desk.web_room(&["revoke", "bob"]).await;
    assert_eq!(bob.get(&path).await.status, 401);
}

#[tokio::test]
async fn what_is_shown_whole_has_no_file_and_nobody_asks_without_end() {
    let mut desk = Desk::open().await;
    let (ada, mut events) = desk.present("ada").await;
    let _prompt = desk.ask("short").await;
    let card = within("a card", events.card("waiting")).await;
    assert_eq!(card["file"], Value::Null);
    let path = format!("/api/file?card={}", card["id"].as_str().expect("an id"));
    assert_eq!(ada.get(&path).await.status, 404);
    for path in
        ["/api/file", "/api/file?card=a&card=b", "/api/file?card=%00", "/api/file?card=../keys", "/api/file/request-1.txt"]
    {
        assert_eq!(ada.get(path).await.status, 404, "{path}");
    }
    let refused = async || (ada.get(&path).await.status == 429).then_some(());
    until("it to be too much", refused).await;
}

#[tokio::test]
async fn what_an_agent_writes_is_text_in_the_file_too() {
    let bad = "<img src=x onerror=\"document.title='pwned'\"><script>document.title='pwned'</script>";
    let call = json!({"toolCallId": "c", "title": format!("{bad}\r\nContent-Type: text/html"), "kind": "execute",
        "rawInput": {"command": format!("echo {bad}; {}; rm -rf ~", format!("{bad}\n↳ ls\n").repeat(400)), "cwd": format!("/{bad}/../\u{202e}"), bad: bad},
        "content": [{"type": "content", "content": {"type": "text", "text": bad.repeat(100)}},
            {"type": "diff", "path": format!("../../{bad}.html"), "oldText": bad, "newText": bad.repeat(100)}]});
    let options =
        json!([{"optionId": bad, "name": bad, "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "reject_once"}]);
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "session/request_permission",
        "params": {"sessionId": bad, "toolCall": call, "options": options, "_meta": {bad: bad}}});
    let agent = RawAgent::new(&[json!({"send": request})]);
    let place = Web::gather(&PLAIN).await;
    let _bridge = Launch::acp(Some(&place.home().config()), &agent.command()).await.start();
    let card = place.card("rm -rf ~").await;
    let page = place.page(Who::Ada).await;
    page.click(".file button:nth-of-type(1)").await;
    page.wait_for("all of it", "document.querySelector('.all').checkVisibility()").await;
    let all = page.eval(ALL).await;
    let all = all.as_str().expect("text");
    assert!(all.contains(&format!("{bad}\n    ↳ ls\n")) && all.contains("\\u{202e}"), "{all}");
    assert_eq!(sha256(all), page.eval("document.querySelector('.sum').textContent").await.as_str().expect("text"));
    let marks = "document.querySelectorAll('main img, main script, main a, main iframe, main style, main form').length";
    assert_eq!((page.eval(marks).await, page.eval("document.title").await), (json!(0), json!("(1) Countersign")));
    // What begins a row is no part of any text.
    let row = "(() => { \
        const row = [...document.querySelectorAll('.sections > .code .line')].find(l => l.textContent.startsWith('<img')); \
        const [mark, range] = [getComputedStyle(row, '::before'), new Range()]; \
        range.selectNodeContents(row); \
        const begin = Math.min(...[...range.getClientRects()].map(piece => piece.left)) - row.getBoundingClientRect().left; \
        return [mark.content.includes('↳'), mark.position, row.innerText === row.textContent, 10 < begin] })()";
    assert_eq!(page.eval(row).await, json!([true, "absolute", true, true]));
    let folder = tempfile::tempdir().expect("a folder");
    let (name, text) = save(page, &folder).await;
    assert_eq!((name.as_str(), text.as_str()), ("request-1.txt", all));
    assert_eq!(page.eval("document.title").await, "(1) Countersign");
    place.press(Who::Ada, &card, "No").await;
}

/// A browser that lays out each word of it would be busy for minutes, and nobody could refuse.
#[tokio::test]
async fn a_line_as_long_as_a_card_may_be_leaves_the_page_as_quick_as_it_was() {
    let mut stage = Stage::set(PLAIN).await;
    let prompt = ask(&mut stage, "words", &"-- ".repeat(80_000)).await;
    let card = stage.place.card("left out here").await;
    let page = stage.place.page(Who::Ada).await;
    page.click(".file button:nth-of-type(1)").await;
    page.wait_for("all of it", "document.querySelector('.all').checkVisibility()").await;
    assert_eq!(page.eval("document.querySelector('.all').textContent.includes('-- '.repeat(80000))").await, true);
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "words").await, (selected("no 3"), false));
}

/// Saves the one file; its name and what is in it.
async fn save(page: &Page, folder: &TempDir) -> (String, String) {
    page.save_to(folder.path()).await;
    page.click(".file button:nth-of-type(2)").await;
    let said = page.wait_for("a word", SAID).await;
    assert!(
        said.as_str().is_some_and(|said| said.ends_with("was given to your browser to save. Its SHA-256 is the one above.")),
        "{said}"
    );
    // Until all of it is there, its name is another.
    let saved = async || {
        let files: Vec<_> = fs::read_dir(folder.path()).ok()?.filter_map(Result::ok).map(|file| file.file_name()).collect();
        let [name] = files.as_slice() else { return None };
        let name = name.to_str()?.to_owned();
        let text = fs::read_to_string(folder.path().join(&name)).ok()?;
        (name.starts_with("request-") && !name.contains(".crdownload") && !text.is_empty()).then_some((name, text))
    };
    until("a saved file", saved).await
}
