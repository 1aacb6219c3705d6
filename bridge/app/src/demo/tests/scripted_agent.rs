//! The scripted agent, before a client that answers as a test wants.

use std::path::Path;
use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, InitializeRequest, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, SessionNotification, StopReason, ToolKind,
};
use agent_client_protocol::{Agent, Channel, Client, Error, Result};
use tempfile::TempDir;

use crate::demo::deeds::{Deed, deeds};
use crate::demo::report::Report;
use crate::demo::story::report;
use crate::demo::workspace::{self, NOTES, SETTINGS, SETTINGS_AFTER, SETTINGS_BEFORE};
use crate::demo::{agent, client};

const EVERYTHING: [bool; 5] = [true; 5];
const NOTHING: [bool; 5] = [false; 5];

#[tokio::test]
async fn it_does_what_is_allowed() {
    check(by_kind(PermissionOptionKind::AllowOnce), 5, EVERYTHING).await;
}

#[tokio::test]
async fn it_does_nothing_that_is_rejected() {
    check(by_kind(PermissionOptionKind::RejectOnce), 5, NOTHING).await;
}

#[tokio::test]
async fn it_asks_again_only_where_nothing_was_allowed_always() {
    // There is no "always" for a deletion.
    check(by_kind(PermissionOptionKind::AllowAlways), 4, [true, true, false, true, true]).await;
}

#[tokio::test]
async fn each_answer_counts_for_what_was_asked_alone() {
    let reply = |request: &RequestPermissionRequest| match request.tool_call.fields.kind {
        Some(ToolKind::Delete | ToolKind::Fetch) => Ok(select(request, PermissionOptionKind::AllowOnce)),
        _ => Ok(select(request, PermissionOptionKind::RejectOnce)),
    };
    check(reply, 5, [false, false, true, true, false]).await;
}

#[tokio::test]
async fn it_does_nothing_once_it_is_told_cancelled() {
    check(|_: &RequestPermissionRequest| Ok(RequestPermissionOutcome::Cancelled), 5, NOTHING).await;
}

#[tokio::test]
async fn an_option_that_it_never_offered_allows_nothing() {
    for id in ["", "yes", "Yes", "allow_once", "allow-once ", "ALLOW-ONCE"] {
        let reply =
            |_: &RequestPermissionRequest| Ok(RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id.to_owned())));
        check(reply, 5, NOTHING).await;
    }
}

#[tokio::test]
async fn an_error_allows_nothing() {
    check(|_: &RequestPermissionRequest| Err(Error::internal_error()), 5, NOTHING).await;
}

#[tokio::test]
async fn a_cancelled_turn_ends_though_nobody_answers() {
    let folder = folder();
    let (client, agent) = Channel::duplex();
    tokio::spawn(agent::serve(agent));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let stopped = Client
        .v1()
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, connection: ConnectionTo<Agent>| {
                connection.send_notification(CancelNotification::new(request.session_id))?;
                noted.lock().expect("the list").push(responder);
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(client, async |connection| {
            let session = open_session(&connection, folder.path()).await?;
            let stopped = client::prompt(&connection, &session, "").await?;
            for responder in asked.lock().expect("the list").drain(..) {
                let _ = responder.respond(RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled));
            }
            Ok(stopped)
        });
    assert_eq!(stopped.await.expect("a turn"), StopReason::Cancelled);
    assert_eq!(on_disk(folder.path()), vec![false, false, false]);
}

#[tokio::test]
async fn it_works_in_no_folder_that_the_demo_has_not_made() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    let (client, agent) = Channel::duplex();
    tokio::spawn(agent::serve(agent));
    let opened = Client.v1().connect_with(client, async |connection| open_session(&connection, elsewhere.path()).await);
    assert!(opened.await.is_err());
}

#[tokio::test]
async fn a_file_that_is_not_as_it_was_shown_is_not_rewritten() {
    let folder = folder();
    let file = folder.path().join(SETTINGS);
    let rewrite = Deed::Rewrite { file: SETTINGS, before: SETTINGS_BEFORE, after: SETTINGS_AFTER };
    std::fs::write(&file, "somebody else's").expect("written");
    assert!(rewrite.carry_out(folder.path()).await.is_err());
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "somebody else's");
}

#[tokio::test]
async fn what_cannot_be_done_is_a_problem() {
    let folder = folder();
    std::fs::remove_file(folder.path().join(NOTES)).expect("removed");
    for deed in [Deed::Remove { file: NOTES }, Deed::Run(&["cp", NOTES, "x"]), Deed::Fetch { page: ([127, 0, 0, 1], 1).into() }] {
        assert!(deed.carry_out(folder.path()).await.is_err(), "{deed:?}");
    }
}

/// What the agent did, by its own reports and by what the folder shows.
async fn check<F>(reply: F, asked: usize, done: [bool; 5])
where
    F: Fn(&RequestPermissionRequest) -> Result<RequestPermissionOutcome> + Clone + Send + Sync,
{
    let folder = folder();
    let (client, agent) = Channel::duplex();
    tokio::spawn(agent::serve(agent));
    let reports = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&reports);
    let turn = Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _connection| {
                noted.lock().expect("the list").extend(report(&notification.update));
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _connection| match reply(&request) {
                Ok(outcome) => responder.respond(RequestPermissionResponse::new(outcome)),
                Err(error) => responder.respond_with_error(error),
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(client, async |connection| {
            let session = open_session(&connection, folder.path()).await?;
            client::prompt(&connection, &session, "").await
        });
    assert_eq!(turn.await.expect("a turn"), StopReason::EndTurn);
    let reports = reports.lock().expect("the list");
    assert_eq!(reports.iter().filter(|report| matches!(report, Report::Asks { .. })).count(), asked);
    assert_eq!(reports.iter().filter(|report| matches!(report, Report::Told { .. })).count(), asked);
    let reported: Vec<_> =
        reports.iter().filter_map(|report| if let Report::Ended { done, .. } = report { Some(*done) } else { None }).collect();
    assert_eq!(reported, done);
    assert_eq!(on_disk(folder.path()), done[..3]);
}

/// Of those deeds that leave a trace.
fn on_disk(folder: &Path) -> Vec<bool> {
    deeds(([127, 0, 0, 1], 1).into()).iter().filter_map(|deed| deed.seen(folder)).map(|(is_done, _)| is_done).collect()
}

fn by_kind(kind: PermissionOptionKind) -> impl Fn(&RequestPermissionRequest) -> Result<RequestPermissionOutcome> + Clone {
    move |request| Ok(select(request, kind))
}

/// The option of that kind; else the one that rejects.
fn select(request: &RequestPermissionRequest, kind: PermissionOptionKind) -> RequestPermissionOutcome {
    let of_kind = |kind| request.options.iter().find(|option| option.kind == kind);
    let option = of_kind(kind).or_else(|| of_kind(PermissionOptionKind::RejectOnce)).expect("an option");
    RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
}

async fn open_session(connection: &ConnectionTo<Agent>, folder: &Path) -> Result<agent_client_protocol::v1::schema::SessionId> {
    connection.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
    client::open_session(connection, folder).await
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    workspace::fill(folder.path()).expect("filled");
    folder
}
