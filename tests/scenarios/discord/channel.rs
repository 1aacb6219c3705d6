//! A channel, and the adapter in it, for scenarios that talk to its board themselves.

use std::collections::BTreeSet;
use std::time::Duration;

use bridge_core::{Board as _, Clicks as _, Room as _, RoomEvent};
use bridge_model::{Card, CardRef, Click, MessageId, RoomName, Secret};
use countersign_tests::{Post, Simcord, until, within};
use discord_room::{DiscordBoard, DiscordClicks, DiscordRoom, Mention, Options, RoomOptions, Threads};
use serde_json::{Value, json};

use crate::drawn::{ROOM, buttons};

const POST_WITHIN: Duration = Duration::from_secs(30);

/// A channel, and the adapter in it.
pub(super) struct Channel {
    pub(super) server: Simcord,
    pub(super) board: DiscordBoard,
    clicks: DiscordClicks,
    pub(super) threads: Threads,
}

impl Channel {
    pub(super) async fn open() -> Self {
        Self::join(Simcord::start().await).await
    }

    pub(super) async fn join(server: Simcord) -> Self {
        Self::join_with(server, Threads::None).await
    }

    pub(super) async fn join_with(server: Simcord, threads: Threads) -> Self {
        let room = RoomOptions {
            name: RoomName::new(ROOM),
            channel: server.world.channel.clone(),
            threads,
            mention: Mention::default(),
            roles: BTreeSet::new(),
        };
        let options = Options {
            token: Secret::new(server.world.token.clone()),
            connect_to: Some(server.address().parse().expect("an address")),
            ca_pem: Some(std::fs::read_to_string(server.authority()).expect("readable")),
            rooms: vec![room],
        };
        let (board, clicks) = DiscordRoom::new(options).connect().await.expect("a connection");
        Self { server, board, clicks, threads }
    }

    /// The bridge is started again.
    pub(super) async fn again(self) -> Self {
        let Self { server, board, clicks, threads } = self;
        drop((board, clicks));
        // It would take the clicks of the next one.
        until("the end of its session", async || (server.act("sessions", json!({})).await == 0).then_some(())).await;
        Self::join_with(server, threads).await
    }

    pub(super) async fn post(&self, card: &Card) -> CardRef {
        self.board.post(card, POST_WITHIN).await.expect("a message")
    }

    pub(super) async fn message(&self, at: &CardRef) -> Post {
        let posts = self.server.posts(at.control.as_str().split('/').nth(1).expect("a channel")).await;
        posts.into_iter().find(|post| at.control.as_str().ends_with(&post.id)).expect("it is there")
    }

    /// Ada presses a button of a message.
    pub(super) async fn press(&mut self, control: &MessageId, at: usize) -> Click {
        let message = control.as_str().rsplit('/').next().expect("an id").to_owned();
        let token = format!("countersign:{}", buttons()[at].token);
        self.server.click(&self.server.world.people.ada, &message, &token).await;
        self.clicked().await
    }

    pub(super) async fn clicked(&mut self) -> Click {
        let event = self.event().await;
        let RoomEvent::Clicked(click) = event else { panic!("no click: {event:?}") };
        click
    }

    pub(super) async fn event(&mut self) -> RoomEvent {
        within("an event", self.clicks.next()).await.expect("the connection goes on")
    }

    /// What Ada alone was told.
    pub(super) async fn ephemerals(&self) -> Vec<Post> {
        self.server.ephemerals(&self.server.world.people.ada).await
    }

    pub(super) async fn edits(&self) -> usize {
        self.bodies("PATCH", "/channels/").await.len()
    }

    pub(super) async fn bodies(&self, method: &str, path: &str) -> Vec<Value> {
        let requests = self.server.requests().await;
        let is_it =
            |request: &&Value| request["method"] == method && request["path"].as_str().is_some_and(|asked| asked.contains(path));
        requests.iter().filter(is_it).map(|request| request["body"].clone()).collect()
    }
}
