//! A first configuration, from what an operator was asked for.

use toml::{Table, Value};

/// One room and its service. The values are as they were given; whether they fit is for [`crate::parse`] to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Starter {
    pub room: String,
    pub approvers: Vec<String>,
    pub lifetime: String,
    pub service: StarterService,
}

/// What only one service needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StarterService {
    Web { listen: String },
    Matrix { homeserver: String, user: String, room_id: String, invites_from: Vec<String> },
    Discord { channel: String, approver_roles: Vec<String> },
}

/// The file beside the configuration that holds the bot's token.
pub const DISCORD_TOKEN: &str = "discord-token";

/// The file beside the configuration that holds the account's password.
pub const MATRIX_PASSWORD: &str = "matrix-password";

impl Starter {
    /// The configuration as it is written: a comment for each key, and no value that could be more than a value.
    #[must_use]
    pub fn text(&self) -> String {
        let (account, room) = match &self.service {
            StarterService::Web { listen } => web(listen),
            StarterService::Matrix { homeserver, user, room_id, invites_from } => {
                (account_of_matrix(homeserver, user, invites_from), room_of_matrix(room_id))
            }
            StarterService::Discord { channel, approver_roles } => discord(channel, approver_roles),
        };
        let (policy, name) = (policy(&self.lifetime), key(&self.room));
        let approvers = list(&self.approvers);
        format!(
            "{HEAD}\n{policy}\n{account}\n# A room, by a name of your choice.\n[rooms.{name}]\n{room}approvers = {approvers}\n"
        )
    }
}

const HEAD: &str = "\
# Countersign, as `countersign init` wrote it. Change what you like: `countersign check` says whether it works. A key that
# is not known is refused. config/example.toml in Countersign's sources has every setting.
#
# Whoever can write this file decides who may answer. Keep it where your agents cannot write.
";

fn policy(lifetime: &str) -> String {
    let lifetime = text(lifetime);
    format!(
        "\
[policy]
# What happens to a permission request: \"ask\" shows it in the room, \"auto_deny\" refuses it at once. Nothing is ever
# allowed without a person.
default = \"ask\"
# How long a request waits for a person before it is refused: 1s to 30days.
lifetime = {lifetime}
# How a request is refused that no person answered: \"reject_once\" selects the agent's own option of that kind where it
# offered one; \"cancelled\" says that the request was cancelled, on which some agents end the turn.
refusal = \"reject_once\"
"
    )
}

fn web(listen: &str) -> (String, String) {
    let listen = text(listen);
    let page = format!(
        "\
# The page that Countersign serves itself.
[web]
# An address of this machine alone. To be reached from elsewhere it needs url, and tls_cert_file and tls_key_file or
# proxies.
listen = {listen}
"
    );
    let room = "\
web = true
# Who may answer, by the names that their keys were made for: `countersign web-room invite NAME` prints a link to join by.
# An empty list is nobody; the word \"anyone\" in its place is everybody who has a key for this room.
";
    (page, room.into())
}

fn account_of_matrix(homeserver: &str, user: &str, invites_from: &[String]) -> String {
    let (homeserver, user, invites_from) = (text(homeserver), text(user), list(invites_from));
    format!(
        "\
# The bot's own account.
[matrix]
# https, or http on localhost.
homeserver = {homeserver}
user = {user}
# The file beside this one that holds the password. Only its owner may read it.
password_file = \"{MATRIX_PASSWORD}\"
# Whose invitations the bot accepts. An empty list is nobody's.
invites_from = {invites_from}
"
    )
}

fn room_of_matrix(room_id: &str) -> String {
    let room_id = text(room_id);
    format!(
        "\
# Which Matrix room it is: its id, not an alias.
matrix = {room_id}
# Who may answer. An empty list is nobody; the word \"anyone\" in its place is every human in the room.
"
    )
}

fn discord(channel: &str, approver_roles: &[String]) -> (String, String) {
    let (channel, approver_roles) = (text(channel), list(approver_roles));
    let bot = format!(
        "\
# The bot on Discord.
[discord]
# The file beside this one that holds the bot's token. Only its owner may read it.
token_file = \"{DISCORD_TOKEN}\"
"
    );
    let room = format!(
        "\
# Which channel or thread it is: with Developer Mode on, right-click it, Copy Channel ID.
discord = {channel}
# Roles whose members may answer.
approver_roles = {approver_roles}
# Who may answer besides, by user ids: right-click a person, Copy User ID.
"
    );
    (bot, room)
}

fn text(value: &str) -> String {
    Value::from(value).to_string()
}

fn list(values: &[String]) -> String {
    Value::from(values.to_vec()).to_string()
}

/// A name between brackets, quoted where it must be.
fn key(name: &str) -> String {
    let line = Table::from_iter([(name.to_owned(), Value::Boolean(true))]).to_string();
    line.strip_suffix(" = true\n").unwrap_or("\"\"").to_owned()
}
