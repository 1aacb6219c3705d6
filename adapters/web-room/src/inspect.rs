//! What `countersign check` asks: can the page be served, and who could be on it.

use std::collections::BTreeMap;

use bridge_core::RoomError;
use bridge_model::{Person, RoomName};

use crate::keys::{KeyHolder, Keys, KeysError};
use crate::{Options, listen, people, refused};

/// A page, as it would be served now.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// What people open.
    pub url: String,
    /// Those of each room who have joined, or still can.
    pub members: BTreeMap<RoomName, Vec<Person>>,
}

/// Everybody who has a key, in the order of their names; nobody, if there never was one.
pub fn holders(options: &Options) -> Result<Vec<KeyHolder>, KeysError> {
    Keys::open_if_there(&options.folder, options.outside.clone())?.map_or(Ok(Vec::new()), |keys| keys.holders())
}

/// Opens the socket and closes it again.
pub async fn inspect(options: &Options) -> Result<Inspection, RoomError> {
    let listening = listen::open(options).await?;
    let holders = holders(options).map_err(refused)?;
    let now = (options.outside.now)();
    let can_come = |holder: &&KeyHolder| 0 < holder.sessions || !holder.link_until.has_passed(now);
    let members = options.rooms.iter().map(|room| {
        let mut members: Vec<_> =
            holders.iter().filter(can_come).filter(|holder| holder.rooms.contains(room)).map(|holder| &holder.person).collect();
        members.dedup();
        (room.clone(), members.into_iter().map(|person| people::facts(person, true)).collect())
    });
    Ok(Inspection { url: listening.own.origin, members: members.collect() })
}
