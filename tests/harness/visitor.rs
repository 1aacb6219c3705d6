//! Whoever asks the page for something without a browser, and says whatever they like.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use reqwest_serenity as reqwest;

use reqwest::{Certificate, Client, Method, Response, redirect};
use serde_json::Value;

/// What a browser would add by itself is added here too, unless a request says otherwise.
pub struct Visitor {
    client: Client,
    /// `http://127.0.0.1:PORT`
    origin: String,
    pub headers: BTreeMap<&'static str, String>,
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

/// An open event stream.
pub struct Events {
    response: Response,
    rest: Vec<u8>,
}

impl Visitor {
    /// `origin`: as a browser has it, without a slash at its end.
    pub fn new(origin: &str) -> Self {
        let client = Client::builder().no_proxy().redirect(redirect::Policy::none());
        Self::with(client.build().expect("a client"), origin)
    }

    /// Of an encrypted page, which is at this address, whatever its name is.
    pub fn encrypted(origin: &str, at: SocketAddr, authority_pem: &str) -> Self {
        let name = origin.trim_start_matches("https://").split(':').next().expect("a host");
        let authority = Certificate::from_pem(authority_pem.as_bytes()).expect("a certificate");
        let client = Client::builder().no_proxy().resolve(name, at).tls_built_in_root_certs(false);
        Self::with(client.add_root_certificate(authority).build().expect("a client"), origin)
    }

    fn with(client: Client, origin: &str) -> Self {
        let headers = [("origin", origin), ("sec-fetch-site", "same-origin"), ("content-type", "application/json")];
        let headers = headers.into_iter().map(|(name, value)| (name, value.to_owned())).collect();
        Self { client, origin: origin.to_owned(), headers }
    }

    /// Joins by a link, as the page's script does.
    pub async fn join(&mut self, link: &str) -> Answer {
        let key = link.split_once('#').map_or(link, |(_, key)| key);
        let answer = self.post("/api/join", &serde_json::json!({"key": key}).to_string()).await;
        if answer.status == 200 {
            let cookie = answer.headers["set-cookie"].split(';').next().expect("a cookie").to_owned();
            self.headers.insert("cookie", cookie);
            let page = answer.json()["page"].as_str().expect("a word").to_owned();
            self.headers.insert("countersign-page", page);
        }
        answer
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, &[], None).await
    }

    pub async fn post(&self, path: &str, body: &str) -> Answer {
        self.ask(Method::POST, path, &[], Some(body)).await
    }

    /// `instead`: headers to send in place of its own; an empty one is left out.
    pub async fn ask(&self, method: Method, path: &str, instead: &[(&'static str, &str)], body: Option<&str>) -> Answer {
        let response = self.send(method, path, instead, body).await;
        let response = response.unwrap_or_else(|error| panic!("{path}: {error:?}"));
        let headers = response.headers().iter().map(|(name, value)| (name.to_string(), value.to_str().expect("text").to_owned()));
        let (status, headers) = (response.status().as_u16(), headers.collect());
        Answer { status, headers, body: response.text().await.expect("a body") }
    }

    /// Opens the event stream and reads until it is ready; the refusal otherwise.
    pub async fn open(&mut self) -> Result<(Events, Vec<Value>), u16> {
        let response = self.send(Method::GET, "/api/events", &[], None).await.expect("an answer");
        if response.status() != 200 {
            return Err(response.status().as_u16());
        }
        let mut events = Events { response, rest: Vec::new() };
        let mut cards = Vec::new();
        loop {
            let (name, data) = events.next().await.expect("an event");
            match name.as_str() {
                "hello" => drop(self.headers.insert("countersign-stream", data["stream"].as_str().expect("a name").to_owned())),
                "card" => cards.push(data),
                "ready" => return Ok((events, cards)),
                _ => {}
            }
        }
    }

    pub async fn press(&self, card: &Value, option: usize) -> Answer {
        self.post("/api/click", &Self::click(card, option)).await
    }

    /// What a page says when the option of this number is pressed.
    pub fn click(card: &Value, option: usize) -> String {
        serde_json::json!({"card": card["id"], "token": card["buttons"][option]["token"]}).to_string()
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        instead: &[(&'static str, &str)],
        body: Option<&str>,
    ) -> reqwest::Result<Response> {
        let mut headers = self.headers.clone();
        if method == Method::GET {
            headers.remove("origin");
        }
        headers.extend(instead.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let mut request = self.client.request(method, format!("{}{path}", self.origin));
        for (name, value) in headers.into_iter().filter(|(_, value)| !value.is_empty()) {
            request = request.header(name, value);
        }
        request.body(body.unwrap_or_default().to_owned()).send().await
    }
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}

impl Events {
    /// The next event, or `None` once the stream has ended.
    pub async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some(end) = self.rest.windows(2).position(|two| two == b"\n\n") {
                let event: Vec<u8> = self.rest.drain(..end + 2).collect();
                let event = std::str::from_utf8(&event).expect("UTF-8");
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                let (name, data) = (field("event: "), field("data: "));
                let (Some(name), Some(data)) = (name, data) else { continue };
                return Some((name, serde_json::from_str(&data).expect("JSON")));
            }
            let chunk = self.response.chunk().await.ok()??;
            self.rest.extend(chunk);
        }
    }

    /// The next time that a card is told of in this state.
    pub async fn card(&mut self, state: &str) -> Value {
        loop {
            let (name, card) = self.next().await.expect("the stream goes on");
            if name == "card" && card["state"] == state {
                return card;
            }
        }
    }
}
