use bridge_model::{
    Button, ButtonToken, Delivery, Digest, Ending, Origin, PersonId, RoleId, RoomName, SectionBody, SourceName, Timestamp,
    Withdrawn,
};
use serde_json::{Value, json};

use super::*;

#[test]
fn the_first_line_says_who_wants_what() {
    let content = content(&sections(&[code_section("ls")]));
    let start = "#7 · `Coder` wants to run: `ls`\nExpires <t:1796020000:R>, then refused.\n\n";
    assert!(content.starts_with(start), "{content}");
    assert!(content.ends_with("\n\n**Allows once:** `Yes`\n**Refuses:** `No`"), "{content}");
}

/// What Discord's clients make something of, each where they would: at the beginning of a line, too.
pub(crate) const HOSTILE: [&str; 26] = [
    "```",
    "`````",
    "a``` b\n```\n<@1>",
    "`",
    "``",
    "```diff\n+ evil",
    "**evil**",
    "__evil__ ~~x~~",
    "||evil||",
    "@everyone",
    "@here <@1> <@&9> <#3>",
    "<t:0:R>",
    "</cmd:1>",
    "<id:home>",
    ":skull: <:x:1>",
    "[evil](https://evil.example)",
    "https://evil.example",
    "discord.gg/evil",
    "# evil",
    "-# evil",
    "> evil",
    ">>> evil",
    "- evil",
    "1. evil",
    "\\` evil",
    "⚠️ **Outside:** evil",
];

#[test]
fn nothing_an_agent_writes_stands_outside_of_code() {
    for hostile in HOSTILE {
        let lines = format!("{hostile}\n{hostile}\nx {hostile}");
        let harmless = everywhere("x", &lines.lines().map(|_| "x").collect::<Vec<_>>().join("\n"));
        let card = everywhere(hostile, &lines);
        let outside = |card: &Card| {
            [content(card), ending(card), text_of(&body(&notice(&closed(card))))].map(|text| outside_of_code(&text))
        };
        assert_eq!(outside(&card), outside(&harmless), "{hostile:?}: {}", content(&card));
    }
}

#[test]
fn where_a_text_is_cut_it_is_still_in_code() {
    for hostile in HOSTILE {
        let long = format!("{hostile}\n").repeat(600);
        for body in [
            SectionBody::Code(Shown::block(&long)),
            SectionBody::Diff(Shown::block(&long)),
            SectionBody::Text(Shown::line(&long)),
        ] {
            let content = content(&sections(&[section("Command", body), code_section(hostile)]));
            assert!(units(&content) <= CONTENT_MAX);
            for outside in outside_of_code(&content) {
                for part in ["evil", "@everyone", "<@1>", "<t:0", "</cmd", "<id:", ":skull", "||"] {
                    assert!(!outside.contains(part), "{outside:?} of {content}");
                }
            }
        }
    }
}

#[test]
fn our_own_words_carry_no_markup_of_others() {
    for hostile in HOSTILE {
        let ours = Section { note: hostile.to_owned(), ..section(Section::ONLY_REFUSING, SectionBody::Ours(hostile.to_owned())) };
        let content = content(&sections(&[ours]));
        let line = content.lines().find(|line| line.contains("Only refusing")).expect("a line");
        let (_, said) = line.split_once("possible**").expect("a heading");
        let mut seen = said.replace("\\\\", "");
        for mark in ["`", "*", "_", "~", "|", "<", ">", "[", "]", "@", "/", ":"] {
            seen = seen.replace(&format!("\\{mark}"), "");
        }
        let bare = |mark: char| "`*_~|<>[]@/".contains(mark);
        assert!(!seen.contains(bare) && !seen.contains(":s") && content.contains("\n\n**Allows once"), "{content}");
    }
}

#[test]
fn a_fence_is_never_empty() {
    let change = content(&sections(&[section("Change", SectionBody::Diff(Shown::line("/a"))), code_section("# evil")]));
    assert!(change.contains("**Change:** `/a`\n**Command:** `# evil`"), "{change}");
    for empty in ["", "\n", "\n\n\n"] {
        let content = content(&sections(&[code_section(empty), code_section("# evil")]));
        assert!(outside_of_code(&content).iter().all(|line| !line.contains("evil")), "{content}");
        assert!(!content.contains("```\n\n```"), "{content}");
    }
    // Nor where only line breaks are left of the beginning of what is too long.
    let long = code_section(&format!("{}{}# evil", "\n".repeat(3_000), "x".repeat(3_000)));
    let content = content(&sections(&[long, code_section("# evil")]));
    assert!(outside_of_code(&content).iter().all(|line| !line.contains("evil")), "{content}");
}

