use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use nix::sys::stat::Mode;
use tempfile::TempDir;

use super::*;

#[test]
fn a_file_that_is_named_must_exist() {
    let folder = folder();
    let absent = folder.path().join("absent.toml");
    check(Some(&absent), &[], Err("does not exist; name another file"));
    check(None, &[("COUNTERSIGN_CONFIG", &absent)], Err("does not exist; name another file"));
    check(Some(folder.path()), &[], Err("is not a regular file"));
}

#[test]
fn the_named_file_goes_before_the_variable_and_the_variable_before_home() {
    let folder = folder();
    let [named, variable, home] = ["named", "variable", "home/countersign/countersign.toml"].map(|name| folder.path().join(name));
    for (path, text) in [(&named, "a"), (&variable, "b"), (&home, "c")] {
        write(path, text.as_bytes(), 0o644);
    }
    let config_home = folder.path().join("home");
    let both = [("COUNTERSIGN_CONFIG", variable.as_path()), ("XDG_CONFIG_HOME", config_home.as_path())];
    check(Some(&named), &both, Ok(Some("a")));
    check(None, &both, Ok(Some("b")));
    check(None, &both[1..], Ok(Some("c")));
}

#[test]
fn home_is_where_it_is_looked_for_last() {
    let folder = folder();
    check(None, &[("HOME", folder.path())], Ok(None));
    write(&folder.path().join(".config/countersign/countersign.toml"), b"a", 0o600);
    check(None, &[("HOME", folder.path())], Ok(Some("a")));
    check(None, &[("HOME", folder.path()), ("XDG_CONFIG_HOME", Path::new("/nonexistent"))], Ok(None));
    check(None, &[], Ok(None));
    let environment: Environment = [("HOME", "/home/ada")].into_iter().collect();
    assert_eq!(
        places_in(HERE, &environment),
        ["countersign.toml", "/home/ada/.config/countersign/countersign.toml"].map(PathBuf::from)
    );
}

#[test]
fn the_working_directory_is_told_apart_and_never_takes_the_place_of_home() {
    let folder = folder();
    let [here, home] = ["here", "home"].map(|name| folder.path().join(name).to_str().expect("UTF-8").to_owned());
    let environment: Environment = [("XDG_CONFIG_HOME", home.as_str())].into_iter().collect();
    let found = || find(None, &here, &environment).map(|file| file.map(|file| (file.text, file.in_working_directory)));
    write(&folder.path().join("home/countersign/countersign.toml"), b"a", 0o600);
    assert_eq!(found().expect("no problem"), Some(("a".into(), false)));
    write(&folder.path().join("here/countersign.toml"), b"b", 0o600);
    assert!(found().is_err(), "which one is meant has to be said");
    std::fs::remove_file(folder.path().join("home/countersign/countersign.toml")).expect("removed");
    assert_eq!(found().expect("no problem"), Some(("b".into(), true)));
    write(&folder.path().join("here/countersign.toml"), b"b", 0o666);
    assert!(found().is_err(), "it is refused, not passed over");
}

#[test]
fn a_configuration_of_the_working_directory_reads_no_secret_from_elsewhere() {
    let folder = folder();
    let config = folder.path().join("here/countersign.toml");
    let (beside, elsewhere) = (folder.path().join("here/password"), folder.path().join("id_ed25519"));
    write(&beside, b"a", 0o600);
    write(&elsewhere, b"b", 0o600);
    symlink(&elsewhere, folder.path().join("here/link")).expect("a link");
    assert_eq!(read_beside(&config, &beside, Privacy::Secret).expect("read"), "a");
    for path in [elsewhere, folder.path().join("here/link"), folder.path().join("here/../id_ed25519")] {
        assert!(read_beside(&config, &path, Privacy::Secret).is_err(), "{path:?}");
    }
}

#[test]
fn a_configuration_that_others_can_write_is_refused() {
    let folder = folder();
    let path = folder.path().join("c.toml");
    write(&path, b"a", 0o644);
    check(Some(&path), &[], Ok(Some("a")));
    for mode in [0o664, 0o646, 0o666] {
        write(&path, b"a", mode);
        check(Some(&path), &[], Err("can be written by other users; run: chmod go-w "));
        let link = folder.path().join(format!("link{mode}"));
        symlink(&path, &link).expect("a link");
        check(Some(&link), &[], Err("can be written by other users"));
    }
}

