use serde_json::json;

use super::*;

/// Made up, and in pieces, so that nobody takes it for one.
const TOKEN: &str = concat!("ghp", "_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");

#[test]
fn a_secret_is_marked_and_counted_wherever_it_stands() {
    let section = |form, text: &str| Ink::default().section("x", form, text);
    let line = section(Form::Line, &format!("push with {TOKEN} now"));
    assert_eq!(line.text(), "push with [redacted: github token] now");
    assert_eq!(line.note, "1 secret is redacted");
    let code = section(Form::Code, &format!("a={TOKEN}\nb={TOKEN}"));
    assert_eq!(code.text(), "a=[redacted: github token]\nb=[redacted: github token]");
    assert_eq!(code.note, "2 secrets are redacted");
    assert!(!section(Form::Diff, &format!("f\n+{TOKEN}\n-x")).text().contains(TOKEN));
}

#[test]
fn a_value_whose_name_says_so_is_marked_however_deep_it_lies() {
    let mut ink = Ink::default();
    let value = json!({"user": "ada", "auth": [{"password": "s3cretly9", "note": "s3cretly9 is short"}]});
    let shown = ink.value("", &value);
    assert!(!shown.contains(r#""password":"s3cretly9""#) && shown.contains("[redacted: password]"), "{shown}");
    assert!(shown.contains("ada") && shown.contains("s3cretly9 is short"), "{shown}");
    assert_eq!(ink.note(), "1 secret is redacted");
}

#[test]
fn what_a_shell_could_make_something_of_stays_in_sight() {
    for command in ["tool --password=$(rm -rf ~)", "PASSWORD='x; rm -rf ~' tool", "tool --token=`rm -rf ~`"] {
        let section = Ink::default().section("x", Form::Code, command);
        assert_eq!((section.text(), section.note.as_str()), (command, ""));
    }
}

#[test]
fn a_secret_is_found_before_a_cut_splits_it() {
    let text = format!("{}{TOKEN}{}", "x ".repeat(500), " y".repeat(500));
    let section = Ink::default().section("x", Form::Code, &text);
    for kept in [10, 100, 990, 1_000, 1_010, 1_020, 1_030] {
        let cut = section.cut(kept);
        assert!((8..TOKEN.len()).all(|length| !cut.text().contains(&TOKEN[..length])), "{kept}");
    }
}

#[test]
fn of_what_is_far_too_long_only_the_ends_are_looked_at_and_the_rest_is_counted() {
    let text = format!("head{}tail", "é".repeat(LOOKED_MAX));
    let section = Ink::default().section("x", Form::Code, &text);
    let (head, after) = section.around_gap();
    let (left_out, tail) = after.expect("a gap");
    assert!(head.starts_with("head") && tail.ends_with("tail"));
    assert_eq!(head.chars().count() + left_out + tail.chars().count(), text.chars().count());
    assert!(head.len() <= END && tail.len() <= END);
}
