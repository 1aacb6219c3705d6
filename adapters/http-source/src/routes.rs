//! What can be asked for over HTTP.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, FromRequestParts, Path, Query, State as Shares};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use bridge_core::SourceEvent;
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};
use tracing::warn;
use utoipa::openapi::OpenApi as Described;
use utoipa::{IntoParams, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::Options;
use crate::api::{Change, Listed, Problem, Raise, Status, TakenBack};
use crate::body::Body;
use crate::fault::Fault;
use crate::raise::{self, Bounds};
use crate::read::{read, values};
use crate::shared::Shared;
use crate::table::{self, Mark, Raising};
use crate::tokens::Grant;

/// Requests in one list.
const LISTED_MAX: usize = 1_000;
/// What a value takes besides its own text, as its list or object keeps it.
const VALUE_BYTES: usize = 256;
/// How long news of a request is waited for at once.
const WAIT_MAX: Duration = Duration::from_mins(1);
/// How long the first word on a new request is waited for.
const FIRST_WORD: Duration = Duration::from_secs(5);

#[derive(OpenApi)]
#[openapi(info(title = "Countersign", description = ABOUT), modifiers(&Bearer))]
struct Api;

const ABOUT: &str = "A program raises a permission request, people in a chat room answer it, and the program is told which of \
its options was chosen. There is no way to answer over this interface. Every call takes a token as `Authorization: Bearer …`, \
which `countersign token new NAME` makes.";

struct Bearer;

impl utoipa::Modify for Bearer {
    fn modify(&self, api: &mut Described) {
        use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        api.components.get_or_insert_default().add_security_scheme("token", scheme);
        api.security = Some(vec![SecurityRequirement::new("token", Vec::<String>::new())]);
    }
}

pub(crate) fn router(shared: &Arc<Shared>) -> Router {
    let (router, described) = OpenApiRouter::with_openapi(Api::openapi())
        .routes(routes!(raised, list))
        .routes(routes!(status, withdraw, change))
        .routes(routes!(receipt))
        .split_for_parts();
    let described = described.to_pretty_json().unwrap_or_default();
    let describe = move || async move { ([(header::CONTENT_TYPE, "application/json")], described) };
    router
        .route("/openapi.json", axum::routing::get(describe))
        .fallback(|| async { Fault::no_such_path() })
        .method_not_allowed_fallback(|| async { Fault::no_such_method() })
        .layer(DefaultBodyLimit::disable())
        .with_state(Arc::clone(shared))
}

/// Raises a request.
///
/// Raising the same again under the same key is not a second request: it tells how the first one is. Only `session` and `places`
/// may differ.
#[utoipa::path(post, path = "/v1/requests", request_body = Raise, responses(
    (status = 201, description = "It waits for a person", body = Status),
    (status = 200, description = "It is settled", body = Status),
    (status = 400, description = "The body cannot be read, or something stands after the path", body = Problem),
    (status = 401, description = "No token, or none that is known", body = Problem, headers(("www-authenticate"))),
    (status = 403, description = "The token may not ask for this", body = Problem),
    (status = 409, description = "Something else was raised under this key, or its outcome was taken", body = Problem),
    (status = 408, description = "The body took too long to arrive", body = Problem),
    (status = 413, description = "The body is too large", body = Problem),
    (status = 422, description = "The body is not such a request; `path` says where", body = Problem),
    (status = 429, description = "Too many requests are open, or too many long bodies arrive", body = Problem, headers(("retry-after" = u64))),
    (status = 503, description = "The bridge is ending, or cannot read its tokens", body = Problem, headers(("retry-after" = u64)))))]
