//! Where a session works, and what lies outside of it.

use bridge_model::{PermissionRequest, Places};

/// Whether a path that a request names lies outside of the folder in which its session works: where its links lead, if
/// that was looked up, else by its letters. Where nobody knows in which folder that is, everything is outside.
#[must_use]
pub fn is_outside(request: &PermissionRequest, path: &str) -> bool {
    match &request.places {
        None => request.session.cwd.as_deref().is_none_or(|root| leaves(root, path)),
        Some(Places { root, real }) => {
            let real = real.get(path).zip(root.as_ref());
            is_unclear(path) || real.is_none_or(|(path, root)| leaves(root, path))
        }
    }
}

/// Whether it is a path at all, and the same one whoever reads it: not an empty one, one with a NUL or a variable, one with
/// space around it, one that starts at a home folder or at what each process has of its own, or an address.
fn is_unclear(path: &str) -> bool {
    if path.trim() != path || is_of_process(path) {
        return true;
    }
    let is_address = path.split_once(':').is_some_and(|(scheme, _)| 1 < scheme.len() && scheme.bytes().all(is_of_scheme));
    path.is_empty() || is_address || path.starts_with('~') || path.contains(['\0', '$', '%'])
}

/// Judged by the letters alone. A relative path starts at `root`.
fn leaves(root: &str, path: &str) -> bool {
    if is_unclear(path) {
        return true;
    }
    let path = absolute(root, path);
    let (Some(root), Some(path)) = (folders(root), folders(&path)) else { return true };
    !path.starts_with(&root)
}

/// Leads elsewhere for each process that opens it.
fn is_of_process(path: &str) -> bool {
    folders(path).is_some_and(|folders| matches!(folders[..], ["proc", ..] | ["dev", "fd" | "stdin" | "stdout" | "stderr", ..]))
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
    use bridge_model::{OptionId, OptionKind, Options, PermissionOption, ReplyTo, Session, SourceName};
    use serde_json::value::RawValue;

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
            (" /srv/ws/a ", true),
            ("a ", true),
            ("\ta", true),
            ("a b", false),
            ("/proc/self/cwd/a", true),
            ("//./proc/1/root", true),
            ("/dev/fd/3", true),
            ("proc/a", false),
            ("$HOME/.ssh", true),
            ("%HOME%/a", true),
            ("a:b", false),
            ("notes/a:b", false),
            ("", true),
            ("/srv/ws/a\0", true),
        ] {
            assert_eq!(leaves("/srv/ws", path), outside, "{path:?}");
        }
        assert!(!leaves("/srv/ws/", "/srv/ws/a"));
        assert!(!leaves("/", "/etc/passwd") && leaves("/", "/proc/self/cwd"));
    }

    #[test]
    fn where_a_path_leads_counts_where_somebody_looked() {
        let mut request = request(Some("/srv/ws"));
        let outside = |request: &PermissionRequest| {
            ["a", "/srv/ws/link", "/data/ws/a", "~/a", "/etc"].map(|path| is_outside(request, path))
        };
        assert_eq!(outside(&request), [false, false, true, true, true]);
        let real = [("a", "/data/ws/a"), ("/srv/ws/link", "/etc/passwd"), ("/data/ws/a", "/data/ws/a"), ("~/a", "/data/ws/~/a")];
        let real = real.map(|(path, real)| (path.to_owned(), real.to_owned())).into();
        request.places = Some(Places { root: Some("/data/ws".into()), real });
        assert_eq!(outside(&request), [false, true, false, true, true]);
        request.places = Some(Places { root: None, ..request.places.expect("places") });
        assert_eq!(outside(&request), [true; 5]);
        assert_eq!(outside(&self::request(None)), [true; 5]);
    }

    fn request(cwd: Option<&str>) -> PermissionRequest {
        let id = OptionId::parse(&RawValue::from_string("\"a\"".into()).expect("JSON")).expect("an id");
        let option = PermissionOption { id, name: String::new(), kind: OptionKind::AllowOnce, meta: None };
        PermissionRequest {
            from: ReplyTo { source: SourceName::new("s"), ask: 1 },
            session: Session { cwd: cwd.map(str::to_owned), ..Session::default() },
            title: None,
            description: None,
            tool_call: None,
            options: Options::new(vec![option]).expect("options"),
            meta: None,
            places: None,
        }
    }

    #[test]
    fn without_a_folder_to_work_in_everything_is_outside() {
        for root in ["", "srv/ws", "/.."] {
            assert!(leaves(root, "/srv/ws/a") && leaves(root, "a"), "{root:?}");
        }
    }
}
