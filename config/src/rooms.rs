//! `[rooms.NAME]`: where cards go, and whose clicks count there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bridge_model::{PersonId, RoomName};
use policy::{Approvals, Approvers, Listed, WhenNobody, Who};

use crate::answers::{Answers, Told, Wrong, answers};
use crate::discord;
use crate::ids;
use crate::matrix::Matrix;
use crate::problem::{Origin, Problems};
use crate::section::{Entry, Section};

/// One room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomConfig {
    pub service: Service,
    /// Who may answer there, and what else it takes.
    pub answers: Answers,
    /// How much of a request its cards show.
    pub details: Details,
}

impl RoomConfig {
    /// Somebody by their id in this room's service; `None` if that is nobody's id there.
    #[must_use]
    pub fn person(&self, text: &str) -> Option<PersonId> {
        let is_id = match &self.service {
            Service::Matrix { .. } => ids::is_user_id(text),
            Service::Discord { .. } => ids::is_snowflake(text),
            Service::Web => ids::person_name(text).is_some(),
        };
        is_id.then(|| PersonId::new(text))
    }

    /// Whether somebody may not answer what they launched.
    #[must_use]
    pub fn asks_who_launched(&self) -> bool {
        self.answers.all_rules().any(|(_, rules)| !rules.requester_may_answer)
    }
}

/// How much of a request a room's cards show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Details {
    #[default]
    Full,
    /// Title, kind, files and content, and not what the agent gave the tool.
    Described,
}

/// Which room of which service it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Service {
    Matrix {
        room_id: String,
        /// Reactions are a control too, for clients without polls. Never in an encrypted room.
        reactions: bool,
    },
    Discord {
        /// The id of a channel or thread.
        channel: String,
        /// Each agent session's cards go into a thread of their own.
        thread_per_session: bool,
        /// Cards mention the approvers.
        mention: bool,
    },
    /// On the page that the bridge serves itself.
    Web,
}

/// What the rooms are checked against.
pub(crate) struct Around<'a> {
    pub(crate) problems: &'a Problems,
    /// `[matrix]` is there, whether or not it was understood.
    pub(crate) has_matrix: bool,
    pub(crate) matrix: Option<&'a Matrix>,
    /// `[discord]` is there, whether or not it was understood.
    pub(crate) has_discord: bool,
    /// How long a request waits.
    pub(crate) lifetime: Duration,
    /// Of any request, also one that outlives its turn.
    pub(crate) lifetime_max: Duration,
}

/// Every room by its name; `None` for one with a problem.
pub(crate) fn rooms(section: Option<Section<'_>>, around: &Around<'_>) -> BTreeMap<RoomName, Option<RoomConfig>> {
    let entries = section.map(|mut section| section.take_rest()).unwrap_or_default();
    let mut rooms = BTreeMap::new();
    let mut taken = BTreeMap::new();
    for (name, entry) in entries {
        let valid_name = ids::room_name(&name, &entry);
        let Some(section) = entry.section() else { continue };
        let room = room(section, around, &mut taken);
        if let Some(name) = valid_name {
            rooms.insert(name, room);
        }
    }
    check_escalations(&rooms, around);
    if rooms.is_empty() {
        around.problems.warn("no room is configured, so every permission request is refused");
    }
    rooms
}

/// Where requests are escalated has to be a room, and whom that mentions people of its service.
fn check_escalations(rooms: &BTreeMap<RoomName, Option<RoomConfig>>, around: &Around<'_>) {
    for (name, room) in rooms {
        let Some(escalate) = room.as_ref().and_then(|room| room.answers.escalate.as_ref()) else { continue };
        let target = escalate.room.as_ref().unwrap_or(name);
        let path = format!("rooms.{name}.escalate");
        let Some(target) = rooms.get(target) else {
            let what = format!("\"{target}\" is not a configured room");
            around.problems.add(Origin::File, &format!("{path}.room"), what, format!("add it as [rooms.{target}]"));
            continue;
        };
        let Some(target) = target else { continue };
        for person in &escalate.mention {
            if target.person(person.as_str()).is_none() {
                let what = format!("\"{person}\" is nobody's id in that room's service");
                around.problems.add(Origin::File, &format!("{path}.mention"), what, "write ids as under approvers of that room");
            }
        }
    }
}

/// `taken` is the ids of the rooms before, each with the path of its room.
fn room(mut section: Section<'_>, around: &Around<'_>, taken: &mut BTreeMap<String, String>) -> Option<RoomConfig> {
    let services = ["matrix", "discord", "web"].map(|key| (key, section.take(key)));
    let mut named = services.into_iter().filter_map(|(key, entry)| Some((key, entry?)));
    let (first, second) = (named.next(), named.next());
    if let (Some((first, _)), Some((_, second))) = (&first, second) {
        second.refuse(format!("stands beside {first}"), "give each room a section of its own");
        section.take_rest();
        return None;
    }
    match first {
        Some(("matrix", id)) => matrix_room(section, Some(&id), around, taken),
        Some(("discord", id)) => discord_room(section, Some(&id), around, taken),
        Some((_, flag)) => web_room(section, &flag, around),
        None => room_of_no_service(section, around, taken),
    }
}

