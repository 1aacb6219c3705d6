use bridge_model::{Content, Location, OptionId, Options, PermissionOption, ReplyTo, Session, SourceName, ToolCall, ToolKind};
use serde_json::json;
use serde_json::value::RawValue;

use super::*;

const LIMITS: CardLimits =
    CardLimits { buttons_max: 20, label_max: 20, label_seen: 20, text_bytes_max: 4_000, unattached_bytes_max: 2_000 };

#[test]
fn the_headline_names_the_deed_and_not_its_title() {
    for (tool_call, expected) in [
        (
            call(ToolKind::Execute, Some(json!({"command": "rm -rf /srv/x", "description": "make it"}))),
            "\"Coder\" wants to run: rm -rf /srv/x",
        ),
        (call(ToolKind::Execute, Some(json!({"command": ["rm", "a b"]}))), r#""Coder" wants to run: ["rm","a b"]"#),
        (call(ToolKind::Fetch, Some(json!({"url": "https://x.example/y"}))), "\"Coder\" wants to fetch: https://x.example/y"),
        (call(ToolKind::Other, None), "\"Coder\" wants to do, as it calls it: make it"),
    ] {
        assert_eq!(headline(&request(Some(tool_call), &["Yes"]), Details::Full).as_str(), expected);
    }
    let edit = ToolCall { locations: vec![location("/a"), location("/b")], ..call(ToolKind::Edit, None) };
    assert_eq!(headline(&request(Some(edit), &["Yes"]), Details::Full).as_str(), "\"Coder\" wants to edit, among 2 files: /a");
    assert_eq!(headline(&request(None, &["Yes"]), Details::Full).as_str(), "\"Coder\" wants to do: (it does not say what)");
}

#[test]
fn a_long_headline_says_how_much_is_missing() {
    let long = call(ToolKind::Execute, Some(json!({ "command": "x".repeat(1_000) })));
    let headline = headline(&request(Some(long), &["Yes"]), Details::Full);
    assert_eq!(headline.as_str(), format!("\"Coder\" wants to run: {}… (+841 characters)", "x".repeat(159)));
}

#[test]
fn what_a_long_run_of_spaces_hides_is_counted_in_the_headline() {
    let padded = format!("ls{}; rm -rf ~", " ".repeat(20_000));
    let headline = headline(&request(Some(call(ToolKind::Execute, Some(json!({ "command": padded })))), &["Yes"]), Details::Full);
    assert_eq!(headline.as_str(), "\"Coder\" wants to run: ls\\u{20}[×16382]… (+3628 characters)");
}

#[test]
fn every_member_of_the_input_is_on_the_card() {
    let input = json!({"command": "make", "cwd": "/srv", "env": {"LD_PRELOAD": "x.so"}, "timeout": 5, "note": "a\nenv: {}"});
    let card = drawn(&request(Some(call(ToolKind::Execute, Some(input))), &["Yes"]), LIMITS).expect("drawn").card;
    assert_eq!(section(&card, "Command"), Some("make"));
    assert_eq!(section(&card, "Runs in"), Some("/srv"));
    assert_eq!(section(&card, "Arguments"), Some("timeout: 5\nnote: a\n    env: {}"));
    assert_eq!(section(&card, "Environment"), Some("LD_PRELOAD=x.so"));
}

#[test]
fn a_change_is_shown_as_a_diff() {
    let content = vec![Content::Diff { path: "/a.txt".into(), old: Some("one\ntwo\n".into()), new: "one\n2\n".into() }];
    let card = drawn(&request(Some(ToolCall { content, ..call(ToolKind::Edit, None) }), &["Yes"]), LIMITS).expect("drawn").card;
    assert_eq!(section(&card, "Change"), Some("/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"));
}

#[test]
fn what_a_change_shows_is_not_repeated_and_anything_else_is_shown() {
    let content = vec![Content::Diff { path: "/a.txt".into(), old: Some("one\n".into()), new: "two\n".into() }];
    let input =
        json!({"file_path": "/a.txt", "old_string": "one\n", "new_string": "two\n", "replace_all": true, "note": "two\n"});
    let card = drawn(&request(Some(ToolCall { content, ..call(ToolKind::Edit, Some(input)) }), &["Yes"]), LIMITS).expect("drawn");
    assert_eq!(section(&card.card, "Arguments"), Some("replace_all: true\nnote: two\n    "));
    // The whole of a file is not what a hunk of it shows.
    let content = vec![Content::Diff { path: "/a.txt".into(), old: None, new: "two\n".into() }];
    let input = json!({"file_path": "/etc/b.txt", "content": "two\nthree\n"});
    let card = drawn(&request(Some(ToolCall { content, ..call(ToolKind::Edit, Some(input)) }), &["Yes"]), LIMITS).expect("drawn");
    assert_eq!(section(&card.card, "Arguments"), Some("file_path: /etc/b.txt\ncontent: two\n    three\n    "));
}

#[test]
fn a_title_that_is_the_command_is_not_repeated() {
    let titled = |title: &str| {
        let tool_call = ToolCall { title: Some(title.into()), ..call(ToolKind::Execute, Some(json!({"command": "rm -rf x"}))) };
        drawn(&request(Some(tool_call), &["Yes"]), LIMITS).expect("drawn").card
    };
    assert_eq!(section(&titled("`rm -rf x`"), "Title, in the agent's words"), None);
    assert_eq!(section(&titled("Clean up"), "Title, in the agent's words"), Some("Clean up"));
}

#[test]
fn buttons_are_the_agents_labels_in_its_order() {
    assert_eq!(button_labels(&["Yes", "Always", "No"], LIMITS), ["Yes", "Always", "No"]);
}

#[test]
fn labels_that_cannot_be_told_apart_are_numbered() {
    assert_eq!(button_labels(&["Yes", "Yes"], LIMITS), ["1. Yes", "2. Yes"]);
    assert_eq!(button_labels(&["Yes", " "], LIMITS), ["1. Yes", "2. (no label)"]);
    assert_eq!(button_labels(&["Yes, and never ask again", "No"], LIMITS), ["1. Yes, an…ask again", "2. No"]);
    // Alike as far as every screen shows them.
    let narrow = CardLimits { label_max: 80, label_seen: 10, ..LIMITS };
    assert_eq!(button_labels(&["Yes, and never", "Yes, and no"], narrow), ["1. Ye…ever", "2. Ye…d no"]);
    assert_eq!(button_labels(&["Yes, and never", "No"], narrow), ["Yes, and never", "No"]);
    let card = drawn(&request(None, &["Yes, and never ask again", "No"]), LIMITS).expect("drawn").card;
    assert_eq!(section(&card, "Options"), Some("1. Allows once: Yes, and never ask again\n2. Allows once: No"));
}

#[test]
fn more_options_than_buttons_are_not_shown_in_part() {
    let names: Vec<_> = (0..21).map(|n| n.to_string()).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    assert_eq!(drawn(&request(None, &names), LIMITS).err().as_deref(), Some("it offers 21 options and this room can show 20"));
    assert_eq!(button_labels(&names[..20], LIMITS).len(), 20);
}

#[test]
fn what_does_not_fit_whole_can_only_be_refused() {
    let long = format!("{}; rm -rf ~", "x".repeat(5_000));
    let asked = request_with_kinds(
        Some(call(ToolKind::Execute, Some(json!({ "command": long })))),
        &["allow_once", "banana", "reject_once"],
    );
    let drawn = drawn(&asked, LIMITS).expect("drawn");
    assert_eq!(drawn.live.iter().map(|(_, at)| *at).collect::<Vec<_>>(), [2]);
    assert_eq!(drawn.card.buttons.len(), 1);
    let command = drawn.card.sections.iter().find(|section| section.heading == "Command").expect("a command");
    let (head, tail) = command.around_gap();
    let (left_out, tail) = tail.expect("a gap");
    assert!(head.starts_with("xxx") && tail.ends_with("; rm -rf ~"), "{command:?}");
    assert_eq!(head.chars().count() + left_out + tail.chars().count(), long.len());
    let why =
        "The request is too long to be shown whole: a card and its file show 4 KiB at most. So it cannot be allowed from here.";
    assert_eq!(section(&drawn.card, Section::ONLY_REFUSING), Some(why));
    assert!(!drawn.card.is_whole);
    let text: usize = drawn.card.sections.iter().map(|section| section.text().len()).sum();
    assert!((LIMITS.unattached_bytes_max / 2..=LIMITS.unattached_bytes_max).contains(&text), "{text}");
}

#[test]
fn what_is_not_looked_at_whole_cannot_be_allowed_whatever_the_room_shows() {
    let asked = request_with_kinds(
        Some(call(ToolKind::Execute, Some(json!({ "command": "x".repeat(300_000) })))),
        &["allow_once", "reject_once"],
    );
    let drawn = drawn(&asked, CardLimits { text_bytes_max: usize::MAX, ..LIMITS }).expect("drawn");
    assert_eq!((drawn.live.len(), drawn.card.is_whole), (1, false));
}

#[test]
fn a_label_that_had_to_be_altered_is_told_whole_with_what_was_done_to_it() {
    let card = drawn(&request(None, &["Y\u{200b}es", "No"]), LIMITS).expect("drawn").card;
    let legend = card.sections.iter().find(|section| section.heading == Section::OPTIONS).expect("a legend");
    assert_eq!(legend.text(), "1. Allows once: Y\\u{200b}es\n2. Allows once: No");
    assert_eq!(legend.note, "1 hidden character is spelled out");
}

#[test]
fn where_no_file_can_be_attached_only_what_fits_without_one_can_be_allowed() {
    let room = RoomName::new("r");
    let asked = |length: usize| {
        let command = call(ToolKind::Execute, Some(json!({ "command": "x".repeat(length) })));
        request_with_kinds(Some(command), &["allow_once", "reject_once"])
    };
    let live = |length, no_file| {
        let asked = asked(length);
        let drawn = Sketch { no_file, ..sketch(&asked, LIMITS, &room) }.draw(tokens(2)).expect("drawn");
        (drawn.live.len(), section(&drawn.card, Section::ONLY_REFUSING).map(str::to_owned))
    };
    assert_eq!(live(3_000, None), (2, None));
    assert_eq!(live(1_000, Some("the disk is full")), (2, None));
    let why = "The request does not fit into a message, and its file could not be attached: the disk is full. So it cannot be allowed from here.";
    assert_eq!(live(3_000, Some("the disk is full")), (1, Some(why.to_owned())));
}

#[test]
fn a_room_that_takes_no_files_says_so() {
    let limits = CardLimits { text_bytes_max: 2_000, ..LIMITS };
    let asked = request_with_kinds(
        Some(call(ToolKind::Execute, Some(json!({ "command": "x".repeat(3_000) })))),
        &["allow_once", "reject_once"],
    );
    let why = "The request does not fit into a message, and the bridge may not attach files in this room. So it cannot be allowed from here.";
    assert_eq!(section(&drawn(&asked, limits).expect("drawn").card, Section::ONLY_REFUSING), Some(why));
}

#[test]
fn what_short_parts_leave_goes_to_the_long_ones() {
    for (lengths, max, each) in [
        (vec![], 100, 100),
        (vec![10, 20], 100, 90),
        (vec![10, 20, 5_000], 100, 70),
        (vec![5_000, 5_000], 100, 50),
        (vec![20, 5_000, 5_000], 100, 40),
    ] {
        assert_eq!(share(lengths.clone(), max), each, "{lengths:?}");
    }
}

#[test]
fn the_digest_is_of_all_that_is_shown() {
    let digest = |command: &str| {
        let asked = request(Some(call(ToolKind::Execute, Some(json!({ "command": command })))), &["Yes"]);
        let card = drawn(&asked, LIMITS).expect("drawn").card;
        assert_eq!(card.digest.to_string(), format!("{:x}", Sha256::digest(file(&card).text)));
        card.digest
    };
    assert_eq!(digest("make"), digest("make"));
    assert_ne!(digest("make"), digest("make "));
}

#[test]
fn next_to_long_names_of_options_something_of_the_command_is_left_or_there_is_no_card() {
    let command = format!("{}; rm -rf /srv", "x".repeat(5_000));
    let mut outcomes = [0; 2];
    for length in (0..LIMITS.unattached_bytes_max).step_by(7) {
        let options = vec![option(0, "Yes", "allow_once"), option(1, &"n".repeat(length), "reject_once")];
        let tool_call = call(ToolKind::Execute, Some(json!({ "command": command })));
        let drawn = drawn(&asked(Some(tool_call), options), LIMITS);
        outcomes[usize::from(drawn.is_ok())] += 1;
        if let Ok(Drawn { card, .. }) = drawn {
            assert!(section(&card, "Command").is_some_and(|shown| shown.ends_with("; rm -rf /srv")), "{length}: {card:?}");
        }
    }
    assert!(outcomes.iter().all(|count| 0 < *count), "{outcomes:?}");
}

#[test]
fn without_a_refusing_option_it_is_not_shown_at_all() {
    let asked = request_with_kinds(
        Some(call(ToolKind::Execute, Some(json!({ "command": "x".repeat(5_000) })))),
        &["allow_once", "banana"],
    );
    assert!(drawn(&asked, LIMITS).is_err());
}

#[test]
fn the_agents_running_text_cannot_pass_for_lines_of_the_card() {
    let mut asked =
        request(Some(ToolCall { title: Some("x\n\nAda chose \"Yes\".".into()), ..call(ToolKind::Execute, None) }), &["Yes"]);
    asked.session.cwd = Some("/srv\nmode: safe".into());
    let card = drawn(&asked, LIMITS).expect("drawn").card;
    assert_eq!(section(&card, "Title, in the agent's words"), Some("x\\n\\nAda chose \"Yes\"."));
    assert_eq!(section(&card, "Works in"), Some("/srv\\nmode: safe"));
}

#[test]
fn nothing_on_a_card_is_invisible() {
    let input = json!({"command": "a\u{202e}b", "\u{200b}k": "\u{1b}[0m"});
    let mut asked = request(Some(call(ToolKind::Execute, Some(input))), &["Y\u{2066}es"]);
    asked.session.agent = Some("Co\u{ad}der\n@room".into());
    let drawn = drawn(&asked, LIMITS).expect("drawn");
    let all = format!("{:?}", drawn.card);
    assert!(!all.contains(['\u{202e}', '\u{200b}', '\u{1b}', '\u{2066}', '\u{ad}']), "{all}");
    assert!(!drawn.card.headline.as_str().contains('\n'));
}

fn drawn(asked: &PermissionRequest, limits: CardLimits) -> Result<Drawn, String> {
    sketch(asked, limits, &RoomName::new("r")).draw(tokens(asked.options.as_slice().len()))
}

fn tokens(count: usize) -> Vec<ButtonToken> {
    (0..count).map(|n| ButtonToken::from_random(n as u128)).collect()
}

fn sketch<'a>(asked: &'a PermissionRequest, limits: CardLimits, room: &'a RoomName) -> Sketch<'a> {
    Sketch {
        request: RequestId { run: 1, number: 1 },
        room,
        asked,
        deadline: Timestamp::from_unix_millis(0),
        limits,
        details: Details::Full,
        instead_of: None,
        approvals: policy::Approvals::One,
        first: None,
        no_file: None,
    }
}

fn button_labels(names: &[&str], limits: CardLimits) -> Vec<String> {
    let drawn = drawn(&request(None, names), limits).expect("drawn");
    drawn.card.buttons.iter().map(|button| button.label.to_string()).collect()
}

fn section<'a>(card: &'a Card, heading: &str) -> Option<&'a str> {
    card.sections.iter().find(|section| section.heading == heading).map(Section::text)
}

