use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

#[test]
fn what_is_written_only_its_owner_can_read() {
    let home = tempfile::tempdir().expect("a folder");
    let files = two_files(&home.path().join("new/countersign"));
    create(&missing(&files).expect("nothing is there")).expect("written");
    for file in &files {
        assert_eq!(fs::read_to_string(&file.path).expect("readable"), file.text.expose());
        assert_eq!(mode(&file.path), 0o600);
    }
    assert_eq!((mode(&home.path().join("new")), mode(&home.path().join("new/countersign"))), (0o700, 0o700));
}

#[test]
fn a_file_that_is_there_is_never_overwritten() {
    for (at, other) in [(0, 1), (1, 0)] {
        let home = tempfile::tempdir().expect("a folder");
        let files = two_files(home.path());
        create(&[&NewFile { text: Secret::new("mine"), ..two_files(home.path()).swap_remove(at) }]).expect("written");
        let problems = missing(&files).expect_err("a problem");
        assert!(problems.len() == 1 && problems[0].contains("is there already, with something else in it"), "{problems:?}");
        // Neither is it by somebody who writes it in between.
        create(&[&files[other], &files[at]]).expect_err("refused");
        assert_eq!(fs::read_to_string(&files[at].path).expect("readable"), "mine");
        assert!(!files[other].path.exists());
    }
}

#[test]
fn a_link_that_is_there_is_not_followed() {
    let home = tempfile::tempdir().expect("a folder");
    let files = two_files(home.path());
    symlink(home.path().join("elsewhere"), &files[0].path).expect("a link");
    let problems = missing(&files).expect_err("a problem");
    assert!(problems[0].contains("is there already and cannot be used"), "{problems:?}");
    create(&[&files[0]]).expect_err("refused");
    assert!(!home.path().join("elsewhere").exists());
}

#[test]
fn a_file_that_says_the_same_is_left_as_it_is() {
    let home = tempfile::tempdir().expect("a folder");
    let files = two_files(home.path());
    create(&[&NewFile { text: Secret::new("hunter2"), ..two_files(home.path()).swap_remove(0) }]).expect("written");
    let missing = missing(&files).expect("no problem");
    assert_eq!(missing.iter().map(|file| &file.path).collect::<Vec<_>>(), [&files[1].path]);
    create(&missing).expect("written");
    assert_eq!(fs::read_to_string(&files[0].path).expect("readable"), "hunter2");
}

#[test]
fn a_secret_that_others_can_read_is_not_used() {
    let home = tempfile::tempdir().expect("a folder");
    let files = two_files(home.path());
    create(&[&files[0]]).expect("written");
    fs::set_permissions(&files[0].path, fs::Permissions::from_mode(0o644)).expect("set");
    let problems = missing(&files).expect_err("a problem");
    assert!(problems[0].contains("can be read by other users; run: chmod go="), "{problems:?}");
}

#[test]
fn a_failure_leaves_nothing_behind() {
    let home = tempfile::tempdir().expect("a folder");
    let mut files = two_files(&home.path().join("new/countersign"));
    files[1].path = home.path().join("new").join("x".repeat(300));
    let problem = create(&files.iter().collect::<Vec<_>>()).expect_err("no file has such a name");
    assert!(problem.contains("cannot be written"), "{problem}");
    assert_eq!(fs::read_dir(home.path()).expect("readable").count(), 0);
}

#[test]
fn a_failure_leaves_what_was_there() {
    let home = tempfile::tempdir().expect("a folder");
    let mut files = two_files(home.path());
    create(&[&files.swap_remove(0)]).expect("written");
    files[0].path = home.path().join("x".repeat(300));
    create(&[&files[0]]).expect_err("no file has such a name");
    assert_eq!(fs::read_dir(home.path()).expect("readable").count(), 1);
}

fn two_files(folder: &Path) -> Vec<NewFile> {
    vec![
        NewFile { path: folder.join("matrix-password"), text: Secret::new("hunter2\n"), privacy: Privacy::Secret },
        NewFile { path: folder.join("countersign.toml"), text: Secret::new("x = 1\n"), privacy: Privacy::Public },
    ]
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o7777
}
