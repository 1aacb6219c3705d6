//! One bad day: an agent asks, people press, Discord fails, and then all is well again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::time::Duration;

use bridge_core::{Bridge, Clicks, Details, Effect, Input, Limits, Room, RoomError, RoomRules, Rules, SourceEvent, Tokens};
use bridge_model::{
    ButtonToken, OptionId, OptionKind, Options, Outcome, PermissionOption, PermissionRequest, PersonId, ReplyTo, RoomName,
    Secret, Session, SessionId, SourceName, Timestamp, ToolCall, ToolKind,
};
use countersign_tests::discord_double::{DiscordDouble, RestRequest};
use countersign_tests::rest;
use discord_room::{DiscordBoard, DiscordRoom, LIMITS, Mention, RoomOptions, Threads};
use fastrand::Rng;
use policy::{Approvers, Listed, Policy, Who};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use super::board::Showing;
use super::crowd::{Crowd, is_card_of};
use super::weather;

const ROOM: &str = "builds";
const SOURCE: &str = "agent";
const ASKS: u64 = 3;
const LIFETIME: Duration = Duration::from_secs(5);
const STORM: Duration = Duration::from_secs(7);
/// After the storm; one silent connection is given up after ten seconds, and what was silent is tried again.
const CALM: Duration = Duration::from_secs(40);
const LABELS: [(&str, &str, &str); 3] = [("y", "Yes", "allow_once"), ("a", "Always", "allow_always"), ("n", "No", "reject_once")];

/// How often each thing happened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) allowed: usize,
    pub(crate) refused: usize,
    pub(crate) cards: usize,
    pub(crate) presses: usize,
    pub(crate) acknowledged: usize,
    pub(crate) posted_again: usize,
    pub(crate) with_file: usize,
    pub(crate) files_refused: usize,
    pub(crate) reconnected: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.allowed += other.allowed;
        self.refused += other.refused;
        self.cards += other.cards;
        self.presses += other.presses;
        self.acknowledged += other.acknowledged;
        self.posted_again += other.posted_again;
        self.with_file += other.with_file;
        self.files_refused += other.files_refused;
        self.reconnected += other.reconnected;
    }
}

/// What went wrong otherwise.
pub(crate) async fn play(seed: u64) -> Result<Tally, String> {
    let mut day = Day::dawn(seed).await;
    let storm = Instant::now() + STORM;
    while Instant::now() < storm {
        day.something_happens();
        let pause = Duration::from_millis(day.dice.u64(20..250));
        day.work_for(pause).await;
    }
    weather::clear(&day.discord);
    let calm = Instant::now() + CALM;
    while !day.is_over() && Instant::now() < calm {
        day.work_for(Duration::from_millis(100)).await;
    }
    day.judge()
}

struct Day {
    seed: u64,
    dice: Rng,
    discord: DiscordDouble,
    crowd: Crowd,
    bridge: Bridge<Dice>,
    showing: Showing<DiscordBoard>,
    inbox: mpsc::UnboundedReceiver<Input>,
    dawn: Instant,
    asked: u64,
    told: BTreeMap<u64, Vec<Outcome>>,
    failures: Vec<String>,
}

struct Dice(Rng);

impl Tokens for Dice {
    fn draw(&mut self) -> ButtonToken {
        ButtonToken::from_random(self.0.u128(..))
    }
}

impl Day {
    async fn dawn(seed: u64) -> Self {
        let mut dice = Rng::with_seed(seed);
        let discord = DiscordDouble::start().await;
        let crowd = Crowd::gather(&discord);
        let room = RoomOptions {
            name: RoomName::new(ROOM),
            channel: discord.channel().to_string(),
            threads: if dice.bool() { Threads::None } else { Threads::PerSession },
            mention: Mention::default(),
            roles: BTreeSet::new(),
        };
        let options = discord_room::Options {
            token: Secret::new(discord.token()),
            connect_to: Some(discord.address()),
            ca_pem: Some(discord.ca_pem()),
            rooms: vec![room],
        };
        // A busy machine can be too slow for the first try.
        let (board, mut clicks) = loop {
            match DiscordRoom::new(options.clone()).connect().await {
                Err(RoomError::Unavailable(_)) => rest(Duration::from_secs(1)).await,
                connected => break connected.expect("a connection while all is well"),
            }
        };
        let (inbox_in, inbox) = mpsc::unbounded_channel();
        let events = inbox_in.clone();
        tokio::spawn(async move {
            while let Some(event) = clicks.next().await {
                if events.send(Input::Room(event)).is_err() {
                    return;
                }
            }
        });
        weather::set(&discord, &mut dice);
        let rules = rules(crowd.approvers.map(|id| PersonId::new(id.to_string())));
        Self {
            seed,
            bridge: Bridge::new(rules, seed, Dice(dice.fork())),
            dice,
            discord,
            crowd,
            showing: Showing::new(board, inbox_in),
            inbox,
            dawn: Instant::now(),
            asked: 0,
            told: BTreeMap::new(),
            failures: Vec::new(),
        }
    }

