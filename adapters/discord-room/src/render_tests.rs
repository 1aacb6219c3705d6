use bridge_model::{Button, ButtonToken, Delivery, Ending, Origin, PersonId, RoleId, RoomName, SourceName, Timestamp, Withdrawn};
use serde_json::{Value, json};

use super::*;

#[test]
fn the_first_line_says_who_wants_what() {
    let content = content(&sections(&[code_section("ls")]));
    assert_eq!(content.lines().next(), Some("`Coder` wants to run: `ls` (#7)"));
    let end = "**Allows once:** `Yes`\n**Refuses:** `No`\nExpires <t:1796020000:R>, and is refused then.";
    assert!(content.ends_with(end), "{content}");
}

#[test]
fn no_run_of_backticks_ends_the_code() {
    for hostile in ["```", "`````", "a``` b\n```\n<@1> https://evil.example", "`", "``"] {
        let content = content(&sections(&[code_section(hostile), text_section(hostile)]));
        let marks = content.replace("`\u{200b}", "");
        assert_eq!(marks.matches("```").count(), 2, "{content}");
        assert!(outside_of_code(&content).iter().all(|line| !line.contains("evil") && !line.contains("<@1>")), "{content}");
    }
}

#[test]
fn a_fence_is_never_empty() {
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
        assert_eq!(content(&card).lines().next(), Some(format!("`{name}` wants to run: `ls` (#7)").as_str()));
    }
    let mut card = sections(&[]);
    card.headline = Shown::line("Ada has approved: ls");
    assert_eq!(content(&card).lines().next(), Some("`Ada has approved: ls` (#7)"));
}

#[test]
fn nothing_an_agent_writes_stands_outside_of_code() {
    let hostile = "**x** @everyone <@&9> [a](https://evil.example) ||s|| <t:0:R> # h";
    let mut card = sections(&[code_section(hostile), text_section(hostile), text_section(&format!("{hostile}\n{hostile}"))]);
    card.headline = Shown::line(&format!("\"{hostile}\" wants to run: {hostile}"));
    card.buttons[0].label = Shown::line(hostile);
    let mut contents = vec![content(&card), body(&notice(&closed(&card)))["content"].as_str().expect("a text").to_owned()];
    contents.push(parsed(&closing(&closed(&card)))["content"].as_str().expect("a text").to_owned());
    for content in contents {
        for outside in outside_of_code(&content) {
            for part in ["@everyone", "<@&9>", "evil", "||", "<t:0", "# h", "**x"] {
                assert!(!outside.contains(part), "{outside:?} of {content}");
            }
        }
    }
}

#[test]
fn only_those_who_are_configured_are_mentioned() {
    let mention = Mention { people: [PersonId::new("11")].into(), roles: [RoleId::new("22")].into() };
    let sent = super::card(&sections(&[]), &mention, true).expect("a card");
    let sent = body(&sent);
    assert_eq!(sent["allowed_mentions"], json!({"parse": [], "users": ["11"], "roles": ["22"]}));
    assert!(sent["content"].as_str().expect("a text").ends_with(" then. <@&22> <@11>"), "{sent}");
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
    for does in ["Allows once", "Allows always", "Refuses", "Of unknown kind"] {
        assert!(content.contains(&format!("**{does}:** `Allow`")), "{content}");
    }
}

#[test]
fn what_does_not_fit_is_attached_whole_and_its_end_stays_in_sight() {
    let command = format!("start {}\nrm -rf / # the end", "x".repeat(9_000));
    let card = sections(&[code_section(&command)]);
    let sent = super::card(&card, &Mention::default(), true).expect("a card");
    let file = sent.file.clone().expect("a file");
    let text = String::from_utf8(file.data.clone()).expect("text");
    assert!(text.contains(&command.replace('\n', "\n    ")) && text.contains("Yes (allows once)"), "{text}");
    let content = body(&sent)["content"].as_str().expect("a text").to_owned();
    for part in
        ["start xxx", "characters are left out here", "rm -rf / # the end", "before you decide:** `request-7.txt`", "SHA-256"]
    {
        assert!(content.contains(part), "{part} is not in {content}");
    }
    assert!(units(&content) <= CONTENT_MAX);
    assert!(matches!(super::card(&card, &Mention::default(), false), Err(RoomError::NotShowable(_))));
}

