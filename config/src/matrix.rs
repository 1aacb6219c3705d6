//! `[matrix]`: the account that Countersign has.

use std::collections::BTreeSet;

use bridge_model::{PersonId, Secret};
use url::{Host, Url};

use crate::ids;
use crate::problem::{Origin, Reported};
use crate::secret::Secrets;
use crate::section::{Entry, Section};

/// The account that posts cards and counts clicks.
#[derive(Clone, Debug)]
pub struct Matrix {
    pub homeserver: Url,
    pub user: PersonId,
    /// `None`: only a session that an earlier run saved can be used.
    pub login: Option<Login>,
    /// Encrypts the store on disk.
    pub store_passphrase: Option<Secret>,
    /// Opens the account's own backup of its keys.
    pub recovery_key: Option<Secret>,
    /// What the device is called in the account's list.
    pub device_name: String,
    /// Whose invitations are accepted.
    pub invites_from: BTreeSet<PersonId>,
}

/// How to log in.
#[derive(Clone, Debug)]
pub enum Login {
    Password(Secret),
    AccessToken { token: Secret, device_id: String },
}

pub(crate) fn matrix(mut section: Section<'_>, secrets: &Secrets<'_>) -> Option<Matrix> {
    let homeserver = section.take("homeserver");
    if homeserver.is_none() {
        section.missing("homeserver", "write the server's address, such as \"https://matrix.example.org\"");
    }
    let user = section.take("user");
    if user.is_none() {
        section.missing("user", "write the bot's own id, such as \"@countersign:example.org\"");
    }
    let homeserver = homeserver.and_then(|entry| homeserver_url(&entry));
    let user = user.and_then(|entry| ids::user_id(&entry, "example.org"));
    let server = user.as_ref().and_then(ids::server).unwrap_or("example.org");
    let login = login(&mut section, secrets);
    let store_passphrase = secrets.take(&mut section, "store_passphrase").and_then(Result::ok);
    let recovery_key = secrets.take(&mut section, "recovery_key").and_then(Result::ok);
    let device_name = section.text("device_name").unwrap_or_else(|| "Countersign".into());
    let invites_from = section.take("invites_from").and_then(|entry| ids::user_ids(&entry, server)).unwrap_or_default();
    drop(section);
    Some(Matrix { homeserver: homeserver?, user: user?, login, store_passphrase, recovery_key, device_name, invites_from })
}

fn login(section: &mut Section<'_>, secrets: &Secrets<'_>) -> Option<Login> {
    let password = secrets.take(section, "password");
    let token = secrets.take(section, "access_token");
    let device_id = section.take("device_id");
    match (password, token, device_id) {
        (None, None, None) => None,
        (Some(_), Some(_), _) => {
            let advice = "keep the password or the access token, not both";
            section.problems.add(Origin::File, &section.at, "has two ways to log in", advice);
            None
        }
        (_, None, Some(device_id)) => {
            device_id.refuse("stands without an access token", "remove it; a login by password gets its own device");
            None
        }
        (None, Some(_), None) => {
            section.missing("device_id", "write the id of the device that the access token belongs to");
            None
        }
        (Some(password), None, None) => password.ok().map(Login::Password),
        (None, Some(token), Some(device_id)) => match (token, device_id.text()) {
            (Ok(token), Some(device_id)) => Some(Login::AccessToken { token, device_id }),
            (Err(Reported), _) | (_, None) => None,
        },
    }
}

/// Never shows the address, because a password can stand in it.
fn homeserver_url(entry: &Entry<'_>) -> Option<Url> {
    let text = entry.text()?;
    let example = "write it as \"https://matrix.example.org\"";
    let Ok(url) = Url::parse(&text) else {
        entry.refuse("is not an address", example);
        return None;
    };
    let is_bare = url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    if !is_bare {
        entry.refuse("holds more than a server's address", example);
        return None;
    }
    let is_loopback = match url.host() {
        Some(Host::Domain(domain)) => domain == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" => Some(url),
        "http" if is_loopback => Some(url),
        "http" => {
            entry.refuse("would send the bot's login and all cards unencrypted", "use https; http is for localhost only");
            None
        }
        _ => {
            entry.refuse("is not an https address", example);
            None
        }
    }
}
