//! Who it was: the session of a request, and what is known of its bearer at that instant.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use bridge_model::{Humanity, Person, PersonId, Presence, Signature, Standing};
use cookie::Cookie;

use crate::id::Token;
pub(crate) use crate::keys::Member;
use crate::routes::Said;
use crate::served::Served;

/// The word that only this page's scripts have.
pub(crate) const PAGE: &str = "countersign-page";
/// The stream that the page holds open.
pub(crate) const STREAM: &str = "countersign-stream";

/// Cookies of our name that are tried. Another port of the same host can add some of its own.
const COOKIES_MAX: usize = 4;

/// Facts about somebody who has a key, of which the keys were asked just now.
pub(crate) fn facts(person: &PersonId, has_page_open: bool) -> Person {
    Person {
        id: person.clone(),
        name: None,
        // A key is made for a person. Programs' keys are listed as bots.
        humanity: Humanity::Human,
        presence: if has_page_open { Presence::InRoom } else { Presence::Absent },
        standing: Standing::Full,
        signature: Signature::Service,
        power: None,
        roles: BTreeSet::new(),
    }
}

/// Whose request it is, by what the keys say now. Ask for it last: whatever is waited for afterwards, somebody may leave.
pub(crate) async fn member(served: &Arc<Served>, headers: &HeaderMap) -> Result<Member, Said> {
    let page = headers.get(PAGE).and_then(|word| Token::parse(word.to_str().ok()?));
    let name = served.own.cookie_name();
    let cookies = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    let cookies = cookies.flat_map(|header| Cookie::split_parse(header.to_owned())).filter_map(Result::ok);
    let tokens = cookies.filter(|cookie| cookie.name() == name).filter_map(|cookie| Token::parse(cookie.value()));
    let tokens: Vec<_> = tokens.take(COOKIES_MAX).collect();
    let page = page.filter(|_| !tokens.is_empty()).ok_or(Said::NoSession)?;
    let ask = move |keys: &crate::Keys| {
        for token in &tokens {
            if let Some(member) = keys.member(token, &page)? {
                return Ok(Some(member));
            }
        }
        Ok(None)
    };
    let member = served.ask_keys(ask).await.map_err(|problem| served.unavailable(&problem))?;
    member.ok_or(Said::NoSession)
}
