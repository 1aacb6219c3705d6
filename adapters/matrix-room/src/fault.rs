//! What an error of the SDK means for us: try again, give up, or the account is gone.

use std::time::Duration;

use bridge_core::RoomError;
use matrix_sdk::media::MediaError;
use matrix_sdk::ruma::api::error::{ErrorKind, RetryAfter};
use matrix_sdk::{Error, HttpError, RefreshTokenError};

#[derive(Debug)]
pub(crate) enum Fault {
    /// The same request may succeed later, at the earliest after this span where the server named one.
    Later(String, Option<Duration>),
    /// The event is too large for the server.
    TooLarge,
    /// The access token is no longer good and could not be refreshed.
    TokenGone,
    /// Trying again will not help.
    Final(String),
}

impl Fault {
    pub(crate) fn of(error: &Error) -> Self {
        if let Error::Http(http) = error {
            return Self::of_http(http);
        }
        if matches!(error, Error::ConcurrentRequestFailed | Error::Timeout) {
            return Self::Later("the homeserver did not answer in time".to_owned(), None);
        }
        if matches!(error, Error::Media(MediaError::MediaTooLargeToUpload { .. })) {
            return Self::TooLarge;
        }
        Self::Final(error.to_string())
    }

    pub(crate) fn of_http(error: &HttpError) -> Self {
        match error {
            HttpError::Reqwest(_) => Self::Later("the homeserver cannot be reached".to_owned(), None),
            HttpError::RefreshToken(RefreshTokenError::MatrixAuth(inner)) => match Self::of_http(inner) {
                later @ Self::Later(..) => later,
                Self::TooLarge | Self::TokenGone | Self::Final(_) => Self::TokenGone,
            },
            HttpError::RefreshToken(RefreshTokenError::RefreshTokenRequired | RefreshTokenError::OAuth(_)) => Self::TokenGone,
            HttpError::Cached(inner) => Self::of_http(inner),
            HttpError::Api(_) | HttpError::IntoHttp(_) => Self::of_answer(error),
        }
    }

    fn of_answer(error: &HttpError) -> Self {
        let Some(answer) = error.as_client_api_error() else {
            // Not a Matrix answer: a proxy in front of a homeserver that is down speaks HTML.
            return Self::Later("the homeserver's answer was not understood".to_owned(), None);
        };
        let status = answer.status_code;
        if let Some(ErrorKind::LimitExceeded(limit)) = answer.error_kind() {
            let after = limit.retry_after.as_ref().and_then(|after| match after {
                RetryAfter::Delay(span) => Some(*span),
                RetryAfter::DateTime(_) => None,
            });
            return Self::Later("the homeserver limits how often the bot may send".to_owned(), after);
        }
        if matches!(answer.error_kind(), Some(ErrorKind::UnknownToken(_) | ErrorKind::UserDeactivated)) {
            return Self::TokenGone;
        }
        // A proxy has a limit of its own and says so by the status alone.
        if matches!(answer.error_kind(), Some(ErrorKind::TooLarge)) || status.as_u16() == 413 {
            return Self::TooLarge;
        }
        if status.is_server_error() || status.as_u16() == 429 {
            return Self::Later(format!("the homeserver failed ({status})"), None);
        }
        Self::Final(answer.to_string())
    }

    pub(crate) fn is_not_found(error: &HttpError) -> bool {
        matches!(error.client_api_error_kind(), Some(ErrorKind::NotFound))
    }
}

/// What an operator is told when the token is gone.
pub(crate) const TOKEN_GONE: &str = "the access token was revoked; run `countersign check`";

impl From<Fault> for RoomError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Later(why, _) => Self::Unavailable(why),
            Fault::TooLarge => Self::NotShowable("the card is too large for the homeserver".to_owned()),
            Fault::TokenGone => Self::Refused(TOKEN_GONE.to_owned()),
            Fault::Final(why) => Self::Refused(why),
        }
    }
}
