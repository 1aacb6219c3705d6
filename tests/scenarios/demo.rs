//! The first five minutes: the README's first command, and a person with a browser.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_tests::{BridgeProcess, Browser, Page, first_command, scripted_agent, until};
use serde_json::json;

use crate::stage::press_option;

const ALWAYS: &str = "Yes, and don't ask again for commands";

#[tokio::test(flavor = "multi_thread")]
async fn the_readmes_first_command_ends_with_an_agent_that_did_what_a_button_said() {
    let temporary = tempfile::tempdir().expect("a folder");
    let mut demo = first_command(&[], temporary.path()).await;
    let (mut said, browser) = (String::new(), Browser::start().await);
    let page = browser.person().await;
    page.open(&link(&mut demo, &mut said).await).await;
    card(&page, "cp server.toml server.toml.bak").await;
    let workspace = workspace(temporary.path());
    let before = fs::read_to_string(workspace.join("server.toml")).expect("there");
    assert!(!workspace.join("server.toml.bak").exists(), "nothing was pressed yet");

    press_option(&page, ALWAYS).await;
    card(&page, "wants to edit").await;
    assert_eq!(fs::read_to_string(workspace.join("server.toml.bak")).expect("pressed"), before);
    press_option(&page, "No").await;
    card(&page, "wants to delete").await;
    assert_eq!(fs::read_to_string(workspace.join("server.toml")).expect("there"), before);
    assert!(workspace.join("old-notes.txt").exists(), "nothing was pressed yet");
    press_option(&page, "Yes").await;
    card(&page, "wants to fetch").await;
    assert!(!workspace.join("old-notes.txt").exists());
    press_option(&page, "No").await;

    rest(&mut demo, &mut said).await;
    assert_eq!(demo.wait_exit().await.code(), Some(0), "{said}");
    let table = said.split_once("And then\n").expect("a table").1;
    // There is no "always" for the deletion, and the last command is not asked about any more.
    let rows = [
        "allow-always  ✓ the copy",
        "reject        ✗ it is as",
        "allow-once    ✓ it is gone",
        "reject        ✗ not",
        "(not asked)   ✓",
    ];
    for (row, expected) in table.lines().zip(rows) {
        assert!(row.contains(expected), "{expected}: {said}");
    }
    assert!(said.contains(&format!("You pressed {ALWAYS:?}.")), "{said}");
    assert!(fs::read_dir(temporary.path()).expect("the folder").next().is_none(), "the demo leaves nothing behind");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_closes_the_page_or_presses_nothing_lets_nothing_happen() {
    let temporary = tempfile::tempdir().expect("a folder");
    let mut demo = first_command(&["--lifetime", "3s"], temporary.path()).await;
    let (mut said, browser) = (String::new(), Browser::start().await);
    let page = browser.person().await;
    page.open(&link(&mut demo, &mut said).await).await;
    page.wait_for("a card that nobody presses", "document.querySelector('article.card[data-state=expired]')").await;
    page.open("about:blank").await;
    rest(&mut demo, &mut said).await;
    assert_eq!(demo.wait_exit().await.code(), Some(0), "{said}");
    assert_eq!(said.matches("Nobody pressed in time.").count(), 5, "{said}");
    assert!(said.matches("reject (expired)").count() == 5 && !said.contains('✓'), "{said}");
    assert!(fs::read_dir(temporary.path()).expect("the folder").next().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_agent_takes_its_prompts_from_the_terminal_and_asks_on_the_page() {
    let temporary = tempfile::tempdir().expect("a folder");
    let agent = scripted_agent().remove(0);
    let mut demo = first_command(&["--listen", "127.0.0.1:0", "--", agent.to_str().expect("UTF-8")], temporary.path()).await;
    let (mut said, browser) = (String::new(), Browser::start().await);
    let page = browser.person().await;
    page.open(&link(&mut demo, &mut said).await).await;
    let marker = temporary.path().join("marker");
    let options = json!([["y", "Go on", "allow_once"], ["n", "Stop", "reject_once"]]);
    let ask =
        json!({"title": "touch marker", "kind": "execute", "command": "touch marker", "marker": marker, "options": options});
    for (label, ran) in [("Stop", false), ("Go on", true)] {
        demo.send(&json!({"ask": [ask]})).await;
        press_option(&page, label).await;
        page.wait_for(
            "the agent to have it",
            &format!(
                "[...document.querySelectorAll('.ending')].some(e => \
            e.textContent.includes('{label}') && e.textContent.includes('The agent has it'))"
            ),
        )
        .await;
        until("the deed", async || (marker.exists() == ran).then_some(())).await;
    }
    rest(&mut demo, &mut said).await;
    assert_eq!(demo.wait_exit().await.code(), Some(0), "{said}");
}

/// The link that it prints.
async fn link(demo: &mut BridgeProcess, said: &mut String) -> String {
    loop {
        let line = String::from_utf8(demo.next_frame().await).expect("text");
        said.push_str(&line);
        if let Some(link) = line.split_whitespace().find(|word| word.contains("/join#")) {
            return link.to_owned();
        }
    }
}

/// Waits until the page shows what is asked now.
async fn card(page: &Page, headline: &str) {
    let shown = format!(
        "[...document.querySelectorAll('article.card[data-state=waiting] .headline')].some(h => h.textContent.includes({}))",
        json!(headline)
    );
    page.wait_for(headline, &shown).await;
}

async fn rest(demo: &mut BridgeProcess, said: &mut String) {
    said.push_str(&String::from_utf8(demo.rest_of_output().await).expect("text"));
}

fn workspace(temporary: &Path) -> PathBuf {
    let mut folders = fs::read_dir(temporary).expect("the folder").map(|entry| entry.expect("an entry").path());
    folders.find(|folder| folder.join("workspace").exists()).expect("the demo's folder").join("workspace")
}
