//! Finds files, and reads only those that others could not have written or read.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::unistd::Uid;

use crate::environment::Environment;
use crate::problem::ConfigError;
use crate::secret::Privacy;

/// The working directory, as a folder of relative paths.
pub(crate) const HERE: &str = "";
const NAME: &str = "countersign.toml";
const CONFIG_BYTES_MAX: u64 = 1024 * 1024;
const SECRET_BYTES_MAX: u64 = 64 * 1024;

/// A configuration file that was found and may be used.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    /// Absolute.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// It was not named by the operator and lies where the agent works.
    pub(crate) in_working_directory: bool,
}

/// Why a file is not used, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    pub what: String,
    pub advice: String,
}

/// Where a configuration is looked for when none is named, in this order.
pub fn places() -> Result<Vec<PathBuf>, ConfigError> {
    Ok(places_in(HERE, &Environment::of_this_process()?))
}

/// Where a new configuration belongs: the named file, else the one of `COUNTERSIGN_CONFIG`, else the one in the operator's
/// home. `None` without a home. Absolute.
pub fn new_place(explicit: Option<&Path>) -> Result<Option<PathBuf>, ConfigError> {
    Ok(new_place_in(explicit, &Environment::of_this_process()?))
}

fn new_place_in(explicit: Option<&Path>, environment: &Environment) -> Option<PathBuf> {
    let named = explicit.or_else(|| environment.get("COUNTERSIGN_CONFIG").map(Path::new)).map(Path::to_owned);
    let place = named.or_else(|| in_home(environment))?;
    Some(std::path::absolute(&place).unwrap_or(place))
}

/// The named file, else the one of `COUNTERSIGN_CONFIG`, else the first that exists at [`places`].
pub(crate) fn find(
    explicit: Option<&Path>,
    working_directory: &str,
    environment: &Environment,
) -> Result<Option<ConfigFile>, ConfigError> {
    let named = explicit.or_else(|| environment.get("COUNTERSIGN_CONFIG").map(Path::new));
    if let Some(path) = named {
        let file = read_config(path)?;
        return match file {
            Some(_) => Ok(file),
            None => Err(ConfigError::of_file(path, "does not exist", "name another file, or write this one")),
        };
    }
    let mut found = Vec::new();
    for (at, path) in places_in(working_directory, environment).iter().enumerate() {
        found.extend(read_config(path)?.map(|file| ConfigFile { in_working_directory: at == 0, ..file }));
    }
    // A cloned repository can bring a file of its own, which must not take the place of the operator's in silence.
    if let [here, yours, ..] = &found[..]
        && here.in_working_directory
    {
        let what = format!("lies in the working directory, and {} is there too", yours.path.display());
        return Err(ConfigError::of_file(&here.path, &what, "say which one to use, with --config"));
    }
    Ok(found.into_iter().next())
}

/// For [`crate::parse`] of a file that was found in the working directory, where an agent or a cloned repository may have
/// put it: it must not send secrets from elsewhere to a server of its choosing.
pub(crate) fn read_beside(config: &Path, path: &Path, privacy: Privacy) -> Result<String, Unusable> {
    let folder = config.parent().and_then(|folder| folder.canonicalize().ok());
    let is_beside = folder.zip(path.canonicalize().ok()).is_some_and(|(folder, path)| path.starts_with(folder));
    if is_beside {
        return read_named(path, privacy);
    }
    Err(Unusable {
        what: "names a file outside of the working directory, in a configuration that was found there".into(),
        advice: "name the configuration with --config, or keep it in ~/.config/countersign".into(),
    })
}

/// For [`crate::parse`]: a file that only its owner can write, and a secret only its owner can read.
pub fn read_named(path: &Path, privacy: Privacy) -> Result<String, Unusable> {
    let file = open(path).map_err(|error| Unusable {
        // The path stays out of it, in case that a secret was written there instead.
        what: format!("names a file that cannot be read ({})", error.kind()),
        advice: "write the path of a file that holds what is asked for and nothing else".into(),
    })?;
    let forbidden_mode = match privacy {
        Privacy::Secret => 0o077,
        Privacy::Public => 0o022,
    };
    read(file, path, forbidden_mode, SECRET_BYTES_MAX)
}

