//! What an error of Discord's means for us: try again, give up, or the bot is gone.

use std::error::Error;

use bridge_core::RoomError;
use bridge_model::Shown;
use reqwest::StatusCode;

/// Codes that Discord puts into an error's body.
mod code {
    pub(super) const UNKNOWN_CHANNEL: i64 = 10_003;
    pub(super) const UNKNOWN_GUILD: i64 = 10_004;
    pub(super) const UNKNOWN_MEMBER: i64 = 10_007;
    pub(super) const UNKNOWN_MESSAGE: i64 = 10_008;
    pub(super) const UNKNOWN_USER: i64 = 10_013;
    pub(super) const ALREADY_ACKNOWLEDGED: i64 = 40_060;
    pub(super) const MISSING_ACCESS: i64 = 50_001;
    pub(super) const MISSING_PERMISSIONS: i64 = 50_013;
    /// Of an interaction whose time is over.
    pub(super) const INVALID_WEBHOOK_TOKEN: i64 = 50_027;
    pub(super) const INVALID_FORM: i64 = 50_035;
    pub(super) const ARCHIVED_THREAD: i64 = 50_083;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing was done, and the same request may succeed later.
    Later(String),
    /// It may have been done: the connection broke, or the answer could not be read.
    Unsure(String),
    /// The token is no longer good.
    TokenGone,
    /// The message is not there.
    NoMessage,
    /// Whoever was asked for is not on the server.
    NoMember,
    /// The channel, or its server, is not there.
    NoChannel(String),
    /// It is not for us, at least not now.
    NoAccess(String),
    /// We may see it, and not do this.
    NoPermission(String),
    Archived,
    /// The interaction had been acknowledged before.
    AlreadyAcknowledged,
    /// Discord does not take what it was sent.
    Invalid(String),
    /// Trying again will not help.
    Final(String),
}

impl Fault {
    /// Whether the same request may succeed later.
    pub(crate) const fn may_pass(&self) -> bool {
        matches!(self, Self::Later(_) | Self::Unsure(_))
    }

    /// Whether a message may have been refused for its file: without one, it could be taken. Nothing was posted.
    pub(crate) const fn may_be_of_file(&self) -> bool {
        matches!(self, Self::NoPermission(_) | Self::Invalid(_) | Self::Final(_))
    }

    /// Whether the same message may be taken elsewhere.
    pub(crate) const fn is_of_channel(&self) -> bool {
        matches!(self, Self::NoChannel(_) | Self::NoAccess(_) | Self::NoPermission(_) | Self::Archived)
    }

    /// A request that got no answer.
    pub(crate) fn of_transport(error: &reqwest::Error) -> Self {
        if error.is_connect() {
            Self::Later(format!("Discord cannot be reached: {}", cause(error)))
        } else {
            Self::Unsure("Discord did not answer".to_owned())
        }
    }

    /// A request that was refused. `said`: Discord's own code and message, if the answer has them.
    pub(crate) fn of_refusal(status: StatusCode, said: Option<(i64, String)>) -> Self {
        if status.is_server_error() {
            return Self::Unsure(format!("Discord failed ({status})"));
        }
        if status == StatusCode::UNAUTHORIZED && said.as_ref().is_none_or(|(code, _)| *code != code::INVALID_WEBHOOK_TOKEN) {
            return Self::TokenGone;
        }
        let Some((code, message)) = said else {
            return Self::Final(format!("something that is not Discord answered {status}; check the network's proxy"));
        };
        let said = format!("Discord says: {} ({code})", Shown::line(&message).cut(200));
        match code {
            code::UNKNOWN_MESSAGE => Self::NoMessage,
            code::UNKNOWN_MEMBER | code::UNKNOWN_USER => Self::NoMember,
            code::UNKNOWN_CHANNEL | code::UNKNOWN_GUILD => Self::NoChannel(said),
            code::MISSING_ACCESS => Self::NoAccess(said),
            code::MISSING_PERMISSIONS => Self::NoPermission(said),
            code::ARCHIVED_THREAD => Self::Archived,
            code::ALREADY_ACKNOWLEDGED => Self::AlreadyAcknowledged,
            code::INVALID_FORM => Self::Invalid(said),
            _ => Self::Final(said),
        }
    }
}

/// The innermost reason: a name that cannot be looked up, a refused connection, a certificate that is not trusted.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    Shown::line(&cause.to_string()).cut(200).to_string()
}

/// What an operator is told when the token is gone.
pub(crate) const TOKEN_GONE: &str =
    "Discord does not take the bot's token; make a new one under Bot, Reset Token, and run `countersign check`";

impl Fault {
    pub(crate) fn why(self) -> String {
        match self {
            Self::Later(why)
            | Self::Unsure(why)
            | Self::NoChannel(why)
            | Self::NoAccess(why)
            | Self::NoPermission(why)
            | Self::Invalid(why)
            | Self::Final(why) => why,
            Self::TokenGone => TOKEN_GONE.to_owned(),
            Self::NoMessage => "the message is not there any more".to_owned(),
            Self::NoMember => "they are not on the server".to_owned(),
            Self::Archived => "the thread is archived".to_owned(),
            Self::AlreadyAcknowledged => "another program has acknowledged the click".to_owned(),
        }
    }
}

impl From<Fault> for RoomError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Later(why) | Fault::Unsure(why) => Self::Unavailable(why),
            Fault::Invalid(why) => Self::NotShowable(why),
            fault @ (Fault::TokenGone
            | Fault::NoMessage
            | Fault::NoMember
            | Fault::NoChannel(_)
            | Fault::NoAccess(_)
            | Fault::NoPermission(_)
            | Fault::Archived
            | Fault::AlreadyAcknowledged
            | Fault::Final(_)) => Self::Refused(fault.why()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_done_is_told_from_what_was_not() {
        let of =
            |status: u16, code| Fault::of_refusal(StatusCode::from_u16(status).expect("a status"), Some((code, "m".to_owned())));
        assert!(matches!(of(502, 0), Fault::Unsure(_)));
        assert_eq!(of(401, 0), Fault::TokenGone);
        assert_eq!(of(404, 10_008), Fault::NoMessage);
        assert_eq!(of(404, 10_007), Fault::NoMember);
        assert!(matches!(of(404, 10_003), Fault::NoChannel(_)));
        assert!(matches!(of(403, 50_001), Fault::NoAccess(_)));
        assert!(matches!(of(403, 50_013), Fault::NoPermission(_)));
        assert!(matches!(of(404, 10_062), Fault::Final(_)));
        assert!(matches!(Fault::of_refusal(StatusCode::FORBIDDEN, None), Fault::Final(_)));
        assert_eq!(of(400, 40_060), Fault::AlreadyAcknowledged);
    }

    #[test]
    fn what_a_file_can_be_refused_for_is_told_from_what_may_have_been_done() {
        let of =
            |status: u16, code| Fault::of_refusal(StatusCode::from_u16(status).expect("a status"), Some((code, "m".to_owned())));
        for refused in [of(413, 40_005), of(403, 50_013), of(400, 50_035), Fault::of_refusal(StatusCode::PAYLOAD_TOO_LARGE, None)]
        {
            assert!(refused.may_be_of_file() && !refused.may_pass(), "{refused:?}");
        }
        for other in [of(500, 0), of(401, 0), of(403, 50_001), of(404, 10_003), Fault::Later(String::new())] {
            assert!(!other.may_be_of_file(), "{other:?}");
        }
    }
}
