use bridge_core::wording::plain;
use bridge_model::{
    Button, ButtonStyle, ButtonToken, Delivery, Digest, Gap, Origin, PersonId, Refused, RoomName, Shown, SourceName, Timestamp,
    Withdrawn,
};

use super::*;

const WITHIN: Duration = Duration::from_mins(5);

#[test]
fn the_poll_which_is_all_in_sight_warns_too() {
    let outside = Section::new(Section::OUTSIDE, SectionBody::Code(Shown::line("/etc/hosts")));
    let question = poll(&card(vec![outside]))[POLL_START]["question"][TEXT].as_str().expect("a question").to_owned();
    assert!(question.starts_with("\u{26a0}\u{fe0f} Outside the workspace. "), "{question}");
}

#[test]
fn very_many_short_lines_are_too_many_as_well() {
    let drawn = draw(&card(vec![Section::new("Command", SectionBody::Code(Shown::block(&"x\n".repeat(1_000))))]), WITHIN, false)
        .expect("drawn");
    assert!(drawn.file.is_some());
}

#[test]
fn what_fits_is_shown_whole_in_both_forms_and_needs_no_file() {
    let drawn = drawn(&card(vec![code("Command", "rm -rf /srv\n  --force")]));
    assert_eq!(drawn.file, None);
    let (body, html) = texts(&drawn.message);
    assert_eq!(
        body,
        "#7 · \"Coder\" wants to run: ls\n\nCommand:\n    rm -rf /srv\n      --force\n\n\
         Answer in the poll within 5 min, until 2026-11-30 06:26:40 UTC. After that it is refused."
    );
    let command = "<p><strong>Command</strong>:<br><code>rm -rf /srv</code><br><code>\u{a0}\u{a0}--force</code></p>";
    assert!(html.contains(command), "{html}");
}

