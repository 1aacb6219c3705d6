use std::sync::Arc;
use std::time::Duration;

use bridge_core::{Asks as _, Terms};
use bridge_model::{Delivery, PermissionRequest, PersonId, RequestId, Shown, Withdrawn};
use policy::{Launch, Verdict, Verdicts};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::*;

/// A source whose bridge is the test.
struct Rig {
    asks: HttpAsks,
    replies: Arc<HttpReplies>,
    http: reqwest::Client,
    token: String,
    tokens: Tokens,
    _policy: watch::Sender<Arc<Policy>>,
    folder: tempfile::TempDir,
}

const ROOM: &str = "ops";

impl Rig {
    async fn start() -> Self {
        Self::with(Duration::from_mins(1), Vec::new(), |_| {}).await
    }

    async fn with(lease: Duration, known: Vec<Known>, grant_to: impl FnOnce(&mut Grant)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let tokens = Tokens::of(folder.path());
        let (mut grant, token) = Grant::new("ci", [1; 32], Timestamp::from_unix_millis(0));
        grant_to(&mut grant);
        tokens.add(grant).expect("added");
        let socket = folder.path().join("socket");
        let (sender, policy) = watch::channel(Arc::new(Policy::asking(Duration::from_mins(5))));
        let started = tokio::time::Instant::now();
        let now = move || Timestamp::from_unix_millis(u64::try_from(started.elapsed().as_millis()).expect("a while"));
        let options = Options {
            name: SourceName::new("http"),
            folder: folder.path().to_owned(),
            rooms: [(ROOM, false), ("careful", true), ("other", false)]
                .map(|(name, asks_who_launched)| (RoomName::new(name), RoomFacts { asks_who_launched }))
                .into(),
            room: Some(RoomName::new(ROOM)),
            policy,
            lease,
            outside: Outside { now: Arc::new(now), random },
        };
        let listening = Listening::open(None, Some(&socket)).await.expect("a socket");
        let (asks, replies) = HttpSource::new(options, known).serve(listening);
        let http = reqwest::Client::builder().unix_socket(socket.as_path()).build().expect("a client");
        Self { asks, replies: Arc::new(replies), http, token, tokens, _policy: sender, folder }
    }

    async fn call_as(&self, token: &str, method: Method, path: &str, body: Option<String>) -> (StatusCode, Value) {
        let call = self.http.request(method, format!("http://localhost{path}")).bearer_auth(token);
        let call = body.into_iter().fold(call, reqwest::RequestBuilder::body);
        let response = call.send().await.expect("an answer");
        let status = response.status();
        let text = response.bytes().await.expect("a body");
        (status, serde_json::from_slice(&text).unwrap_or_else(|_| panic!("{status}: {text:?}")))
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> (StatusCode, Value) {
        self.call_as(&self.token, method, path, body.map(Value::to_string)).await
    }

    async fn raise(&self, body: &Value) -> (StatusCode, Value) {
        self.call(Method::POST, "/v1/requests", Some(body)).await
    }

    /// Raises a request that the bridge holds; its id, and what the bridge was told.
    async fn held(&mut self, body: &Value) -> (String, PermissionRequest, Terms) {
        let (http, token, text) = (self.http.clone(), self.token.clone(), body.to_string());
        let raised = tokio::spawn(async move {
            let answer = http.post("http://localhost/v1/requests").bearer_auth(token).body(text).send().await.expect("an answer");
            (answer.status(), answer.bytes().await.expect("a body"))
        });
        let Some(SourceEvent::Requested(request, terms)) = self.asks.next().await else { panic!("nothing was asked") };
        let waiting = Waiting {
            request: RequestId { run: 1, number: 7 },
            room: RoomName::new(ROOM),
            deadline: Timestamp::from_unix_millis(300_000),
        };
        self.replies.asked(&request.from, &waiting);
        let (status, text) = raised.await.expect("raised");
        let told: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!((status, &told["state"], &told["number"]), (StatusCode::CREATED, &json!("held"), &json!(7)), "{told}");
        (told["id"].as_str().expect("an id").to_owned(), *request, *terms)
    }

    fn reply(&self, request: &PermissionRequest, at: usize, ending: Ending) -> tokio::task::JoinHandle<Result<(), SourceError>> {
        let outcome = Outcome::Selected(request.options.offered(at).expect("an option"));
        let (replies, to) = (Arc::clone(&self.replies), request.from.clone());
        tokio::spawn(async move { replies.reply(&to, &outcome, Some(&ending)).await })
    }
}

fn random() -> [u8; 8] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed).to_ne_bytes()
}

