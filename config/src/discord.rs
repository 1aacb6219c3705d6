//! `[discord]`: the bot that Countersign has.

use std::net::SocketAddr;
use std::time::Duration;

use bridge_model::Secret;

use crate::problem::Origin;
use crate::secret::Secrets;
use crate::section::Section;

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
    let connect_to = section.take("connect_to").and_then(|entry| entry.address("127.0.0.1:8443"));
    let ca = section.take("ca_file").and_then(|entry| secrets.public(&entry));
    let token = token.map(|token| token.map(|token| bare(&token)));
    if let Some(Ok(token)) = &token {
        check_token(token, &section);
    }
    drop(section);
    Some(Discord { token: token?.ok()?, connect_to, ca })
}

/// Some keep it with the word that stands before it in a header.
fn bare(token: &Secret) -> Secret {
    let text = token.expose().trim();
    Secret::new(text.strip_prefix("Bot ").unwrap_or(text))
}

/// What is surely no token is said at once; Discord would only say that it does not know it.
fn check_token(token: &Secret, section: &Section<'_>) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if token.expose().is_empty() || !token.expose().chars().all(is_part) {
        let advice = "put the token there alone, in one line, without quotes, as the Developer Portal shows it";
        section.problems.add(Origin::File, &section.path("token"), "leads to something that is no token", advice);
    }
}

/// Whether each session's cards go into a thread of their own.
pub(crate) fn threads(section: &mut Section<'_>, lifetime: Duration) -> bool {
    let Some(entry) = section.take("threads") else { return false };
    match entry.text().as_deref() {
        Some("per-session") if THREAD_LIFETIME_MAX < lifetime => entry.refuse(
            "does not go with requests that wait for more than 6 days, since Discord archives threads after a week",
            "shorten policy.lifetime and policy.detached_lifetime, or use \"none\"",
        ),
        Some("per-session") => return true,
        Some("none") | None => {}
        Some(text) => entry.refuse(format!("{text:?} is not known"), "use \"none\" or \"per-session\""),
    }
    false
}