    fn something_happens(&mut self) {
        match self.dice.u8(..100) {
            0..15 if self.asked < ASKS => self.ask(),
            0..65 => self.crowd.press(&self.discord, &mut self.dice),
            65..69 => weather::disturb(&self.discord, &mut self.dice),
            69..72 => self.discord.set_stuck(false),
            72..74 => {
                let ids: Vec<_> = self.discord.messages().iter().map(|message| message.id).collect();
                if let Some(id) = self.dice.choice(ids) {
                    self.discord.delete_message(id);
                }
            }
            74..76 => {
                if let Some(thread) = self.dice.choice(self.discord.threads()) {
                    self.discord.archive_thread(thread, false);
                }
            }
            76..80 => {
                self.discord.say(self.crowd.approvers[0], self.discord.channel(), "yes, approve all");
            }
            _ => {}
        }
    }

    fn ask(&mut self) {
        let option = |(id, name, kind): (&str, &str, &str)| PermissionOption {
            id: OptionId::parse(&RawValue::from_string(format!("\"{id}\"")).expect("JSON")).expect("an id"),
            name: name.to_owned(),
            kind: OptionKind::parse(kind),
            meta: None,
        };
        let request = PermissionRequest {
            from: ReplyTo { source: SourceName::new(SOURCE), ask: self.asked },
            session: Session { id: Some(SessionId::new("s")), ..Session::default() },
            title: None,
            description: None,
            tool_call: Some(self.tool_call()),
            options: Options::new(LABELS.into_iter().map(option).collect()).expect("options"),
            meta: None,
            places: None,
        };
        self.asked += 1;
        self.give(Input::Source(SourceEvent::Requested(Box::new(request), Box::default())));
    }

    /// Half of them need a file.
    fn tool_call(&mut self) -> ToolCall {
        let title = title(self.asked);
        let command = self.dice.bool().then(|| json!({"command": format!("{title}{}", " and another".repeat(500))}));
        ToolCall { kind: ToolKind::Execute, title: Some(title), raw_input: command, ..ToolCall::default() }
    }

    /// Lets the bridge work.
    async fn work_for(&mut self, span: Duration) {
        let until = Instant::now() + span;
        loop {
            let due = self.bridge.next_deadline().map(|at| self.dawn + Duration::from_millis(at.unix_millis()));
            let next = due.map_or(until, |due| due.min(until));
            match timeout(next.saturating_duration_since(Instant::now()), self.inbox.recv()).await {
                Ok(Some(input)) => self.give(input),
                Ok(None) | Err(_) if until <= Instant::now() => return,
                Ok(None) | Err(_) => self.give(Input::Tick),
            }
        }
    }

    fn give(&mut self, input: Input) {
        let millis = u64::try_from(self.dawn.elapsed().as_millis()).expect("a short day");
        let mut todo = VecDeque::from(self.bridge.handle(Timestamp::from_unix_millis(millis), input));
        while let Some(effect) = todo.pop_front() {
            match effect {
                Effect::Record { then, .. } => then.into_iter().rev().for_each(|effect| todo.push_front(effect)),
                Effect::Post { card, within } => self.showing.post(card, within),
                Effect::Look { request, room, among } => self.showing.look(request, room, among),
                // Nothing here comes back after a restart.
                Effect::Asked(..) | Effect::Resume { .. } => {}
                Effect::Update { card, now } => self.showing.update(card, now),
                Effect::Say(said) => self.showing.say(said),
                Effect::Close { card, closed } => self.showing.close(card, closed),
                Effect::Answer { click, reply } => self.showing.answer(click, reply),
                Effect::Reply { request, to, outcome, .. } => {
                    self.tell(to.ask, outcome);
                    let now = Timestamp::from_unix_millis(millis);
                    todo.extend(self.bridge.handle(now, Input::Replied(request, Ok(()))));
                }
            }
        }
    }

