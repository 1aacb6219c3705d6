//! The other end: a program that raises requests with a bridge.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use acp_source::shape::{self, Fields, WrittenOption};
use bridge_model::{PermissionRequest, RoomName, Secret};
use policy::Launch;
use reqwest::{Method, StatusCode, Url};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use url::Host;

use crate::api::{Asker, Problem, Status, TakenBack, WherePaths};

/// How long a bridge may take to answer at once.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// Bytes of an answer.
const ANSWER_MAX: usize = 4 << 20;
/// How long is waited for news at once.
const WAIT: Duration = Duration::from_secs(30);

/// Where a bridge is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BridgeAt {
    /// Of another machine only encrypted, since the token goes along.
    Url(Url),
    Socket(PathBuf),
}

impl BridgeAt {
    /// `https://…`, `http://` of this machine, or the path of a socket. The error says what to write instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let path = text.strip_prefix("unix:").unwrap_or(text);
        if path.starts_with('/') {
            return Ok(Self::Socket(path.into()));
        }
        let url = Url::parse(text).map_err(|_| "write a URL, or the absolute path of a socket".to_owned())?;
        let is_here = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        };
        match url.scheme() {
            "https" if url.has_host() => Ok(Self::Url(url)),
            "http" if is_here => Ok(Self::Url(url)),
            "http" => Err("a token goes along, so another machine is reached with https:// only".to_owned()),
            _ => Err("write https://, or the absolute path of a socket".to_owned()),
        }
    }
}

impl fmt::Display for BridgeAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => write!(f, "{url}"),
            Self::Socket(path) => write!(f, "the socket {}", path.display()),
        }
    }
}

/// Why a bridge did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// It may succeed later, also with another bridge.
    #[error("{0} cannot be reached: {1}")]
    Unreachable(BridgeAt, String),
    /// It says itself that it may succeed later.
    #[error("the bridge cannot do it now: {0}")]
    NotNow(String),
    /// There is no such request.
    #[error("the bridge does not know the request")]
    Unknown,
    #[error("the bridge refuses: {0}")]
    Refused(String),
}

/// Raises requests with the first of several bridges that can be reached.
#[derive(Debug)]
pub struct Client {
    bridges: Vec<(BridgeAt, reqwest::Client)>,
    token: Secret,
    /// The one that answered last.
    current: AtomicUsize,
}

impl Client {
    /// One of `bridges` at least.
    pub fn new(bridges: Vec<BridgeAt>, token: Secret) -> Result<Self, String> {
        let connect = |at: BridgeAt| {
            // A proxy or a redirect would be told the token.
            let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
            let client = match &at {
                BridgeAt::Url(_) => client,
                BridgeAt::Socket(path) => client.unix_socket(path.as_path()),
            };
            client.build().map(|client| (at, client)).map_err(|error| error.to_string())
        };
        let bridges = bridges.into_iter().map(connect).collect::<Result<_, _>>()?;
        Ok(Self { bridges, token, current: AtomicUsize::new(0) })
    }

    /// Raises a request. The same body again is the same request.
    pub async fn raise(&self, body: &[u8]) -> Result<Status, ClientError> {
        self.call(Method::POST, "v1/requests", Some(body)).await
    }

    /// How a request is, as soon as it has ended or half a minute has passed.
    pub async fn wait(&self, id: &str) -> Result<Status, ClientError> {
        self.call(Method::GET, &format!("v1/requests/{id}?wait={}s", WAIT.as_secs()), None).await
    }

    pub async fn take_back(&self, id: &str, why: TakenBack) -> Result<Status, ClientError> {
        self.call(Method::DELETE, &format!("v1/requests/{id}?because={}", why.name()), None).await
    }

    /// Tells that the tool call has changed. `None`: in a way that cannot be told.
    pub async fn change(&self, id: &str, now: Option<&PermissionRequest>) -> Result<Status, ClientError> {
        #[derive(Serialize)]
        struct Change {
            tool_call: Option<Fields>,
            places: Option<WherePaths>,
        }
        let tool_call = now.and_then(|request| request.tool_call.as_ref()).map(shape::written_tool_call);
        let change = Change { tool_call, places: now.and_then(places) };
        // These types hold nothing that JSON cannot.
        let body = serde_json::to_vec(&change).unwrap_or_default();
        self.call(Method::PATCH, &format!("v1/requests/{id}"), Some(&body)).await
    }

    /// Tells that the caller has the outcome.
    pub async fn receipt(&self, id: &str) -> Result<Status, ClientError> {
        self.call(Method::POST, &format!("v1/requests/{id}/receipt"), None).await
    }

