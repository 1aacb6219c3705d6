//! Somebody with a key of the page.

use std::cell::RefCell;

use countersign_tests::{Page, until};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::OnceCell;

pub(crate) struct Guest {
    link: String,
    page: Page,
    /// What only this browser has, once it was let in.
    session: OnceCell<Vec<String>>,
    /// What the bridge said to presses for which the page has no button.
    told: RefCell<Vec<String>>,
}

/// A card as the page shows it.
#[derive(Debug, Deserialize)]
pub(crate) struct WebCard {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) has_ended: bool,
    /// What each carries, and its label.
    pub(crate) buttons: Vec<(String, String)>,
    /// How many it had when it was new.
    pub(crate) had_buttons: usize,
    /// What this person is told alone.
    pub(crate) reply: String,
}

const CARDS: &str = r#"[...document.querySelectorAll("article.card")].map(card => {
    const text = part => card.querySelector(part)?.textContent ?? "";
    return {
        id: card.dataset.card,
        text: [".headline", ".sections", ".ending"].map(text).join("\n"),
        has_ended: card.querySelector(".ending") !== null,
        buttons: [...card.querySelectorAll("button.option")].map(button =>
            [button.dataset.token, button.querySelector(".label").textContent]),
        had_buttons: Number(card.dataset.buttons),
        reply: text(".reply"),
    };
})"#;

/// Messages without buttons: above all cards, and at those that they are about.
const NOTES: &str = "[...document.querySelectorAll('.said-note')].map(note => note.textContent)";

/// What this person is asked to confirm.
const ASKED: &str = "[...document.querySelectorAll('dialog.confirm')].map(dialog => dialog.textContent)";

/// What carries a button that confirms.
const CONFIRMS: &str = r#"(label => [...document.querySelectorAll("dialog.confirm button.option")]
    .find(button => button.querySelector(".label").textContent === label)?.dataset.token)"#;

/// Gets ready for a press, and brings the button into sight for it: "wait" while the page takes none, "gone" if the button is not there. The next click leaves
/// behind whether the page took it, and how to see that it was answered.
const AIM: &str = r#"(button => {
    const takes_presses = () => document.documentElement.dataset.connection === "open"
        && document.querySelector(button)?.dataset.settling === undefined;
    document.querySelector(button)?.closest(".bar:not([data-whole])")?.scrollIntoView({ block: "nearest", behavior: "instant" });
    if (!takes_presses()) return "wait";
    if (!document.querySelector(button)) return "gone";
    const answered = () => performance.getEntriesByType("resource").filter(({ name }) => name.endsWith("/api/click")).length;
    window.press = { taken: false, before: answered(), answered };
    addEventListener("click", event => press.taken = takes_presses() && event.target.closest(button) !== null,
        { capture: true, once: true });
    return "ready";
})"#;

/// What the page's own script would send.
const SEND: &str = r#"(async body => {
    const headers = {
        "content-type": "application/json",
        "countersign-page": localStorage["countersign-page"],
        "countersign-stream": document.documentElement.dataset.stream,
    };
    const response = await fetch("/api/click", { method: "POST", headers, body: JSON.stringify(body) });
    return [response.status, await response.json()];
})"#;

impl Guest {
    /// `page`: still empty, and this person's alone.
    pub(crate) fn new(link: String, page: Page) -> Self {
        Self { link, page, session: OnceCell::new(), told: RefCell::default() }
    }

    /// Their page, once they have joined; waits for the bridge if it is not there yet.
    pub(crate) async fn page(&self) -> &Page {
        self.session.get_or_init(async || self.join().await).await;
        &self.page
    }

    async fn join(&self) -> Vec<String> {
        until("a page to join", async || self.page.try_open(&self.link).await.ok()).await;
        self.page.wait_for("a connection of the page", "document.documentElement.dataset.connection === 'open'").await;
        let mut session = vec![self.page.eval("localStorage['countersign-page']").await];
        session.extend(self.page.cookies().await.into_iter().map(|mut cookie| cookie["value"].take()));
        assert_eq!(session.len(), 2, "a word and a cookie: {session:?}");
        session.iter().map(|secret| secret.as_str().expect("text").to_owned()).collect()
    }

