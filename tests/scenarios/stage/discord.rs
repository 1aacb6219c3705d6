//! A channel of a Discord server, on a model of Discord.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;

use countersign_tests::{DiscordCard, Launch, Post, Simcord, until};
use serde_json::json;

use super::{Home, Place, Plan, Who};

pub(crate) struct Discord {
    pub(crate) server: Simcord,
    home: Home,
    /// Cards that were handed out.
    taken: RefCell<HashSet<String>>,
}

impl Discord {
    pub(crate) fn id(&self, who: Who) -> &str {
        let people = &self.server.world.people;
        match who {
            Who::Ada => &people.ada,
            Who::Bob => &people.bob,
            Who::Mallory => &people.mallory,
        }
    }

    fn configure(&self, plan: &Plan) {
        self.home.secret("token", &self.server.world.token);
        self.home.secret("ca.pem", &fs::read_to_string(self.server.authority()).expect("readable"));
        let address = self.server.address();
        let service = format!("[discord]\ntoken_file = \"token\"\nconnect_to = \"{address}\"\nca_file = \"ca.pem\"");
        let (channel, ada, bob) = (&self.server.world.channel, self.id(Who::Ada), self.id(Who::Bob));
        self.home.configure(plan, &service, &format!("discord = \"{channel}\"\napprovers = [\"{ada}\", \"{bob}\"]"), bob);
    }

    /// The card as it is now.
    async fn post(&self, card: &DiscordCard) -> Option<Post> {
        self.server.posts(&card.channel).await.into_iter().find(|post| post.id == card.message)
    }
}

impl Place for Discord {
    type Card = DiscordCard;

    const REMOVALS: &'static [&'static str] = &["alone", "with others"];
    const LOSSES: &'static [&'static str] = &["kick", "deletion", "view", "send"];

    async fn gather(plan: &Plan) -> Self {
        let discord = Self { server: Simcord::start().await, home: Home::new(), taken: RefCell::default() };
        discord.configure(plan);
        discord
    }

    async fn gather_apart(plan: &Plan) -> Self {
        Self::gather(plan).await
    }

    fn home(&self) -> &Home {
        &self.home
    }

    fn secrets(&self) -> Vec<String> {
        // Whoever has the token of a click can speak for the bot for a while.
        vec![self.server.world.token.clone(), "simcord_interaction_".to_owned()]
    }

    fn with_all_secrets(&self, launch: Launch) -> Launch {
        launch
    }

    async fn card(&self, containing: &str) -> DiscordCard {
        let is_new = |card: &DiscordCard| card.text.contains(containing) && !self.taken.borrow().contains(&card.message);
        let post = self.server.wait_for_post_anywhere("a card", |post| post.card().as_ref().is_some_and(is_new)).await;
        self.taken.borrow_mut().insert(post.id.clone());
        post.card().expect("it was one")
    }

    async fn card_count(&self) -> usize {
        let requests = self.server.requests().await;
        let has_buttons = |body: &serde_json::Value| body["components"].as_array().is_some_and(|rows| !rows.is_empty());
        requests.iter().filter(|request| request["method"] == "POST" && has_buttons(&request["body"])).count()
    }

    fn text(card: &DiscordCard) -> &str {
        &card.text
    }

    fn buttons(card: &DiscordCard) -> &[(String, String)] {
        &card.buttons
    }

    async fn press(&self, who: Who, card: &DiscordCard, label: &str) {
        self.server.click(self.id(who), &card.message, Self::token(card, label)).await;
    }

    async fn press_and_leave(&self, who: Who, card: &DiscordCard, label: &str) {
        // Discord says with each click whether its maker is a member, at that time.
        self.server.act("leave", json!({"user": self.id(who)})).await;
        self.server.forge_click(self.id(who), &card.message, Self::token(card, label), json!({})).await;
    }

    async fn say(&self, who: Who, text: &str) {
        self.server.act("say", json!({"user": self.id(who), "content": text})).await;
    }

    async fn reply_to(&self, who: Who, card: &DiscordCard, text: &str) {
        let reply = json!({"user": self.id(who), "content": text, "channel": card.channel, "reply_to": card.message});
        self.server.act("say", reply).await;
    }

    async fn private_reply(&self, who: Who, containing: &str) -> String {
        self.server.wait_for_ephemeral(self.id(who), |post| post.text().contains(containing)).await.text()
    }

    async fn said(&self, containing: &[&str]) -> String {
        let is_it = |post: &Post| {
            let text = post.text();
            post.author["id"] == self.server.world.bot && containing.iter().all(|part| text.contains(part))
        };
        self.server.wait_for_post(&format!("a message with {containing:?}"), is_it).await.text()
    }

    async fn closing(&self, card: &DiscordCard, says: &str) -> String {
        let said = async || {
            let text = self.post(card).await.filter(|post| post.edited_timestamp.is_some())?.text();
            text.contains(says).then_some(text)
        };
        until(&format!("{card:?} to say {says:?}"), said).await
    }

    async fn shows(&self, card: &DiscordCard, says: &str) {
        let shown = async || {
            let post = self.post(card).await?;
            (post.text().contains(says) && post.buttons() == card.buttons).then_some(())
        };
        until(&format!("{card:?} to show {says:?} with its buttons"), shown).await;
    }

    async fn confirm(&self, who: Who, label: &str) {
        let button = |post: &Post| post.buttons().into_iter().find(|(_, text)| *text == format!("Confirm: {label}"));
        let post = self.server.wait_for_ephemeral(self.id(who), |post| button(post).is_some()).await;
        let (token, _) = button(&post).expect("it has one");
        self.server.click(self.id(who), &post.id, &token).await;
    }

    async fn is_live(&self, card: &DiscordCard) -> bool {
        self.post(card).await.is_some_and(|post| post.card().is_some())
    }

    async fn wait_until_dead(&self, card: &DiscordCard) {
        until(&format!("the end of {card:?}"), async || (!self.is_live(card).await).then_some(())).await;
    }

    async fn remove_card(&self, card: &DiscordCard, way: &str) {
        let mut messages = vec![card.message.clone()];
        match way {
            "alone" => {}
            "with others" => {
                let said = json!({"user": self.id(Who::Bob), "content": "chat"});
                messages.push(self.server.act("say", said).await.as_str().expect("an id").to_owned());
            }
            other => panic!("{other} is no way to remove a card"),
        }
        self.server.act("delete_messages", json!({"messages": messages})).await;
    }

    async fn lose_bot(&self, way: &str) {
        let deny = |permission| json!({"target": self.server.world.bot, "permissions": [permission]});
        let (act, with) = match way {
            "kick" => ("kick_bot", json!({})),
            "deletion" => ("delete_channel", json!({})),
            "view" => ("deny", deny("view_channel")),
            "send" => ("deny", deny("send_messages")),
            other => panic!("{other} is no way to lose a room"),
        };
        self.server.act(act, with).await;
    }

    async fn stop_service(&mut self) {
        self.server.act("down", json!({})).await;
    }

    async fn restart_service(&mut self) {
        self.server.act("up", json!({})).await;
    }
}
