//! The secret that the account is logged in to with.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use bridge_config::Privacy;
use bridge_model::Secret;

use crate::cli::InitArgs;

/// The secret that a flag leads to, else the one that lies at its place already.
pub(super) fn secret(args: &InitArgs, place: Option<&Path>, can_ask: bool) -> Result<Option<Secret>, String> {
    let named = args.token_file.as_deref().or(args.password_file.as_deref());
    let text = match (named, place) {
        // From a terminal it is asked for instead, and not shown.
        (Some(named), _) if named == Path::new("-") && can_ask => return Ok(None),
        (Some(named), _) if named == Path::new("-") => {
            read(io::stdin()).map_err(|error| format!("standard input cannot be read ({error})"))?
        }
        (Some(named), _) => {
            let text = File::open(named).and_then(read);
            text.map_err(|error| format!("{} cannot be read ({error}); name a file with the secret alone", named.display()))?
        }
        (None, Some(place)) if place.symlink_metadata().is_ok() => {
            let text = bridge_config::read_named(place, Privacy::Secret);
            text.map_err(|unusable| format!("{}; {}", unusable.what, unusable.advice))?
        }
        (None, _) => return Ok(None),
    };
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(Some(Secret::new(text.strip_suffix('\r').unwrap_or(text))))
}

fn read(from: impl Read) -> io::Result<String> {
    /// No password and no token is near as long.
    const SECRET_BYTES_MAX: u64 = 64 * 1024;
    let mut text = String::new();
    from.take(SECRET_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}
