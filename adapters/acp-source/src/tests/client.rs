//! A client that is asked as well.

use bridge_core::SourceError;
use bridge_model::{Outcome, Withdrawn};

use super::rig::{MARK, Rig, allow, ask};

#[tokio::test]
async fn a_client_that_is_asked_too_may_answer_first() {
    let mut rig = Rig::start(true).await;
    let line = ask("0", "\"a\"");
    rig.agent_says(&line);
    let request = rig.requested().await;
    rig.asked(&request.from);
    // Once, however often people are.
    rig.asked(&request.from);
    assert_eq!(rig.at_client(), line);
    rig.client_says(&allow("0"));
    assert_eq!(rig.at_agent(), allow("0"));
    assert_eq!(rig.withdrawn().await, (request.from.clone(), Withdrawn::AnsweredInClient));
    assert_eq!(rig.choose(&request, 0).await, Err(SourceError::Withdrawn));
}

#[tokio::test]
async fn a_client_that_is_asked_too_is_told_when_the_room_was_first() {
    let mut rig = Rig::start(true).await;
    rig.agent_says(&ask("0", "\"a\""));
    let request = rig.requested().await;
    rig.asked(&request.from);
    rig.at_client();
    rig.choose(&request, 0).await.expect("taken");
    rig.at_agent();
    assert_eq!(rig.at_client(), r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}"#);
    rig.client_says(&allow("0"));
    rig.client_says(MARK);
    assert_eq!(rig.at_agent(), MARK);
}

#[tokio::test]
async fn a_client_answers_nothing_that_people_are_not_asked() {
    let mut rig = Rig::start(true).await;
    rig.agent_says(&ask("0", "\"a\""));
    let request = rig.requested().await;
    rig.client_says(&allow("0"));
    rig.client_says(MARK);
    assert_eq!(rig.at_agent(), MARK);
    rig.reply(&request.from, &Outcome::Cancelled).await.expect("taken");
    assert!(rig.at_agent().contains("cancelled"));
    // What is settled is not shown any more, and what the client never saw is not cancelled either.
    rig.asked(&request.from);
    rig.agent_says(MARK);
    assert_eq!(rig.at_client(), MARK);
}

#[tokio::test]
async fn what_the_agent_has_withdrawn_the_client_is_not_asked() {
    let mut rig = Rig::start(true).await;
    rig.agent_says(&ask("0", "\"a\""));
    let request = rig.requested().await;
    rig.agent_says(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}"#);
    assert_eq!(rig.withdrawn().await.0, request.from);
    rig.asked(&request.from);
    rig.agent_says(MARK);
    assert_eq!(rig.at_client(), MARK);
}
