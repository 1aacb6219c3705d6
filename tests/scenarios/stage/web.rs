//! The page that the bridge serves, with people who look at it in a browser.

mod guest;

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;

use countersign_tests::{BridgeProcess, Browser, Launch, Page, port_to_listen_on, until};
use serde_json::json;

use super::{Home, Place, Plan, Who};
use guest::Guest;

pub(crate) use guest::{WebCard, press_option};

pub(crate) struct Web {
    pub(crate) home: Home,
    ada: Guest,
    bob: Guest,
    mallory: Guest,
    is_away: bool,
    /// Cards that were handed out.
    taken: RefCell<HashSet<String>>,
    browser: Browser,
}

impl Web {
    /// The page in front of somebody, who has joined.
    pub(crate) async fn page(&self, who: Who) -> &Page {
        self.guest(who).page().await
    }

    /// Somebody who has no key.
    pub(crate) async fn stranger(&self) -> Page {
        self.browser.person().await
    }

    fn guest(&self, who: Who) -> &Guest {
        match who {
            Who::Ada => &self.ada,
            Who::Bob => &self.bob,
            Who::Mallory => &self.mallory,
        }
    }

    fn guests(&self) -> [&Guest; 3] {
        [&self.ada, &self.bob, &self.mallory]
    }

    /// Everybody has the page open, so that nothing happens behind anybody's back.
    async fn all_join(&self) {
        let [ada, bob, mallory] = self.guests();
        tokio::join!(ada.page(), bob.page(), mallory.page());
    }

    async fn card_now(&self, who: Who, id: &str) -> Option<WebCard> {
        self.guest(who).cards().await.into_iter().find(|card| card.id == id)
    }
}

impl Place for Web {
    type Card = WebCard;

    // Nobody removes a card from the page.
    const REMOVALS: &'static [&'static str] = &[];
    const LOSSES: &'static [&'static str] = &["keys removed"];
    const FINEST_LOG: &'static str = "INFO";

    async fn gather(plan: &Plan) -> Self {
        let (home, port) = (Home::new(), port_to_listen_on());
        let service = format!("[web]\nlisten = \"127.0.0.1:{port}\"");
        home.configure(plan, &service, "web = true\napprovers = [\"ada\", \"bob\"]", "bob");
        let browser = Browser::start().await;
        let invite = async |name| Guest::new(home.countersign(&["web-room", "invite", name]).await, browser.person().await);
        let (ada, bob, mallory) = (invite("ada").await, invite("bob").await, invite("mallory").await);
        Self { home, ada, bob, mallory, taken: RefCell::default(), is_away: false, browser }
    }

    async fn gather_apart(plan: &Plan) -> Self {
        Self::gather(plan).await
    }

    fn home(&self) -> &Home {
        &self.home
    }

    fn secrets(&self) -> Vec<String> {
        self.guests().into_iter().flat_map(Guest::secrets).collect()
    }

    fn with_all_secrets(&self, launch: Launch) -> Launch {
        launch
    }

    async fn card(&self, containing: &str) -> WebCard {
        self.all_join().await;
        let is_new = |card: &WebCard| {
            !card.buttons.is_empty() && card.text.contains(containing) && !self.taken.borrow().contains(&card.id)
        };
        let card = until(&format!("a card with {containing:?}"), async || self.ada.cards().await.into_iter().find(is_new)).await;
        self.taken.borrow_mut().insert(card.id.clone());
        card
    }

    async fn card_count(&self) -> usize {
        self.ada.cards().await.iter().filter(|card| 0 < card.had_buttons).count()
    }

    fn text(card: &WebCard) -> &str {
        &card.text
    }

    fn buttons(card: &WebCard) -> &[(String, String)] {
        &card.buttons
    }

    async fn press(&self, who: Who, card: &WebCard, label: &str) {
        self.guest(who).press(&card.id, Self::token(card, label)).await;
    }

    async fn press_and_leave(&self, who: Who, card: &WebCard, label: &str) {
        self.guest(who).press_without_waiting(&card.id, Self::token(card, label)).await;
        let name = match who {
            Who::Ada => "ada",
            Who::Bob => "bob",
            Who::Mallory => "mallory",
        };
        self.home.countersign(&["web-room", "revoke", name]).await;
    }

    /// The page has nowhere to write. It is typed nevertheless, where nothing has the focus.
    async fn say(&self, who: Who, text: &str) {
        let page = self.page(who).await;
        page.eval("document.activeElement.blur()").await;
        page.type_text(text).await;
    }

    /// Typed at the card, after a click on its text.
    async fn reply_to(&self, who: Who, card: &WebCard, text: &str) {
        let page = self.page(who).await;
        page.click(&format!("article.card[data-card={}] .headline", json!(card.id))).await;
        page.type_text(text).await;
    }

    async fn private_reply(&self, who: Who, containing: &str) -> String {
        let told = async || self.guest(who).replies().await.into_iter().find(|reply| reply.contains(containing));
        until(&format!("{who:?} to be told {containing:?}"), told).await
    }

    async fn said(&self, containing: &[&str]) -> String {
        self.all_join().await;
        let is_it = |text: &String| containing.iter().all(|part| text.contains(part));
        let said = async || {
            let cards = self.ada.cards().await.into_iter().map(|card| card.text);
            cards.chain(self.ada.notes().await).find(is_it)
        };
        until(&format!("a card or a note with {containing:?}"), said).await
    }

    async fn closing(&self, card: &WebCard, says: &str) -> String {
        let said = async || {
            let now = self.card_now(Who::Bob, &card.id).await.filter(|now| now.has_ended)?;
            now.text.contains(says).then_some(now.text)
        };
        until(&format!("{card:?} to say {says:?}"), said).await
    }

    async fn is_live(&self, card: &WebCard) -> bool {
        self.card_now(Who::Ada, &card.id).await.is_some_and(|card| !card.buttons.is_empty())
    }

    async fn shows(&self, card: &WebCard, says: &str) {
        let shown = async || {
            let now = self.card_now(Who::Bob, &card.id).await?;
            (now.text.contains(says) && now.buttons == card.buttons).then_some(())
        };
        until(&format!("{card:?} to show {says:?}"), shown).await;
    }

    async fn confirm(&self, who: Who, label: &str) {
        self.guest(who).confirm(label).await;
    }

    async fn wait_until_dead(&self, card: &WebCard) {
        until(&format!("the end of {card:?}"), async || (!self.is_live(card).await).then_some(())).await;
    }

    async fn remove_card(&self, _: &WebCard, way: &str) {
        panic!("{way} is no way to remove a card");
    }

    async fn lose_bot(&self, way: &str) {
        assert_eq!(way, "keys removed");
        fs::remove_file(self.home.file("state/web-room.sqlite3")).expect("the keys are there");
    }

    /// The page is the bridge's own, so that there is nobody else to be away: nobody has a network.
    async fn stop_service(&mut self) {
        self.is_away = true;
        for guest in self.guests() {
            guest.offline(true).await;
        }
    }

    async fn restart_service(&mut self) {
        self.is_away = false;
        for guest in self.guests() {
            guest.offline(false).await;
        }
    }

    /// With everybody at the page, unless nobody has a network.
    async fn start(&self) -> BridgeProcess {
        let bridge = self.home.start().await;
        if !self.is_away {
            self.all_join().await;
        }
        bridge
    }
}
