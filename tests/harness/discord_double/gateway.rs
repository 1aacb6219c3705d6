//! The gateway, over a plain WebSocket.

use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::sessions::{Greeting, Order};
use super::world::World;

const AUTHENTICATION_FAILED: u16 = 4004;
const DISALLOWED_INTENTS: u16 = 4014;
/// Members, presences and the content of messages.
const PRIVILEGED_INTENTS: u64 = 1 << 1 | 1 << 8 | 1 << 15;

pub(crate) async fn serve(listener: TcpListener, world: Arc<World>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(serve_connection(stream, world.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn serve_connection(stream: TcpStream, world: Arc<World>) {
    let greeting = {
        let sessions = &mut world.lock().sessions;
        let is_refused = sessions.refused_until.is_some_and(|until| Instant::now() < until);
        if is_refused { Some(Greeting::Refused) } else { sessions.greetings.pop_front() }
    };
    if greeting == Some(Greeting::Refused) {
        return;
    }
    let Ok(socket) = tokio_tungstenite::accept_async(stream).await else { return };
    let (orders, mut ordered) = mpsc::unbounded_channel();
    let mut connection = Connection { socket, orders, world, greeting };
    connection.serve(&mut ordered).await;
    connection.world.lock().sessions.disconnected(&connection.orders);
}

struct Connection {
    socket: WebSocketStream<TcpStream>,
    /// To this connection: what its session keeps.
    orders: mpsc::UnboundedSender<Order>,
    world: Arc<World>,
    greeting: Option<Greeting>,
}

impl Connection {
    async fn serve(&mut self, ordered: &mut mpsc::UnboundedReceiver<Order>) {
        if self.greeting != Some(Greeting::Silent) {
            let interval = self.world.lock().sessions.heartbeat_interval.as_millis();
            let hello = json!({"op": 10, "d": {"heartbeat_interval": u64::try_from(interval).unwrap_or(u64::MAX), "_trace": []}});
            self.order(Order::Send(hello));
        }
        loop {
            tokio::select! {
                // `self` holds a sender, so that there is always another order to wait for.
                order = ordered.recv() => match order {
                    Some(Order::Send(frame)) => {
                        if self.socket.send(Message::Text(frame.to_string())).await.is_err() {
                            return;
                        }
                    }
                    Some(Order::Close(code)) => return self.close(code).await,
                    Some(Order::Cut) | None => return,
                },
                received = self.socket.next() => match received {
                    Some(Ok(Message::Text(text))) => self.received(&serde_json::from_str(&text).unwrap_or(Value::Null)),
                    Some(Ok(Message::Close(frame))) => {
                        // A client that closes normally wants no session any more.
                        if frame.is_none_or(|frame| matches!(frame.code, CloseCode::Normal | CloseCode::Away)) {
                            self.world.lock().sessions.end(&self.orders);
                        }
                        return;
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return,
                },
            }
        }
    }

    async fn close(&mut self, code: u16) {
        // Sessions end with these; after any other code they can be resumed.
        if matches!(code, 4004 | 4007 | 4009..=4014) {
            self.world.lock().sessions.end(&self.orders);
        }
        let frame = CloseFrame { code: code.into(), reason: "of the double".into() };
        let _ = self.socket.close(Some(frame)).await;
        // The other side's word, or its end.
        while self.socket.next().await.is_some_and(|received| received.is_ok()) {}
    }

    fn received(&mut self, frame: &Value) {
        let data = &frame["d"];
        match frame["op"].as_u64() {
            Some(1) if !self.world.lock().sessions.is_stuck => self.order(Order::Send(json!({"op": 11}))),
            // Of presence and voice a bot like ours says nothing, but it may.
            Some(1 | 3 | 4) => {}
            Some(op @ (2 | 6)) => {
                self.world.lock().sessions.hellos.push(frame.clone());
                match self.greeting.take() {
                    Some(Greeting::Closed(code)) => self.order(Order::Close(code)),
                    Some(Greeting::InvalidSession { resumable }) => self.invalid_session(resumable),
                    Some(Greeting::Refused | Greeting::Silent) => {}
                    None if !self.is_token(&data["token"]) => self.order(Order::Close(AUTHENTICATION_FAILED)),
                    None if op == 2 => self.identify(data),
                    None => self.resume(data),
                }
            }
            _ => self.world.lock().problems.push(format!("a gateway frame {frame}")),
        }
    }

    /// Discord takes it with and without the word that the REST API wants before it.
    fn is_token(&self, given: &Value) -> bool {
        given.as_str().is_some_and(|given| given.strip_prefix("Bot ").unwrap_or(given) == self.world.token)
    }

    fn identify(&self, data: &Value) {
        let intents = data["intents"].as_u64().unwrap_or_default();
        if intents & PRIVILEGED_INTENTS != 0 {
            return self.order(Order::Close(DISALLOWED_INTENTS));
        }
        let state = &mut *self.world.lock();
        let session = state.sessions.begin(intents, self.orders.clone());
        let ready = json!({
            "v": 10,
            "user_settings": {},
            "user": state.guild.bot_user(),
            "session_type": "normal",
            "session_id": session,
            "resume_gateway_url": "wss://gateway-of-the-double.discord.gg",
            "relationships": [],
            "private_channels": [],
            "presences": [],
            "guilds": [{"id": state.guild.id.json(), "unavailable": true}],
            "guild_join_requests": [],
            "geo_ordered_rtc_regions": [],
            "game_relationships": [],
            "auth": {},
            "application": {"id": state.guild.application.json(), "flags": 0},
            "shard": data["shard"],
            "_trace": [],
        });
        state.sessions.tell_one(&session, "READY", &ready);
        state.sessions.tell_one(&session, "GUILD_CREATE", &state.guild.create_event());
    }

    fn resume(&self, data: &Value) {
        let seen = data["seq"].as_u64().and_then(|seq| usize::try_from(seq).ok()).unwrap_or(usize::MAX);
        let id = data["session_id"].as_str().unwrap_or_default();
        if !self.world.lock().sessions.resume(id, seen, self.orders.clone()) {
            self.invalid_session(false);
        }
    }

    fn invalid_session(&self, resumable: bool) {
        self.order(Order::Send(json!({"op": 9, "d": resumable})));
    }

    fn order(&self, order: Order) {
        // The receiver lives as long as the connection.
        let _ = self.orders.send(order);
    }
}