/// The working directory first.
fn places_in(working_directory: &str, environment: &Environment) -> Vec<PathBuf> {
    [Path::new(working_directory).join(NAME)].into_iter().chain(in_home(environment)).collect()
}

fn in_home(environment: &Environment) -> Option<PathBuf> {
    let config_home = environment.folder("XDG_CONFIG_HOME");
    let config_home = config_home.or_else(|| environment.folder("HOME").map(|home| home.join(".config")));
    config_home.map(|folder| folder.join("countersign").join(NAME))
}

/// Makes a folder that nobody else can read, if it is missing; one that others could change is refused.
pub fn private_folder(path: &Path) -> Result<(), Unusable> {
    let at = path.display();
    let unusable = |error: std::io::Error| Unusable {
        what: format!("{at} cannot be used: {error}"),
        advice: "make it a folder that this user can write to".into(),
    };
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(unusable)?;
    let folder = std::fs::metadata(path).map_err(unusable)?;
    let this_user = Uid::effective().as_raw();
    if folder.uid() != this_user {
        let what = format!("{at} belongs to user {}, who could change what is kept there", folder.uid());
        return Err(Unusable { what, advice: format!("make it your own: chown {this_user} {at}") });
    }
    if folder.mode() & 0o022 != 0 {
        let what = format!("{at} can be written by other users");
        return Err(Unusable { what, advice: format!("run: chmod go-w {at}") });
    }
    Ok(())
}

/// `None` if there is no such file. Whoever can write it decides who may answer.
fn read_config(path: &Path) -> Result<Option<ConfigFile>, ConfigError> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(ConfigError::of_file(path, error.to_string(), "let this user read it")),
    };
    let owner = file.metadata().map(|metadata| metadata.uid());
    let this_user = Uid::effective().as_raw();
    match owner {
        Ok(owner) if owner == 0 || owner == this_user => {}
        Ok(owner) => {
            let what = format!("belongs to user {owner}, who could change who may answer");
            let advice = format!("make it your own: chown {this_user} {}", path.display());
            return Err(ConfigError::of_file(path, what, advice));
        }
        Err(error) => return Err(ConfigError::of_file(path, error.to_string(), "check the file system")),
    }
    let text = read(file, path, 0o022, CONFIG_BYTES_MAX);
    let text = text.map_err(|unusable| ConfigError::of_file(path, unusable.what, unusable.advice))?;
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Ok(Some(ConfigFile { path, text, in_working_directory: false }))
}

/// Does not wait, as opening a pipe would.
fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)
}

/// Looks at the open file, so that it cannot be exchanged between the look and the reading.
fn read(file: File, path: &Path, forbidden_mode: u32, bytes_max: u64) -> Result<String, Unusable> {
    let unusable = |what: String, advice: String| Err(Unusable { what, advice });
    let at = path.display();
    let metadata = match file.metadata() {
        Ok(metadata) if metadata.is_file() => metadata,
        Ok(_) => return unusable(format!("{at} is not a regular file"), "name a regular file".into()),
        Err(error) => return unusable(error.to_string(), "check the file system".into()),
    };
    if metadata.mode() & forbidden_mode != 0 {
        let (verb, change) = if forbidden_mode & 0o044 == 0 { ("written", "go-w") } else { ("read", "go=") };
        return unusable(format!("{at} can be {verb} by other users"), format!("run: chmod {change} {at}"));
    }
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file that is too large from one that just fits.
    if let Err(error) = file.take(bytes_max + 1).read_to_end(&mut bytes) {
        return unusable(format!("{at} cannot be read ({error})"), "check the file".into());
    }
    if u64::try_from(bytes.len()).is_ok_and(|len| bytes_max < len) {
        return unusable(format!("{at} is larger than {} KiB", bytes_max / 1024), "name the right file".into());
    }
    String::from_utf8(bytes).or_else(|error| {
        let line = 1 + error.as_bytes().iter().take(error.utf8_error().valid_up_to()).filter(|b| **b == b'\n').count();
        unusable(format!("{at} is not valid UTF-8 (line {line})"), "save it as UTF-8".into())
    })
}

#[cfg(test)]
mod tests;