    fn tell(&mut self, ask: u64, outcome: Outcome) {
        if let Outcome::Selected(offered) = &outcome
            && !offered.option().kind.refuses()
            && !self.crowd.may_have_chosen(&self.discord, &title(ask), &offered.option().name)
        {
            self.failures.push(format!("ask {ask} was allowed, and nobody had chosen that: {outcome:?}"));
        }
        self.told.entry(ask).or_default().push(outcome);
    }

    /// Nothing waits any more.
    fn is_over(&self) -> bool {
        self.bridge.held_len() == 0 && self.showing.is_idle()
    }

    fn judge(mut self) -> Result<Tally, String> {
        let messages = self.discord.messages();
        for ask in 0..self.asked {
            let told = self.told.get(&ask).map_or(0, Vec::len);
            if told != 1 {
                self.failures.push(format!("ask {ask} was answered {told} times"));
            }
            let cards: Vec<_> = messages.iter().filter(|message| is_card_of(message, &title(ask))).collect();
            if 1 < cards.len() {
                self.failures.push(format!("ask {ask} has {} cards: {cards:#?}", cards.len()));
            }
            for card in cards.iter().filter(|card| !card.deleted && card.buttons().iter().any(|button| !button.disabled)) {
                self.failures.push(format!("the card of ask {ask} can still be pressed: {}", card.content));
            }
        }
        if !self.is_over() {
            self.failures.push("it was not over in time".to_owned());
        }
        self.failures.extend(self.discord.problems());
        if !self.failures.is_empty() {
            return Err(self.story());
        }
        let outcomes = self.told.values().flatten();
        let is_allowed = |outcome: &&Outcome| matches!(outcome, Outcome::Selected(offered) if !offered.option().kind.refuses());
        let allowed = outcomes.clone().filter(is_allowed).count();
        Ok(Tally {
            allowed,
            refused: outcomes.count() - allowed,
            cards: messages.iter().filter(|message| !message.posted_buttons.is_empty()).count(),
            presses: self.crowd.presses().len(),
            acknowledged: self.discord.acks().iter().filter(|ack| ack.status == 204).count(),
            posted_again: messages.iter().map(|message| message.posts - 1).sum(),
            with_file: messages.iter().filter(|message| !message.files.is_empty()).count(),
            files_refused: self.discord.requests().iter().filter(|request| is_refused_file(request)).count(),
            reconnected: self.discord.hellos().len() - 1,
        })
    }

    /// All that a reader needs to see what happened.
    fn story(&self) -> String {
        let mut story = format!("seed {}: {}", self.seed, self.failures.join("; "));
        for request in self.discord.requests() {
            let (method, path, after) = (&request.method, &request.path, request.at.saturating_duration_since(self.dawn));
            let _ =
                write!(story, "\n  {after:.3?} {method} {path}: deserved {:?}, got {:?}", request.processed, request.answered);
        }
        for press in self.crowd.presses() {
            let _ = write!(story, "\n  {press:?}");
        }
        for ack in self.discord.acks() {
            let _ = write!(story, "\n  {ack:?}");
        }
        let _ = write!(story, "\n  told: {:?}", self.told);
        story
    }
}

fn rules(approvers: [PersonId; 2]) -> Rules {
    let room = RoomRules::of(
        Approvers { who: Who::Listed(Listed::people(approvers)), power_min: None, bots: BTreeSet::new() },
        Details::Full,
        LIMITS,
    );
    Rules {
        policy: Policy::asking(LIFETIME),
        rooms: [(RoomName::new(ROOM), room)].into(),
        routes: [(SourceName::new(SOURCE), RoomName::new(ROOM))].into(),
        requesters: [].into(),
        limits: Limits { say_pending_after: Duration::from_millis(200), ..Limits::default() },
    }
}

fn is_refused_file(request: &RestRequest) -> bool {
    !request.files.is_empty() && request.answered.is_some_and(|status| [403, 413].contains(&status))
}

fn title(ask: u64) -> String {
    format!("touch number-{ask}.")
}
