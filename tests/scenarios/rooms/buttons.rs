//! Every option is there, and each can be told from the others.

use serde_json::{Value, json};

use crate::stage::{Place, Plan, Stage, Who, selected};

in_every_room! {
    six_options_are_all_there_in_order,
    twenty_options_are_all_there_in_order,
    labels_that_are_alike_are_numbered,
    an_empty_label_is_numbered,
    a_long_label_is_numbered_and_told_whole,
}

async fn six_options_are_all_there_in_order<P: Place>(plan: Plan) {
    all_are_there_in_order::<P>(plan, 6).await;
}

async fn twenty_options_are_all_there_in_order<P: Place>(plan: Plan) {
    all_are_there_in_order::<P>(plan, 20).await;
}

async fn all_are_there_in_order<P: Place>(plan: Plan, count: usize) {
    let mut stage = Stage::<P>::set(plan).await;
    let labels: Vec<String> = (0..count).map(|at| format!("Choice {at}")).collect();
    let option = |(at, label): (usize, &String)| json!([format!("id {at}"), label, "allow_once"]);
    let options: Vec<Value> = labels.iter().enumerate().map(option).collect();
    let prompt = stage.ask_with("many", &json!(options)).await;
    let card = stage.card("many").await;
    assert_eq!(P::labels(&card), labels);
    stage.place.press(Who::Ada, &card, &labels[count - 1]).await;
    assert_eq!(stage.outcome(&prompt, "many").await, (selected(&format!("id {}", count - 1)), true));
}

async fn labels_that_are_alike_are_numbered<P: Place>(plan: Plan) {
    are_numbered::<P>(plan, ["Same", "Same"], ["1. Allows once: Same", "2. Refuses: Same"]).await;
}

async fn an_empty_label_is_numbered<P: Place>(plan: Plan) {
    are_numbered::<P>(plan, ["", "No"], ["1. Allows once: (no label)", "2. Refuses: No"]).await;
}

async fn a_long_label_is_numbered_and_told_whole<P: Place>(plan: Plan) {
    let long = format!("{} until the end", "very ".repeat(97).trim_end());
    are_numbered::<P>(plan, [&long, "No"], [&format!("1. Allows once: {long}"), "2. Refuses: No"]).await;
}

/// Two options become buttons that begin with their numbers, and the text of the card says what the numbers stand for: what
/// each does, and its label.
async fn are_numbered<P: Place>(plan: Plan, names: [&str; 2], legend: [&str; 2]) {
    let mut stage = Stage::<P>::set(plan).await;
    let options = json!([["first", names[0], "allow_once"], ["second", names[1], "reject_once"]]);
    let prompt = stage.ask_with("numbered", &options).await;
    let card = stage.card("numbered").await;
    let labels = P::labels(&card);
    assert_eq!(labels.len(), 2, "{labels:?}");
    for (label, entry) in labels.iter().zip(legend) {
        let (number, start) = label.split_once(' ').expect("a number");
        let (start, end) = start.split_once('…').unwrap_or((start, ""));
        let (does, rest) = entry.split_once(": ").expect("what it does");
        assert!(does.starts_with(number) && rest.starts_with(start) && rest.ends_with(end), "{label:?} is not {entry:?}");
        assert!(P::text(&card).contains(entry), "{entry:?} is not in {card:?}");
    }
    stage.place.press(Who::Ada, &card, labels[0]).await;
    assert_eq!(stage.outcome(&prompt, "numbered").await, (selected("first"), true));
}