#[test]
fn an_agents_name_is_no_sentence_of_ours() {
    for name in ["Ada has approved this. The agent", "1. x", "Claude wants to read: README.md", "- x", "**x**", "An agent"] {
        let mut card = sections(&[]);
        card.headline = Shown::line(&format!("{} wants to run: ls", wording::quoted(name)));
        assert_eq!(content(&card).lines().next(), Some(format!("#7 · `{name}` wants to run: `ls`").as_str()));
    }
    let mut card = sections(&[]);
    card.headline = Shown::line("Ada has approved: ls");
    assert_eq!(content(&card).lines().next(), Some("#7 · `Ada has approved: ls`"));
}

#[test]
fn only_those_who_are_configured_are_mentioned() {
    let mention = Mention { people: [PersonId::new("11")].into(), roles: [RoleId::new("22")].into() };
    let sent = super::card(&sections(&[]), &mention, true).expect("a card");
    let sent = body(&sent);
    assert_eq!(sent["allowed_mentions"], json!({"parse": [], "users": ["11"], "roles": ["22"]}));
    assert!(sent["content"].as_str().expect("a text").contains(", then refused. <@&22> <@11>\n"), "{sent}");
    let nobody = json!({"parse": [], "users": [], "roles": []});
    let card = sections(&[]);
    let words = [Words::Theirs("<@1>".to_owned())];
    for body in [
        body(&notice(&closed(&card))),
        parsed(&closing(&closed(&card))),
        parsed(&private_follow_up(&words)),
        parsed(&private_answer("x"))["data"].clone(),
    ] {
        assert_eq!(body["allowed_mentions"], nobody, "{body}");
    }
}

#[test]
fn buttons_stand_in_rows_of_five_in_the_agents_order() {
    let mut card = sections(&[]);
    card.buttons = (0..12).map(|at| button(at, &format!("Option {at}"), ButtonStyle::Neutral)).collect();
    let sent = body(&super::card(&card, &Mention::default(), true).expect("a card"));
    let rows = sent["components"].as_array().expect("rows");
    let labels: Vec<Vec<_>> = rows
        .iter()
        .map(|row| row["components"].as_array().expect("buttons").iter().map(|button| button["label"].clone()).collect())
        .collect();
    assert_eq!(labels.iter().map(Vec::len).collect::<Vec<_>>(), [5, 5, 2]);
    assert_eq!(labels.concat(), (0..12).map(|at| format!("Option {at}")).collect::<Vec<_>>());
    assert_eq!(rows[0]["components"][1]["custom_id"], format!("countersign:{:032x}", 1));
}

#[test]
fn colours_follow_the_kind_and_never_the_label() {
    let mut card = sections(&[]);
    let styles = [ButtonStyle::AllowOnce, ButtonStyle::AllowAlways, ButtonStyle::Reject, ButtonStyle::Neutral];
    card.buttons = (0..).zip(styles).map(|(at, style)| button(at, "Allow", style)).collect();
    let sent = body(&super::card(&card, &Mention::default(), true).expect("a card"));
    let colours: Vec<_> = (0..4).map(|at| sent["components"][0]["components"][at]["style"].clone()).collect();
    assert_eq!(colours, [3, 2, 4, 2]);
    let content = sent["content"].as_str().expect("a text").to_owned();
    for does in [
        "Allows once",
        "Allows more than this once, as far as the agent decides",
        "Refuses",
        "Of unknown kind, does what the agent decides",
    ] {
        assert!(content.contains(&format!("**{does}:** `Allow`")), "{content}");
    }
}

