//! Why something was not done, as it is said.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::api::Problem;

#[derive(Debug)]
pub(crate) struct Fault {
    status: StatusCode,
    problem: Problem,
}

/// Bytes of a message or of a path, since both repeat what the caller wrote.
const TEXT_MAX: usize = 1_000;

impl Fault {
    fn of(status: StatusCode, error: &str, message: &str) -> Self {
        let cut = message.floor_char_boundary(TEXT_MAX);
        let more = if cut < message.len() { "…" } else { "" };
        let message = format!("{}{more}", &message[..cut]);
        Self { status, problem: Problem { error: error.to_owned(), message, path: None } }
    }

    /// `at`: where in the body, as a JSON pointer.
    pub(crate) fn unprocessable(at: &str, message: &str) -> Self {
        let mut fault = Self::of(StatusCode::UNPROCESSABLE_ENTITY, "unprocessable", message);
        // Half a pointer would lead elsewhere.
        fault.problem.path = (at.len() <= TEXT_MAX).then(|| at.to_owned());
        fault
    }

    pub(crate) fn bad_request(message: &str) -> Self {
        Self::of(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub(crate) fn unauthorized() -> Self {
        let advice = "send a token that is not revoked as `Authorization: Bearer …`; `countersign token new NAME` makes one";
        Self::of(StatusCode::UNAUTHORIZED, "unauthorized", advice)
    }

    pub(crate) fn forbidden(message: &str) -> Self {
        Self::of(StatusCode::FORBIDDEN, "forbidden", message)
    }

    pub(crate) fn not_found() -> Self {
        Self::of(StatusCode::NOT_FOUND, "not_found", "this token has raised no request of this id, or it was forgotten since")
    }

    pub(crate) fn no_such_path() -> Self {
        Self::of(StatusCode::NOT_FOUND, "no_such_path", "nothing is here; /openapi.json says what there is")
    }

    pub(crate) fn no_such_method() -> Self {
        let message = "this cannot be done here; the header Allow and /openapi.json say what can";
        Self::of(StatusCode::METHOD_NOT_ALLOWED, "no_such_method", message)
    }

    pub(crate) fn conflict() -> Self {
        let message = "another request was raised under this key; raise each request under a key of its own";
        Self::of(StatusCode::CONFLICT, "conflict", message)
    }

    pub(crate) fn taken() -> Self {
        let message = "what was chosen under this key was taken already; what is asked again needs a key of its own";
        Self::of(StatusCode::CONFLICT, "taken", message)
    }

    pub(crate) fn not_settled() -> Self {
        Self::of(StatusCode::CONFLICT, "not_settled", "the request still waits, so there is no outcome to take")
    }

    pub(crate) fn too_large(max: usize) -> Self {
        Self::of(StatusCode::PAYLOAD_TOO_LARGE, "too_large", &format!("a body may have {max} bytes"))
    }

    pub(crate) fn too_slow(within: Duration) -> Self {
        let message = format!("a body may take {} seconds to arrive", within.as_secs());
        Self::of(StatusCode::REQUEST_TIMEOUT, "too_slow", &message)
    }

    pub(crate) fn too_many(message: &str) -> Self {
        Self::of(StatusCode::TOO_MANY_REQUESTS, "too_many", message)
    }

    pub(crate) fn ending() -> Self {
        Self::unavailable("the bridge is ending")
    }

    pub(crate) fn unavailable(message: &str) -> Self {
        Self::of(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message)
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let status = self.status;
        let mut response = (status, Json(self.problem)).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}
