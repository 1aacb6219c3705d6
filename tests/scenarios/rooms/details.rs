//! How much of a request a room shows, and what it is called there.

use crate::stage::{Place, Plan, Stage, Who, selected};

in_every_room! {
    a_room_that_only_describes_shows_nothing_of_what_the_tool_was_given,
    an_agent_has_the_name_that_the_operator_gave_it,
}

async fn a_room_that_only_describes_shows_nothing_of_what_the_tool_was_given<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(Plan { room: "details = \"described\"", ..plan }).await;
    let prompt = stage.ask("described").await;
    let card = stage.place.card("described").await;
    assert!(!format!("{card:?}").contains("touch described"), "{card:?}");
    assert!(P::text(&card).contains("this room shows only descriptions"), "{}", P::text(&card));
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "described").await, (selected("once:1"), true));
    let closing = stage.place.closing(&card, "The agent has it").await;
    assert!(!closing.contains("touch described"), "{closing}");
}

async fn an_agent_has_the_name_that_the_operator_gave_it<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(Plan { more: "[acp]\nname = \"Night builds\"", ..plan }).await;
    let (prompt, card) = stage.ask_and_see("named").await;
    let text = P::text(&card);
    assert!(text.contains("Night builds") && text.contains("scripted-agent"), "{text}");
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "named").await, (selected("no 3"), false));
}
