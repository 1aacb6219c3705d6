//! A Discord of our own, for what no well-behaved server does.
//!
//! Its REST API speaks TLS for the name `discord.com` on loopback, and its gateway plain WebSocket; a client under test
//! runs the code that it runs in production. It is as strict as Discord: about time (an interaction is acknowledged
//! within three seconds and once), about ids, and about every body, which is checked against Discord's own description of
//! its API. Beyond that it does what Discord does on bad days, when a test says so: see [`Fault`] for requests,
//! [`Oddity`] for clicks and [`Greeting`] for the gateway.
//!
//! ```text
//! let discord = DiscordDouble::start().await;
//! let ada = discord.join("ada");
//! // A client connects to discord.address(), trusts discord.ca_pem(), and posts a card.
//! discord.fault(Route::Ack, Fault::Afterwards(Answer::Dropped));
//! discord.press(ada, card, "Yes");
//! assert_eq!(discord.acks()[0].answered, None);
//! discord.assert_no_problems();
//! ```

mod bodies;
#[cfg(test)]
mod bodies_tests;
mod click;
mod faults;
mod gateway;
mod guild;
mod http;
mod interactions;
mod messages;
mod rest;
mod sessions;
mod snowflake;
mod world;

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::Instant;

pub use click::{Click, Oddity};
pub use faults::{Answer, ApiError, Fault, Limited, Route};
pub use guild::{GuildMember, ORDINARY, Role, SEND_MESSAGES, VIEW_CHANNEL};
pub use http::UploadedFile;
pub use interactions::{Ack, Followup};
pub use messages::{Button, StoredMessage};
pub use rest::RestRequest;
pub use sessions::Greeting;
pub use snowflake::Snowflake;
pub use world::Limits;

use crate::wait::until;
use guild::Channel;
use sessions::Order;
use world::World;

/// Why Discord would not take a new message that mentions nobody; empty: it would.
pub fn problems_of_message(body: &Value, files: &[UploadedFile]) -> Vec<String> {
    bodies::problems(bodies::Kind::Create, body, files, &BTreeSet::new())
}

/// One guild with one bot, one channel and whoever joins. It ends when it is dropped.
pub struct DiscordDouble {
    address: SocketAddr,
    channel: Snowflake,
    world: Arc<World>,
    servers: [JoinHandle<()>; 2],
}

/// Setting it up, and what it is.
impl DiscordDouble {
    pub async fn start() -> Self {
        let (api, address) = listen().await;
        let (gateway, gateway_address) = listen().await;
        let world = Arc::new(World::new());
        let url = format!("ws://{gateway_address}");
        let servers = [tokio::spawn(rest::serve(api, url, world.clone())), tokio::spawn(gateway::serve(gateway, world.clone()))];
        let channel = *world.lock().guild.channels.keys().next().expect("a guild has one from the start");
        Self { address, channel, world, servers }
    }

    /// Where `discord.com` is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whom to trust for `discord.com`.
    pub fn ca_pem(&self) -> String {
        crate::tls::TLS.ca_pem.clone()
    }

    pub fn token(&self) -> String {
        self.world.token.clone()
    }

    pub fn guild(&self) -> Snowflake {
        self.world.lock().guild.id
    }

    /// The first one, there from the start.
    pub fn channel(&self) -> Snowflake {
        self.channel
    }

    pub fn bot_id(&self) -> Snowflake {
        self.world.lock().guild.bot
    }

    pub fn application_id(&self) -> Snowflake {
        self.world.lock().guild.application
    }

    pub fn add_channel(&self, name: &str) -> Snowflake {
        let channel = Channel::text(Snowflake::fresh(), name);
        self.world.lock().guild.channels.insert(channel.id, channel.clone());
        channel.id
    }

    pub fn add_role(&self, name: &str) -> Snowflake {
        let role = Role { id: Snowflake::fresh(), name: name.to_owned(), permissions: 0, mentionable: true };
        self.world.lock().guild.roles.insert(role.id, role.clone());
        role.id
    }

    /// Somebody comes into the guild.
    pub fn join(&self, name: &str) -> Snowflake {
        let member = GuildMember::new(Snowflake::fresh(), name);
        self.world.lock().guild.members.insert(member.id, member.clone());
        member.id
    }

    /// With an event; the bot's own roles are changed with [`Self::alter_member`].
    pub fn alter_role(&self, id: Snowflake, alter: impl FnOnce(&mut Role)) {
        let mut state = self.world.lock();
        let role = state.guild.roles.get_mut(&id).expect("a role");
        alter(role);
        let role = role.json();
        let event = json!({"guild_id": state.guild.id.json(), "role": role});
        state.dispatch("GUILD_ROLE_UPDATE", &event);
    }

    /// Without an event: a bot without the privileged intents gets none about others.
    pub fn alter_member(&self, id: Snowflake, alter: impl FnOnce(&mut GuildMember)) {
        alter(self.world.lock().guild.members.get_mut(&id).expect("a member"));
    }

