//! What the page needs to know.

use std::sync::Arc;

use bridge_config::{Config, Service};
use web_room::{Options, Outside, Tls};

use crate::clock::Clock;
use crate::tokens::random;

/// `None` if no room is on the page.
pub(crate) fn options(config: &Config) -> Option<Options> {
    let rooms = config.rooms.iter().filter(|(_, room)| room.service == Service::Web).map(|(name, _)| name.clone()).collect();
    let options = Options {
        listen: config.web.listen,
        url: config.web.url.as_ref().map(|url| url.origin().ascii_serialization()),
        tls: config.web.tls.as_ref().map(|tls| Tls { certificates: tls.certificates.clone(), key: tls.key.clone() }),
        proxies: config.web.proxies.clone(),
        folder: config.state_dir.clone(),
        rooms,
        outside: outside(),
    };
    (!options.rooms.is_empty()).then_some(options)
}

fn outside() -> Outside {
    let clock = Clock::default();
    Outside { now: Arc::new(move || clock.now()), random }
}
