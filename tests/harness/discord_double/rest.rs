//! The REST API, over TLS.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::bodies::{self, Kind};
use super::faults::{Answer, ApiError, Fault, Route};
use super::http::{Reply, Request, UploadedFile};
use super::snowflake::Snowflake;
use super::world::{State, World};
use crate::tls::TLS;
use crate::wait::rest;

const BASE: &str = "/api/v10";

/// A request, and what became of it.
#[derive(Clone, Debug)]
pub struct RestRequest {
    pub at: Instant,
    pub route: Route,
    pub method: String,
    /// Without `/api/v10`.
    pub path: String,
    pub body: Value,
    pub files: Vec<UploadedFile>,
    /// What it deserved; `None`: it was not processed.
    pub processed: Option<u16>,
    /// What the client was sent; `None`: nothing, or not yet.
    pub answered: Option<u16>,
}

pub(crate) async fn serve(listener: TcpListener, gateway: String, world: Arc<World>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let (gateway, world) = (gateway.clone(), world.clone());
        connections.spawn(serve_connection(stream, gateway, world));
        while connections.try_join_next().is_some() {}
    }
}

async fn serve_connection(stream: TcpStream, gateway: String, world: Arc<World>) {
    let Ok(mut stream) = TLS.acceptor.accept(stream).await else { return };
    let mut unread = Vec::new();
    loop {
        let request = match Request::read(&mut stream, &mut unread).await {
            Ok(Some(request)) => request,
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                world.lock().problems.push(format!("not HTTP as a client speaks it: {error}"));
                return;
            }
            Ok(None) | Err(_) => return,
        };
        if !answer(&mut stream, &request, &gateway, &world).await {
            return;
        }
    }
}

/// Whether the connection goes on.
async fn answer(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), request: &Request, gateway: &str, world: &World) -> bool {
    let (index, fault) = world.lock().arrived(request);
    let process = || world.lock().process(index, request, gateway, &world.token);
    let wrong = match fault {
        None => return send(stream, index, &process(), world).await,
        Some(Fault::Late(delay)) => {
            rest(delay).await;
            return send(stream, index, &process(), world).await;
        }
        Some(Fault::Slow(delay)) => {
            let reply = process();
            rest(delay).await;
            return send(stream, index, &reply, world).await;
        }
        Some(Fault::Instead(answer)) => answer,
        Some(Fault::Afterwards(answer)) => {
            let reply = process();
            if answer.says_done() && 400 <= reply.status {
                return send(stream, index, &reply, world).await;
            }
            answer
        }
    };
    match wrong.reply() {
        Some(reply) => send(stream, index, &reply, world).await,
        None if matches!(wrong, Answer::Nothing) => {
            // Until the client has had enough.
            let mut ignored = [0; 64];
            while stream.read(&mut ignored).await.is_ok_and(|read| 0 < read) {}
            false
        }
        None => false,
    }
}

async fn send(stream: &mut (impl AsyncWrite + Unpin), index: usize, reply: &Reply, world: &World) -> bool {
    // First, since the client can act on it as soon as it is written.
    world.lock().requests[index].answered = Some(reply.status);
    let sent = reply.write(stream).await.is_ok();
    if !sent {
        world.lock().requests[index].answered = None;
    }
    sent
}

impl State {
    fn arrived(&mut self, request: &Request) -> (usize, Option<Fault>) {
        let path = request.path.strip_prefix(BASE).unwrap_or(&request.path);
        let (body, files) = request.content().unwrap_or_else(|problem| {
            self.problems.push(format!("{} {path}: {problem}", request.method));
            (Value::Null, Vec::new())
        });
        let arrived = RestRequest {
            at: Instant::now(),
            route: route(&request.method, &segments(path)),
            method: request.method.clone(),
            path: path.to_owned(),
            body,
            files,
            processed: None,
            answered: None,
        };
        let fault = self.faults.next(&arrived);
        self.requests.push(arrived);
        (self.requests.len() - 1, fault)
    }

    fn process(&mut self, index: usize, request: &Request, gateway: &str, token: &str) -> Reply {
        let arrived = self.requests[index].clone();
        let authorized = request.authorization.as_deref() == Some(&format!("Bot {token}"));
        let outcome = if authorized || matches!(arrived.route, Route::Gateway | Route::Ack | Route::Followup) {
            self.handle(index, &arrived, &request.query, gateway)
        } else {
            Err(ApiError::UNAUTHORIZED)
        };
        let reply = outcome.unwrap_or_else(ApiError::reply);
        self.requests[index].processed = Some(reply.status);
        reply
    }

