//! What cards show, and what they call the agent.

use super::*;

#[test]
fn a_room_shows_everything_or_only_describes() {
    let room = |details: &str| format!("{MATRIX}{BUILDS}{details}\n");
    let shown = |details: &str| check(&room(details), &[], &[]).expect("a configuration").rooms[&RoomName::new("builds")].details;
    assert_eq!(shown(""), Details::Full);
    assert_eq!(shown("details = \"full\""), Details::Full);
    assert_eq!(shown("details = \"described\""), Details::Described);
    check(&room("details = \"brief\""), &[], &["rooms.builds.details: \"brief\" is not a way to show a request; use full or"]);
}

#[test]
fn an_agent_has_a_name_that_can_be_seen() {
    let named = |name: &str| check(&format!("{MATRIX}{BUILDS}[acp]\nname = {name:?}\n"), &[], &[]).map(|config| config.acp.name);
    assert_eq!(named(" Night builds "), Some(Some("Night builds".to_owned())));
    let long = "x".repeat(41);
    for name in ["", "  ", "a\u{200b}b", "a\u{202e}", &long] {
        let text = format!("{MATRIX}{BUILDS}[acp]\nname = {}\n", toml::Value::from(name));
        check(&text, &[], &["acp.name: is no name for an agent; use 1 to 40 characters, all of which can be seen"]);
    }
}
