//! What can be asked of the page.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Extension, FromRequest, Query, Request, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use bridge_model::MessageId;
use cookie::{Cookie, SameSite};
use data_encoding::BASE64URL_NOPAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use tracing::{info, warn};

use crate::id::Token;
use crate::keys::SESSION_IDLE_MAX;
use crate::render::Drawn;
use crate::serve::Connection;
use crate::served::Served;
use crate::streams::{CARD, First, LINES, TooMany};
use crate::{clicks, gate, people, render};

/// A click or a key needs a fraction of it.
const BODY_BYTES_MAX: usize = 4 * 1024;
/// A page draws 16 bytes.
const NONCE_BYTES_MAX: usize = 64;
/// How long it may take to come.
const BODY_WITHIN: Duration = Duration::from_secs(10);
/// A connection that says nothing for longer is taken for dead by what stands between.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

const HTML: &str = include_str!("../page/index.html");
const CSS: &str = include_str!("../page/page.css");
const ICON: &str = include_str!("../page/icon.svg");
const SCRIPTS: [(&str, &str); 10] = [
    ("/page.js", include_str!("../page/page.js")),
    ("/cards.js", include_str!("../page/cards.js")),
    ("/sections.js", include_str!("../page/sections.js")),
    ("/file.js", include_str!("../page/file.js")),
    ("/settle.js", include_str!("../page/settle.js")),
    ("/renew.js", include_str!("../page/renew.js")),
    ("/notify.js", include_str!("../page/notify.js")),
    ("/notes.js", include_str!("../page/notes.js")),
    ("/confirm.js", include_str!("../page/confirm.js")),
    ("/connection.js", include_str!("../page/connection.js")),
];

pub(crate) fn router(served: &Arc<Served>) -> Router {
    let own = |kind: &'static str, text: &'static str| get(move || async move { ([(CONTENT_TYPE, kind)], text) });
    let html = || own("text/html; charset=utf-8", HTML);
    let mut router = Router::new()
        .route("/", html())
        .route("/join", html())
        .route("/page.css", own("text/css; charset=utf-8", CSS))
        .route("/icon.svg", own("image/svg+xml", ICON));
    for (path, script) in SCRIPTS {
        router = router.route(path, own("text/javascript; charset=utf-8", script));
    }
    router
        .route("/api/join", post(join))
        .route("/api/leave", post(leave))
        .route("/api/proof", get(proof))
        .route("/api/events", get(events))
        .route("/api/file", get(file))
        .route("/api/click", post(clicks::click))
        .fallback(async || Said::NoSuchPage)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(Arc::clone(served), gate::pass))
        .with_state(Arc::clone(served))
}

