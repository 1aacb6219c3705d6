use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::State;
use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use bridge_core::RoomEvent;
use bridge_model::{
    Button, ButtonStyle, ButtonToken, Click, Digest, Ending, PersonId, Presence, RequestId, Section, SectionBody, Shown,
    Timestamp, ToConfirm,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::*;
use crate::clicks::{self, Pressed};
use crate::id::Token;
use crate::keys::Session;
use crate::notes::tests::{about, said};
use crate::people::{PAGE, STREAM};
use crate::render::tests::{card, told_as_json};
use crate::routes::Whole;
use crate::streams::EventStream;
use crate::{Options, Outside, listen};

const NUMBER: u64 = 7;
/// Longer than anything takes here.
const WITHIN: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_card_that_is_drawn_anew_has_the_same_buttons_and_the_same_file() {
    let desk = Desk::open().await;
    let posted = waiting(None);
    let at = desk.post(&posted).await;
    let before = desk.shown();
    desk.board.update(&at, &waiting(Some("\"Ada\" chose \"Yes\""))).await.expect("drawn anew");
    let now = desk.shown();
    assert!(!before["sections"].to_string().contains("Ada") && now["sections"].to_string().contains("Ada"), "{now}");
    for same in ["id", "state", "buttons", "had_buttons", "file", "asked_at", "headline"] {
        assert_eq!(before[same], now[same], "{same}");
    }
    assert!(!now["buttons"].as_array().expect("buttons").is_empty() && now["file"].is_object(), "{now}");
    let file = desk.served.live().file(&at.control, std::slice::from_ref(&posted.room)).expect("a file");
    assert_eq!(now["file"]["sha256"], json!(posted.digest.to_string()));
    assert_eq!(digest(&file.text), posted.digest);
}

#[tokio::test]
async fn pages_that_are_open_are_told_of_a_card_that_is_drawn_anew() {
    let desk = Desk::open().await;
    let at = desk.post(&waiting(None)).await;
    let (_, mut stream) = desk.join("ada");
    desk.board.update(&at, &waiting(Some("\"Ada\" chose \"Yes\""))).await.expect("drawn anew");
    assert!(stream.text().await.contains("chose"));
}

#[tokio::test]
async fn a_card_that_was_closed_stays_closed() {
    let desk = Desk::open().await;
    let at = desk.post(&waiting(None)).await;
    desk.close().await;
    let closed = desk.shown();
    desk.board.update(&at, &waiting(Some("\"Ada\" chose \"Yes\""))).await.expect("nothing to do");
    desk.board.say(&about(&at, NUMBER, "remind-50")).await.expect("nothing to do");
    assert_eq!(desk.shown(), closed);
    assert_eq!((&closed["state"], &closed["buttons"]), (&json!("expired"), &json!([])));
}

#[tokio::test]
async fn a_card_that_is_not_here_is_not_drawn_anew() {
    let desk = Desk::open().await;
    let waits = waiting(None);
    let at = id::card_ref(waits.request, &waits.room);
    assert!(matches!(desk.board.update(&at, &waits).await, Err(RoomError::Refused(_))));
    assert!(matches!(desk.board.say(&about(&at, NUMBER, "remind-50")).await, Err(RoomError::Refused(_))));
    desk.post(&waits).await;
    let elsewhere = Card { room: RoomName::new("ops"), ..waits };
    assert!(matches!(desk.board.update(&at, &elsewhere).await, Err(RoomError::Refused(_))), "of another room");
}

#[tokio::test]
async fn a_card_of_an_earlier_run_is_shown_under_its_id_and_pressed_drawn_anew_and_closed_like_any_other() {
    let posted = waiting(None);
    let at = Desk::open().await.post(&posted).await;
    let mut desk = Desk::open().await;
    let (ada, mut stream) = desk.join("ada");
    desk.board.resume(&at, &posted, Duration::ZERO).await.expect("taken up");
    assert!(stream.text().await.contains(at.control.as_str()), "pages that are open are told");
    assert_eq!((&desk.shown()["id"], &desk.shown()["state"]), (&json!(at.control.as_str()), &json!("waiting")));
    assert!(desk.served.live().file(&at.control, std::slice::from_ref(&posted.room)).is_some());
    let token = posted.buttons[0].token;
    let (_, click) = desk.press(&ada, &at, token, ClickReply::IsFirst).await;
    assert_eq!((click.token, &click.at.control, &click.at.room), (token, &at.control, &at.room));
    desk.board.update(&at, &waiting(Some("\"Ada\" chose \"Yes\""))).await.expect("drawn anew");
    assert!(desk.shown()["sections"].to_string().contains("Ada"));
    desk.close().await;
    assert_eq!((&desk.shown()["state"], &desk.shown()["buttons"]), (&json!("expired"), &json!([])));
}

#[tokio::test]
async fn what_is_not_the_card_of_the_request_on_this_page_is_not_taken_up() {
    let (desk, posted) = (Desk::open().await, waiting(None));
    let at = id::card_ref(posted.request, &posted.room);
    let of_another = id::card_ref(RequestId { run: 1, number: NUMBER + 1 }, &posted.room);
    let in_another_room = CardRef { room: RoomName::new("ops"), ..at.clone() };
    for other in [of_another, in_another_room] {
        assert!(matches!(desk.board.resume(&other, &posted, Duration::ZERO).await, Err(RoomError::Refused(_))), "{other:?}");
    }
    let elsewhere = Card { room: RoomName::new("elsewhere"), ..posted };
    let at = id::card_ref(elsewhere.request, &elsewhere.room);
    assert!(matches!(desk.board.resume(&at, &elsewhere, Duration::ZERO).await, Err(RoomError::Refused(_))));
    assert!(desk.served.live().cards(&desk.served.rooms).is_empty());
}

#[tokio::test]
async fn what_is_said_of_a_card_stands_at_it_once_and_stays_when_it_is_drawn_anew() {
    let desk = Desk::open().await;
    let at = desk.post(&waiting(None)).await;
    for part in ["remind-50", "remind-75", "remind-50"] {
        desk.board.say(&about(&at, NUMBER, part)).await.expect("said");
    }
    desk.board.update(&at, &waiting(Some("\"Ada\" chose \"Yes\""))).await.expect("drawn anew");
    assert_eq!(desk.shown()["notes"].as_array().expect("notes").len(), 2);
    desk.close().await;
    assert_eq!(desk.shown()["notes"], json!([]), "it does not wait any more");
}

#[tokio::test]
async fn what_is_said_of_no_card_is_told_to_its_room_until_its_request_ends() {
    let desk = Desk::open().await;
    let (_, mut desks) = desk.join("ada");
    let (_, mut ops) = desk.join_in("bob", &["ops"]);
    desk.board.say(&Said { room: RoomName::new("ops"), ..said(NUMBER, "escalate") }).await.expect("said");
    desk.board.say(&Said { room: RoomName::new("ops"), ..said(NUMBER, "escalate") }).await.expect("said already");
    assert!(ops.text().await.contains("said of 7"));
    desk.close().await;
    let told = ops.text().await;
    assert!(told.contains("event: lines") && !told.contains("said of 7"), "{told}");
    assert!(desks.text().await.contains("expired"), "nothing was said in another room");
    let elsewhere = Said { room: RoomName::new("elsewhere"), ..said(NUMBER, "escalate") };
    assert!(matches!(desk.board.say(&elsewhere).await, Err(RoomError::Refused(_))));
}

#[tokio::test]
async fn in_a_room_is_who_has_its_page_open_with_a_key_of_now() {
    let desk = Desk::open_for_a_while().await;
    assert_eq!(desk.people("desk").await, [""; 0]);
    let (_, _ada) = desk.join("ada");
    let (_, _adas) = desk.join("ada");
    let (_, bob) = desk.join("bob");
    let (_, _carol) = desk.join_in("carol", &["ops"]);
    let (_, _mallory) = desk.join("mallory");
    desk.served.keys.make(&PersonId::new("dave"), &[RoomName::new("desk")], Duration::from_hours(1)).expect("a key");
    assert_eq!(desk.people("desk").await, ["ada", "bob", "mallory"]);
    assert_eq!(desk.people("ops").await, ["carol"]);
    desk.served.keys.revoke(&PersonId::new("mallory")).expect("revoked");
    assert_eq!(desk.people("desk").await, ["ada", "bob"], "a key that was revoked is none, though its page is still open");
    drop(bob);
    assert_eq!(desk.people("desk").await, ["ada", "bob"], "a page that is gone may be back in a moment");
    a_moment().await;
    assert_eq!(desk.people("desk").await, ["ada"]);
    assert!(desk.board.people(&RoomName::new("elsewhere"), None).await.is_err());
}

#[tokio::test]
async fn just_after_the_start_nobody_knows_who_had_a_page_open() {
    let desk = Desk::open().await;
    assert_eq!(desk.board.people(&RoomName::new("desk"), None).await, Ok(None));
}

#[tokio::test]
async fn a_page_that_was_ended_is_nobodys() {
    let desk = Desk::open_for_a_while().await;
    let (session, _ada) = desk.join("ada");
    desk.served.streams.end(&session.cookie.hash());
    assert_eq!(desk.people("desk").await, [""; 0]);
}

#[tokio::test]
async fn what_is_to_be_confirmed_is_told_to_whoever_pressed_and_their_next_press_is_on_the_same_card() {
    let mut desk = Desk::open().await;
    let at = desk.post(&waiting(None)).await;
    let ((ada, _stream), (_, mut other)) = (desk.join("ada"), desk.join("bob"));
    let private = ButtonToken::from_random(9);
    let (reply, first) = desk.press(&ada, &at, ButtonToken::from_random(7), ClickReply::ToConfirm(to_confirm(private))).await;
    assert_eq!((&reply["counted"], &reply["confirm"]["button"]["token"]), (&json!(false), &json!(private.to_string())));
    assert!(reply["reply"].as_str().is_some_and(|text| text.contains("Otherwise nothing is decided.")), "{reply}");
    assert!(!desk.shown().to_string().contains(&private.to_string()), "the card does not have it");
    let (reply, second) = desk.press(&ada, &at, private, ClickReply::Chosen).await;
    assert_eq!(reply, json!({"counted": true, "reply": null, "confirm": null}));
    assert_eq!((second.token, &second.at.room, &second.at.control), (private, &first.at.room, &first.at.control));
    assert_eq!((second.by.id.as_str(), second.by.presence), ("ada", Presence::InRoom));
    desk.close().await;
    assert!(!other.text().await.contains(&private.to_string()), "nobody else was told of it");
}

#[tokio::test]
async fn the_first_of_two_is_told_that_it_counts_and_who_differs_that_it_does_not() {
    let mut desk = Desk::open().await;
    let at = desk.post(&waiting(None)).await;
    let (ada, _stream) = desk.join("ada");
    let (reply, _) = desk.press(&ada, &at, ButtonToken::from_random(7), ClickReply::IsFirst).await;
    let said = "Your choice counts. One more person has to choose the same.";
    assert_eq!(reply, json!({"counted": true, "reply": said, "confirm": null}));
    let differs = ClickReply::Differs { name: Shown::line("Bob"), option: Shown::line("Always") };
    let (reply, _) = desk.press(&ada, &at, ButtonToken::from_random(7), differs).await;
    assert_eq!((&reply["counted"], &reply["confirm"]), (&json!(false), &Value::Null));
    assert!(reply["reply"].as_str().is_some_and(|said| said.contains("\"Bob\" chose \"Always\"")), "{reply}");
}

/// A page that is served to nobody yet, of the rooms `desk` and `ops`.
struct Desk {
    board: WebBoard,
    served: Arc<Served>,
    events: mpsc::Receiver<RoomEvent>,
    _events_in: mpsc::Sender<RoomEvent>,
    _folder: TempDir,
}

impl Desk {
    async fn open() -> Self {
        let folder = TempDir::new().expect("a folder");
        let options = Options {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            url: None,
            tls: None,
            proxies: [].into(),
            folder: folder.path().to_owned(),
            rooms: ["desk", "ops"].map(RoomName::new).into(),
            outside: Outside { now: Arc::new(|| Timestamp::from_unix_millis(1_000 + next())), random },
        };
        let listening = listen::open(&options).await.expect("a port");
        let keys = Keys::open(folder.path(), options.outside.clone()).expect("keys");
        let (events_in, events) = mpsc::channel(4);
        let served = Arc::new(Served::new(&options, keys, &listening, events_in.downgrade()));
        Self { board: WebBoard::new(Arc::clone(&served)), served, events, _events_in: events_in, _folder: folder }
    }

    async fn post(&self, card: &Card) -> CardRef {
        self.board.post(card, Duration::ZERO).await.expect("posted")
    }

    async fn close(&self) {
        let closed = ClosedCard {
            request: RequestId { run: 1, number: NUMBER },
            room: RoomName::new("desk"),
            headline: Shown::line("headline"),
            ending: Ending::Expired,
            at: None,
        };
        self.board.close(None, &closed).await.expect("closed");
    }

    /// The only card of `desk`, as a page that is opened now is told of it.
    fn shown(&self) -> Value {
        let mut cards = self.served.live().cards(&[RoomName::new("desk")].into());
        assert_eq!(cards.len(), 1);
        told_as_json(&cards.remove(0).json(Timestamp::from_unix_millis(1_000)))
    }

    /// Somebody who has a page of `desk` open.
    fn join(&self, person: &str) -> (Session, Reading) {
        self.join_in(person, &["desk"])
    }

    fn join_in(&self, person: &str, rooms: &[&str]) -> (Session, Reading) {
        let (keys, rooms) = (&self.served.keys, rooms.iter().map(|room| RoomName::new(*room)).collect::<Vec<_>>());
        let key = keys.make(&PersonId::new(person), &rooms, Duration::from_hours(1)).expect("a key");
        let session = keys.join(&Token::parse(&key).expect("a key")).expect("read").expect("a session");
        let member = keys.member(&session.cookie, &session.page).expect("read").expect("a member");
        let name = session.page.text();
        let stream = self.served.streams.open(&name, &member, rooms.into_iter().collect()).expect("room");
        (session, Reading(stream))
    }

    /// So long that whoever had a page open before is back.
    async fn open_for_a_while() -> Self {
        let desk = Self::open().await;
        a_moment().await;
        desk
    }

    async fn people(&self, room: &str) -> Vec<String> {
        let people = self.board.people(&RoomName::new(room), None).await.expect("known").expect("it can tell");
        assert!(people.iter().all(|person| person.presence == Presence::InRoom));
        people.iter().map(|person| person.id.to_string()).collect()
    }

    /// What the page is told of a press that the bridge answers so, and what was reported.
    async fn press(&mut self, by: &Session, at: &CardRef, token: ButtonToken, reply: ClickReply) -> (Value, Click) {
        let cookie = format!("{}={}", self.served.own.cookie_name(), by.cookie.text());
        let mut headers = HeaderMap::new();
        for (name, value) in [(COOKIE.as_str(), cookie), (PAGE, by.page.text()), (STREAM, by.page.text())] {
            headers.insert(
                axum::http::HeaderName::from_bytes(name.as_bytes()).expect("a name"),
                HeaderValue::from_str(&value).expect("a value"),
            );
        }
        let pressed = serde_json::from_value::<Pressed>(json!({"card": at.control.as_str(), "token": token.to_string()}));
        let asked = clicks::click(State(Arc::clone(&self.served)), headers, Whole(pressed.expect("a press")));
        let answer = async {
            let Some(RoomEvent::Clicked(click)) = self.events.recv().await else { panic!("no click") };
            self.board.answer(&click.at, &reply).await.expect("answered");
            click
        };
        let (told, click) = tokio::join!(asked, answer);
        (body(told.expect("an answer")).await, click)
    }
}

/// An open page.
struct Reading(EventStream);

impl Reading {
    /// What it is told next.
    async fn text(&mut self) -> String {
        let next = timeout(WITHIN, self.0.next()).await.expect("it is told something");
        format!("{:?}", next.expect("an event"))
    }
}

/// Too long for the page, so that it has a file. `chosen`: what is said of who has chosen, where it takes two.
fn waiting(chosen: Option<&str>) -> Card {
    let who = match chosen {
        None => SectionBody::Ours("Nobody has yet.".to_owned()),
        Some(chosen) => SectionBody::Text(Shown::line(chosen)),
    };
    let command = Section::new("Command", SectionBody::Code(Shown::block(&"x".repeat(50_000))));
    card(vec![Section::new(Section::TWO_PEOPLE, who), command])
}

fn to_confirm(token: ButtonToken) -> ToConfirm {
    ToConfirm {
        button: Button { token, label: Shown::line("Always"), style: ButtonStyle::AllowAlways },
        headline: Shown::line("An agent wants to run: ls"),
        covers: None,
        needs_another: false,
        until: Timestamp::from_unix_millis(60_000),
    }
}

fn digest(text: &str) -> Digest {
    use sha2::Digest as _;
    Digest::from_bytes(sha2::Sha256::digest(text).into())
}

async fn body(response: Response) -> Value {
    let bytes = axum::body::to_bytes(response.into_body(), 64 * 1024).await.expect("a body");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// Never the same twice.
fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&next().to_be_bytes());
    bytes
}

fn next() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// As long as a page takes to be back.
async fn a_moment() {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(9)).await;
    tokio::time::resume();
}