async fn raised(Shares(shared): Shares<Arc<Shared>>, grant: Holder, _: Asked<Nothing>, body: Body) -> Result<Response, Fault> {
    let ask = match raise_once(&shared, &grant.0, &body.bytes).await? {
        (ask, Raising::New) | (_, Raising::Known(ask)) => ask,
        (_, Raising::Conflict) => return Err(Fault::conflict()),
        (_, Raising::Taken) => return Err(Fault::taken()),
        (_, Raising::TooMany) => return Err(Fault::too_many("too many requests are open; wait for some of them to end")),
    };
    // It may be long, and others wait.
    drop(body);
    let status = news(&shared, ask, &grant.0, FIRST_WORD, table::Raised::is_new).await?;
    let code = if status.ending.is_some() { StatusCode::OK } else { StatusCode::CREATED };
    Ok((code, Json(status)).into_response())
}

async fn raise_once(shared: &Shared, grant: &Grant, body: &[u8]) -> Result<(u64, Raising), Fault> {
    // Had before the body is read, which takes many times its length.
    let room = shared.room_to_tell().await.ok_or_else(Fault::ending)?;
    let raise: Raise = read(body)?;
    let ask = shared.next_ask();
    let (request, mut terms) = {
        let policy = Arc::clone(&shared.options.policy.borrow());
        let Options { rooms, room, .. } = &shared.options;
        raise::request(&raise, shared.reply_to(ask), grant, &Bounds { policy: &policy, rooms, default: room.as_ref() })?
    };
    let digest = raise::digest(&raise);
    let mark = Mark { token: grant.id(), key: raise.key, digest, detached: raise.detached };
    terms.comes_back = serde_json::to_string(&mark).ok();
    let mut table = shared.table();
    let raising = table.raise(ask, mark, request.clone(), weight(body), shared.now());
    if let Raising::New = raising {
        room.send(SourceEvent::Requested(Box::new(request), Box::new(terms)));
    }
    Ok((ask, raising))
}

/// Bytes that what a body says takes in memory, roughly.
fn weight(body: &[u8]) -> usize {
    body.len() + VALUE_BYTES * values(body)
}

/// Lists this token's own requests that are open or were settled lately.
#[utoipa::path(get, path = "/v1/requests", responses(
    (status = 200, description = "All of them", body = Listed),
    (status = 400, description = "Something stands after the path", body = Problem),
    (status = 401, description = "No token, or none that is known", body = Problem, headers(("www-authenticate"))),
    (status = 503, description = "The bridge cannot read its tokens", body = Problem, headers(("retry-after" = u64)))))]
async fn list(Shares(shared): Shares<Arc<Shared>>, grant: Holder, _: Asked<Nothing>) -> Json<Listed> {
    Json(Listed { requests: shared.table().list(&grant.0.id(), LISTED_MAX, shared.now()) })
}

/// Nothing stands after the path.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Wait {
    /// How long to wait for the end of a request that is held: `30s`, at most a minute.
    #[param(max_length = 100, format = "span")]
    wait: Option<String>,
}

/// Tells how a request is, and waits for its end if asked to.
///
/// Whoever waits keeps a request alive that is not detached.
#[utoipa::path(get, path = "/v1/requests/{id}", params(("id" = String, Path, description = "Of the request", pattern = "^[0-9a-f]{16}$"), Wait), responses(
    (status = 200, description = "How it is", body = Status),
    (status = 400, description = "The time to wait cannot be read", body = Problem),
    (status = 401, description = "No token, or none that is known", body = Problem, headers(("www-authenticate"))),
    (status = 404, description = "There is none of this id", body = Problem),
    (status = 503, description = "The bridge cannot read its tokens", body = Problem, headers(("retry-after" = u64)))))]
async fn status(
    Shares(shared): Shares<Arc<Shared>>,
    grant: Holder,
    OfRequest(ask): OfRequest,
    Asked(wait): Asked<Wait>,
) -> Result<Json<Status>, Fault> {
    let span = |text: &str| raise::span(text).ok_or_else(|| Fault::bad_request("write `wait` as 30s, for example"));
    let wait = wait.wait.as_deref().map(span).transpose()?.unwrap_or_default().min(WAIT_MAX);
    news(&shared, ask, &grant.0, wait, |raised| !raised.is_ended()).await.map(Json)
}

