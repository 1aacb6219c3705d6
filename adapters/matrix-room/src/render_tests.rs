use bridge_model::{
    Button, ButtonStyle, ButtonToken, Delivery, Origin, PersonId, Refused, RoomName, Section, Shown, SourceName, Withdrawn,
};

use super::*;

const WITHIN: Duration = Duration::from_mins(5);

#[test]
fn an_agents_markup_is_only_text() {
    let content = message(&card("</code></pre><a href=\"https://evil.example\">x</a> <img src=x>"), WITHIN);
    let html = content["formatted_body"].as_str().expect("a text");
    assert!(!html.contains("<a") && !html.contains("<img"), "{html}");
    assert!(html.contains("&lt;/code&gt;&lt;/pre&gt;&lt;a href="), "{html}");
    assert_eq!(html.matches("<code>").count(), html.matches("</code>").count());
}

#[test]
fn nobody_is_mentioned_and_nothing_becomes_a_link() {
    let content = message(&card("@room see https://matrix.to/#/@ada:localhost"), WITHIN);
    for content in [&content, &poll(&card("@room")), &edit(event(), &closed(Ending::Expired))["m.new_content"]] {
        assert_eq!(content["m.mentions"], json!({}));
    }
    let html = running("ask @room at www.evil.example: or https://evil.example/x now");
    assert_eq!(html, "<code>ask @room at www.evil.example</code>: <code>or https://evil.example/x now</code>");
}

#[test]
fn spaces_and_line_breaks_are_shown_as_they_are() {
    for (text, html) in
        [("a b", "a b"), ("a  b", "a&nbsp;&nbsp;b"), (" a", "&nbsp;a"), ("a\nb", "a<br>b"), ("&nbsp;", "&amp;nbsp;")]
    {
        assert_eq!(running(text), html, "{text:?}");
    }
}

#[test]
fn the_plain_body_carries_every_detail() {
    let body = message(&card("rm -rf /srv\n  --force"), WITHIN)["body"].as_str().expect("a text").to_owned();
    for part in [
        "\"Coder\" wants to run: ls (#7)",
        "Command:",
        "    rm -rf /srv\n      --force",
        "within 5 min, until 2026-11-30 06:26:40 UTC",
    ] {
        assert!(body.contains(part), "{body}");
    }
}

#[test]
fn a_poll_has_one_answer_per_button_and_takes_one() {
    let content = poll(&card("ls"));
    let start = &content[POLL_START];
    assert_eq!(start["max_selections"], 1);
    let ids: Vec<_> = start["answers"].as_array().expect("answers").iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [format!("{:032x}", 1), format!("{:032x}", 2)]);
}

#[test]
fn a_card_too_large_for_the_room_is_not_shown() {
    let large = message(&card(&"x".repeat(25_000)), WITHIN);
    assert!(check_size(&large, false).is_ok());
    assert!(matches!(check_size(&large, true), Err(RoomError::NotShowable(_))));
    // Escaping counts.
    assert!(matches!(check_size(&message(&card(&"<".repeat(20_000)), WITHIN), false), Err(RoomError::NotShowable(_))));
}

#[test]
fn a_closing_makes_active_neither_a_name_nor_an_id() {
    let ending = Ending::Answered {
        person: PersonId::new("@ada:localhost"),
        name: Shown::line("Ada"),
        option: Shown::line("<b>Yes"),
        does: ButtonStyle::Reject,
        delivery: Delivery::Taken,
    };
    let html = closing(&closed(ending))["formatted_body"].as_str().expect("a text").to_owned();
    let told = "<strong>\"Ada\" (<code>@ada:localhost</code>) chose \"&lt;b&gt;Yes\" (refuses). The agent has it.</strong>";
    assert!(html.contains(told), "{html}");
}

#[test]
fn each_ending_is_an_edit_of_its_own_and_the_same_one_again_is_the_same() {
    let parts =
        [Ending::Expired, Ending::Withdrawn(Withdrawn::ByAgent), Ending::Refused(Refused::TooMany)].map(|e| edit_part(&e));
    assert_ne!(parts[0], parts[1]);
    assert_ne!(parts[1], parts[2]);
    assert_eq!(parts[0], edit_part(&Ending::Expired));
}

#[test]
fn dates_are_told_rightly() {
    for (millis, text) in [
        (0, "1970-01-01 00:00:00"),
        (951_782_400_000, "2000-02-29 00:00:00"),
        (1_796_020_000_000, "2026-11-30 06:26:40"),
        (4_102_444_799_999, "2099-12-31 23:59:59"),
    ] {
        assert_eq!(clock(Timestamp::from_unix_millis(millis)), text);
    }
}

fn card(command: &str) -> Card {
    let button =
        |bits, label| Button { token: ButtonToken::from_random(bits), label: Shown::line(label), style: ButtonStyle::Neutral };
    Card {
        request: request(),
        room: RoomName::new("ops"),
        origin: Origin { source: SourceName::new("acp"), session: None, agent: Shown::line("Coder") },
        headline: Shown::line("\"Coder\" wants to run: ls"),
        sections: vec![Section { heading: "Command", body: SectionBody::Code(Shown::block(command)) }],
        buttons: vec![button(1, "Yes"), button(2, "No")],
        deadline: Timestamp::from_unix_millis(1_796_020_000_000),
    }
}

fn closed(ending: Ending) -> ClosedCard {
    ClosedCard { request: request(), room: RoomName::new("ops"), headline: Shown::line("\"Coder\" wants to run: ls"), ending }
}

fn request() -> RequestId {
    RequestId { run: 1, number: 7 }
}

fn event() -> &'static EventId {
    <&EventId>::try_from("$card").expect("an id")
}