#[test]
fn labels_are_told_again_as_far_as_they_differ() {
    let mut card = sections(&[]);
    let labels =
        ["Yes", "Yes, and don't ask again", "Yes, and don't look", "No, and tell Coder what to do differently from now on"];
    let styles = [ButtonStyle::AllowOnce, ButtonStyle::AllowAlways, ButtonStyle::AllowAlways, ButtonStyle::Reject];
    card.buttons = (0..).zip(labels).zip(styles).map(|((at, label), style)| button(at, label, style)).collect();
    let sent = body(&super::card(&card, &Mention::default(), true).expect("a card"));
    let drawn: Vec<_> = (0..4).map(|at| sent["components"][0]["components"][at]["label"].clone()).collect();
    assert_eq!(drawn, labels, "the buttons have them whole");
    let told = "**Allows once:** `Yes`\n\
                **Allows more than this once, as far as the agent decides:** `Yes, and don't ask again`, `Yes, and don't look`\n\
                **Refuses:** `No, and tell Coder what to do differently from …`";
    assert!(text_of(&sent).ends_with(told), "{sent}");
    let legend = section(Section::OPTIONS, SectionBody::Code(Shown::block("1. Allows once: Yes\n2. Refuses: No")));
    let content = content(&sections(&[legend]));
    assert!(content.ends_with("`1. Allows once: Yes`\n`2. Refuses: No`") && !content.contains("**Refuses"), "{content}");
}

#[test]
fn what_does_not_fit_is_attached_whole_and_its_end_stays_in_sight() {
    let command = format!("start {}\n; rm -rf ~", "x".repeat(50_000));
    let card = sections(&[code_section(&command)]);
    let sent = super::card(&card, &Mention::default(), true).expect("a card");
    let file = sent.file.clone().expect("a file");
    assert_eq!(file, bridge_core::file(&card));
    assert!(file.text.contains(&command.replace('\n', "\n    ")) && file.text.contains("Allows once: Yes"), "{}", file.text);
    let content = text_of(&body(&sent));
    let characters = file.characters();
    let note = format!(
        "⚠️ **Read the file before you decide:** `request-7.txt`, {characters} characters\n-# SHA-256 `{}`\n",
        card.digest
    );
    for part in [
        "**Command:**\n```\nstart xxx",
        "characters are left out here; they are in the file …*\n```\n↳",
        "\n; rm -rf ~\n```\n⚠️",
        &note,
    ] {
        assert!(content.contains(part), "{part} is not in {content}");
    }
    assert!(outside_of_code(&content).iter().any(|line| line.contains("left out here")), "{content}");
    assert!(units(&content) <= CONTENT_MAX);
    assert_eq!(body(&sent)["attachments"], json!([{"id": 0, "filename": "request-7.txt", "description": null}]));
    assert!(matches!(super::card(&card, &Mention::default(), false), Err(RoomError::NotAttached(_))));
}

#[test]
fn what_is_nowhere_whole_is_not_said_to_be_in_a_file() {
    let text = Shown::block(&format!("{}\n; rm -rf ~", "x".repeat(5_000)));
    let cut = section("Command", SectionBody::Code(text)).cut(200);
    let why = section(Section::ONLY_REFUSING, SectionBody::Ours("The request is too long.".to_owned()));
    for sections in [vec![cut.clone(), why.clone()], [vec![cut; 40], vec![why]].concat()] {
        let card = Card { is_whole: false, ..self::sections(&sections) };
        let sent = super::card(&card, &Mention::default(), false).expect("a card");
        let content = text_of(&body(&sent));
        assert!(sent.file.is_none() && !content.contains("file") && !content.contains("SHA"), "{content}");
        assert!(content.contains("⚠️ **Only refusing is possible:** The request is too long.\n"), "{content}");
        assert!(content.contains("not shown …*\n```\n↳") && content.contains("; rm -rf ~\n```"), "{content}");
    }
}

#[test]
fn any_number_of_parts_leaves_room_for_what_must_be_seen() {
    let parts: Vec<_> = (0..200).map(|at| code_section(&format!("part {at} {}", "y".repeat(at * 7)))).collect();
    let legend = |names: &str| section(Section::OPTIONS, SectionBody::Code(Shown::block(names)));
    let sent =
        super::card(&sections(&[&parts[..], &[legend("1. Yes\n2. No")]].concat()), &Mention::default(), true).expect("a card");
    let content = text_of(&body(&sent));
    assert!(units(&content) <= CONTENT_MAX, "{}", units(&content));
    assert!(content.contains("**Options:**\n`1. Yes`\n`2. No`\n**And 1"), "{content}");
    assert!(content.contains("more parts,** in the file."), "{content}");
    let names = (1..=25).map(|at| format!("{at}. {}", "z".repeat(200))).collect::<Vec<_>>().join("\n");
    assert!(matches!(super::card(&sections(&[legend(&names)]), &Mention::default(), true), Err(RoomError::NotShowable(_))));
}

