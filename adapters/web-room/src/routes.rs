//! What can be asked of the page.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, Extension, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use cookie::{Cookie, SameSite};
use serde::{Deserialize, Serialize};
use tracing::{info, warn};

use crate::id::Token;
use crate::keys::SESSION_IDLE_MAX;
use crate::people::Member;
use crate::serve::Connection;
use crate::served::Served;
use crate::streams::TooMany;
use crate::{clicks, gate, render};

/// A click or a key needs a fraction of it.
const BODY_BYTES_MAX: usize = 4 * 1024;
/// A connection that says nothing for longer is taken for dead by what stands between.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

const HTML: &str = include_str!("../page/index.html");
const CSS: &str = include_str!("../page/page.css");
const ICON: &str = include_str!("../page/icon.svg");
const SCRIPTS: [(&str, &str); 3] = [
    ("/page.js", include_str!("../page/page.js")),
    ("/cards.js", include_str!("../page/cards.js")),
    ("/connection.js", include_str!("../page/connection.js")),
];

pub(crate) fn router(served: &Arc<Served>) -> Router {
    let file = |kind: &'static str, text: &'static str| get(move || async move { ([(CONTENT_TYPE, kind)], text) });
    let html = || file("text/html; charset=utf-8", HTML);
    let mut router = Router::new()
        .route("/", html())
        .route("/join", html())
        .route("/page.css", file("text/css; charset=utf-8", CSS))
        .route("/icon.svg", file("image/svg+xml", ICON));
    for (path, script) in SCRIPTS {
        router = router.route(path, file("text/javascript; charset=utf-8", script));
    }
    router
        .route("/api/join", post(join))
        .route("/api/leave", post(leave))
        .route("/api/events", get(events))
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
    NoSuchPage,
    Foreign(&'static str),
    NotUnderstood(StatusCode, String),
    TooFast,
    TooManyPages(TooMany),
    NotAnsweredYet,
    Unavailable(String),
}

impl Said {
    pub(crate) fn rejected(rejection: &JsonRejection) -> Self {
        Self::NotUnderstood(rejection.status(), rejection.body_text())
    }
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
            Self::NoSuchPage => (StatusCode::NOT_FOUND, "There is nothing here.".to_owned()),
            Self::Foreign(why) => (StatusCode::FORBIDDEN, why.to_owned()),
            Self::NotUnderstood(status, why) => (status, why),
            Self::TooFast => {
                (StatusCode::TOO_MANY_REQUESTS, "Your click did not count: that was too many at once. Wait a moment.".to_owned())
            }
            Self::TooManyPages(TooMany::OfPerson) => {
                (StatusCode::TOO_MANY_REQUESTS, "You have too many pages open; close one.".to_owned())
            }
            Self::TooManyPages(TooMany::AtAll) => {
                (StatusCode::SERVICE_UNAVAILABLE, "Too many people have this page open.".to_owned())
            }
            Self::NotAnsweredYet => {
                (StatusCode::ACCEPTED, "The bridge has not said yet whether your click counts. The card will say it.".to_owned())
            }
            Self::Unavailable(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
        };
        (status, Json(serde_json::json!({"counted": false, "reply": reply}))).into_response()
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
async fn join(State(served): State<Arc<Served>>, joining: Result<Json<Joining>, JsonRejection>) -> Response {
    let joining = match joining {
        Ok(Json(joining)) => joining,
        Err(rejection) => return Said::rejected(&rejection).into_response(),
    };
    let Some(key) = Token::parse(&joining.key) else { return Said::NotAKey.into_response() };
    match served.ask_keys(move |keys| keys.join(&key)).await {
        Ok(Some(session)) => {
            info!(person = %session.person, "{} joined the page", session.person);
            let joined = Joined { person: session.person.to_string(), page: session.page.text() };
            let cookie = cookie(&served, session.cookie.text(), SESSION_IDLE_MAX);
            ([(SET_COOKIE, cookie)], Json(joined)).into_response()
        }
        Ok(None) => {
            // Nobody guesses 256 bits. Old links are common, and a flood of them is not.
            if served.guesses.check().is_ok() {
                warn!("somebody tried to join the page with what is not, or no longer, a key");
            }
            Said::NotAKey.into_response()
        }
        Err(problem) => Said::Unavailable(problem).into_response(),
    }
}

/// `POST /api/leave`
async fn leave(State(served): State<Arc<Served>>, member: Member) -> Response {
    let session = member.session;
    served.streams.end(&session);
    match served.ask_keys(move |keys| keys.leave(&session)).await {
        Ok(()) => ([(SET_COOKIE, cookie(&served, String::new(), Duration::ZERO))], StatusCode::NO_CONTENT).into_response(),
        Err(problem) => Said::Unavailable(problem).into_response(),
    }
}

fn cookie(served: &Served, value: String, max_age: Duration) -> String {
    let max_age = cookie::time::Duration::try_from(max_age).unwrap_or(cookie::time::Duration::ZERO);
    let cookie = Cookie::build((served.origins.cookie_name(), value)).path("/").http_only(true).same_site(SameSite::Strict);
    cookie.secure(served.origins.is_secure).max_age(max_age).build().to_string()
}

/// `GET /api/events`
async fn events(
    State(served): State<Arc<Served>>,
    member: Member,
    Extension(Connection { is_stream, .. }): Extension<Connection>,
) -> Response {
    let rooms = served.shown_to(&member.rooms);
    let name = served.keys.token().text();
    let stream = match served.streams.open(&name, &member, rooms.clone()) {
        Ok(stream) => stream,
        Err(too_many) => return Said::TooManyPages(too_many).into_response(),
    };
    let session = member.session;
    if let Err(problem) = served.ask_keys(move |keys| keys.used(&session)).await {
        return Said::Unavailable(problem).into_response();
    }
    let hello = render::hello(&member.person, &rooms, &name);
    // The stream has subscribed already, so that nothing falls between this and the first news.
    let cards = served.live().cards(&rooms, (served.outside.now)());
    let first = [Event::default().event("hello").data(hello)].into_iter();
    let first = first.chain(cards.into_iter().map(|card| Event::default().event("card").data(card)));
    let first = first.chain([Event::default().event("ready").data("{}")]).collect();
    let events = Sse::new(stream.run(first, is_stream)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    ([(CACHE_CONTROL, HeaderValue::from_static("no-store"))], events).into_response()
}

/// For the server, which marks what it serves.
pub(crate) fn connection(peer: std::net::SocketAddr) -> Connection {
    Connection { peer, is_stream: Arc::new(AtomicBool::new(false)) }
}
