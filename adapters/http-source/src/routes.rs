//! What can be asked for over HTTP.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Path, Query, Request, State as Shares};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use bridge_core::SourceEvent;
use bridge_model::Withdrawn;
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};
use tracing::warn;
use utoipa::openapi::OpenApi as Described;
use utoipa::{IntoParams, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::{Change, Listed, Problem, Raise, Status};
use crate::fault::Fault;
use crate::raise::{self, Bounds};
use crate::shared::Shared;
use crate::table::{self, Mark, Raising};
use crate::tokens::Grant;

/// Bytes of a body.
const BODY_MAX: usize = 2 << 20;
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
        .fallback(|| async { Fault::not_found() })
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
    (status = 400, description = "The body cannot be read", body = Problem),
    (status = 401, description = "No token, or none that is known", body = Problem),
    (status = 403, description = "The token may not ask for this", body = Problem),
    (status = 409, description = "Something else was raised under this key", body = Problem),
    (status = 413, description = "The body is too large", body = Problem),
    (status = 422, description = "The body is not such a request; `path` says where", body = Problem),
    (status = 429, description = "Too many requests are open", body = Problem),
    (status = 503, description = "The bridge is ending, or cannot read its tokens", body = Problem)))]
async fn raised(Shares(shared): Shares<Arc<Shared>>, grant: Holder, body: Body) -> Result<Response, Fault> {
    let raise: Raise = raise::read(&body.0)?;
    let ask = shared.next_ask();
    let (request, mut terms) = {
        let policy = Arc::clone(&shared.options.policy.borrow());
        let has_room = |name: &str| shared.options.rooms.iter().any(|room| room.as_str() == name);
        raise::request(&raise, shared.reply_to(ask), &grant.0, &Bounds { policy: &policy, has_room: &has_room })?
    };
    let digest = raise::digest(&raise);
    let mark = Mark { token: grant.0.name.clone(), key: raise.key, digest, detached: raise.detached };
    terms.comes_back = serde_json::to_string(&mark).ok();
    let raising = shared.table().raise(ask, mark, request.clone(), shared.now());
    let ask = match raising {
        Raising::New => {
            if !shared.tell(SourceEvent::Requested(Box::new(request), Box::new(terms))).await {
                return Err(Fault::unavailable("the bridge is ending"));
            }
            ask
        }
        Raising::Known(known) => known,
        Raising::Conflict => return Err(Fault::conflict()),
        Raising::TooMany => return Err(Fault::too_many("too many requests are open; wait for some of them to end")),
    };
    let status = news(&shared, ask, &grant.0, FIRST_WORD, table::Raised::is_new).await?;
    let code = if status.ending.is_some() { StatusCode::OK } else { StatusCode::CREATED };
    Ok((code, Json(status)).into_response())
}

/// Lists this token's own requests that are open or were settled lately.
#[utoipa::path(get, path = "/v1/requests", responses(
    (status = 200, description = "All of them", body = Listed),
    (status = 401, description = "No token, or none that is known", body = Problem),
    (status = 503, description = "The bridge cannot read its tokens", body = Problem)))]
async fn list(Shares(shared): Shares<Arc<Shared>>, grant: Holder) -> Json<Listed> {
    let now = shared.now();
    let table = shared.table();
    Json(Listed { requests: table.all_of_token(&grant.0.name).map(|(ask, raised)| raised.status(ask, now)).collect() })
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct Wait {
    /// How long to wait for the end of a request that is held: `30s`, at most a minute.
    wait: Option<String>,
}

/// Tells how a request is, and waits for its end if asked to.
///
/// Whoever waits keeps a request alive that is not detached.
#[utoipa::path(get, path = "/v1/requests/{id}", params(("id" = String, Path, description = "Of the request"), Wait), responses(
    (status = 200, description = "How it is", body = Status),
    (status = 400, description = "The time to wait cannot be read", body = Problem),
    (status = 401, description = "No token, or none that is known", body = Problem),
    (status = 404, description = "There is none of this id", body = Problem),
    (status = 503, description = "The bridge cannot read its tokens", body = Problem)))]
async fn status(
    Shares(shared): Shares<Arc<Shared>>,
    grant: Holder,
    OfRequest(ask): OfRequest,
    Asked(wait): Asked<Wait>,
) -> Result<Json<Status>, Fault> {
    let span = |text: &str| humantime::parse_duration(text).map_err(|_| Fault::bad_request("write `wait` as 30s, for example"));
    let wait = wait.wait.as_deref().map(span).transpose()?.unwrap_or_default().min(WAIT_MAX);
    news(&shared, ask, &grant.0, wait, |raised| !raised.is_ended()).await.map(Json)
}

/// Takes a request back.
///
/// What was settled before stays as it is; the answer says how.
#[utoipa::path(delete, path = "/v1/requests/{id}", params(("id" = String, Path, description = "Of the request"), Taken), responses(
    (status = 200, description = "How it is now", body = Status),
    (status = 400, description = "The reason cannot be read", body = Problem),
    (status = 401, description = "No token, or none that is known", body = Problem),
    (status = 404, description = "There is none of this id", body = Problem),
    (status = 503, description = "The bridge cannot read its tokens", body = Problem)))]
