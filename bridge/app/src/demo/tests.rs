mod scripted_agent;
mod telling;

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use super::folder::Folder;
use super::screen::span;

#[test]
fn the_temporary_folder_is_private_and_goes_away() {
    let folder = Folder::make(None, Duration::from_secs(90)).expect("a folder");
    let (file, workspace) = (folder.config.file.clone(), folder.workspace().expect("a workspace"));
    let mode = std::fs::metadata(&file).expect("the configuration").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(folder.config.policy.lifetime, Duration::from_secs(90));
    assert!(folder.config.state_dir.starts_with(file.parent().expect("the folder")));
    assert_eq!(folder.config.warnings, Vec::<String>::new());
    drop(folder);
    assert!(!file.exists() && !workspace.exists());
}

#[test]
fn a_chosen_address_that_is_taken_is_an_error() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address");
    let problem = Folder::make(Some(address), Duration::from_secs(90)).err().expect("a problem");
    assert_eq!(problem.status(), crate::cli::EXIT_CONFIG);
    assert!(problem.to_string().contains(&address.to_string()), "{problem}");
}

#[test]
fn a_lifetime_that_the_bridge_would_not_take_is_said_by_its_key() {
    let problem = Folder::make(None, Duration::from_millis(1)).err().expect("a problem");
    assert!(problem.to_string().starts_with("policy.lifetime: "), "{problem}");
}

#[test]
fn spans_are_written_as_people_say_them() {
    for (seconds, said) in
        [(0, "less than a second"), (30, "30 s"), (120, "2 min"), (5400, "1 h 30 min"), (90_061, "1 d 1 h 1 min 1 s")]
    {
        assert_eq!(span(Duration::from_secs(seconds)), said);
    }
}