/// Every way to say no, in words for whoever asked.
#[derive(Debug)]
pub(crate) enum Said {
    NoSession,
    NotAKey,
    NoSuchCard,
    NoSuchFile,
    NoSuchPage,
    Foreign(&'static str),
    NotUnderstood(StatusCode, String),
    TooFast,
    TooManyPages(TooMany),
    TooOften,
    NotAnsweredYet,
    Unavailable,
}

impl IntoResponse for Said {
    fn into_response(self) -> Response {
        let (status, reply) = match self {
            Self::NoSession => (
                StatusCode::UNAUTHORIZED,
                "You have not joined, or your key was revoked. Ask the operator for a link.".to_owned(),
            ),
            Self::NotAKey => (
                StatusCode::FORBIDDEN,
                "This link is not, or no longer, one that lets anybody in. Ask the operator for a new one.".to_owned(),
            ),
            Self::NoSuchCard => (StatusCode::NOT_FOUND, "Your click did not count: there is no such card here.".to_owned()),
            Self::NoSuchFile => (StatusCode::NOT_FOUND, "There is no such file here, or no longer.".to_owned()),
            Self::NoSuchPage => (StatusCode::NOT_FOUND, "There is nothing here.".to_owned()),
            Self::Foreign(why) => (StatusCode::FORBIDDEN, why.to_owned()),
            Self::NotUnderstood(status, why) => (status, why),
            Self::TooFast => {
                (StatusCode::TOO_MANY_REQUESTS, "Your click did not count: that was too many at once. Wait a moment.".to_owned())
            }
            Self::TooManyPages(TooMany::OfSession) => {
                (StatusCode::TOO_MANY_REQUESTS, "You have this page open too often in this browser; close one.".to_owned())
            }
            Self::TooManyPages(TooMany::OfPerson) => {
                (StatusCode::TOO_MANY_REQUESTS, "You have this page open in too many places; close one.".to_owned())
            }
            Self::TooOften => (StatusCode::TOO_MANY_REQUESTS, "That was asked for too often; wait a moment.".to_owned()),
            Self::TooManyPages(TooMany::AtAll) => {
                (StatusCode::SERVICE_UNAVAILABLE, "Too many people have this page open.".to_owned())
            }
            Self::NotAnsweredYet => {
                (StatusCode::ACCEPTED, "The bridge has not said yet whether your click counts. The card will say it.".to_owned())
            }
            Self::Unavailable => {
                (StatusCode::SERVICE_UNAVAILABLE, "The bridge cannot say who you are now. Its log says why.".to_owned())
            }
        };
        // Nobody knows yet of a click that was not answered.
        let counted = (status != StatusCode::ACCEPTED).then_some(false);
        (status, Json(serde_json::json!({"counted": counted, "reply": reply}))).into_response()
    }
}

/// A body that has come whole, as JSON.
pub(crate) struct Whole<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<Served>> for Whole<T> {
    type Rejection = Said;