#[test]
fn short_facts_share_a_line_and_warnings_stand_out() {
    let text = |heading, text: &str| section(heading, SectionBody::Text(Shown::line(text)));
    let noted = Section {
        note: "1 hidden character is spelled out".to_owned(),
        ..section("Command", SectionBody::Code(Shown::line("ls")))
    };
    let card = sections(&[
        section(Section::OUTSIDE, SectionBody::Code(Shown::line("/etc/passwd"))),
        noted,
        text("Runs in", "/srv"),
        text("Tool", "Bash"),
        text("Title, in the agent's words", &"long ".repeat(20)),
        text("Kind", "execute"),
        text("Works in", "/srv/ws"),
    ]);
    let expected = format!(
        "⚠️ **Outside the workspace:** `/etc/passwd`\n\
         **Command** (1 hidden character is spelled out): `ls`\n\
         **Runs in:** `/srv` · **Tool:** `Bash`\n\
         **Title, in the agent's words:** `{}`\n\
         -# **Kind:** `execute` · **Works in:** `/srv/ws`\n\n",
        "long ".repeat(20)
    );
    let content = content(&card);
    assert!(content.contains(&expected), "{content}");
}

#[test]
fn a_change_names_its_file_before_its_lines() {
    let diff = Shown::block("/srv/`a`\n@@ -1 +1 @@\n-one\n+```two\n");
    let change = Section { note: "1 line added, 1 removed".to_owned(), ..section("Change", SectionBody::Diff(diff)) };
    let expected = "**Change** (1 line added, 1 removed): `` /srv/`\u{200b}a`\u{200b} ``\n\
                    ```diff\n@@ -1 +1 @@\n-one\n+`\u{200b}`\u{200b}`\u{200b}two\n```\n";
    let content = content(&sections(&[change]));
    assert!(content.contains(expected), "{content}");
}

#[test]
fn a_card_that_two_people_decide_on_has_room_to_say_who_has() {
    let nobody = section(Section::TWO_PEOPLE, SectionBody::Ours("Nobody has yet.".to_owned()));
    let mut has_file = false;
    for length in 0..2_000 {
        let card = sections(&[code_section(&"x y ".repeat(length)), nobody.clone()]);
        let sent = super::card(&card, &Mention::default(), true).expect("a card");
        has_file = sent.file.is_some();
        assert!(units(&text_of(&body(&sent))) <= CONTENT_MAX - NEWS_MAX, "{length}");
        if has_file {
            break;
        }
    }
    assert!(has_file);
}

#[test]
fn a_preview_is_what_is_sent() {
    let card = sections(&[code_section(&"x".repeat(9_000))]);
    let preview = crate::preview(&card).expect("a preview");
    let sent = super::card(&card, &Mention::default(), true).expect("a card");
    assert_eq!((preview.bodies, preview.file), (vec![body(&sent)], Some(bridge_core::file(&card))));
    assert_eq!(crate::preview(&sections(&[])).expect("a preview").file, None);
    let none = Card { buttons: Vec::new(), ..card };
    assert!(matches!(crate::preview(&none), Err(RoomError::NotShowable(_))));
}

#[test]
fn every_length_of_a_command_makes_a_message_that_discord_takes() {
    for length in (0..5_000).step_by(37) {
        for letter in ["a", "`", "🦀", " ", "\n"] {
            let sent =
                super::card(&sections(&[code_section(&letter.repeat(length))]), &Mention::default(), true).expect("a card");
            let content = body(&sent)["content"].as_str().expect("a text").to_owned();
            assert!(units(&content) <= CONTENT_MAX, "{length} of {letter:?}");
        }
    }
}

#[test]
fn a_closing_has_no_buttons_and_says_who_chose_what() {
    let sent = parsed(&closing(&closed(&sections(&[]))));
    assert_eq!(sent["components"], json!([]));
    let said = "#7 · `Coder` wants to run: `ls`\n`Ada` (<@11>) chose `Yes` (allows once) at <t:1796019000:f>. The agent has it.";
    assert_eq!(sent["content"], said);
    let expired = ClosedCard { ending: Ending::Withdrawn(Withdrawn::ByAgent), ..closed(&sections(&[])) };
    assert!(!parsed(&closing(&expired)).to_string().to_lowercase().contains("approved"));
}