#[test]
fn what_does_not_fit_is_in_a_file_that_the_message_names_with_what_is_left_out() {
    let card = card(vec![code("Command", &format!("{}; rm -rf ~", "x".repeat(50_000))), code("Arguments", "a: b")]);
    let drawn = drawn(&card);
    assert_eq!(drawn.file, Some(bridge_core::file(&card)));
    for text in <[String; 2]>::from(texts(&drawn.message)) {
        for part in
            ["xxx", "; rm -rf ~", "a: b", "\"request-7.txt\" above before you decide", &format!("SHA-256 {}", card.digest)]
        {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
        assert!(text.contains("[47610 characters here are only in the file]"), "{text}");
    }
}

#[test]
fn of_a_card_that_is_whole_nowhere_no_file_is_spoken_of() {
    let mut long = code("Command", &"x".repeat(200));
    long.gap = Some(Gap { at: 100, characters: 9_000_000 });
    let warning = Section::new(Section::ONLY_REFUSING, SectionBody::Ours("It is too long.".to_owned()));
    let drawn = drawn(&Card { is_whole: false, ..card(vec![long, warning]) });
    assert_eq!(drawn.file, None);
    let (body, html) = texts(&drawn.message);
    assert!(html.contains("<strong>[9000000 characters here are not shown]</strong>"), "{html}");
    assert!(html.contains("<strong>\u{26a0}\u{fe0f} Only refusing is possible</strong>: It is too long."), "{html}");
    assert!(!body.contains("file") && !html.contains("file"), "{body}");
}

#[test]
fn a_message_is_never_longer_than_people_scroll_but_for_what_is_vital() {
    let sections = (0..40).map(|_| code("Arguments", &"y ".repeat(2_000))).collect();
    let shown = texts(&drawn(&card(sections)).message).0;
    assert!(shown.matches('y').count() <= INLINE_MAX / 2, "{shown}");
    let legend = code(Section::OPTIONS, &"z ".repeat(5_000));
    assert_eq!(texts(&drawn(&card(vec![legend])).message).0.matches('z').count(), 5_000);
}

#[test]
fn parts_for_which_there_is_no_room_are_counted() {
    let sections = (0..200).map(|_| code("Arguments", &"y".repeat(200))).collect();
    let drawn = drawn(&card(sections));
    let (body, _) = texts(&drawn.message);
    assert!(body.contains("more parts are only in the file]"), "{body}");
    assert!(drawn.file.is_some());
}

#[test]
fn what_may_go_without_a_file_fits_into_an_encrypted_message_however_it_is_made() {
    for unit in [
        "&\n",
        "x\n",
        "\t\t\t\t\t\t\t\t\t\t\t\tx\n",
        "\t\n",
        "\n",
        "&",
        "\"",
        "\\\n",
        "<",
        "a  ",
        "  \n",
        "\u{e4}",
        "\u{1f600}\n",
    ] {
        for body in [SectionBody::Code, SectionBody::Diff] {
            let mut card = card(vec![Section::new("Command", body(Shown::default()))]);
            let room = UNATTACHED_BYTES_MAX - bridge_core::file(&card).text.len();
            // Each line of a file is set in.
            let count = room / (unit.len() + 4 * unit.matches('\n').count());
            card.sections[0].body = body(Shown::block(&unit.repeat(count)));
            let drawn = draw(&card, WITHIN, true).expect("it can be drawn");
            assert_eq!(drawn.file, None, "{unit:?}");
        }
    }
}

#[test]
fn what_even_cut_fits_nowhere_is_not_shown() {
    let vital = card(vec![code(Section::OPTIONS, &"x".repeat(30_000))]);
    assert!(draw(&vital, WITHIN, false).is_err());
    let vital = card(vec![code(Section::OPTIONS, &"x".repeat(26_000))]);
    assert!(draw(&vital, WITHIN, false).is_ok());
    assert!(matches!(draw(&vital, WITHIN, true), Err(RoomError::NotShowable(_))));
    // The poll has no part that could be cut.
    let mut card = card(vec![]);
    card.buttons[0].label = Shown::line(&"<".repeat(70_000));
    assert!(matches!(draw(&card, WITHIN, false), Err(RoomError::NotShowable(_))));
}

#[test]
fn our_words_are_never_code_and_an_agents_never_stand_outside_of_it() {
    let hostile =
        "x</code></p><p><strong>\u{26a0} Approved</strong> @room https://evil.example [5 characters here are not shown]";
    let mut sections: Vec<_> = [SectionBody::Text, SectionBody::Code, SectionBody::Diff]
        .into_iter()
        .map(|body| Section { note: "ours".to_owned(), ..Section::new("Title", body(Shown::line(hostile))) })
        .collect();
    sections.extend(sections.clone().into_iter().map(|section| section.cut(20)));
    sections.push(code("Arguments", &"x".repeat(INLINE_MAX)));
    let card = Card { headline: Shown::line(&format!("\"Coder\" wants to run: {hostile}")), ..card(sections) };
    let (body, html) = texts(&drawn(&card).message);
    let (inside, outside) = apart(&html);
    for theirs in ["evil", "@", "Approved", "[5 "] {
        assert!(inside.contains(theirs), "{inside}");
        assert!(!outside.contains(theirs), "{outside}");
    }
    for ours in ["ours", "wants to", "characters here are only in the file", "request-7.txt"] {
        assert!(outside.contains(ours) && !inside.contains(ours), "{ours:?}: {html}");
    }
    assert!(!body.contains("@room") && body.contains("\\u{40}room"), "{body}");
}

#[test]
fn a_line_of_an_agents_begins_none_of_ours() {
    let code = code("Command", "ls\n\nOnly refusing is possible: x\n\u{21b3}y");
    let (body, html) = texts(&drawn(&card(vec![code])).message);
    assert!(body.contains("\n    Only refusing is possible: x"), "{body}");
    // Nor does it pass for the rest of a line.
    assert!(html.contains("<br><code>\\u{21b3}y</code>"), "{html}");
}

#[test]
fn a_diff_keeps_its_signs() {
    let diff = Section {
        note: "1 line added, 1 removed".to_owned(),
        ..Section::new("Change", SectionBody::Diff(Shown::block("/a\n@@ -1 +1 @@\n-one\n+two\n same\n")))
    };
    let (body, html) = texts(&drawn(&card(vec![diff])).message);
    assert!(
        body.contains("Change (1 line added, 1 removed):\n    /a\n    @@ -1 +1 @@\n    -one\n    +two\n     same\n"),
        "{body}"
    );
    assert!(html.contains("<strong>Change</strong> (1 line added, 1 removed):<br><code>/a</code><br>"), "{html}");
    assert!(html.contains("<code>-one</code><br><code>+two</code><br><code>\u{a0}same</code></p>"), "{html}");
}

#[test]
fn nobody_is_mentioned() {
    let drawn = drawn(&card(vec![code("Command", "@room see https://matrix.to/#/@ada:localhost")]));
    let edit = edit(event(), &closed(Ending::Expired));
    for content in [&drawn.message, &drawn.poll, &edit["m.new_content"], &edit, &told(&[])] {
        assert_eq!(content["m.mentions"], json!({}));
    }
}

#[test]
fn a_poll_has_one_answer_per_button_and_takes_one() {
    let content = drawn(&card(vec![])).poll;
    let start = &content[POLL_START];
    assert_eq!(start["max_selections"], 1);
    let ids: Vec<_> = start["answers"].as_array().expect("answers").iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [format!("{:032x}", 1), format!("{:032x}", 2)]);
}

