//! A posted card as it is now, as an edit of its message. The poll stays as it is, and so does the file.

use std::time::Duration;

use bridge_core::{Laid, RoomError, file, lay_out, rows};
use bridge_model::{Card, RequestId};
use matrix_sdk::ruma::EventId;
use serde_json::{Value, json};

use super::{INLINE_MAX, ROWS_MAX, Sketch, characters, event_max, size};
use crate::draft::{CodeForm, Draft, LINE_MAX};

/// `has_file`: whether the card's file is in the room. Where it is not, a message that held all of the card still has to.
pub(crate) fn redraw(
    message: &EventId,
    card: &Card,
    within: Duration,
    encrypted: bool,
    has_file: bool,
) -> Result<Value, RoomError> {
    let file = file(card);
    let sketch = Sketch { card, file: has_file.then_some(&file), within };
    let max = event_max(encrypted) - size(&edit(message, card.request, Value::Null));
    let must_be_whole = card.is_whole && !has_file;
    let may_fit = |laid: &Laid| laid.sections.iter().map(|section| section.text().len()).sum::<usize>() <= max;
    let is_readable = |laid: &Laid| must_be_whole || (characters(laid) <= INLINE_MAX && rows(laid, LINE_MAX) <= ROWS_MAX);
    let fits = |laid: &Laid| may_fit(laid) && is_readable(laid) && size(&sketch.message(laid, max)) <= max;
    let laid = lay_out(card, fits).filter(|laid| laid.is_whole || !must_be_whole);
    let laid = laid.ok_or_else(|| RoomError::NotShowable("the card as it is now does not fit into its message".to_owned()))?;
    Ok(edit(message, card.request, sketch.message(&laid, max)))
}

fn edit(message: &EventId, request: RequestId, new: Value) -> Value {
    // For clients that know no edits, which mark them so by custom. What is in `new` a second time would fit no event.
    let mut draft = Draft::new(CodeForm::Lines);
    draft.ours(&format!("* The card of request #{} says something new.", request.number));
    let mut content = draft.content("m.text");
    content["m.new_content"] = new;
    content["m.relates_to"] = json!({ "rel_type": "m.replace", "event_id": message });
    content
}

#[cfg(test)]
mod tests {
    use bridge_model::{Section, SectionBody, Shown};

    use super::super::tests::{card, code, event, texts};
    use super::super::{POLL_START, UNATTACHED_BYTES_MAX, draw};
    use super::*;

    const WITHIN: Duration = Duration::from_mins(3);

    #[test]
    fn a_card_drawn_anew_is_an_edit_of_its_message_that_says_what_is_new_and_calls_nobody() {
        let content = drawn(&card(vec![code("Command", "rm -rf /srv"), two_people()]), false);
        assert_eq!(content["m.relates_to"], json!({ "rel_type": "m.replace", "event_id": "$card" }));
        assert_eq!([&content["m.mentions"], &content["m.new_content"]["m.mentions"]], [&json!({}), &json!({})]);
        let (body, html) = texts(&content["m.new_content"]);
        for shown in [body, html] {
            assert!(shown.contains("rm -rf /srv") && shown.contains("Ada chose"), "{shown}");
            assert!(shown.contains("within 3 min"), "{shown}");
        }
    }

    #[test]
    fn a_card_drawn_anew_reads_as_one_that_is_posted_now() {
        let long = code("Command", &"x".repeat(50_000));
        for (card, has_file) in [(card(vec![two_people()]), false), (card(vec![long, two_people()]), true)] {
            let posted = draw(&card, WITHIN, false).expect("drawn");
            assert_eq!(posted.file.is_some(), has_file);
            assert_eq!(drawn(&card, has_file)["m.new_content"], posted.message);
        }
    }

    #[test]
    fn without_a_file_a_message_that_held_all_of_a_card_never_holds_less() {
        // Longer than a new card's message would be.
        let longer = card(vec![code("Command", &"x".repeat(INLINE_MAX + 10)), two_people()]);
        assert!(draw(&longer, WITHIN, false).expect("drawn").file.is_some());
        let (body, _) = texts(&drawn(&longer, false)["m.new_content"]);
        assert!(!body.contains("characters here") && !body.contains("file"), "{body}");
        assert_eq!(body.matches('x').count(), INLINE_MAX + 10);
        let too_long = card(vec![code("Command", &"x".repeat(100_000)), two_people()]);
        assert!(matches!(redraw(event(), &too_long, WITHIN, false, false), Err(RoomError::NotShowable(_))));
    }

    #[test]
    fn it_fits_wherever_the_card_did() {
        for unit in ["&\n", "x\n", "&", "<"] {
            let mut sections = vec![Section::new("Command", SectionBody::Code(Shown::default())), two_people()];
            let room = UNATTACHED_BYTES_MAX - file(&card(sections.clone())).text.len();
            let text = unit.repeat(room / (unit.len() + 4 * unit.matches('\n').count()));
            sections[0].body = SectionBody::Code(Shown::block(&text));
            let content = redraw(event(), &card(sections), WITHIN, true, false).expect("it can be drawn");
            assert!(size(&content) <= event_max(true), "{unit:?}");
        }
    }

    #[test]
    fn a_card_drawn_anew_touches_no_poll() {
        let content = drawn(&card(vec![two_people()]), false).to_string();
        assert!(!content.contains(POLL_START) && !content.contains(&format!("{:032x}", 1)), "{content}");
    }

    fn drawn(card: &Card, has_file: bool) -> Value {
        redraw(event(), card, WITHIN, false, has_file).expect("it can be drawn")
    }

    fn two_people() -> Section {
        Section::new(Section::TWO_PEOPLE, SectionBody::Text(Shown::line("Ada chose \"Yes\"; one more has to.")))
    }
}