async fn withdraw(
    Shares(shared): Shares<Arc<Shared>>,
    grant: Holder,
    OfRequest(ask): OfRequest,
    Asked(taken): Asked<Taken>,
) -> Result<Json<Status>, Fault> {
    own(&shared, ask, &grant.0)?;
    shared.withdraw(ask, taken.because.unwrap_or_default().into()).await;
    own(&shared, ask, &grant.0).map(Json)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct Taken {
    /// Why, as the card then says: `by_agent`, `turn_cancelled`, `turn_ended`, `superseded`, `agent_gone` or `client_gone`.
    #[param(value_type = Option<String>)]
    because: Option<Because>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Because {
    #[default]
    ByAgent,
    TurnCancelled,
    TurnEnded,
    Superseded,
    AgentGone,
    ClientGone,
}

impl From<Because> for Withdrawn {
    fn from(because: Because) -> Self {
        match because {
            Because::ByAgent => Self::ByAgent,
            Because::TurnCancelled => Self::TurnCancelled,
            Because::TurnEnded => Self::TurnEnded,
            Because::Superseded => Self::Superseded,
            Because::AgentGone => Self::AgentGone,
            Because::ClientGone => Self::ClientGone,
        }
    }
}

/// Says that the tool call of a request has changed while it waits.
///
/// Its card can no longer be answered; the request is refused, or people are asked anew, as the operator has it.
#[utoipa::path(patch, path = "/v1/requests/{id}", params(("id" = String, Path, description = "Of the request")), request_body = Change, responses(
    (status = 200, description = "How it is", body = Status),
    (status = 400, description = "The body cannot be read", body = Problem),
    (status = 401, description = "No token, or none that is known", body = Problem),
    (status = 404, description = "There is none of this id", body = Problem),
    (status = 413, description = "The body is too large", body = Problem),
    (status = 422, description = "The body is not such a change; `path` says where", body = Problem),
    (status = 503, description = "The bridge is ending, or cannot read its tokens", body = Problem)))]
async fn change(
    Shares(shared): Shares<Arc<Shared>>,
    grant: Holder,
    OfRequest(ask): OfRequest,
    body: Body,
) -> Result<Json<Status>, Fault> {
    let change: Change = raise::read(&body.0)?;
    let now = {
        let table = shared.table();
        let raised = table.of_token(ask, &grant.0.name).ok_or_else(Fault::not_found)?;
        raised.request.as_ref().and_then(|before| raise::changed(&change, before))
    };
    if !shared.change(ask, now).await {
        return Err(Fault::unavailable("the bridge is ending"));
    }
    own(&shared, ask, &grant.0).map(Json)
}

/// Says that the caller has the outcome and acts on it. The card then says so.
#[utoipa::path(post, path = "/v1/requests/{id}/receipt", params(("id" = String, Path, description = "Of the request")), responses(
    (status = 200, description = "How it is", body = Status),
    (status = 401, description = "No token, or none that is known", body = Problem),
    (status = 404, description = "There is none of this id", body = Problem),
    (status = 409, description = "It is not settled yet", body = Problem),
    (status = 503, description = "The bridge cannot read its tokens", body = Problem)))]
async fn receipt(Shares(shared): Shares<Arc<Shared>>, grant: Holder, OfRequest(ask): OfRequest) -> Result<Json<Status>, Fault> {
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
    let until = Instant::now() + within;
    let listens = Listens::begin(shared, ask);
    loop {
        let mut changes = {
            let table = shared.table();
            let raised = table.of_token(ask, &grant.name).ok_or_else(Fault::not_found)?;
            if !waits(raised) {
                return Ok(raised.status(ask, shared.now()));
            }
            raised.changes()
        };
        if timeout_at(until, changes.changed()).await.is_err() {
            drop(listens);
            return own(shared, ask, grant);
        }
    }
}

fn own(shared: &Arc<Shared>, ask: u64, grant: &Grant) -> Result<Status, Fault> {
    let table = shared.table();
    table.of_token(ask, &grant.name).map(|raised| raised.status(ask, shared.now())).ok_or_else(Fault::not_found)
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
        let header = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
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

/// A whole body that is not too large.
struct Body(Bytes);

impl FromRequest<Arc<Shared>> for Body {
    type Rejection = Fault;

    async fn from_request(request: Request, _: &Arc<Shared>) -> Result<Self, Fault> {
        let told = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
        if told.is_some_and(|length| BODY_MAX < length) {
            return Err(Fault::too_large(BODY_MAX));
        }
        match axum::body::to_bytes(request.into_body(), BODY_MAX).await {
            Ok(bytes) => Ok(Self(bytes)),
            Err(problem) if is_too_long(&problem) => Err(Fault::too_large(BODY_MAX)),
            Err(problem) => Err(Fault::bad_request(&problem.to_string())),
        }
    }
}

fn is_too_long(problem: &axum::Error) -> bool {
    let mut source = std::error::Error::source(problem);
    while let Some(error) = source {
        if error.to_string().contains("length limit exceeded") {
            return true;
        }
        source = error.source();
    }
    false
}
