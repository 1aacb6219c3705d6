//! Looks up where the paths of a request lead on this machine.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use bridge_model::{PermissionRequest, Places};
use tracing::warn;

/// Paths of one request that are looked up. The others count as outside of the workspace.
const PATHS_MAX: usize = 1_024;
/// A file system that does not answer must not keep an agent waiting.
const LOOK_FOR: Duration = Duration::from_secs(2);

/// Adds to a request where its paths lead, every link followed. What cannot be told in time is left out.
pub(crate) async fn look_up(request: &mut PermissionRequest) {
    let root = request.session.cwd.clone();
    let paths: Vec<String> = bridge_core::paths(request).into_iter().take(PATHS_MAX).collect();
    let looked = tokio::task::spawn_blocking(move || places(root.as_deref(), paths));
    let looked = tokio::time::timeout(LOOK_FOR, looked).await.ok().and_then(Result::ok);
    if looked.is_none() {
        warn!("the files of a request could not be looked up in time, so they count as outside of the workspace");
    }
    request.places = Some(looked.unwrap_or_default());
}

fn places(root: Option<&str>, paths: Vec<String>) -> Places {
    let root = root.filter(|root| root.starts_with('/')).map(Path::new);
    let real = |path: String| {
        let from = root.map_or_else(|| PathBuf::from(&path), |root| root.join(&path));
        Some((path, text(&real(&from)?)?))
    };
    let real_root = root.and_then(|root| text(&self::real(root)?));
    Places { root: real_root, real: paths.into_iter().filter_map(real).collect::<BTreeMap<_, _>>() }
}

fn text(path: &Path) -> Option<String> {
    path.to_str().map(str::to_owned)
}

/// Of what does not exist yet, where it would be made: in the first folder above it that exists. `None` where a link leads
/// nowhere, or where a way up from what does not exist could lead anywhere.
fn real(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut at = path;
    loop {
        match at.canonicalize() {
            Ok(found) => return Some(found.join(missing.iter().rev().collect::<PathBuf>())),
            // Whatever is there without being found is a link, and whoever writes to it writes elsewhere.
            Err(error) if error.kind() == ErrorKind::NotFound && at.symlink_metadata().is_err() => {}
            Err(_) => return None,
        }
        match at.components().next_back()? {
            Component::Normal(name) => missing.push(name),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => return None,
        }
        at = at.parent()?;
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use bridge_model::{
        Location, OptionId, OptionKind, Options, PermissionOption, ReplyTo, Session, SourceName, ToolCall, ToolKind,
    };
    use policy::is_outside;
    use serde_json::value::RawValue;

    use super::*;

    #[tokio::test]
    async fn a_path_is_inside_by_where_its_links_lead() {
        let home = tempfile::tempdir().expect("a folder");
        let at = |name: &str| home.path().join(name);
        for folder in ["ws/src", "other"] {
            std::fs::create_dir_all(at(folder)).expect("a folder");
        }
        for (target, link) in [
            ("ws", "link-to-ws"),
            ("other", "ws/out"),
            ("ws/src", "ws/in"),
            ("other/new", "ws/dangling"),
            ("ws/loop", "ws/loop"),
            ("other/x", "ws/trail "),
            ("other/x", "ws/ lead"),
        ] {
            symlink(at(target), at(link)).expect("a link");
        }
        std::fs::write(at("ws/file"), "x").expect("a file");
        for (path, outside) in [
            ("src/a", false),
            ("new/folder/a", false),
            ("in/a", false),
            ("out/a", true),
            ("out", true),
            ("out/../ws/a", false),
            ("in/../../a", true),
            ("in/../a", false),
            ("dangling", true),
            ("dangling/a", true),
            ("loop/a", true),
            ("new/../a", true),
            ("file/a", true),
            ("../other/a", true),
            ("", true),
            ("a\0b", true),
            ("~/a", true),
            ("trail ", true),
            (" lead", true),
            ("file:///etc/passwd", true),
            ("SRC/a", false),
            ("../WS/a", true),
        ] {
            for root in ["ws", "link-to-ws"] {
                let mut request = request(&at(root), path);
                look_up(&mut request).await;
                assert_eq!(is_outside(&request, path), outside, "{path:?} from {root}");
            }
        }
        for (path, outside) in [("ws/a", false), ("link-to-ws/a", false), ("ws/out/a", true), ("ws2/a", true)] {
            let path = at(path).to_str().expect("text").to_owned();
            let mut request = request(&at("link-to-ws"), &path);
            look_up(&mut request).await;
            assert_eq!(is_outside(&request, &path), outside, "{path:?}");
        }
    }

    #[tokio::test]
    async fn without_a_folder_to_work_in_everything_is_outside() {
        for root in ["/nowhere/at/all", "relative", ""] {
            let mut request = request(Path::new(root), "/etc");
            look_up(&mut request).await;
            assert!(is_outside(&request, "/etc"), "{root:?}");
        }
    }

    fn request(root: &Path, path: &str) -> PermissionRequest {
        let id = OptionId::parse(&RawValue::from_string("\"a\"".into()).expect("JSON")).expect("an id");
        let option = PermissionOption { id, name: "Yes".into(), kind: OptionKind::AllowOnce, meta: None };
        let location = Location { path: path.to_owned(), line: None };
        PermissionRequest {
            from: ReplyTo { source: SourceName::new("s"), ask: 1 },
            session: Session { cwd: root.to_str().map(str::to_owned), ..Session::default() },
            title: None,
            description: None,
            tool_call: Some(ToolCall { kind: ToolKind::Edit, locations: vec![location], ..ToolCall::default() }),
            options: Options::new(vec![option]).expect("options"),
            meta: None,
            places: None,
        }
    }
}