    /// What lets somebody be this person.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let (_, key) = self.link.split_once('#').expect("a key");
        let session = self.session.get().expect("everybody has joined");
        session.iter().cloned().chain([key.to_owned()]).collect()
    }

    pub(crate) async fn cards(&self) -> Vec<WebCard> {
        serde_json::from_value(self.page().await.eval(CARDS).await).expect("cards")
    }

    pub(crate) async fn replies(&self) -> Vec<String> {
        let mut replies: Vec<_> = self.cards().await.into_iter().map(|card| card.reply).collect();
        replies.extend(self.texts(ASKED).await);
        replies.extend(self.told.borrow().iter().cloned());
        replies
    }

    pub(crate) async fn notes(&self) -> Vec<String> {
        self.texts(NOTES).await
    }

    async fn texts(&self, all: &str) -> Vec<String> {
        serde_json::from_value(self.page().await.eval(all).await).expect("texts")
    }

    /// Also without a network.
    pub(crate) async fn offline(&self, offline: bool) {
        self.page.offline(offline).await;
    }

    /// Returns once the bridge has answered. Where the button is gone, it is sent as if the page had been slow. What they
    /// are asked to confirm lies over the card, so that it is put aside first.
    pub(crate) async fn press(&self, card: &str, token: &str) {
        let page = self.page().await;
        if page.eval("document.querySelector('dialog.confirm[open]') !== null").await == true {
            page.key("Escape").await;
            page.wait_for("the dialog to go", "document.querySelector('dialog.confirm') === null").await;
        }
        if self.try_press(&of_card(card, token)).await {
            self.answered().await;
            return;
        }
        let answer = self.page.eval(&format!("{SEND}({})", json!({"card": card, "token": token}))).await;
        assert_eq!(answer[0], 200, "{answer}");
        self.told.borrow_mut().extend(answer[1]["reply"].as_str().map(str::to_owned));
    }

    pub(crate) async fn press_without_waiting(&self, card: &str, token: &str) {
        assert!(self.try_press(&of_card(card, token)).await, "the button is gone");
    }

    /// Presses the button with this label that only they are shown, once it is there. Returns once the bridge has answered.
    pub(crate) async fn confirm(&self, label: &str) {
        let find = format!("{CONFIRMS}({})", json!(format!("Confirm: {label}")));
        let token = self.page().await.wait_for(&format!("a button that confirms {label:?}"), &find).await;
        let button = format!("dialog.confirm button.option[data-token={token}]");
        assert!(self.try_press(&button).await, "the button is gone");
        self.answered().await;
    }

    async fn answered(&self) {
        self.page.wait_for("an answer to the press", "press.before < press.answered()").await;
    }

    /// As a person does, again if the page had moved under the finger. False: there is no such button.
    async fn try_press(&self, button: &str) -> bool {
        let page = self.page().await;
        let aim = format!("{AIM}({})", json!(button));
        let press = async || match page.eval(&aim).await.as_str() {
            Some("gone") => Some(false),
            Some("ready") => (page.try_click(button).await && page.eval("press.taken").await == true).then_some(true),
            _ => None,
        };
        until(&format!("{button} to be pressed"), press).await
    }
}

fn of_card(card: &str, token: &str) -> String {
    format!("article.card[data-card={}] button.option[data-token={}]", json!(card), json!(token))
}

/// Presses the first button with this label, once the page takes presses.
pub(crate) async fn press_option(page: &Page, label: &str) {
    let find = format!(
        "[...document.querySelectorAll('button.option:not([data-settling])')]\
         .find(button => button.querySelector('.label').textContent === {})?.dataset.token",
        json!(label)
    );
    let token = page.wait_for(&format!("the button {label:?}"), &find).await;
    page.click(&format!("button.option[data-token={token}]")).await;
}
