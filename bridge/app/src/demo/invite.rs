//! How the person gets onto the page.

use std::io;

use bridge_config::Config;
use bridge_model::PersonId;

use crate::cli::LINK_FOR;
use crate::{setup, web_room};

/// The link that lets the one person of the demo answer.
pub(super) fn invite(config: &Config, person: &PersonId) -> io::Result<String> {
    let options = setup::web::options(config).ok_or_else(|| io::Error::other("no room is on the page"))?;
    web_room::invite(&options, person, &[], LINK_FOR).map_err(io::Error::other)
}