    async fn from_request(request: Request, served: &Arc<Served>) -> Result<Self, Said> {
        match timeout(BODY_WITHIN, Json::from_request(request, served)).await {
            Ok(Ok(Json(body))) => Ok(Self(body)),
            Ok(Err(rejection)) => Err(Said::NotUnderstood(rejection.status(), rejection.body_text())),
            Err(_) => Err(Said::NotUnderstood(StatusCode::REQUEST_TIMEOUT, "That took too long.".to_owned())),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Joining {
    key: String,
}

#[derive(Serialize)]
struct Joined {
    person: String,
    page: String,
}

/// `POST /api/join`
async fn join(State(served): State<Arc<Served>>, Whole(joining): Whole<Joining>) -> Result<Response, Said> {
    let key = Token::parse(&joining.key);
    let session = served.ask_keys(move |keys| key.map_or(Ok(None), |key| keys.join(&key))).await;
    if let Some(session) = session.map_err(|problem| served.unavailable(&problem))? {
        info!(person = %session.person, "{} joined the page", session.person);
        let joined = Joined { person: session.person.to_string(), page: session.page.text() };
        return Ok(([(SET_COOKIE, cookie(&served, &session.cookie.text(), SESSION_IDLE_MAX))], Json(joined)).into_response());
    }
    // Nobody guesses 256 bits. Old links are common, and a flood of them is not.
    if served.warnings.check().is_ok() {
        warn!("somebody tried to join the page with what is not, or no longer, a key");
    }
    Err(Said::NotAKey)
}

/// `POST /api/leave`
async fn leave(State(served): State<Arc<Served>>, headers: HeaderMap) -> Result<Response, Said> {
    let session = people::member(&served, &headers).await?.session;
    served.streams.end(&session);
    let left = served.ask_keys(move |keys| keys.leave(&session)).await;
    left.map_err(|problem| served.unavailable(&problem))?;
    Ok(([(SET_COOKIE, cookie(&served, "", Duration::ZERO))], StatusCode::NO_CONTENT).into_response())
}

fn cookie(served: &Served, value: &str, max_age: Duration) -> String {
    let max_age = cookie::time::Duration::try_from(max_age).unwrap_or(cookie::time::Duration::ZERO);
    let cookie = Cookie::build((served.own.cookie_name(), value)).path("/").http_only(true).same_site(SameSite::Strict);
    cookie.secure(served.own.is_secure).max_age(max_age).build().to_string()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Doubting {
    session: String,
    nonce: String,
}

/// `GET /api/proof`, which says nothing of who asks.
async fn proof(State(served): State<Arc<Served>>, doubting: Result<Query<Doubting>, QueryRejection>) -> Result<Response, Said> {
    let understood = doubting.ok().and_then(|Query(doubting)| {
        let id = BASE64URL_NOPAD.decode(doubting.session.as_bytes()).ok()?;
        (doubting.nonce.len() <= NONCE_BYTES_MAX).then_some((id, doubting.nonce))
    });
    let (id, nonce) = understood.ok_or(Said::NoSession)?;
    let proof = served.ask_keys(move |keys| keys.prove(&id, &nonce)).await.map_err(|problem| served.unavailable(&problem))?;
    let proof = proof.ok_or(Said::NoSession)?;
    Ok(Json(serde_json::json!({"proof": BASE64URL_NOPAD.encode(&proof)})).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reading {
    card: String,
}

/// `GET /api/file`: a card of which the page was not told all, as text.
async fn file(
    State(served): State<Arc<Served>>,
    headers: HeaderMap,
    reading: Result<Query<Reading>, QueryRejection>,
) -> Result<Response, Said> {
    let member = people::member(&served, &headers).await?;
    served.openings.check_key(&member.person).map_err(|_| Said::TooOften)?;
    let card = MessageId::new(reading.map_err(|_| Said::NoSuchFile)?.0.card);
    let file = served.live().file(&card, &member.rooms).ok_or(Said::NoSuchFile)?;
    // The name is the bridge's own.
    let disposition = format!("attachment; filename=\"{}\"", file.name);
    let kind = "text/plain; charset=utf-8".to_owned();
    Ok(([(CONTENT_TYPE, kind), (CONTENT_DISPOSITION, disposition)], file.text.clone()).into_response())
}

/// `GET /api/events`
async fn events(
    State(served): State<Arc<Served>>,
    headers: HeaderMap,
    Extension(connection): Extension<Connection>,
) -> Result<Response, Said> {
    let member = people::member(&served, &headers).await?;
    served.openings.check_key(&member.person).map_err(|_| Said::TooOften)?;
    let session = member.session;
    let used = served.ask_keys(move |keys| keys.used([&session])).await;
    used.map_err(|problem| served.unavailable(&problem))?;
    let rooms = served.shown_to(&member.rooms);
    let name = served.keys.token().text();
    let hello = render::hello(&member.person, &rooms, &name);
    let (stream, lines, cards) = {
        // News are told under the same lock, so that each is either among the cards or comes later.
        let live = served.live();
        let stream = served.streams.open(&name, &member, rooms.clone()).map_err(Said::TooManyPages)?;
        (stream, rooms.iter().map(|room| live.lines.json(room)).collect::<Vec<_>>(), live.cards(&rooms))
    };
    let card = |card: Arc<Drawn>| -> First {
        let now = Arc::clone(&served.outside.now);
        Box::new(move || Event::default().event(CARD).data(card.json(now())))
    };
    let said = |name: &'static str, data: String| -> First { Box::new(move || Event::default().event(name).data(data)) };
    let mut first = vec![said("hello", hello)];
    first.extend(lines.into_iter().map(|lines| said(LINES, lines)));
    first.extend(cards.into_iter().map(card));
    first.push(said("ready", "{}".to_owned()));
    let events = Sse::new(stream.run(first, connection)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    // Whoever keeps using the page stays in.
    Ok(([(SET_COOKIE, cookie(&served, &member.cookie.text(), SESSION_IDLE_MAX))], events).into_response())
}
