//! `[discord]`: the bot that Countersign has, and what its rooms can be told.

use std::net::SocketAddr;
use std::time::Duration;

use bridge_model::Secret;

use crate::ids;
use crate::problem::Origin;
use crate::rooms::Service;
use crate::secret::Secrets;
use crate::section::{Entry, Section};

/// The bot that posts cards and counts clicks.
#[derive(Clone, Debug)]
pub struct Discord {
    pub token: Secret,
    /// Where `discord.com` is reached, if not where the name leads.
    pub connect_to: Option<SocketAddr>,
    /// Certificates, in PEM, to trust for `discord.com` in place of the public ones.
    pub ca: Option<String>,
}

/// A thread that nobody writes to is archived after a week, and then its buttons are dead.
const THREAD_LIFETIME_MAX: Duration = Duration::from_hours(6 * 24);

/// `None`: a problem, which has been reported.
pub(crate) fn discord(mut section: Section<'_>, secrets: &Secrets<'_>) -> Option<Discord> {
    let token = secrets.take(&mut section, "token");
    if token.is_none() {
        section.missing("token_file", "name a file with the bot's token, from the Developer Portal under Bot, Reset Token");
    }
    let connect_to = section.take("connect_to").and_then(|entry| address(&entry));
    let ca = section.take("ca_file").and_then(|entry| secrets.public(&entry));
    let token = token.map(|token| token.map(|token| Secret::new(token.expose().trim())));
    if let Some(Ok(token)) = &token {
        check_token(token, &section);
    }
    drop(section);
    Some(Discord { token: token?.ok()?, connect_to, ca })
}

/// What is surely no token is said at once; Discord would only say that it does not know it.
fn check_token(token: &Secret, section: &Section<'_>) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let bare = token.expose().strip_prefix("Bot ").unwrap_or(token.expose());
    if bare.is_empty() || !bare.chars().all(is_part) {
        let advice = "put the token there alone, in one line, without quotes, as the Developer Portal shows it";
        section.problems.add(Origin::File, &section.path("token"), "leads to something that is no token", advice);
    }
}

fn address(entry: &Entry<'_>) -> Option<SocketAddr> {
    let text = entry.text()?;
    let address = text.parse().ok();
    if address.is_none() {
        entry.refuse(format!("{text:?} is not an address"), "write an IP address and a port, such as \"127.0.0.1:8443\"");
    }
    address
}

/// The keys of a Discord room besides those of every room.
pub(crate) fn room(section: &mut Section<'_>, channel: Option<&Entry<'_>>, lifetime: Duration) -> Option<Service> {
    let threads = section.take("threads").and_then(|entry| threads(&entry, lifetime)).unwrap_or(false);
    let mention = section.flag("mention").unwrap_or(false);
    let channel = ids::snowflake(channel?, "channel", "Copy Channel ID")?;
    Some(Service::Discord { channel, thread_per_session: threads, mention })
}

fn threads(entry: &Entry<'_>, lifetime: Duration) -> Option<bool> {
    let text = entry.text()?;
    match text.as_str() {
        "none" => Some(false),
        "per-session" if lifetime <= THREAD_LIFETIME_MAX => Some(true),
        "per-session" => {
            entry.refuse(
                "does not go with a policy.lifetime of more than 6 days, since Discord archives threads after a week",
                "shorten policy.lifetime, or use \"none\"",
            );
            None
        }
        _ => {
            entry.refuse(format!("{text:?} is not known"), "use \"none\" or \"per-session\"");
            None
        }
    }
}