#[test]
fn a_configuration_of_another_user_is_refused() {
    // Only root can give a file away; there is nothing to test with otherwise.
    if !Uid::effective().is_root() {
        return;
    }
    let folder = folder();
    let path = folder.path().join("c.toml");
    write(&path, b"a", 0o644);
    nix::unistd::chown(&path, Some(Uid::from_raw(12345)), None).expect("chown");
    check(Some(&path), &[], Err("belongs to user 12345, who could change who may answer; make it your own: chown 0 "));
}

#[test]
fn what_is_too_large_or_not_text_is_refused() {
    let folder = folder();
    let path = folder.path().join("c.toml");
    let limit = usize::try_from(CONFIG_BYTES_MAX).expect("a size");
    let fits = "#".repeat(limit);
    write(&path, fits.as_bytes(), 0o600);
    check(Some(&path), &[], Ok(Some(&fits)));
    for len in [limit + 1, 10 * 1024 * 1024] {
        write(&path, "#".repeat(len).as_bytes(), 0o600);
        check(Some(&path), &[], Err("is larger than 1024 KiB"));
    }
    write(&path, b"a\nb\xff", 0o600);
    check(Some(&path), &[], Err("is not valid UTF-8 (line 2)"));
}

#[test]
fn a_pipe_is_refused_without_waiting_for_a_writer() {
    let folder = folder();
    let path = folder.path().join("pipe");
    nix::unistd::mkfifo(&path, Mode::from_bits_truncate(0o600)).expect("a pipe");
    check(Some(&path), &[], Err("is not a regular file"));
    assert!(read_named(&path, Privacy::Secret).is_err());
}

#[test]
fn a_secret_is_read_only_if_nobody_else_can_read_it() {
    let folder = folder();
    let path = folder.path().join("secret");
    for mode in [0o600, 0o400] {
        write(&path, b"hunter2\n", mode);
        assert_eq!(read_named(&path, Privacy::Secret).as_deref(), Ok("hunter2\n"));
    }
    for mode in [0o640, 0o604, 0o660, 0o644] {
        write(&path, b"hunter2\n", mode);
        let unusable = read_named(&path, Privacy::Secret).expect_err("a refusal");
        assert_eq!(unusable.what, format!("{} can be read by other users", path.display()));
        assert_eq!(unusable.advice, format!("run: chmod go= {}", path.display()));
    }
    let absent = read_named(Path::new("/nonexistent/hunter2"), Privacy::Secret).expect_err("a refusal");
    assert!(!format!("{absent:?}").contains("hunter2"));
}

/// `expected` is the text of the file that is found, or a part of the error.
fn check(explicit: Option<&Path>, environment: &[(&str, &Path)], expected: Result<Option<&str>, &str>) {
    let environment: Environment = environment.iter().map(|(name, path)| (*name, path.to_str().expect("UTF-8"))).collect();
    let found = find(explicit, "/nonexistent", &environment).map(|file| file.map(|file| file.text));
    match (found, expected) {
        (Ok(found), Ok(expected)) => assert!(found.as_deref() == expected, "found another file"),
        (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
        (found, expected) => panic!("{found:?}, but expected {expected:?}"),
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn write(path: &Path, bytes: &[u8], mode: u32) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::remove_file(path).ok();
    fs::write(path, bytes).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

#[test]
fn a_new_configuration_belongs_where_it_is_found_again() {
    let place = |explicit: Option<&str>, variables: &[(&str, &str)]| {
        new_place_in(explicit.map(Path::new), &variables.iter().copied().collect()).map(|place| place.display().to_string())
    };
    let home = ("HOME", "/home/ada");
    assert_eq!(place(None, &[home]).as_deref(), Some("/home/ada/.config/countersign/countersign.toml"));
    let elsewhere = ("XDG_CONFIG_HOME", "/config");
    assert_eq!(place(None, &[home, elsewhere]).as_deref(), Some("/config/countersign/countersign.toml"));
    let named = ("COUNTERSIGN_CONFIG", "/etc/c.toml");
    assert_eq!(place(None, &[home, elsewhere, named]).as_deref(), Some("/etc/c.toml"));
    assert_eq!(place(Some("/d.toml"), &[home, named]).as_deref(), Some("/d.toml"));
    assert!(place(Some("d.toml"), &[]).is_some_and(|place| place.starts_with('/') && place.ends_with("/d.toml")));
    assert_eq!(place(None, &[]), None);
}