fn body(key: &str) -> Value {
    json!({
        "key": key,
        "tool_call": { "toolCallId": "c", "title": "Deploy", "kind": "execute", "rawInput": { "command": "make deploy" } },
        "options": [
            { "optionId": " once:1 ", "name": "Yes", "kind": "allow_once" },
            { "optionId": "no", "name": "No", "kind": "reject_once" },
        ],
    })
}

fn answered() -> Ending {
    Ending::Answered {
        person: PersonId::new("ada"),
        name: Shown::line("Ada"),
        option: Shown::line("Yes"),
        does: bridge_model::ButtonStyle::AllowOnce,
        first: None,
        delivery: Delivery::Pending,
    }
}

#[tokio::test]
async fn a_request_is_held_and_its_outcome_is_the_agents_own_option() {
    let mut rig = Rig::start().await;
    let (id, request, terms) = rig.held(&body("a")).await;
    assert_eq!((request.kind(), terms.detached, terms.room), (bridge_model::ToolKind::Execute, false, Some(RoomName::new(ROOM))));
    assert!(terms.comes_back.is_some());
    let path = format!("/v1/requests/{id}");
    assert_eq!(rig.call(Method::GET, &path, None).await.1["state"], "held");
    assert_eq!(rig.call(Method::POST, &format!("{path}/receipt"), None).await.0, StatusCode::CONFLICT);
    let delivered = rig.reply(&request, 0, answered());
    let (status, told) = rig.call(Method::GET, &format!("{path}?wait=30s"), None).await;
    assert_eq!((status, &told["state"], &told["ending"]), (StatusCode::OK, &json!("settled"), &json!("answered")));
    assert_eq!(told["outcome"], json!({ "outcome": "selected", "optionId": " once:1 " }));
    assert!(told["words"].as_str().is_some_and(|words| words.contains("chose \"Yes\"")), "{told}");
    assert!(!delivered.is_finished(), "nobody has said that it was taken");
    for _ in 0..2 {
        assert_eq!(rig.call(Method::POST, &format!("{path}/receipt"), None).await.0, StatusCode::OK);
    }
    assert_eq!(delivered.await.expect("told"), Ok(()));
    // What was taken is there by its id, and is not had once more by raising the same again.
    assert_eq!(rig.call(Method::GET, &path, None).await.1["outcome"], told["outcome"]);
    let (status, again) = rig.raise(&body("a")).await;
    assert_eq!((status, &again["error"]), (StatusCode::CONFLICT, &json!("taken")));
    assert_eq!(rig.call(Method::GET, "/v1/requests", None).await.1["requests"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn one_key_is_one_request_and_no_other() {
    let mut rig = Rig::start().await;
    let (id, ..) = rig.held(&body("a")).await;
    let mut elsewhere = body("a");
    elsewhere["session"] = json!({ "cwd": "/elsewhere" });
    for same in [body("a"), elsewhere] {
        let (status, again) = rig.raise(&same).await;
        assert_eq!((status, &again["id"]), (StatusCode::CREATED, &json!(id)));
    }
    let mut other = body("a");
    other["tool_call"]["rawInput"]["command"] = json!("make destroy");
    assert_eq!(rig.raise(&other).await.0, StatusCode::CONFLICT);
    // Somebody else's key of the same name is another request.
    let (grant, token) = Grant::new("other", [2; 32], Timestamp::from_unix_millis(0));
    rig.tokens.add(grant).expect("added");
    let path = format!("/v1/requests/{id}");
    for method in [Method::GET, Method::DELETE] {
        assert_eq!(rig.call_as(&token, method, &path, None).await.0, StatusCode::NOT_FOUND);
    }
    assert_eq!(rig.call_as(&token, Method::POST, &format!("{path}/receipt"), None).await.0, StatusCode::NOT_FOUND);
    assert_eq!(rig.call_as(&token, Method::GET, "/v1/requests", None).await.1, json!({ "requests": [] }));
}

#[tokio::test]
async fn there_is_no_way_to_answer() {
    let mut rig = Rig::start().await;
    let (id, ..) = rig.held(&body("a")).await;
    for (method, path) in [
        (Method::POST, format!("/v1/requests/{id}")),
        (Method::PUT, format!("/v1/requests/{id}")),
        (Method::POST, format!("/v1/requests/{id}/answer")),
        (Method::POST, format!("/v1/requests/{id}/outcome")),
        (Method::PUT, format!("/v1/requests/{id}/receipt")),
    ] {
        let answer = json!({ "outcome": { "outcome": "selected", "optionId": " once:1 " }, "option_id": " once:1 " });
        let call = rig.http.request(method.clone(), format!("http://localhost{path}")).bearer_auth(&rig.token);
        let status = call.body(answer.to_string()).send().await.expect("an answer").status();
        assert!([StatusCode::METHOD_NOT_ALLOWED, StatusCode::NOT_FOUND].contains(&status), "{method} {path}: {status}");
    }
    let mut told = body("b");
    told["outcome"] = json!({ "outcome": "selected", "optionId": " once:1 " });
    assert_eq!(rig.raise(&told).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(rig.call(Method::GET, &format!("/v1/requests/{id}"), None).await.1["state"], "held");
}

#[tokio::test]
async fn whoever_has_no_token_is_told_nothing() {
    let mut rig = Rig::start().await;
    let (id, ..) = rig.held(&body("a")).await;
    for token in ["", "countersign_", "x", &format!("{}x", rig.token)] {
        for (method, path) in [(Method::GET, "/v1/requests".to_owned()), (Method::DELETE, format!("/v1/requests/{id}"))] {
            assert_eq!(rig.call_as(token, method, &path, None).await.0, StatusCode::UNAUTHORIZED);
        }
    }
    let bare = rig.http.get("http://localhost/v1/requests").send().await.expect("an answer");
    assert_eq!((bare.status(), bare.headers()["www-authenticate"].as_bytes()), (StatusCode::UNAUTHORIZED, &b"Bearer"[..]));
    rig.tokens.revoke("ci").expect("revoked");
    assert_eq!(rig.raise(&body("b")).await.0, StatusCode::UNAUTHORIZED);
    std::fs::write(rig.folder.path().join("tokens.json"), "nonsense").expect("written");
    assert_eq!(rig.raise(&body("b")).await.0, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn what_is_wrong_is_told_with_its_place() {
    let rig = Rig::with(Duration::from_mins(1), Vec::new(), |grant| {
        grant.rooms = vec![RoomName::new(ROOM)];
        grant.requester = Some(PersonId::new("ada"));
    })
    .await;
    let with = |key: &str, value: Value| {
        let mut body = body("a");
        body[key] = value;
        body
    };
    let long = "x".repeat(5_000);
    for (body, path) in [
        (json!([]), ""),
        (json!({ "key": "a" }), ""),
        (with("key", json!("")), "/key"),
        (with("key", json!(long)), "/key"),
        (with("key", json!(7)), "/key"),
        (with("tool_call", json!([])), "/tool_call"),
        (with("options", json!([])), "/options"),
        (with("options", json!([{ "optionId": "a" }, { "optionId": "a" }])), "/options"),
        (with("options", json!([{ "optionId": "a" }, { "name": "b" }])), "/options/1/optionId"),
        (with("session", json!({ "id": long })), "/session/id"),
        (with("session", json!({ "cwd": 5 })), "/session/cwd"),
        (with("permission", json!({ "execute": "auto_allow" })), "/permission"),
        (with("permission", json!({ "execute": "yes" })), "/permission/execute"),
        (with("permission", json!({ "wr/ite": "ask" })), "/permission/wr~1ite"),
        (with("lifetime", json!("6m")), "/lifetime"),
        (with("lifetime", json!("soon")), "/lifetime"),
        (with("lifetime", json!("10ms")), "/lifetime"),
        (with("places", json!({ "root": "/srv", "real": { "a": 1 } })), "/places/real/a"),
        (with("unheard_of", json!(1)), "/unheard_of"),
    ] {
        let (status, told) = rig.raise(&body).await;
        assert_eq!((status, &told["path"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!(path)), "{told}");
    }
    let elsewhere = with("room", json!("elsewhere"));
    assert_eq!(rig.raise(&elsewhere).await.0, StatusCode::FORBIDDEN);
    assert_eq!(rig.raise(&with("requester", json!("bob"))).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let deep = (0..110).fold(json!(1), |value, _| json!([value]));
    let odd = json!({ "a": { "$serde_json::private::RawValue": "[1]" } });
    for input in [deep, odd] {
        assert_eq!(rig.raise(&with("tool_call", json!({ "rawInput": input }))).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    }
    let call = async |body: String| rig.call_as(&rig.token, Method::POST, "/v1/requests", Some(body)).await.0;
    assert_eq!(call("{".to_owned()).await, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(call(format!("{} {{}}", body("a"))).await, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(call(" ".repeat((2 << 20) + 1)).await, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(rig.call(Method::GET, "/v1/requests/00", None).await.0, StatusCode::NOT_FOUND);
    assert_eq!(rig.call(Method::GET, "/v1/requests/0000000000000000?wait=soon", None).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(rig.call(Method::GET, "/nowhere", None).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_a_token_and_a_request_narrow_reaches_the_bridge() {
    let denies = |kind| Verdicts { by_kind: [(kind, Verdict::AutoDeny)].into(), ..Verdicts::default() };
    let own = Launch { verdicts: denies(bridge_model::ToolKind::Delete), lifetime: None };
    let mut rig = Rig::with(Duration::from_mins(1), Vec::new(), |grant| {
        grant.launch = own.clone();
        grant.requester = Some(PersonId::new("ada"));
    })
    .await;
    let mut narrow = body("a");
    narrow["permission"] = json!({ "fetch": "auto_deny" });
    narrow["lifetime"] = json!("2m");
    narrow["detached"] = json!(true);
    let (_, _, terms) = rig.held(&narrow).await;
    let asked = Launch { verdicts: denies(bridge_model::ToolKind::Fetch), lifetime: Some(Duration::from_mins(2)) };
    assert_eq!(terms.launches, [own, asked]);
    assert_eq!((terms.room, terms.requester, terms.detached), (Some(RoomName::new(ROOM)), Some(PersonId::new("ada")), true));
}

#[tokio::test]
async fn a_token_asks_no_room_that_it_may_not_also_not_by_leaving_it_out() {
    let elsewhere = Rig::with(Duration::from_mins(1), Vec::new(), |grant| grant.rooms = vec![RoomName::new("other")]).await;
    assert_eq!(elsewhere.raise(&body("a")).await.0, StatusCode::FORBIDDEN);
    let mut careful = body("b");
    careful["room"] = json!("careful");
    let rig = Rig::start().await;
    let (status, told) = rig.raise(&careful).await;
    assert_eq!((status, told["message"].as_str().map(|text| text.contains("--requester"))), (StatusCode::FORBIDDEN, Some(true)));
}

#[tokio::test]
async fn where_paths_lead_is_believed_of_nobody_who_is_not_trusted_with_it() {
    let mut told = body("a");
    told["session"] = json!({ "cwd": "/" });
    told["places"] = json!({ "root": "/srv", "real": { "/etc/shadow": "/srv/x" } });
    let mut rig = Rig::start().await;
    assert_eq!(rig.held(&told).await.1.places, Some(bridge_model::Places::default()));
    let mut trusted = Rig::with(Duration::from_mins(1), Vec::new(), |grant| grant.trust_paths = true).await;
    let places = trusted.held(&told).await.1.places.expect("places");
    assert_eq!((places.root.as_deref(), places.real.len()), (Some("/srv"), 1));
}

#[tokio::test]
async fn a_revoked_token_loses_what_waits_and_is_told_nothing_more() {
    let mut rig = Rig::start().await;
    let mut detached = body("a");
    detached["detached"] = json!(true);
    let (id, request, _) = rig.held(&detached).await;
    let listening = {
        let call = rig.http.get(format!("http://localhost/v1/requests/{id}?wait=30s")).bearer_auth(&rig.token);
        tokio::spawn(async move { call.send().await.expect("an answer").status() })
    };
    rig.tokens.revoke("ci").expect("revoked");
    let withdrawn = rig.asks.next().await;
    assert!(matches!(&withdrawn, Some(SourceEvent::Withdrawn(to, Withdrawn::AgentGone)) if *to == request.from));
    assert_eq!(listening.await.expect("told"), StatusCode::UNAUTHORIZED);
    // A new token of the same name is another one.
    let (grant, token) = Grant::new("ci", [9; 32], Timestamp::from_unix_millis(0));
    rig.tokens.add(grant).expect("added");
    assert_eq!(rig.call_as(&token, Method::GET, "/v1/requests", None).await.1, json!({ "requests": [] }));
}

#[tokio::test]
async fn what_is_taken_back_is_told_and_stays_so() {
    let mut rig = Rig::start().await;
    let (id, request, _) = rig.held(&body("a")).await;
    let path = format!("/v1/requests/{id}?because=turn_cancelled");
    assert_eq!(rig.call(Method::DELETE, "/v1/requests/0000000000000000", None).await.0, StatusCode::NOT_FOUND);
    assert_eq!(rig.call(Method::DELETE, &format!("/v1/requests/{id}?because=x"), None).await.0, StatusCode::BAD_REQUEST);
    let (status, told) = rig.call(Method::DELETE, &path, None).await;
    assert_eq!((status, &told["ending"], told.get("outcome")), (StatusCode::OK, &json!("withdrawn"), None));
    let withdrawn = rig.asks.next().await;
    assert!(matches!(&withdrawn, Some(SourceEvent::Withdrawn(to, Withdrawn::TurnCancelled)) if *to == request.from));
    // A choice that comes now is too late.
    assert_eq!(rig.reply(&request, 0, answered()).await.expect("told"), Err(SourceError::Withdrawn));
    assert_eq!(rig.call(Method::DELETE, &path, None).await.1, told);
    // And what was chosen before stays chosen.
    let (id, request, _) = rig.held(&body("b")).await;
    let delivered = rig.reply(&request, 0, answered());
    rig.call(Method::GET, &format!("/v1/requests/{id}?wait=30s"), None).await;
    assert_eq!(rig.call(Method::DELETE, &format!("/v1/requests/{id}"), None).await.1["ending"], "answered");
    drop(delivered);
}

#[tokio::test]
async fn a_change_reaches_the_bridge_with_the_rest_of_the_request() {
    let mut rig = Rig::start().await;
    let (id, before, _) = rig.held(&body("a")).await;
    let path = format!("/v1/requests/{id}");
    let change = json!({ "tool_call": { "title": "Deploy", "kind": "execute", "rawInput": { "command": "rm -rf /" } } });
    assert_eq!(rig.call(Method::PATCH, &path, Some(&change)).await.0, StatusCode::OK);
    let Some(SourceEvent::Changed { ask, now: Some(now) }) = rig.asks.next().await else { panic!("no change") };
    assert_eq!((&ask, &now.options), (&before.from, &before.options));
    assert_ne!(now.tool_call, before.tool_call);
    assert_eq!(rig.call(Method::PATCH, &path, Some(&json!({ "tool_call": null }))).await.0, StatusCode::OK);
    assert!(matches!(rig.asks.next().await, Some(SourceEvent::Changed { now: None, .. })));
    assert_eq!(rig.call(Method::PATCH, &path, Some(&json!({ "tool_call": 5 }))).await.0, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn a_caller_that_is_gone_loses_what_is_not_detached() {
    let mut rig = Rig::with(Duration::from_millis(1), Vec::new(), |_| {}).await;
    let mut detached = body("stays");
    detached["detached"] = json!(true);
    let (stays, ..) = rig.held(&detached).await;
    let (goes, request, _) = rig.held(&body("goes")).await;
    let withdrawn = rig.asks.next().await;
    assert!(matches!(&withdrawn, Some(SourceEvent::Withdrawn(to, Withdrawn::AgentGone)) if *to == request.from));
    assert_eq!(rig.call(Method::GET, &format!("/v1/requests/{goes}"), None).await.1["ending"], "withdrawn");
    assert_eq!(rig.call(Method::GET, &format!("/v1/requests/{stays}"), None).await.1["state"], "held");
}

#[tokio::test]
async fn an_outcome_that_nobody_comes_for_is_not_delivered() {
    let mut rig = Rig::with(Duration::from_secs(1), Vec::new(), |_| {}).await;
    let (id, request, _) = rig.held(&body("a")).await;
    assert_eq!(rig.reply(&request, 0, answered()).await.expect("told"), Err(SourceError::Gone));
    // Its card says that nothing was allowed, and that stays true.
    let (_, told) = rig.call(Method::GET, &format!("/v1/requests/{id}"), None).await;
    assert_eq!((&told["ending"], told.get("outcome")), (&json!("withdrawn"), None));
}

#[tokio::test]
async fn whoever_listens_keeps_a_request_alive() {
    let mut rig = Rig::with(Duration::from_millis(1), Vec::new(), |_| {}).await;
    let (http, token) = (rig.http.clone(), rig.token.clone());
    let listening = {
        let (id, ..) = rig.held(&body("a")).await;
        tokio::spawn(async move {
            let call = http.get(format!("http://localhost/v1/requests/{id}?wait=3s")).bearer_auth(token);
            call.send().await.expect("an answer").text().await.expect("a body")
        })
    };
    // Two looks for those who are gone.
    let withdrawn = tokio::time::timeout(Duration::from_millis(2_500), rig.asks.next()).await;
    assert!(withdrawn.is_err(), "{withdrawn:?}");
    assert!(listening.await.expect("told").contains("\"held\""));
}

#[tokio::test]
async fn what_an_earlier_run_took_is_known_again() {
    let mut before = Rig::start().await;
    let (going, request, terms) = before.held(&body("going")).await;
    let (ended, other, others) = before.held(&body("ended")).await;
    let end = KnownEnd { outcome: Some("\" once:1 \"".to_owned()), ending: answered(), at: None };
    let known = |request: &PermissionRequest, terms: Terms, ended| Known {
        from: request.from.clone(),
        comes_back: terms.comes_back.expect("it comes back"),
        ended,
    };
    let known = vec![known(&request, terms, None), known(&other, others, Some(end))];
    let rig = Rig::with(Duration::from_mins(1), known, |_| {}).await;
    let again = rig.raise(&body("ended")).await;
    assert_eq!((again.0, &again.1["id"], &again.1["ending"]), (StatusCode::OK, &json!(ended), &json!("answered")));
    assert_eq!(again.1["outcome"]["optionId"], " once:1 ");
    assert_eq!(rig.call(Method::GET, &format!("/v1/requests/{going}"), None).await.1["state"], "held");
    assert_eq!(rig.call(Method::POST, &format!("/v1/requests/{ended}/receipt"), None).await.0, StatusCode::OK);
    let delivered = rig.reply(&request, 1, Ending::Expired);
    assert_eq!(delivered.await.expect("told"), Ok(()));
    assert_eq!(rig.raise(&body("going")).await.1["outcome"]["optionId"], "no");
}

#[tokio::test]
async fn a_list_is_no_object_and_a_path_is_told_as_a_pointer() {
    let mut rig = Rig::start().await;
    let mut listed = body("a");
    listed["session"] = json!([]);
    assert_eq!(rig.raise(&listed).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let mut odd = body("a");
    odd["places"] = json!({ "real": { "/srv/a.b[0]~": 1 } });
    let (status, told) = rig.raise(&odd).await;
    assert_eq!((status, &told["path"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("/places/real/~1srv~1a.b[0]~0")), "{told}");
    let (id, ..) = rig.held(&body("a")).await;
    let change = rig.call(Method::PATCH, &format!("/v1/requests/{id}"), Some(&json!([null, null]))).await;
    assert_eq!(change.0, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(rig.call(Method::GET, &format!("/v1/requests/{id}"), None).await.1["state"], "held");
}

#[tokio::test]
async fn what_is_too_much_is_refused_in_few_words() {
    let rig = Rig::start().await;
    let with = |key: &str, value: Value| {
        let mut body = body("a");
        body[key] = value;
        body
    };
    let long = "x".repeat(1 << 20);
    for body in [
        with("options", json!([{ "optionId": "x".repeat(513) }])),
        with("lifetime", json!(long)),
        with("permission", json!({ "execute": long })),
        with("permission", json!({ long.as_str(): "ask" })),
        with(&long, json!(1)),
        with("tool_call", json!({ "rawInput": vec![0; 20_000] })),
    ] {
        let (status, told) = rig.raise(&body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(told.to_string().len() < 3_000, "{}", told.to_string().len());
    }
}

#[tokio::test]
async fn an_option_is_as_long_as_it_reads_and_not_as_it_is_spelled() {
    let mut rig = Rig::start().await;
    let mut long = body("a");
    long["options"] = json!([{ "optionId": "\u{1f600}".repeat(512), "kind": "reject_once" }]);
    let (_, request, _) = rig.held(&long).await;
    assert_eq!(request.options.as_slice().len(), 1);
}

#[tokio::test]
async fn what_cannot_be_done_is_told_as_json_and_says_what_can() {
    let rig = Rig::start().await;
    for (method, path, allowed) in [
        (Method::PUT, "/v1/requests", "POST,GET,HEAD"),
        (Method::OPTIONS, "/v1/requests/0000000000000000", "GET,HEAD,DELETE,PATCH"),
        (Method::TRACE, "/v1/requests/0000000000000000/receipt", "POST"),
    ] {
        let call = rig.http.request(method.clone(), format!("http://localhost{path}")).bearer_auth(&rig.token);
        let answer = call.send().await.expect("an answer");
        let told = |name| answer.headers().get(name).map(|value| value.to_str().expect("text").to_owned());
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(
            (told("allow").as_deref(), told("content-type").as_deref()),
            (Some(allowed), Some("application/json")),
            "{path}"
        );
    }
    let told = rig.call(Method::GET, "/nowhere", None).await.1;
    assert_eq!(told["error"], "no_such_path");
    assert_eq!(rig.call(Method::GET, "/v1/requests?room=ops", None).await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn two_tokens_in_one_call_are_none() {
    let rig = Rig::start().await;
    let call = rig.http.get("http://localhost/v1/requests").bearer_auth(&rig.token).bearer_auth(&rig.token);
    assert_eq!(call.send().await.expect("an answer").status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_caller_that_goes_away_while_the_bridge_is_busy_leaves_nothing() {
    let mut rig = Rig::start().await;
    // The bridge takes nothing, and no more events have room.
    let filled: Vec<_> = (0..EVENTS_MAX).map(|at| body(&format!("filled {at}"))).collect();
    let raising = filled.iter().map(|body| {
        let call = rig.http.post("http://localhost/v1/requests").bearer_auth(&rig.token);
        call.body(body.to_string()).timeout(Duration::from_secs(2)).send()
    });
    for answer in futures_util::future::join_all(raising).await {
        assert!(answer.is_err(), "nobody has said anything about it");
    }
    let mut detached = body("away");
    detached["detached"] = json!(true);
    let call = rig.http.post("http://localhost/v1/requests").bearer_auth(&rig.token).body(detached.to_string());
    assert!(call.timeout(Duration::from_millis(300)).send().await.is_err(), "there is no room for it");
    // Whoever is served after it was not served for it.
    let listed = rig.call(Method::GET, "/v1/requests", None).await.1;
    assert_eq!(listed["requests"].as_array().map(Vec::len), Some(EVENTS_MAX));
    for _ in 0..EVENTS_MAX {
        assert!(matches!(rig.asks.next().await, Some(SourceEvent::Requested(..))));
    }
    rig.held(&detached).await;
}

#[tokio::test]
async fn what_has_ended_cannot_change() {
    let mut rig = Rig::start().await;
    let (id, ..) = rig.held(&body("a")).await;
    rig.call(Method::DELETE, &format!("/v1/requests/{id}"), None).await;
    assert!(matches!(rig.asks.next().await, Some(SourceEvent::Withdrawn(..))));
    let change = json!({ "tool_call": { "title": "Destroy" } });
    let (status, told) = rig.call(Method::PATCH, &format!("/v1/requests/{id}"), Some(&change)).await;
    assert_eq!((status, &told["ending"]), (StatusCode::OK, &json!("withdrawn")));
    rig.held(&body("b")).await;
}

#[tokio::test]
async fn nobody_keeps_alive_what_another_token_raised() {
    let mut rig = Rig::with(Duration::from_millis(1_500), Vec::new(), |_| {}).await;
    let (grant, token) = Grant::new("other", [2; 32], Timestamp::from_unix_millis(0));
    rig.tokens.add(grant).expect("added");
    let (id, ..) = rig.held(&body("a")).await;
    let asking = async {
        loop {
            let call = rig.http.get(format!("http://localhost/v1/requests/{id}?wait=1s")).bearer_auth(&token);
            assert_eq!(call.send().await.expect("an answer").status(), StatusCode::NOT_FOUND);
        }
    };
    let withdrawn = tokio::select! {
        withdrawn = tokio::time::timeout(Duration::from_secs(10), rig.asks.next()) => withdrawn,
        () = asking => panic!("it asks on"),
    };
    assert!(matches!(withdrawn, Ok(Some(SourceEvent::Withdrawn(_, Withdrawn::AgentGone)))), "{withdrawn:?}");
}