#[test]
fn a_nonce_is_as_short_as_discord_wants_it() {
    let card = sections(&[]);
    for (run, number) in [(0, 1), (u64::MAX, u64::MAX)] {
        let card = Card { request: RequestId { run, number }, ..card.clone() };
        let sent = body(&super::card(&card, &Mention::default(), true).expect("a card"));
        assert!(sent["nonce"].as_str().expect("a nonce").len() <= 25, "{sent}");
        assert_eq!((&sent["enforce_nonce"], &sent["nonce"]), (&json!(true), &body(&notice(&closed(&card)))["nonce"]));
    }
}

/// The lines of what no code encloses, code being what Discord takes for it.
pub(crate) fn outside_of_code(content: &str) -> Vec<String> {
    let (mut outside, mut rest) = (String::new(), content);
    while let Some(at) = rest.find('`') {
        outside.push_str(&rest[..at]);
        let marks = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        let marks = marks.min(3);
        let code = &rest[at + marks..];
        let end = (0..code.len()).find(|end| code.is_char_boundary(*end) && closes(code, *end, marks));
        rest = end.map_or_else(|| panic!("code without an end in {content}"), |end| &code[end + marks..]);
        outside.push('□');
    }
    outside.push_str(rest);
    outside.lines().map(str::to_owned).collect()
}

/// Whether as many marks as began the code stand there: exactly, but for a fence, and after something.
fn closes(code: &str, at: usize, marks: usize) -> bool {
    let there = code[at..].len() - code[at..].trim_start_matches('`').len();
    let fits = if marks == 3 { 3 <= there } else { there == marks && !code[..at].ends_with('`') };
    fits && !code[..at].trim_matches('\n').is_empty()
}

fn content(card: &Card) -> String {
    text_of(&body(&super::card(card, &Mention::default(), true).expect("a card")))
}

fn ending(card: &Card) -> String {
    text_of(&parsed(&closing(&closed(card))))
}

pub(crate) fn text_of(body: &Value) -> String {
    body["content"].as_str().expect("a text").to_owned()
}

pub(crate) fn body(sent: &Outgoing) -> Value {
    serde_json::to_value(&sent.body).expect("JSON")
}

pub(crate) fn parsed(body: &Result<Vec<u8>, RoomError>) -> Value {
    serde_json::from_slice(body.as_ref().expect("a body")).expect("JSON")
}

pub(crate) fn sections(sections: &[Section]) -> Card {
    Card {
        request: RequestId { run: 1, number: 7 },
        room: RoomName::new("ops"),
        origin: Origin { source: SourceName::new("acp"), session: None, agent: Shown::line("Coder") },
        headline: Shown::line("\"Coder\" wants to run: ls"),
        sections: sections.to_vec(),
        buttons: vec![button(1, "Yes", ButtonStyle::AllowOnce), button(2, "No", ButtonStyle::Reject)],
        deadline: Timestamp::from_unix_millis(1_796_020_000_999),
        is_whole: true,
        digest: Digest::from_bytes([7; 32]),
    }
}

/// A card of which every text that others wrote is this.
fn everywhere(line: &str, lines: &str) -> Card {
    let (line, lines) = (Shown::line(line), Shown::block(lines));
    let change = Shown::block(&format!("{line}\n{lines}"));
    let mut card = sections(&[
        section(Section::OUTSIDE, SectionBody::Code(lines.clone())),
        section("Command", SectionBody::Code(line.clone())),
        section("Command", SectionBody::Code(lines)),
        section("Change", SectionBody::Diff(change)),
        section("Tool", SectionBody::Text(line.clone())),
        section("Kind", SectionBody::Text(line.clone())),
    ]);
    card.headline = Shown::line(&format!("{} wants to run: {line}", wording::quoted(line.as_str())));
    card.buttons[0].label = line;
    card
}

fn closed(card: &Card) -> ClosedCard {
    let ending = Ending::Answered {
        person: PersonId::new("11"),
        name: Shown::line("Ada"),
        option: card.buttons[0].label.clone(),
        does: card.buttons[0].style,
        first: None,
        delivery: Delivery::Taken,
    };
    let at = Some(Timestamp::from_unix_millis(1_796_019_000_999));
    ClosedCard { request: card.request, room: card.room.clone(), headline: card.headline.clone(), ending, at }
}

pub(crate) fn button(bits: u128, label: &str, style: ButtonStyle) -> Button {
    Button { token: ButtonToken::from_random(bits), label: Shown::line(label), style }
}

pub(crate) fn code_section(text: &str) -> Section {
    section("Command", SectionBody::Code(Shown::block(text)))
}

pub(crate) fn section(heading: &'static str, body: SectionBody) -> Section {
    Section::new(heading, body)
}
