//! What an ACP client says.

use serde_json::{Value, json};

use crate::bridge_process::BridgeProcess;

impl BridgeProcess {
    /// Sends a request; its id, a string that no agent uses.
    pub async fn request(&mut self, method: &str, params: Value) -> String {
        let id = self.next_id();
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Waits for the answer to a request.
    pub async fn answer(&mut self, id: &str) -> Value {
        self.wait_for(|frame| frame["id"] == id && frame.get("method").is_none()).await
    }

    /// Initializes the connection and makes a session; the session's id.
    pub async fn open_session(&mut self) -> String {
        let id = self.request("initialize", json!({"protocolVersion": 1, "clientCapabilities": {}})).await;
        self.answer(&id).await;
        let id = self.request("session/new", json!({"cwd": self.home(), "mcpServers": []})).await;
        let answer = self.answer(&id).await;
        answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {answer}")).to_owned()
    }

    /// Sends a prompt; the id to wait for with [`BridgeProcess::answer`].
    pub async fn prompt(&mut self, session: &str, text: &str) -> String {
        let prompt = json!([{"type": "text", "text": text}]);
        self.request("session/prompt", json!({"sessionId": session, "prompt": prompt})).await
    }

    pub async fn cancel(&mut self, session: &str) {
        self.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})).await;
    }
}