    fn handle(&mut self, index: usize, request: &RestRequest, query: &str, gateway: &str) -> Result<Reply, ApiError> {
        let RestRequest { body, files, .. } = request;
        let segments = segments(&request.path);
        let id = |at: usize| segments.get(at).and_then(|text| Snowflake::parse(text)).unwrap_or(Snowflake(0));
        self.check(request, &segments)?;
        match (request.method.as_str(), segments.as_slice()) {
            ("GET", ["gateway"]) => Ok(Reply::json(200, &json!({"url": gateway}))),
            ("GET", ["users", "@me"]) => Ok(Reply::json(200, &self.guild.bot_user())),
            ("GET", ["oauth2", "applications", "@me"]) => Ok(Reply::json(200, &self.guild.application())),
            ("GET", ["channels", _]) => Ok(Reply::json(200, &self.visible(id(1))?.json(self.guild.id))),
            ("GET", ["guilds", _]) if id(1) == self.guild.id => Ok(Reply::json(200, &self.guild.json())),
            ("GET", ["guilds", _, "members", _]) if id(1) == self.guild.id => {
                let member = self.guild.members.get(&id(3)).ok_or(ApiError::UNKNOWN_MEMBER)?;
                Ok(Reply::json(200, &member.json()))
            }
            ("GET", ["guilds", ..]) => Err(ApiError::UNKNOWN_GUILD),
            ("POST", ["channels", _, "messages"]) => self.post(id(1), body, files),
            ("GET", ["channels", _, "messages"]) => self.history(id(1), query),
            ("PATCH", ["channels", _, "messages", _]) => self.edit(id(1), id(3), body, files),
            ("GET", ["channels", _, "messages", _]) => self.show(id(1), id(3)),
            ("DELETE", ["channels", _, "messages", _]) => self.delete(id(1), id(3)),
            ("POST", ["channels", _, "threads"]) => self.make_thread(id(1), body),
            ("PATCH", ["channels", _]) => self.change_thread(id(1), body),
            ("POST", ["interactions", _, token, "callback"]) => self.acknowledge(index, id(1), token, body),
            ("POST", ["webhooks", _, token]) => self.follow_up(index, id(1), token, body),
            (method, _) => {
                self.problems.push(format!("{method} {} is not known to the double", request.path));
                Err(ApiError::UNKNOWN_ROUTE)
            }
        }
    }

    fn check(&mut self, request: &RestRequest, segments: &[&str]) -> Result<(), ApiError> {
        let kind = match (request.method.as_str(), segments) {
            ("POST", ["channels", _, "messages"]) => Kind::Create,
            ("PATCH", ["channels", _, "messages", _]) => Kind::Edit,
            ("POST", ["channels", _, "threads"]) => Kind::Thread,
            ("PATCH", ["channels", _]) => Kind::ThreadEdit,
            ("POST", ["interactions", _, _, "callback"]) => Kind::Callback,
            ("POST", ["webhooks", _, _]) => Kind::Followup,
            _ => return Ok(()),
        };
        let found = bodies::problems(kind, &request.body, &request.files, &self.mentionable);
        let described = found.iter().map(|problem| format!("{} {}: {problem}", request.method, request.path));
        self.problems.extend(described);
        if found.is_empty() { Ok(()) } else { Err(ApiError::INVALID_BODY) }
    }
}

fn segments(path: &str) -> Vec<&str> {
    path.split('/').filter(|segment| !segment.is_empty()).collect()
}

fn route(method: &str, segments: &[&str]) -> Route {
    match (method, segments) {
        (_, ["gateway", ..]) => Route::Gateway,
        (_, ["interactions", ..]) => Route::Ack,
        (_, ["webhooks", ..]) => Route::Followup,
        (_, [.., "threads"]) | ("PATCH", ["channels", _]) => Route::Thread,
        ("GET", _) => Route::Get,
        ("PATCH", _) => Route::Edit,
        ("DELETE", _) => Route::Delete,
        (_, _) => Route::Post,
    }
}
