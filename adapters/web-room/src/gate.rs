//! What every request has to pass, and what every response carries.

use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::listen::Trust;
use crate::routes::Said;
use crate::serve::Connection;
use crate::served::Served;

/// The page's own files and nothing else; nobody frames it, and text is never turned into markup.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";
/// What the page is told is no page, whoever opens it.
const OF_WHAT_IS_TOLD: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";
/// Below it is what the page is told.
const API: &str = "/api/";

const ON_EVERY_RESPONSE: [(HeaderName, &str); 7] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
];

const SEC_FETCH_SITE: &str = "sec-fetch-site";
const FORWARDED_PROTO: &str = "x-forwarded-proto";

pub(crate) async fn pass(
    State(served): State<Arc<Served>>,
    Extension(connection): Extension<Connection>,
    request: Request,
    next: Next,
) -> Response {
    let is_told = request.uri().path().starts_with(API);
    let mut response = match refusal(&served, &connection, &request) {
        None => next.run(request).await,
        Some(refusal) => refusal.into_response(),
    };
    let policy = if is_told { OF_WHAT_IS_TOLD } else { CONTENT_SECURITY_POLICY };
    for (name, value) in [(header::CONTENT_SECURITY_POLICY, policy)].into_iter().chain(ON_EVERY_RESPONSE) {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn refusal(served: &Served, connection: &Connection, request: &Request) -> Option<Said> {
    let headers = request.headers();
    if let Trust::Proxies(proxies) = &served.trust {
        // An IPv4 peer of a socket that takes both comes as IPv6.
        if !proxies.contains(&connection.peer.ip().to_canonical()) {
            return Some(Said::Foreign("This page is served through its proxy alone."));
        }
        if only(headers, FORWARDED_PROTO) != Some("https") {
            return Some(Said::Foreign(
                "The proxy has to say `X-Forwarded-Proto: https`, since the page is served encrypted alone.",
            ));
        }
    }
    // The name that the browser believes to be at. Another one that leads here is a trick, or a mistake.
    if !only(headers, header::HOST.as_str()).is_some_and(|host| served.own.has_host(host)) {
        let open = format!("This page is at {}", served.own.origin);
        return Some(Said::NotUnderstood(StatusCode::MISDIRECTED_REQUEST, open));
    }
    if request.uri().authority().is_some() {
        return Some(Said::NotUnderstood(StatusCode::BAD_REQUEST, "Ask for a path alone.".to_owned()));
    }
    if request.uri().path().starts_with(API) {
        let is_read = request.method() == Method::GET;
        return foreign(headers, &served.own.origin, is_read).then_some(Said::Foreign("This was asked for by another page."));
    }
    None
}

/// Whether another page's script, form or link asks. Browsers say so, and nothing else is trusted to change anything.
fn foreign(headers: &HeaderMap, own: &str, is_read: bool) -> bool {
    let origin = headers.get_all(header::ORIGIN).iter().collect::<Vec<_>>();
    let is_foreign_origin = match origin.as_slice() {
        // Browsers leave it out where a page reads from its own origin.
        [] => !is_read,
        [one] => one.as_bytes() != own.as_bytes(),
        [_, _, ..] => true,
    };
    let site = headers.get_all(SEC_FETCH_SITE).iter();
    is_foreign_origin || site.into_iter().any(|site| site != "same-origin")
}

/// A header's value, if it is there once and readable.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "http://127.0.0.1:7391";

    #[test]
    fn only_the_page_itself_changes_anything() {
        let foreign = |lines: &[(&str, &str)], is_read| {
            let name = |name: &str| HeaderName::from_bytes(name.as_bytes()).expect("a name");
            let lines = lines.iter().map(|(key, value)| (name(key), HeaderValue::from_str(value).expect("a value")));
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.append(name, value);
            }
            super::foreign(&headers, OWN, is_read)
        };
        assert!(!foreign(&[("origin", OWN)], false));
        assert!(!foreign(&[("origin", OWN), ("sec-fetch-site", "same-origin")], false));
        assert!(!foreign(&[], true), "browsers send no origin when a page reads from its own");
        assert!(foreign(&[], false), "a change without an origin comes from no browser");
        for origin in
            ["null", "http://127.0.0.1:7392", "https://127.0.0.1:7391", "http://localhost:7391", "http://127.0.0.1:7391/"]
        {
            assert!(foreign(&[("origin", origin)], false), "{origin}");
            assert!(foreign(&[("origin", origin)], true), "{origin}");
        }
        for site in ["cross-site", "same-site", "none", ""] {
            assert!(foreign(&[("origin", OWN), ("sec-fetch-site", site)], false), "{site}");
            assert!(foreign(&[("sec-fetch-site", site)], true), "{site}");
        }
        assert!(foreign(&[("origin", OWN), ("origin", OWN)], false), "two origins are none");
    }
}