/// What else is wrong is told too, as far as it is known what belongs there.
fn room_of_no_service(mut section: Section<'_>, around: &Around<'_>, taken: &mut BTreeMap<String, String>) -> Option<RoomConfig> {
    let matrix = "matrix = \"!abc:example.org\"";
    let discord = "discord = \"123456789012345678\"";
    let missing = |section: &Section<'_>, key, example: &str| {
        section.missing(key, format!("say which room it is, such as {example}"));
    };
    match (around.has_matrix, around.has_discord) {
        (true, false) => {
            missing(&section, "matrix", matrix);
            matrix_room(section, None, around, taken)
        }
        (false, true) => {
            missing(&section, "discord", discord);
            discord_room(section, None, around, taken)
        }
        (true, true) | (false, false) => {
            missing(&section, "matrix, discord or web", &format!("{matrix}, {discord} or web = true"));
            section.take_rest();
            None
        }
    }
}

fn web_room(mut section: Section<'_>, flag: &Entry<'_>, around: &Around<'_>) -> Option<RoomConfig> {
    let people = ids::web_people::<BTreeSet<_>>;
    let approvers = |section: &mut Section<'_>| who(section, people);
    let who = approvers(&mut section);
    let bots = section.take("bots").and_then(|entry| people(&entry)).unwrap_or_default();
    let details = details(&mut section);
    refuse_foreign(&mut section, "web");
    if flag.flag() == Some(false) {
        flag.refuse("is false, so it is no room at all", "write web = true, or remove the section");
    }
    let answers =
        answers(&mut section, Approvers { who: nobody_unless(&who), power_min: None, bots }, around.lifetime, approvers)?;
    who.ok()?;
    warn(&section.at, &answers, around);
    Some(RoomConfig { service: Service::Web, answers, details })
}

fn matrix_room(
    mut section: Section<'_>,
    id: Option<&Entry<'_>>,
    around: &Around<'_>,
    taken: &mut BTreeMap<String, String>,
) -> Option<RoomConfig> {
    let server = around.matrix.and_then(|matrix| ids::server(&matrix.user)).unwrap_or("example.org");
    let people = |entry: &Entry<'_>| ids::user_ids::<BTreeSet<_>>(entry, server);
    let reactions = section.flag("reactions").unwrap_or(false);
    let approvers = |section: &mut Section<'_>| who(section, people);
    let who = approvers(&mut section);
    let power_min = section.take("power_min").and_then(|entry| entry.integer());
    let bots = section.take("bots").and_then(|entry| people(&entry)).unwrap_or_default();
    let details = details(&mut section);
    refuse_foreign(&mut section, "Matrix");
    if let Some(id) = id.filter(|_| !around.has_matrix) {
        id.refuse("needs an account to post with", "add a [matrix] section with homeserver and user");
    }
    let room_id = id.and_then(|id| ids::room_id(id).filter(|room_id| is_free(&section, id, room_id, taken)));
    let answers = answers(&mut section, Approvers { who: nobody_unless(&who), power_min, bots }, around.lifetime, approvers)?;
    who.ok()?;
    warn(&section.at, &answers, around);
    Some(RoomConfig { service: Service::Matrix { room_id: room_id?, reactions }, answers, details })
}

fn discord_room(
    mut section: Section<'_>,
    id: Option<&Entry<'_>>,
    around: &Around<'_>,
    taken: &mut BTreeMap<String, String>,
) -> Option<RoomConfig> {
    let people = ids::discord_users::<BTreeSet<_>>;
    let who = discord_who(&mut section);
    let bots = section.take("bots").and_then(|entry| people(&entry)).unwrap_or_default();
    let details = details(&mut section);
    refuse_foreign(&mut section, "Discord");
    if let Some(id) = id.filter(|_| !around.has_discord) {
        id.refuse("needs a bot to post with", "add a [discord] section with token_file");
    }
    let thread_per_session = discord::threads(&mut section, around.lifetime_max);
    let mention = section.flag("mention").unwrap_or(false);
    let channel = id.and_then(|id| ids::channel(id).filter(|channel| is_free(&section, id, channel, taken)));
    let approvers = Approvers { who: nobody_unless(&who), power_min: None, bots };
    if mention {
        check_mention(&section, &approvers.who, around);
    }
    let answers = answers(&mut section, approvers, around.lifetime, discord_who)?;
    who.ok()?;
    warn(&section.at, &answers, around);
    Some(RoomConfig { service: Service::Discord { channel: channel?, thread_per_session, mention }, answers, details })
}

fn details(section: &mut Section<'_>) -> Details {
    let Some(entry) = section.take("details") else { return Details::default() };
    match entry.text().as_deref() {
        Some("full") => return Details::Full,
        Some("described") => return Details::Described,
        Some(other) => entry.refuse(format!("{other:?} is not a way to show a request"), "use full or described"),
        None => {}
    }
    Details::default()
}

