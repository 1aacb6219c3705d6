use bridge_model::Secret;

use super::*;

use std::path::Path;

use crate::init::questions::questions;

#[test]
fn the_web_room_is_what_enter_chooses() {
    for (typed, expected) in [("\n", Kind::Web), (" matrix \n", Kind::Matrix), ("Discord\n", Kind::Discord)] {
        assert_eq!(ask_kind(&mut Script::new(&[typed])).expect("asked"), Some(expected));
    }
    let mut person = Script::new(&["slack\n", "web\n"]);
    assert_eq!(ask_kind(&mut person).expect("asked"), Some(Kind::Web));
    assert!(person.saw.contains("  ! \"slack\" is none of them\n"), "{}", person.saw);
}

#[test]
fn an_answer_that_does_not_fit_is_asked_for_again() {
    let (answers, saw) = talk(Kind::Web, &["Builds\n", "builds\n", "Ada\n", "ada, bob\n"]);
    let answers = answers.expect("answered");
    assert_eq!((answers.room.as_deref(), answers.approvers), (Some("builds"), Some(vec!["ada".into(), "bob".into()])));
    assert!(saw.contains("  ! rooms.Builds: is not a room's name; use up to 64"), "{saw}");
    assert!(saw.contains("  ! rooms.builds.approvers[0]: \"Ada\" is not a person's name; use up to 32"), "{saw}");
}

#[test]
fn a_matrix_room_is_asked_for_from_server_to_people() {
    let typed = [
        "\n",
        "matrix.example.org\n",
        "https://matrix.example.org\n",
        "@bot:example.org\n",
        "",
        "hunter2",
        "#builds:example.org\n",
        "!abc:example.org\n",
        "\n",
        "@bot:example.org\n",
        "@ada:example.org\n",
    ];
    let (answers, saw) = talk(Kind::Matrix, &typed);
    let answers = answers.expect("answered");
    assert_eq!(answers.secret.as_ref().map(Secret::expose), Some("hunter2"));
    let problems = [
        "matrix.homeserver: is not an address; write it as \"https://",
        "matrix.password_file: leads to an empty text; put the secret there",
        "rooms.builds.matrix: \"#builds:example.org\" is an alias",
        "rooms.builds.approvers is empty, so nobody can answer",
        "rooms.builds.approvers lists @bot:example.org, which is Countersign's own account",
    ];
    assert!(problems.iter().all(|problem| saw.contains(&format!("  ! {problem}"))), "{saw}");
    assert!(!saw.contains("hunter2"), "{saw}");
    let config = answers.try_out(Kind::Matrix, Path::new("/c.toml")).expect("a configuration");
    assert_eq!(config.matrix.map(|matrix| matrix.invites_from.len()), Some(1));
}

#[test]
fn on_discord_people_or_roles_may_be_left_out_but_not_both() {
    let (answers, saw) = talk(Kind::Discord, &["\n", "abc def", "abc", "123\n", "\n", "\n", "7 8\n"]);
    let answers = answers.expect("answered");
    assert_eq!((answers.approvers, answers.approver_roles), (Some(Vec::new()), Some(vec!["7".into(), "8".into()])));
    assert!(saw.contains("  ! discord.token: leads to something that is no token"), "{saw}");
    assert!(saw.contains("  ! rooms.builds.approvers is empty"), "{saw}");
    let (answers, _) = talk(Kind::Discord, &["\n", "abc", "123\n", "5\n", "\n"]);
    let answers = answers.expect("answered");
    assert_eq!((answers.approvers, answers.approver_roles), (Some(vec!["5".into()]), Some(Vec::new())));
}

#[test]
fn who_ends_it_has_answered_nothing() {
    assert!(talk(Kind::Matrix, &["\n", "https://matrix.example.org\n"]).0.is_none());
    assert_eq!(ask_kind(&mut Script::new(&[])).expect("asked"), None);
}

/// What was answered, and what the person saw.
fn talk(kind: Kind, typed: &[&str]) -> (Option<Answers>, String) {
    let (mut person, mut answers) = (Script::new(typed), Answers::default());
    let try_out = |answers: &Answers| answers.try_out(kind, Path::new("/c.toml")).err().unwrap_or_default();
    let all = ask(&mut person, &questions(kind), &mut answers, &try_out).expect("asked");
    assert!(person.typed.is_empty(), "not asked for: {:?}\n{}", person.typed, person.saw);
    (all.then_some(answers), person.saw)
}

/// A person who types these lines, and then ends it.
pub(crate) struct Script {
    typed: Vec<String>,
    saw: String,
}

impl Script {
    pub(crate) fn new(typed: &[&str]) -> Self {
        Self { typed: typed.iter().rev().map(|line| (*line).to_owned()).collect(), saw: String::new() }
    }
}

impl Ask for Script {
    fn say(&mut self, line: &str) {
        self.saw.push_str(line);
        self.saw.push('\n');
    }

    fn line(&mut self, prompt: &str) -> io::Result<Option<String>> {
        self.saw.push_str(prompt);
        let line = self.typed.pop();
        self.saw.push_str(line.as_deref().unwrap_or_default());
        Ok(line)
    }

    fn hidden(&mut self, prompt: &str) -> io::Result<Option<String>> {
        self.saw.push_str(prompt);
        Ok(self.typed.pop())
    }
}
