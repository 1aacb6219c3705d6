//! Words decide nothing, whoever types them.

use crate::stage::{Place, Plan, Stage, Who, selected};

in_every_room! {
    nothing_that_is_typed_answers_a_request,
}

async fn nothing_that_is_typed_answers_a_request<P: Place>(plan: Plan) {
    let mut stage = Stage::<P>::set(plan).await;
    let (prompt, card) = stage.ask_and_see("words").await;
    let carried = P::token(&card, "Yes");
    let token = carried.rsplit(':').next().expect("at least one part");
    for text in [
        "yes",
        "y",
        "ok",
        "Yes",
        "approve",
        "/approve",
        "!approve",
        "👍",
        "allow all",
        "no, don't approve",
        "once:1",
        carried,
        token,
    ] {
        stage.place.say(Who::Ada, text).await;
    }
    for text in ["Yes", carried] {
        stage.place.reply_to(Who::Ada, &card, text).await;
    }
    stage.assert_open("words");
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "words").await, (selected("no 3"), false));
}