/// Whom a card would mention.
fn check_mention(section: &Section<'_>, who: &Who, around: &Around<'_>) {
    /// More do not fit beside a card's text.
    const MENTIONED_MAX: usize = 20;
    let path = section.path("mention");
    match who {
        Who::Anyone => around.problems.warn(format!("{path} mentions nobody, because approvers is \"anyone\"")),
        Who::Listed(listed) => {
            let count = listed.people.len() + listed.roles.len();
            if MENTIONED_MAX < count {
                let what = format!("would mention {count} people and roles on every card");
                section.problems.add(Origin::File, &path, what, "give them a role, and list that under approver_roles");
            }
        }
    }
}

/// Keys that only one service knows.
const KEYS_OF_ONE: [(&str, &str); 5] = [
    ("approver_roles", "Discord"),
    ("threads", "Discord"),
    ("mention", "Discord"),
    ("reactions", "Matrix"),
    ("power_min", "Matrix"),
];

/// Keys that only another service knows.
fn refuse_foreign(section: &mut Section<'_>, own: &str) {
    for (key, service) in KEYS_OF_ONE.into_iter().filter(|(_, service)| *service != own) {
        if let Some(entry) = section.take(key) {
            entry.refuse(format!("is for {service} rooms"), "remove it");
        }
    }
}

fn is_free(section: &Section<'_>, id: &Entry<'_>, text: &str, taken: &mut BTreeMap<String, String>) -> bool {
    let other = taken.insert(text.to_owned(), section.at.clone());
    if let Some(other) = &other {
        id.refuse(format!("is the room of {other} already"), "give each room one name, with one list of approvers");
    }
    other.is_none()
}

/// By ids and by roles.
fn discord_who(section: &mut Section<'_>) -> Told {
    let people = who(section, ids::discord_users::<BTreeSet<_>>)?;
    let Some(roles) = section.take("approver_roles") else { return Ok(people) };
    match people {
        Some(Who::Anyone) => {
            roles.refuse("stands beside approvers = \"anyone\"", "keep one of them");
            Err(Wrong)
        }
        Some(Who::Listed(listed)) => Ok(Some(Who::Listed(Listed { roles: ids::discord_roles(&roles).ok_or(Wrong)?, ..listed }))),
        None => Ok(Some(Who::Listed(Listed { roles: ids::discord_roles(&roles).ok_or(Wrong)?, ..Listed::default() }))),
    }
}

/// Where it does not say, that is nobody.
fn nobody_unless(who: &Told) -> Who {
    who.clone().ok().flatten().unwrap_or_else(|| Who::Listed(Listed::default()))
}

fn who(section: &mut Section<'_>, people: impl Fn(&Entry<'_>) -> Option<BTreeSet<PersonId>>) -> Told {
    let Some(entry) = section.take("approvers") else { return Ok(None) };
    if entry.is_word("anyone") {
        return Ok(Some(Who::Anyone));
    }
    if entry.is_text_in_file() {
        entry.refuse("is text other than \"anyone\"", "write a list of user ids in brackets, or \"anyone\"");
        return Err(Wrong);
    }
    people(&entry).map(|people| Some(Who::Listed(Listed::people(people)))).ok_or(Wrong)
}

fn warn(at: &str, answers: &Answers, around: &Around<'_>) {
    for (kind, rules) in answers.all_rules() {
        let at = kind.map_or_else(|| at.to_owned(), |kind| format!("{at}.kinds.{}", kind.name()));
        // What a kind has from its room was said of the room.
        if kind.is_none() || rules.approvers != answers.rules.approvers {
            warn_of_approvers(&at, &rules.approvers, answers.when_nobody, around);
        }
        let is_new = kind.is_none() || *rules != answers.rules;
        if let Who::Listed(Listed { people, roles }) = &rules.approvers.who
            && (is_new && rules.approvals == Approvals::Two && people.len() == 1 && roles.is_empty())
        {
            around.problems.warn(format!("{at}.approvals is 2, and there is one approver, so nothing can be allowed there"));
        }
        if is_new && around.lifetime <= rules.arm_delay {
            around.problems.warn(format!("{at}.arm_delay is as long as requests wait, so nothing can be allowed there"));
        }
    }
}

fn warn_of_approvers(at: &str, approvers: &Approvers, when_nobody: WhenNobody, around: &Around<'_>) {
    let Who::Listed(listed) = &approvers.who else { return };
    if listed.is_empty() {
        let so = match when_nobody {
            WhenNobody::Refuse => "every request is refused at once",
            WhenNobody::Wait => "every request expires",
        };
        around.problems.warn(format!("{at}.approvers is empty, so nobody can answer there and {so}"));
    }
    let own = around.matrix.map(|matrix| &matrix.user);
    for id in &listed.people {
        let why = match (own == Some(id), approvers.bots.contains(id)) {
            (true, _) => "which is Countersign's own account",
            (false, true) => "which is listed as a bot",
            (false, false) => continue,
        };
        around.problems.warn(format!("{at}.approvers lists {id}, {why}, so its clicks never count"));
    }
}
