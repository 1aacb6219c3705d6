//! A chat service's API as it is, for what must be exact.

use reqwest::{Client, Method};
use serde_json::Value;

pub(crate) struct Http {
    client: Client,
    server: String,
    authorization: Option<String>,
}

/// What the server said.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub body: Value,
}

impl Http {
    pub(crate) fn new(server: String) -> Self {
        Self { client: Client::new(), server, authorization: None }
    }

    /// By a client that knows where the server is, and what vouches for it.
    pub(crate) fn through(client: Client, server: String) -> Self {
        Self { client, server, authorization: None }
    }

    pub(crate) fn with_token(self, token: &str) -> Self {
        self.with_authorization(format!("Bearer {token}"))
    }

    pub(crate) fn with_authorization(self, authorization: String) -> Self {
        Self { authorization: Some(authorization), ..self }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        self.call(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Reply {
        self.call(Method::PUT, path, Some(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Reply {
        self.call(Method::PATCH, path, Some(body)).await
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Reply {
        let mut request = self.client.request(method, format!("{}{path}", self.server));
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        if let Some(body) = body {
            request = request.header("Content-Type", "application/json").body(body.to_string());
        }
        let response = request.send().await.unwrap_or_else(|error| panic!("{path}: the server does not answer: {error}"));
        let status = response.status().as_u16();
        let text = response.text().await.unwrap_or_else(|error| panic!("{path}: the answer breaks off: {error}"));
        Reply { status, body: serde_json::from_str(&text).unwrap_or(Value::String(text)) }
    }
}

impl Reply {
    pub fn is_ok(&self) -> bool {
        self.status == 200
    }

    pub fn expect_ok(self) -> Value {
        assert!(self.is_ok(), "the server refused: {} {}", self.status, self.body);
        self.body
    }

    /// The id of the event that was made.
    pub(crate) fn expect_event(self) -> String {
        self.expect_ok()["event_id"].as_str().expect("an event id").to_owned()
    }
}
