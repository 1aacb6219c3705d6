//! Where a program that raises requests finds its bridge, and what shows who it is.

use std::path::Path;

use bridge_model::Secret;

use crate::environment::Environment;
use crate::file::read_named;
use crate::secret::Privacy;

const BRIDGE: &str = "COUNTERSIGN_BRIDGE";
const TOKEN: &str = "COUNTERSIGN_TOKEN";

/// The bridges to try, as they were written, and the token for them.
#[derive(Debug)]
pub struct Reach {
    /// At least one.
    pub bridges: Vec<String>,
    pub token: Secret,
}

impl Reach {
    /// Variables that an agent must not inherit.
    pub const OWN_VARIABLES: [&str; 2] = [BRIDGE, TOKEN];

    /// As the command line has it, else as `COUNTERSIGN_BRIDGE` (separated by commas) and `COUNTERSIGN_TOKEN` have it. The error
    /// says what to do.
    pub fn find(named: &[String], token_file: Option<&Path>) -> Result<Self, String> {
        let environment = Environment::of_this_process().map_err(|problems| problems.to_string())?;
        Self::find_in(&environment, named, token_file)
    }

    fn find_in(environment: &Environment, named: &[String], token_file: Option<&Path>) -> Result<Self, String> {
        let told = environment.get(BRIDGE).unwrap_or_default().split(',').map(str::trim).filter(|bridge| !bridge.is_empty());
        let bridges = if named.is_empty() { told.map(str::to_owned).collect() } else { named.to_vec() };
        if bridges.is_empty() {
            return Err(format!("no bridge is named; add --bridge with its URL or its socket, or set {BRIDGE}"));
        }
        let token = match token_file {
            Some(path) => read_named(path, Privacy::Secret)
                .map_err(|unusable| format!("--token-file {} {}; {}", path.display(), unusable.what, unusable.advice))?,
            None => environment.get(TOKEN).unwrap_or_default().to_owned(),
        };
        let token = token.trim();
        if token.is_empty() {
            return Err(format!(
                "there is no token; add --token-file, or set {TOKEN}; `countersign token new NAME` makes one where the bridge runs"
            ));
        }
        Ok(Self { bridges, token: Secret::new(token) })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_command_line_comes_before_the_environment_and_nothing_is_an_error() {
        let environment = |variables: &[(&str, &str)]| variables.iter().copied().collect::<Environment>();
        let both = environment(&[(BRIDGE, "https://a.example, /run/b.sock,"), (TOKEN, "from-the-environment")]);
        let found = Reach::find_in(&both, &[], None).expect("found");
        assert_eq!(
            (found.bridges, found.token.expose()),
            (vec!["https://a.example".into(), "/run/b.sock".into()], "from-the-environment")
        );
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("token");
        std::fs::write(&file, "from-the-file\n").expect("written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("changed");
        let found = Reach::find_in(&both, &["/run/c.sock".to_owned()], Some(&file)).expect("found");
        assert_eq!((found.bridges, found.token.expose()), (vec!["/run/c.sock".into()], "from-the-file"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("changed");
        for (environment, named, file) in [
            (&environment(&[(TOKEN, "t")]), &[][..], None),
            (&environment(&[(BRIDGE, " , "), (TOKEN, "t")]), &[], None),
            (&environment(&[(BRIDGE, "/b")]), &[], None),
            (&environment(&[(BRIDGE, "/b"), (TOKEN, " ")]), &[], None),
            (&both, &[], Some(file.as_path())),
            (&both, &[], Some(Path::new("/nowhere"))),
        ] {
            assert!(Reach::find_in(environment, named, file).is_err(), "{file:?}");
        }
    }
}