/// Takes a request back.
///
/// What was settled before stays as it is; the answer says how.
#[utoipa::path(delete, path = "/v1/requests/{id}", params(("id" = String, Path, description = "Of the request", pattern = "^[0-9a-f]{16}$"), Taken), responses(
    (status = 200, description = "How it is now", body = Status),
    (status = 400, description = "The reason cannot be read", body = Problem),
    (status = 401, description = "No token, or none that is known", body = Problem, headers(("www-authenticate"))),
    (status = 404, description = "There is none of this id", body = Problem),
    (status = 503, description = "The bridge cannot read its tokens", body = Problem, headers(("retry-after" = u64)))))]
async fn withdraw(
    Shares(shared): Shares<Arc<Shared>>,
    grant: Holder,
    OfRequest(ask): OfRequest,
    Asked(taken): Asked<Taken>,
) -> Result<Json<Status>, Fault> {
    own(&shared, ask, &grant.0)?;
    if !shared.withdraw(ask, taken.because.unwrap_or_default().into()).await {
        return Err(Fault::ending());
    }
    own(&shared, ask, &grant.0).map(Json)
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Taken {
    /// Why, as the card then says: `by_agent`, `turn_cancelled`, `turn_ended`, `superseded`, `agent_gone` or `client_gone`.
    #[param(inline)]
    because: Option<TakenBack>,
}

/// Says that the tool call of a request has changed while it waits.
///
/// Its card can no longer be answered; the request is refused, or people are asked anew, as the operator has it.
#[utoipa::path(patch, path = "/v1/requests/{id}", params(("id" = String, Path, description = "Of the request", pattern = "^[0-9a-f]{16}$")), request_body = Change, responses(
    (status = 200, description = "How it is", body = Status),
    (status = 400, description = "The body cannot be read, or something stands after the path", body = Problem),
    (status = 401, description = "No token, or none that is known", body = Problem, headers(("www-authenticate"))),
    (status = 404, description = "There is none of this id", body = Problem),
    (status = 408, description = "The body took too long to arrive", body = Problem),
    (status = 413, description = "The body is too large", body = Problem),
    (status = 422, description = "The body is not such a change; `path` says where", body = Problem),
    (status = 429, description = "Too much waits that has not ended", body = Problem, headers(("retry-after" = u64))),
    (status = 503, description = "The bridge is ending, or cannot read its tokens", body = Problem, headers(("retry-after" = u64)))))]
async fn change(
    Shares(shared): Shares<Arc<Shared>>,
    grant: Holder,
    OfRequest(ask): OfRequest,
    _: Asked<Nothing>,
    body: Body,
) -> Result<Json<Status>, Fault> {
    let room = shared.room_to_tell().await.ok_or_else(Fault::ending)?;
    let change: Change = read(&body.bytes)?;
    let mut table = shared.table();
    let raised = table.of_token(ask, &grant.0.id()).ok_or_else(Fault::not_found)?;
    // What has ended stays as it is.
    if !raised.is_ended() {
        let now = raised.request.as_ref().and_then(|before| raise::changed(&change, before, &grant.0));
        if !table.grow(ask, weight(&body.bytes)) {
            return Err(Fault::too_many("too much waits that has not ended; wait for some of it to end"));
        }
        room.send(SourceEvent::Changed { ask: shared.reply_to(ask), now: now.map(Box::new) });
    }
    let status = table.of_token(ask, &grant.0.id()).map(|raised| raised.status(ask, shared.now()));
    status.map(Json).ok_or_else(Fault::not_found)
}

/// Says that the caller has the outcome and acts on it. The card then says so.
#[utoipa::path(post, path = "/v1/requests/{id}/receipt", params(("id" = String, Path, description = "Of the request", pattern = "^[0-9a-f]{16}$")), responses(
    (status = 200, description = "How it is", body = Status),
    (status = 400, description = "Something stands after the path", body = Problem),
    (status = 401, description = "No token, or none that is known", body = Problem, headers(("www-authenticate"))),
    (status = 404, description = "There is none of this id", body = Problem),
    (status = 409, description = "It is not settled yet", body = Problem),
    (status = 503, description = "The bridge cannot read its tokens", body = Problem, headers(("retry-after" = u64)))))]
