//! `[rooms.NAME]`: where cards go, and whose clicks count there.

use std::collections::{BTreeMap, BTreeSet};

use bridge_model::RoomName;
use policy::{Approvers, Who};

use crate::ids;
use crate::matrix::Matrix;
use crate::problem::Problems;
use crate::section::{Entry, Section};

/// One room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomConfig {
    pub service: Service,
    pub approvers: Approvers,
}

/// Which room of which service it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Service {
    Matrix {
        room_id: String,
        /// Reactions are a control too, for clients without polls. Never in an encrypted room.
        reactions: bool,
    },
}

/// What the rooms are checked against.
pub(crate) struct Around<'a> {
    pub(crate) problems: &'a Problems,
    /// `[matrix]` is there, whether or not it was understood.
    pub(crate) has_matrix: bool,
    pub(crate) matrix: Option<&'a Matrix>,
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
    if rooms.is_empty() {
        around.problems.warn("no room is configured, so every permission request is refused");
    }
    rooms
}

/// `taken` is the room ids of the rooms before, each with the path of its room.
fn room(mut section: Section<'_>, around: &Around<'_>, taken: &mut BTreeMap<String, String>) -> Option<RoomConfig> {
    let server = around.matrix.and_then(|matrix| ids::server(&matrix.user)).unwrap_or("example.org");
    let service = service(&mut section, around, taken);
    let who = section.take("approvers").map_or_else(|| Some(Who::Listed(BTreeSet::new())), |entry| who(&entry, server));
    let power_min = section.take("power_min").and_then(|entry| entry.integer());
    let bots = section.take("bots").and_then(|entry| ids::user_ids(&entry, server)).unwrap_or_default();
    let approvers = Approvers { who: who?, power_min, bots };
    warn(&section.at, &approvers, around);
    Some(RoomConfig { service: service?, approvers })
}

/// Exactly one service's key says which room it is.
fn service(section: &mut Section<'_>, around: &Around<'_>, taken: &mut BTreeMap<String, String>) -> Option<Service> {
    let matrix = section.take("matrix");
    let reactions = section.flag("reactions").unwrap_or(false);
    let Some(matrix) = matrix else {
        section.missing("matrix", "say which Matrix room it is, such as matrix = \"!abc:example.org\"");
        return None;
    };
    if !around.has_matrix {
        matrix.refuse("needs an account to post with", "add a [matrix] section with homeserver and user");
    }
    let at = matrix.at.clone();
    let room_id = ids::room_id(&matrix)?;
    if let Some(other) = taken.insert(room_id.clone(), section.at.clone()) {
        let what = format!("is the Matrix room of {other} already");
        section.problems.add(crate::Origin::File, &at, what, "give each Matrix room one name, with one list of approvers");
    }
    Some(Service::Matrix { room_id, reactions })
}

fn who(entry: &Entry<'_>, server: &str) -> Option<Who> {
    if entry.is_word("anyone") {
        return Some(Who::Anyone);
    }
    if entry.is_text_in_file() {
        entry.refuse("is text other than \"anyone\"", "write a list of user ids in brackets, or \"anyone\"");
        return None;
    }
    ids::user_ids(entry, server).map(Who::Listed)
}

fn warn(at: &str, approvers: &Approvers, around: &Around<'_>) {
    let Who::Listed(listed) = &approvers.who else { return };
    if listed.is_empty() {
        around.problems.warn(format!("{at}.approvers is empty, so nobody can answer there and every request expires"));
    }
    let own = around.matrix.map(|matrix| &matrix.user);
    for id in listed {
        let why = match (own == Some(id), approvers.bots.contains(id)) {
            (true, _) => "which is Countersign's own account",
            (false, true) => "which is listed as a bot",
            (false, false) => continue,
        };
        around.problems.warn(format!("{at}.approvers lists {id}, {why}, so its clicks never count"));
    }
}
