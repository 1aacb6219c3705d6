//! What `countersign check` asks: can the page be served, and who has a key for it.

use bridge_core::RoomError;

use crate::keys::{KeyHolder, Keys};
use crate::{Options, listen, refused};

/// A page, as it would be served now.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// What people open.
    pub url: String,
    pub holders: Vec<KeyHolder>,
}

/// Opens the socket and closes it again.
pub async fn inspect(options: &Options) -> Result<Inspection, RoomError> {
    let listening = listen::open(options).await?;
    let keys = Keys::open(&options.folder, options.outside.clone()).map_err(refused)?;
    Ok(Inspection { url: listening.origins.first().to_owned(), holders: keys.holders().map_err(refused)? })
}