    pub fn leave(&self, id: Snowflake) {
        self.world.lock().guild.members.remove(&id);
    }

    /// What the bot may do, in every channel.
    pub fn set_bot_permissions(&self, permissions: u64) {
        self.world.lock().guild.bot_permissions = permissions;
    }

    /// As an operator would set it in Discord's portal: the gateway tells of no interaction any more.
    pub fn set_interactions_endpoint(&self, url: Option<&str>) {
        self.world.lock().guild.interactions_endpoint = url.map(str::to_owned);
    }

    /// Messages may mention only these.
    pub fn set_mentionable(&self, ids: impl IntoIterator<Item = Snowflake>) {
        self.world.lock().mentionable = ids.into_iter().collect();
    }

    pub fn set_limits(&self, limits: impl FnOnce(&mut Limits)) {
        limits(&mut self.world.lock().limits);
    }
}

/// What people and moderators do.
impl DiscordDouble {
    /// The interaction's id.
    pub fn click(&self, click: Click) -> Snowflake {
        let (user, message, custom_id, age) = (click.user, click.message, click.custom_id.clone(), click.age);
        self.world.lock().interact(user, message, &custom_id, age, |payload| click.alter(payload))
    }

    /// Presses the button with this label, as it can be pressed in a client.
    pub fn press(&self, user: Snowflake, message: Snowflake, label: &str) -> Snowflake {
        let buttons = self.message(message).buttons();
        let found = buttons.iter().find(|button| button.label == label && !button.disabled);
        let button = found.unwrap_or_else(|| panic!("no button {label:?} can be pressed: {buttons:?}"));
        self.click(Click::new(user, message, &button.custom_id))
    }

    /// Delivers an interaction another time, as it was.
    pub fn repeat(&self, interaction: Snowflake) {
        let mut state = self.world.lock();
        let payload = state.interactions[&interaction].payload.clone();
        state.dispatch("INTERACTION_CREATE", &payload);
    }

    /// Writes in a channel. Without the intent for it, the bot is told of a message, and not what it says.
    pub fn say(&self, user: Snowflake, channel: Snowflake, text: &str) -> Snowflake {
        let mut state = self.world.lock();
        let id = state.store(channel, user, &json!({"content": text}), &[]);
        let mut event = state.message_json(id);
        event["content"] = json!("");
        event["guild_id"] = state.guild.id.json();
        state.dispatch("MESSAGE_CREATE", &event);
        id
    }

    pub fn delete_message(&self, id: Snowflake) {
        self.world.lock().delete_message(id);
    }

    pub fn delete_messages(&self, ids: &[Snowflake]) {
        let mut state = self.world.lock();
        for id in ids {
            state.messages.get_mut(id).expect("a message").deleted = true;
        }
        let channel = state.messages[&ids[0]].channel;
        let (ids, guild): (Vec<Value>, _) = (ids.iter().map(|id| id.json()).collect(), state.guild.id);
        let event = json!({"ids": ids, "channel_id": channel.json(), "guild_id": guild.json()});
        state.dispatch("MESSAGE_DELETE_BULK", &event);
    }

    /// A channel or a thread.
    pub fn delete_channel(&self, id: Snowflake) {
        let mut state = self.world.lock();
        let channel = state.guild.channels.remove(&id).expect("a channel");
        let guild = state.guild.id;
        state.messages.values_mut().filter(|message| message.channel == id).for_each(|message| message.deleted = true);
        match channel.parent {
            None => state.dispatch("CHANNEL_DELETE", &channel.json(guild)),
            Some(parent) => {
                let event = json!({"id": id.json(), "guild_id": guild.json(), "parent_id": parent.json(), "type": 11});
                state.dispatch("THREAD_DELETE", &event);
            }
        }
    }

    pub fn archive_thread(&self, id: Snowflake, locked: bool) {
        let mut state = self.world.lock();
        let guild = state.guild.id;
        let thread = state.guild.channels.get_mut(&id).expect("a thread");
        (thread.archived, thread.locked) = (true, locked);
        let event = thread.json(guild);
        state.dispatch("THREAD_UPDATE", &event);
    }

    pub fn delete_role(&self, id: Snowflake) {
        let mut state = self.world.lock();
        state.guild.roles.remove(&id);
        state.guild.members.values_mut().for_each(|member| member.roles.retain(|role| *role != id));
        let event = json!({"guild_id": state.guild.id.json(), "role_id": id.json()});
        state.dispatch("GUILD_ROLE_DELETE", &event);
    }

    /// The guild is gone, or only cannot be reached for now.
    pub fn lose_guild(&self, is_outage: bool) {
        let mut state = self.world.lock();
        let id = state.guild.id.json();
        let event = if is_outage { json!({"id": id, "unavailable": true}) } else { json!({"id": id}) };
        state.dispatch("GUILD_DELETE", &event);
    }

    /// Whatever else the gateway can tell.
    pub fn dispatch(&self, name: &str, payload: &Value) {
        self.world.lock().dispatch(name, payload);
    }
}