    /// Whether the token is accepted.
    pub async fn check(&self) -> Result<(), ClientError> {
        self.call::<IgnoredAny>(Method::GET, "v1/requests", None).await.map(drop)
    }

    async fn call<T: DeserializeOwned>(&self, method: Method, path: &str, body: Option<&[u8]>) -> Result<T, ClientError> {
        let first = self.current.load(Ordering::Relaxed);
        let mut failed = None;
        for turn in 0..self.bridges.len() {
            let at = (first + turn) % self.bridges.len();
            match self.call_one(at, method.clone(), path, body).await {
                Err(error @ ClientError::Unreachable(..)) => failed = failed.or(Some(error)),
                told => {
                    self.current.store(at, Ordering::Relaxed);
                    return told;
                }
            }
        }
        Err(failed.unwrap_or_else(|| ClientError::Refused("there is no bridge to ask".to_owned())))
    }

    async fn call_one<T: DeserializeOwned>(
        &self,
        at: usize,
        method: Method,
        path: &str,
        body: Option<&[u8]>,
    ) -> Result<T, ClientError> {
        let (bridge, http) = &self.bridges[at];
        let unreachable = |error: &dyn std::error::Error| {
            let innermost = std::iter::successors(Some(error), |error| error.source()).last().map(ToString::to_string);
            ClientError::Unreachable(bridge.clone(), innermost.unwrap_or_default())
        };
        let url = match bridge {
            BridgeAt::Url(url) => format!("{}/{path}", url.as_str().trim_end_matches('/')),
            BridgeAt::Socket(_) => format!("http://localhost/{path}"),
        };
        let mut request = http.request(method, url).bearer_auth(self.token.expose()).timeout(ANSWER_WITHIN + WAIT);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_vec());
        }
        let mut response = request.send().await.map_err(|error| unreachable(&error))?;
        let status = response.status();
        let mut text = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&error))? {
            if ANSWER_MAX < text.len() + chunk.len() {
                return Err(ClientError::Refused(format!("it answers with more than {ANSWER_MAX} bytes")));
            }
            text.extend_from_slice(&chunk);
        }
        if status.is_success() {
            return serde_json::from_slice(&text)
                .map_err(|error| ClientError::Refused(format!("its answer is not understood: {error}")));
        }
        let said = serde_json::from_slice::<Problem>(&text).map_or_else(
            |_| status.to_string(),
            |problem| problem.path.map_or(problem.message.clone(), |path| format!("{path}: {}", problem.message)),
        );
        Err(match status {
            StatusCode::NOT_FOUND => ClientError::Unknown,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => ClientError::NotNow(said),
            status if status.is_server_error() => ClientError::NotNow(said),
            _ => ClientError::Refused(said),
        })
    }
}

/// What a caller asks for besides.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    pub room: Option<RoomName>,
    pub launch: Launch,
    pub detached: bool,
}

/// The body that raises a request under a key.
#[must_use]
pub fn body(key: &str, request: &PermissionRequest, wishes: &Wishes) -> Vec<u8> {
    #[derive(Serialize)]
    struct Body<'a> {
        key: &'a str,
        tool_call: Fields,
        options: Vec<WrittenOption<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        meta: Option<&'a Value>,
        session: Asker,
        #[serde(skip_serializing_if = "Option::is_none")]
        room: Option<&'a RoomName>,
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        permission: BTreeMap<String, &'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        lifetime: Option<String>,
        detached: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        places: Option<WherePaths>,
    }
    let session = &request.session;
    let body = Body {
        key,
        tool_call: request.tool_call.as_ref().map(shape::written_tool_call).unwrap_or_default(),
        options: shape::written_options(&request.options),
        title: request.title.as_deref(),
        description: request.description.as_deref(),
        meta: request.meta.as_ref(),
        session: Asker {
            id: session.id.as_ref().map(|id| id.as_str().to_owned()),
            name: session.name.clone(),
            agent: session.agent.clone(),
            client: session.client.clone(),
            cwd: session.cwd.clone(),
            mode: session.mode.clone(),
        },
        room: wishes.room.as_ref(),
        permission: wishes.launch.verdicts.all().map(|(key, verdict)| (key.to_string(), verdict.name())).collect(),
        lifetime: wishes.launch.lifetime.map(|span| humantime::format_duration(span).to_string()),
        detached: wishes.detached,
        places: places(request),
    };
    // These types hold nothing that JSON cannot.
    serde_json::to_vec(&body).unwrap_or_default()
}

fn places(request: &PermissionRequest) -> Option<WherePaths> {
    let places = request.places.as_ref()?;
    Some(WherePaths { root: places.root.clone(), real: places.real.clone() })
}