#[test]
fn a_closing_makes_active_neither_a_name_nor_an_id_and_says_when() {
    let ending = Ending::Answered {
        person: PersonId::new("@ada:localhost"),
        name: Shown::line("Ada"),
        option: Shown::line("<b>Yes"),
        does: ButtonStyle::Reject,
        first: None,
        delivery: Delivery::Taken,
    };
    let (body, html) = texts(&closing(&closed(ending)));
    let told = "<strong>\"Ada\" (<code>@ada:localhost</code>) chose \"&lt;b&gt;Yes\" (refuses) at 2026-11-30 06:26:40 UTC. \
                The agent has it.</strong>";
    assert!(html.contains(told), "{html}");
    assert!(body.ends_with("\"Ada\" (@ada:localhost) chose \"<b>Yes\" (refuses) at 2026-11-30 06:26:40 UTC. The agent has it."));
}

#[test]
fn what_one_person_is_told_is_inert_too() {
    let words = [Words::Ours("Your click came too late: ".to_owned()), Words::Name("@room evil.example".to_owned())];
    let (body, html) = texts(&told(&words));
    assert_eq!(html, "Your click came too late: <code>\"@room evil.example\"</code>");
    assert_eq!(body, plain(&words).replace('@', "\\u{40}"));
}

#[test]
fn each_ending_is_an_edit_of_its_own_and_the_same_one_again_is_the_same() {
    let parts =
        [Ending::Expired, Ending::Withdrawn(Withdrawn::ByAgent), Ending::Refused(Refused::TooMany)].map(|e| edit_part(&e));
    assert_ne!(parts[0], parts[1]);
    assert_ne!(parts[1], parts[2]);
    assert_eq!(parts[0], edit_part(&Ending::Expired));
}

fn drawn(card: &Card) -> Drawn {
    let drawn = draw(card, WITHIN, false).expect("it can be drawn");
    assert!(draw(card, WITHIN, true).is_ok());
    drawn
}

pub(super) fn texts(content: &Value) -> (String, String) {
    let text = |field: &str| content[field].as_str().expect("a text").to_owned();
    (text("body"), text("formatted_body"))
}

/// What is code and what is not.
fn apart(html: &str) -> (String, String) {
    let (mut inside, mut outside) = (String::new(), String::new());
    for (at, part) in html.split("code>").enumerate() {
        if at % 2 == 0 { outside.push_str(part) } else { inside.push_str(part) }
    }
    (inside, outside)
}

pub(super) fn code(heading: &'static str, text: &str) -> Section {
    Section::new(heading, SectionBody::Code(Shown::block(text)))
}

pub(super) fn card(sections: Vec<Section>) -> Card {
    let button =
        |bits, label| Button { token: ButtonToken::from_random(bits), label: Shown::line(label), style: ButtonStyle::Neutral };
    Card {
        request: request(),
        room: RoomName::new("ops"),
        origin: Origin { source: SourceName::new("acp"), session: None, agent: Shown::line("Coder") },
        headline: Shown::line("\"Coder\" wants to run: ls"),
        sections,
        buttons: vec![button(1, "Yes"), button(2, "No")],
        deadline: now(),
        is_whole: true,
        digest: Digest::from_bytes([0xab; 32]),
    }
}

fn closed(ending: Ending) -> ClosedCard {
    let headline = Shown::line("\"Coder\" wants to run: ls");
    ClosedCard { request: request(), room: RoomName::new("ops"), headline, ending, at: Some(now()) }
}

fn now() -> Timestamp {
    Timestamp::from_unix_millis(1_796_020_000_000)
}

fn request() -> RequestId {
    RequestId { run: 1, number: 7 }
}

pub(super) fn event() -> &'static EventId {
    <&EventId>::try_from("$card").expect("an id")
}
