//! `[http]`: where programs raise requests.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bridge_model::RoomName;

use crate::rooms::RoomConfig;
use crate::rules::span;
use crate::section::Section;

/// Where `countersign serve` is reached by programs and by remote agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Http {
    /// A Unix socket, which only its owner can connect to.
    pub socket: PathBuf,
    /// An address on this machine besides.
    pub listen: Option<SocketAddr>,
    /// Which room is asked where a request names none. `None`: it has to name one.
    pub room: Option<RoomName>,
    /// How long a caller may be away before its requests are withdrawn that are not detached.
    pub lease: Duration,
}

const LEASE: Duration = Duration::from_mins(1);
const LEASE_MIN: Duration = Duration::from_secs(10);
const LEASE_MAX: Duration = Duration::from_hours(1);

pub(crate) fn http(section: Option<Section<'_>>, state_dir: &Path, rooms: &BTreeMap<RoomName, Option<RoomConfig>>) -> Http {
    let mut section = section;
    let mut take = |key| section.as_mut().and_then(|section| section.take(key));
    let socket = take("socket").and_then(|entry| {
        let path = PathBuf::from(entry.text()?);
        if !path.is_absolute() {
            entry.refuse(format!("{:?} depends on where the program is started", path.display()), "write an absolute path");
        }
        Some(path)
    });
    let listen = take("listen").and_then(|entry| {
        let address = entry.address("127.0.0.1:7392")?;
        if !address.ip().is_loopback() {
            entry.refuse(
                format!("{address} can be reached from elsewhere without encryption"),
                "listen on 127.0.0.1, and let others in through SSH or a proxy with TLS",
            );
        }
        Some(address)
    });
    let lease = take("lease").and_then(|entry| span(&entry, LEASE_MIN, LEASE_MAX)).unwrap_or(LEASE);
    let room = match (take("room"), rooms.len()) {
        (Some(entry), _) => entry.text().and_then(|text| {
            let room = rooms.keys().find(|room| room.as_str() == text).cloned();
            if room.is_none() {
                let names = rooms.keys().map(RoomName::as_str).collect::<Vec<_>>().join(", ");
                entry.refuse(format!("{text:?} is not a configured room"), format!("use one of {names}"));
            }
            room
        }),
        (None, 1) => rooms.keys().next().cloned(),
        (None, _) => None,
    };
    Http { socket: socket.unwrap_or_else(|| state_dir.join("countersign.sock")), listen, room, lease }
}