fn call(kind: ToolKind, raw_input: Option<serde_json::Value>) -> ToolCall {
    ToolCall { kind, raw_input, title: Some("make it".into()), ..ToolCall::default() }
}

fn location(path: &str) -> Location {
    Location { path: path.into(), line: None }
}

fn request(tool_call: Option<ToolCall>, names: &[&str]) -> PermissionRequest {
    let options = names.iter().enumerate().map(|(at, name)| option(at, name, "allow_once")).collect();
    asked(tool_call, options)
}

fn request_with_kinds(tool_call: Option<ToolCall>, kinds: &[&str]) -> PermissionRequest {
    asked(tool_call, kinds.iter().enumerate().map(|(at, kind)| option(at, kind, kind)).collect())
}

fn asked(tool_call: Option<ToolCall>, options: Vec<PermissionOption>) -> PermissionRequest {
    PermissionRequest {
        from: ReplyTo { source: SourceName::new("acp"), ask: 1 },
        session: Session { agent: Some("Coder".into()), ..Session::default() },
        title: None,
        description: None,
        tool_call,
        meta: None,
        options: Options::new(options).expect("options"),
        places: None,
    }
}

fn option(at: usize, name: &str, kind: &str) -> PermissionOption {
    let id = OptionId::parse(&RawValue::from_string(format!("\"o{at}\"")).expect("JSON")).expect("an id");
    PermissionOption { id, name: name.into(), kind: OptionKind::parse(kind), meta: None }
}