async fn receipt(
    Shares(shared): Shares<Arc<Shared>>,
    grant: Holder,
    OfRequest(ask): OfRequest,
    _: Asked<Nothing>,
) -> Result<Json<Status>, Fault> {
    let status = own(&shared, ask, &grant.0)?;
    if shared.table().taken(ask) { Ok(Json(status)) } else { Err(Fault::not_settled()) }
}

/// How one of this token's requests is, once something has changed, or when that has been waited for long enough.
async fn news(
    shared: &Arc<Shared>,
    ask: u64,
    grant: &Grant,
    within: Duration,
    waits: impl Fn(&table::Raised) -> bool,
) -> Result<Status, Fault> {
    own(shared, ask, grant)?;
    let until = Instant::now() + within;
    let listens = Listens::begin(shared, ask);
    loop {
        let mut changes = {
            let table = shared.table();
            let raised = table.of_token(ask, &grant.id()).ok_or_else(Fault::not_found)?;
            if !waits(raised) {
                break;
            }
            raised.changes()
        };
        if timeout_at(until, changes.changed()).await.is_err() {
            break;
        }
    }
    drop(listens);
    // It may have been revoked meanwhile.
    if !shared.tokens.has(grant).unwrap_or(false) {
        return Err(Fault::unauthorized());
    }
    own(shared, ask, grant)
}

fn own(shared: &Arc<Shared>, ask: u64, grant: &Grant) -> Result<Status, Fault> {
    let table = shared.table();
    table.of_token(ask, &grant.id()).map(|raised| raised.status(ask, shared.now())).ok_or_else(Fault::not_found)
}

/// A caller that waits. It stops however its connection ends.
struct Listens<'a>(&'a Arc<Shared>, u64);

impl<'a> Listens<'a> {
    fn begin(shared: &'a Arc<Shared>, ask: u64) -> Self {
        shared.table().listens(ask, true, shared.now());
        Self(shared, ask)
    }
}

impl Drop for Listens<'_> {
    fn drop(&mut self) {
        self.0.table().listens(self.1, false, self.0.now());
    }
}

/// Whoever holds the token of this call.
struct Holder(Grant);

impl FromRequestParts<Arc<Shared>> for Holder {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Fault> {
        let mut headers = parts.headers.get_all(header::AUTHORIZATION).iter();
        // Of two, a proxy may have looked at the other.
        let (Some(header), None) = (headers.next(), headers.next()) else { return Err(Fault::unauthorized()) };
        let header = header.to_str().ok();
        let (scheme, token) = header.and_then(|value| value.split_once(' ')).ok_or_else(Fault::unauthorized)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(Fault::unauthorized());
        }
        let grant = shared.tokens.grant(token.trim()).map_err(|problem| {
            warn!("no token can be accepted: {problem}");
            Fault::unavailable("the bridge cannot read its tokens; its log says why")
        })?;
        grant.map(Self).ok_or_else(Fault::unauthorized)
    }
}

/// The id in the path.
struct OfRequest(u64);

impl FromRequestParts<Arc<Shared>> for OfRequest {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Fault> {
        let path = Path::<String>::from_request_parts(parts, shared).await.map_err(|_| Fault::not_found())?;
        table::parse(&path.0).map(Self).ok_or_else(Fault::not_found)
    }
}

/// What stands after the path.
struct Asked<T>(T);

impl<T: for<'de> Deserialize<'de>> FromRequestParts<Arc<Shared>> for Asked<T> {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Fault> {
        let query = Query::<T>::from_request_parts(parts, shared).await;
        query.map(|query| Self(query.0)).map_err(|problem| Fault::bad_request(&problem.body_text()))
    }
}