/// What goes wrong.
impl DiscordDouble {
    /// The next request of this kind that no earlier call is waiting for.
    pub fn fault(&self, route: Route, fault: Fault) {
        self.world.lock().faults.queue(route, fault);
    }

    /// Asked about every request for which nothing is queued. It is called while the double is locked, and must not use it.
    pub fn faults(&self, choose: impl FnMut(&RestRequest) -> Option<Fault> + Send + 'static) {
        self.world.lock().faults.choose(Box::new(choose));
    }

    /// From now on all is well.
    pub fn no_faults(&self) {
        self.world.lock().faults.clear();
    }

    /// Closes every connection to the gateway.
    pub fn close(&self, code: u16) {
        self.world.lock().sessions.order(|| Order::Close(code));
    }

    /// Cuts every connection to the gateway.
    pub fn cut(&self) {
        self.world.lock().sessions.order(|| Order::Cut);
    }

    /// Tells every client to reconnect.
    pub fn op7(&self) {
        self.world.lock().sessions.order(|| Order::Send(json!({"op": 7, "d": null})));
    }

    /// Tells every client that its session is invalid. What is not resumable is forgotten.
    pub fn op9(&self, resumable: bool) {
        let mut state = self.world.lock();
        state.sessions.order(|| Order::Send(json!({"op": 9, "d": resumable})));
        if !resumable {
            state.sessions.forget();
        }
    }

    /// No session can be resumed.
    pub fn forget_sessions(&self) {
        self.world.lock().sessions.forget();
    }

    /// What the next connection to the gateway meets that no earlier call is waiting for.
    pub fn greet(&self, greeting: Greeting) {
        self.world.lock().sessions.greetings.push_back(greeting);
    }

    /// New connections to the gateway are refused for so long.
    pub fn refuse_connections(&self, duration: Duration) {
        self.world.lock().sessions.refused_until = Some(Instant::now() + duration);
    }

    /// Connections stay open, and nothing is sent. What happens meanwhile is told after a resume.
    pub fn set_stuck(&self, is_stuck: bool) {
        self.world.lock().sessions.is_stuck = is_stuck;
    }

    pub fn set_heartbeat_interval(&self, interval: Duration) {
        self.world.lock().sessions.heartbeat_interval = interval;
    }
}

/// What happened.
impl DiscordDouble {
    /// Every message that was ever stored, the deleted ones too, the oldest first.
    pub fn messages(&self) -> Vec<StoredMessage> {
        self.world.lock().messages.values().cloned().collect()
    }

    pub fn message(&self, id: Snowflake) -> StoredMessage {
        self.world.lock().messages.get(&id).cloned().unwrap_or_else(|| panic!("no message {id}"))
    }

    pub fn requests(&self) -> Vec<RestRequest> {
        self.world.lock().requests.clone()
    }

    /// Callbacks, in the order in which they were processed.
    pub fn acks(&self) -> Vec<Ack> {
        self.world.lock().ack_log()
    }

    pub fn followups(&self) -> Vec<Followup> {
        self.world.lock().followup_log()
    }

    /// The bot's own threads.
    pub fn threads(&self) -> Vec<Snowflake> {
        let state = self.world.lock();
        state.guild.channels.values().filter(|channel| channel.parent.is_some()).map(|channel| channel.id).collect()
    }

    /// Every IDENTIFY and RESUME.
    pub fn hellos(&self) -> Vec<Value> {
        self.world.lock().sessions.hellos.clone()
    }

    pub fn is_connected(&self) -> bool {
        0 < self.world.lock().sessions.connected()
    }

    /// What a well-behaved client does not do: bodies that are not allowed, unknown routes, and more.
    pub fn problems(&self) -> Vec<String> {
        self.world.lock().problems.clone()
    }

    pub fn assert_no_problems(&self) {
        let problems = self.problems();
        assert!(problems.is_empty(), "{problems:#?}");
    }

    /// Until there are so many, by the bot, and as they are then.
    pub async fn wait_for_messages(&self, count: usize) -> Vec<StoredMessage> {
        let bot = self.bot_id();
        let messages = || self.messages().into_iter().filter(|message| message.author == bot).collect::<Vec<_>>();
        until(&format!("{count} messages"), async || Some(messages()).filter(|found| count <= found.len())).await
    }

    pub async fn wait_for_ack(&self, interaction: Snowflake) -> Ack {
        let found = || self.acks().into_iter().find(|ack| ack.interaction == interaction);
        until(&format!("an acknowledgement of {interaction}"), async || found()).await
    }

    pub async fn wait_for_hellos(&self, count: usize) {
        until(&format!("{count} greetings"), async || (count <= self.hellos().len()).then_some(())).await;
    }

    pub async fn wait_for_connection(&self) {
        until("a connection to the gateway", async || self.is_connected().then_some(())).await;
    }
}

impl Drop for DiscordDouble {
    fn drop(&mut self) {
        self.servers.iter().for_each(JoinHandle::abort);
    }
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}
