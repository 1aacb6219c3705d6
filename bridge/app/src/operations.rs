//! What an operator's tools ask for: whether the bridge lives, whether it is ready, and its metrics. On a listener of its own.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bridge_core::Input;
use bridge_model::RoomName;
use tokio::net::TcpListener;
use tracing::warn;

use crate::hub::Inbox;
use crate::metrics::Metrics;

/// How long the one loop may take to have room for an input.
const ALIVE_WITHIN: Duration = Duration::from_secs(5);

#[derive(Clone)]
struct Asked {
    metrics: Metrics,
    inbox: Inbox,
}

/// Takes the port.
pub(crate) async fn open(listen: SocketAddr) -> Result<TcpListener, String> {
    TcpListener::bind(listen).await.map_err(|error: io::Error| format!("{listen} cannot be listened on: {error}"))
}

/// Serves for as long as the program runs.
pub(crate) fn serve(listener: TcpListener, metrics: Metrics, inbox: Inbox) {
    let router = Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(told))
        .with_state(Asked { metrics, inbox });
    tokio::spawn(async move {
        if let Err(problem) = axum::serve(listener, router).await {
            warn!("metrics are not served any more: {problem}");
        }
    });
}

/// Whether the one loop takes inputs.
async fn healthz(State(asked): State<Asked>) -> Response {
    match tokio::time::timeout(ALIVE_WITHIN, asked.inbox.send(Input::Tick)).await {
        Ok(Ok(())) => "ok\n".into_response(),
        Ok(Err(_)) | Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the bridge does not take anything in\n").into_response(),
    }
}

/// Whether every room can be used.
async fn readyz(State(asked): State<Asked>) -> Response {
    let not_ready = asked.metrics.not_ready();
    if not_ready.is_empty() {
        return "ok\n".into_response();
    }
    let rooms: Vec<_> = not_ready.iter().map(RoomName::as_str).collect();
    (StatusCode::SERVICE_UNAVAILABLE, format!("not connected: {}\n", rooms.join(", "))).into_response()
}

async fn told(State(asked): State<Asked>) -> Response {
    let content = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, content)], asked.metrics.text()).into_response()
}