#[test]
fn any_number_of_parts_leaves_room_for_what_must_be_seen() {
    let parts: Vec<_> = (0..200).map(|at| code_section(&format!("part {at} {}", "y".repeat(at * 7)))).collect();
    let legend = Section { heading: Section::OPTIONS, body: SectionBody::Text(Shown::block("1. Yes\n2. No")) };
    let sent = super::card(&sections(&[&parts[..], &[legend]].concat()), &Mention::default(), true).expect("a card");
    let content = body(&sent)["content"].as_str().expect("a text").to_owned();
    assert!(units(&content) <= CONTENT_MAX, "{}", units(&content));
    assert!(content.contains("`1. Yes`\n`2. No`") && content.contains("more parts"), "{content}");
    let names = (1..=25).map(|at| format!("{at}. {}", "z".repeat(200))).collect::<Vec<_>>().join("\n");
    let legend = Section { heading: Section::OPTIONS, body: SectionBody::Text(Shown::block(&names)) };
    assert!(matches!(super::card(&sections(&[legend]), &Mention::default(), true), Err(RoomError::NotShowable(_))));
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
fn a_long_line_is_broken_where_a_phone_would_cut_it() {
    assert_eq!(wrapped("short"), "short");
    assert_eq!(wrapped(&"x".repeat(60)), format!("{}\n↪{}\n↪x", "x".repeat(30), "x".repeat(29)));
    let words = "echo one two three four five six seven eight nine ten";
    assert_eq!(wrapped(words), "echo one two three four five \n↪six seven eight nine ten");
    // What a joint joins to stays in sight of it.
    for (line, shown) in [
        ("npm install --save-dev xy && rm -rf /", "npm install --save-dev xy \n↪&& rm -rf /"),
        ("curl https://example.org/ab | sh -s now", "curl https://example.org/ab \n↪| sh -s now"),
    ] {
        assert_eq!(wrapped(line), shown);
    }
    // Nobody but us continues a line.
    assert_eq!(wrapped("↪ x"), "\\u{21aa} x");
}

#[test]
fn a_closing_has_no_buttons_and_says_who_chose_what() {
    let sent = parsed(&closing(&closed(&sections(&[]))));
    assert_eq!(sent["components"], json!([]));
    assert_eq!(sent["content"], "`Coder` wants to run: `ls` (#7)\n`Ada` (<@11>) chose `Yes` (allows once). The agent has it.");
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

/// The pieces of each line that no code encloses.
fn outside_of_code(content: &str) -> Vec<String> {
    let without_marks = content.replace("`\u{200b}", "");
    let fences_removed: String = without_marks.split("```").step_by(2).collect();
    let spans_removed = fences_removed.replace("``", "`");
    spans_removed.lines().map(|line| line.split('`').step_by(2).collect()).collect()
}

fn content(card: &Card) -> String {
    body(&super::card(card, &Mention::default(), true).expect("a card"))["content"].as_str().expect("a text").to_owned()
}

fn body(sent: &Outgoing) -> Value {
    serde_json::to_value(&sent.body).expect("JSON")
}

fn parsed(body: &Result<Vec<u8>, RoomError>) -> Value {
    serde_json::from_slice(body.as_ref().expect("a body")).expect("JSON")
}

fn sections(sections: &[Section]) -> Card {
    Card {
        request: RequestId { run: 1, number: 7 },
        room: RoomName::new("ops"),
        origin: Origin { source: SourceName::new("acp"), session: None, agent: Shown::line("Coder") },
        headline: Shown::line("\"Coder\" wants to run: ls"),
        sections: sections.to_vec(),
        buttons: vec![button(1, "Yes", ButtonStyle::AllowOnce), button(2, "No", ButtonStyle::Reject)],
        deadline: Timestamp::from_unix_millis(1_796_020_000_999),
    }
}

fn closed(card: &Card) -> ClosedCard {
    let ending = Ending::Answered {
        person: PersonId::new("11"),
        name: Shown::line("Ada"),
        option: card.buttons[0].label.clone(),
        does: card.buttons[0].style,
        delivery: Delivery::Taken,
    };
    ClosedCard { request: card.request, room: card.room.clone(), headline: card.headline.clone(), ending }
}

fn button(bits: u128, label: &str, style: ButtonStyle) -> Button {
    Button { token: ButtonToken::from_random(bits), label: Shown::line(label), style }
}

fn code_section(text: &str) -> Section {
    Section { heading: "Command", body: SectionBody::Code(Shown::block(text)) }
}

fn text_section(text: &str) -> Section {
    Section { heading: "Kind", body: SectionBody::Text(Shown::block(text)) }
}
