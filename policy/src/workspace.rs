//! Where a session works, and what lies outside of it.

/// Whether a path lies outside of the folder in which a session works, judged by their letters alone: nothing is looked up,
/// so that a symbolic link inside that leads outside is not noticed.
///
/// A relative path starts at `root`. What cannot be judged is outside: an empty path, one with a NUL or a variable, one that
/// starts at a home folder or is an address.
#[must_use]
pub fn is_outside(root: &str, path: &str) -> bool {
    let path = path.trim();
    let is_address = path.split_once(':').is_some_and(|(scheme, _)| 1 < scheme.len() && scheme.bytes().all(is_of_scheme));
    if path.is_empty() || is_address || path.starts_with('~') || path.contains(['\0', '$', '%']) {
        return true;
    }
    let path = absolute(root, path);
    let (Some(root), Some(path)) = (folders(root), folders(&path)) else { return true };
    !path.starts_with(&root)
}

fn is_of_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)
}

fn absolute(root: &str, path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{root}/{path}") }
}

/// The names on the way from `/` to it; `None` if it does not start there, or climbs above it.
fn folders(path: &str) -> Option<Vec<&str>> {
    let mut folders = Vec::new();
    for name in path.strip_prefix('/')?.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(folders.pop()?),
            name => folders.push(name),
        }
    }
    Some(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_judged_by_where_it_leads() {
        for (path, outside) in [
            ("/srv/ws/a", false),
            ("/srv/ws", false),
            ("a/b", false),
            ("./a", false),
            ("a/../b", false),
            ("/srv/ws//./a", false),
            ("/srv/other/../ws/a", false),
            ("/srv/ws2/a", true),
            ("/srv/WS/a", true),
            ("/srv", true),
            ("../a", true),
            ("a/../../a", true),
            ("/srv/ws/../../etc/passwd", true),
            ("/../../srv/ws/a", true),
            ("/etc/passwd", true),
            ("~/a", true),
            ("file:///srv/ws/a", true),
            ("file:/etc/passwd", true),
            (" /etc/passwd", true),
            (" /srv/ws/a ", false),
            ("$HOME/.ssh", true),
            ("%HOME%/a", true),
            ("a:b", false),
            ("", true),
            ("/srv/ws/a\0", true),
        ] {
            assert_eq!(is_outside("/srv/ws", path), outside, "{path:?}");
        }
        assert!(!is_outside("/srv/ws/", "/srv/ws/a"));
        assert!(!is_outside("/", "/etc/passwd"));
    }

    #[test]
    fn without_a_folder_to_work_in_everything_is_outside() {
        for root in ["", "srv/ws", "/.."] {
            assert!(is_outside(root, "/srv/ws/a") && is_outside(root, "a"), "{root:?}");
        }
    }
}
