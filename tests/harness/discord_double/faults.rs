//! What no well-behaved server does.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::Reply;
use super::rest::RestRequest;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// A new message.
    Post,
    Edit,
    Delete,
    /// Whatever only looks, at a message, a channel, a guild, a member, the bot itself.
    Get,
    /// An interaction's callback.
    Ack,
    Followup,
    /// A thread is made, or opened again.
    Thread,
    /// Where the gateway is.
    Gateway,
}

/// What becomes of one request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// It is processed late.
    Late(Duration),
    /// It is processed at once, and answered late.
    Slow(Duration),
    /// It is not processed; this is the answer.
    Instead(Answer),
    /// It is processed, and what it made is kept; this is the answer. Of what was refused, no answer says that it was done.
    Afterwards(Answer),
}

#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// HTTP 429.
    RateLimited(Limited, Duration),
    /// HTTP 429 with code 30046: a message older than an hour was edited too often.
    TooManyEdits(Duration),
    /// An error page of a proxy in front of the API.
    Html(u16),
    /// An error of the API.
    Error(ApiError),
    /// The connection is closed.
    Dropped,
    /// The connection stays open, and nothing comes.
    Nothing,
    /// HTTP 200 with half of a JSON text.
    BrokenJson,
    /// HTTP 200 with JSON that is nothing like what was asked for.
    OddJson,
}

/// Whose rate limit it is.
#[derive(Clone, Copy, Debug)]
pub enum Limited {
    /// The bot's, on this route.
    User,
    /// The bot's, on everything.
    Global,
    /// Everybody's, on this channel.
    Shared,
}

/// An error that the API describes with a code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApiError {
    pub status: u16,
    pub code: u64,
    pub message: &'static str,
}

impl ApiError {
    pub const UNAUTHORIZED: Self = Self { status: 401, code: 0, message: "401: Unauthorized" };
    pub const MISSING_ACCESS: Self = Self { status: 403, code: 50001, message: "Missing Access" };
    pub const MISSING_PERMISSIONS: Self = Self { status: 403, code: 50013, message: "Missing Permissions" };
    pub const TOO_LARGE: Self = Self { status: 413, code: 40005, message: "Request entity too large" };
    pub const UNKNOWN_CHANNEL: Self = Self { status: 404, code: 10003, message: "Unknown Channel" };
    pub const UNKNOWN_GUILD: Self = Self { status: 404, code: 10004, message: "Unknown Guild" };
    pub const UNKNOWN_MEMBER: Self = Self { status: 404, code: 10007, message: "Unknown Member" };
    pub const UNKNOWN_MESSAGE: Self = Self { status: 404, code: 10008, message: "Unknown Message" };
    pub const UNKNOWN_WEBHOOK: Self = Self { status: 404, code: 10015, message: "Unknown Webhook" };
    pub const UNKNOWN_INTERACTION: Self = Self { status: 404, code: 10062, message: "Unknown interaction" };
    pub const UNKNOWN_ROUTE: Self = Self { status: 404, code: 0, message: "404: Not Found" };
    pub const ALREADY_ACKNOWLEDGED: Self =
        Self { status: 400, code: 40060, message: "Interaction has already been acknowledged." };
    pub const OTHERS_MESSAGE: Self = Self { status: 403, code: 50005, message: "Cannot edit a message authored by another user" };
    pub const EMPTY_MESSAGE: Self = Self { status: 400, code: 50006, message: "Cannot send an empty message" };
    pub const EXPIRED_TOKEN: Self = Self { status: 401, code: 50027, message: "Invalid Webhook Token" };
    pub const INVALID_BODY: Self = Self { status: 400, code: 50035, message: "Invalid Form Body" };
    pub const ARCHIVED_THREAD: Self = Self { status: 400, code: 50083, message: "Thread is archived" };

    pub(crate) fn reply(self) -> Reply {
        Reply::json(self.status, &json!({"message": self.message, "code": self.code}))
    }
}

impl Answer {
    /// Whether a client sees by the status that its request was carried out.
    pub(crate) fn says_done(self) -> bool {
        matches!(self, Self::BrokenJson | Self::OddJson)
    }

    /// `None`: nothing is sent.
    pub(crate) fn reply(self) -> Option<Reply> {
        match self {
            Self::RateLimited(limited, retry_after) => Some(rate_limited(limited, retry_after, 0)),
            Self::TooManyEdits(retry_after) => Some(rate_limited(Limited::User, retry_after, 30046)),
            Self::Html(status) => Some(Reply::text(status, "text/html", "<html><h1>cloudflare</h1></html>")),
            Self::Error(error) => Some(error.reply()),
            Self::Dropped | Self::Nothing => None,
            Self::BrokenJson => Some(Reply::text(200, "application/json", r#"{"id": "1", "channel_id": "#)),
            Self::OddJson => Some(Reply::json(200, &json!({"id": {"of": ["somebody", "else"]}, "messages": -1}))),
        }
    }
}

fn rate_limited(limited: Limited, retry_after: Duration, code: u64) -> Reply {
    let (scope, global) = match limited {
        Limited::User => ("user", false),
        Limited::Global => ("global", true),
        Limited::Shared => ("shared", false),
    };
    let message =
        if code == 0 { "You are being rate limited." } else { "Maximum number of edits to messages older than 1 hour reached." };
    let seconds = retry_after.as_secs_f64();
    let mut body = json!({"message": message, "retry_after": seconds, "global": global});
    if code != 0 {
        body["code"] = Value::from(code);
    }
    let mut reply = Reply::json(429, &body);
    reply.headers = vec![("retry-after", seconds.to_string()), ("x-ratelimit-scope", scope.to_owned())];
    if global {
        reply.headers.push(("x-ratelimit-global", "true".to_owned()));
    } else {
        reply.headers.extend([
            ("x-ratelimit-limit", "5".to_owned()),
            ("x-ratelimit-remaining", "0".to_owned()),
            ("x-ratelimit-reset-after", seconds.to_string()),
            ("x-ratelimit-bucket", "of-the-double".to_owned()),
        ]);
    }
    reply
}

type Chooser = Box<dyn FnMut(&RestRequest) -> Option<Fault> + Send>;

/// Which requests go wrong, and how.
#[derive(Default)]
pub(crate) struct Faults {
    queued: HashMap<Route, VecDeque<Fault>>,
    chooser: Option<Chooser>,
}

impl Faults {
    pub(crate) fn queue(&mut self, route: Route, fault: Fault) {
        self.queued.entry(route).or_default().push_back(fault);
    }

    pub(crate) fn choose(&mut self, chooser: Chooser) {
        self.chooser = Some(chooser);
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn next(&mut self, request: &RestRequest) -> Option<Fault> {
        let queued = self.queued.get_mut(&request.route).and_then(VecDeque::pop_front);
        queued.or_else(|| self.chooser.as_mut()?(request))
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults").field("queued", &self.queued).finish_non_exhaustive()
    }
}
