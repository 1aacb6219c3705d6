//! Everything around the bridge, played by dice.

use std::collections::{BTreeMap, BTreeSet};

use bridge_core::{Bridge, Input, RoomError, RoomEvent, Rules, SourceError, SourceEvent, Tokens};
use bridge_model::{
    ButtonToken, Card, CardRef, Click, ClickRef, Delivery, Ending, Humanity, MessageId, OptionId, OptionKind, Options,
    PermissionOption, PermissionRequest, Person, PersonId, Presence, ReplyTo, RequestId, RoomName, Session, Signature,
    SourceName, Standing, Timestamp, ToolCall, ToolKind, Withdrawn,
};
use fastrand::Rng;
use policy::WhenChanged;
use serde_json::value::RawValue;

use crate::oracle::{ARM_MS, Asked, Does, LIFETIME_MS, PEOPLE};
use crate::rules::{HELD_MAX, ROOMS, SOURCES, rules};
use crate::told::Told;

pub(crate) struct World {
    dice: Rng,
    rules: Rules,
    bridge: Bridge<Dice>,
    pub(crate) now: u64,
    asks: u64,
    pub(crate) asked: BTreeMap<RequestId, Asked>,
    /// Effects whose outcome the bridge has not heard of yet.
    pub(crate) looking: Vec<RequestId>,
    pub(crate) posting: Vec<Card>,
    pub(crate) replying: Vec<RequestId>,
    pub(crate) closings: BTreeMap<RequestId, Ending>,
    pub(crate) ledger_works: bool,
    pub(crate) held_in_ledger: BTreeSet<RequestId>,
    /// Clicks that came before the news of their card.
    pub(crate) parked: Vec<Click>,
    /// The request that its agent is changing now.
    pub(crate) changing: Option<RequestId>,
    pub(crate) told: Told,
}

#[derive(Debug)]
struct Dice(Rng);

impl Tokens for Dice {
    fn draw(&mut self) -> ButtonToken {
        ButtonToken::from_random(self.0.u128(..))
    }
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let rules = rules(if seed.is_multiple_of(2) { WhenChanged::Refuse } else { WhenChanged::AskAgain });
        let mut dice = Rng::with_seed(seed);
        let tokens = Dice(dice.fork());
        Self {
            bridge: Bridge::new(rules.clone(), seed, tokens),
            rules,
            dice,
            now: 1,
            asks: 0,
            asked: BTreeMap::new(),
            looking: Vec::new(),
            posting: Vec::new(),
            replying: Vec::new(),
            closings: BTreeMap::new(),
            ledger_works: true,
            held_in_ledger: BTreeSet::new(),
            parked: Vec::new(),
            changing: None,
            told: Told::default(),
        }
    }

    pub(crate) fn step(&mut self) {
        self.ledger_works = self.dice.u8(..) < 250;
        match self.dice.u8(..100) {
            0..10 => self.ask(),
            10..55 => self.click(),
            55..62 => self.people_news(),
            62..75 => self.post_news(),
            75..84 => self.reply_news(),
            84..88 => self.withdraw(),
            88..89 => self.remove_card(),
            89..90 => self.reload(),
            90..93 => self.jump_to_a_deadline(),
            93..98 => self.now += ARM_MS,
            _ => self.now += self.dice.u64(..LIFETIME_MS / 2),
        }
        if self.bridge.next_deadline().is_some_and(|at| at.unix_millis() <= self.now) && self.dice.bool() {
            self.give(Input::Tick);
        }
    }

    /// Whatever the dice left undone is done, and then everything has been told once and every card says how it ended.
    pub(crate) fn finish(&mut self) {
        self.ledger_works = true;
        self.now += LIFETIME_MS;
        self.give(Input::Tick);
        while !self.looking.is_empty() || !self.posting.is_empty() || !self.replying.is_empty() {
            self.people_news();
            self.post_news();
            self.reply_news();
        }
        self.give(Input::Stop);
        assert_eq!(self.bridge.held_len(), 0);
        for (id, asked) in &self.asked {
            let told = usize::from(!asked.replaced);
            assert_eq!(asked.told.len(), told, "request {id} was told {:?}", asked.told);
            if asked.card.is_some() {
                let ending = self.closings.get(id).expect("its card is closed");
                let pending = matches!(ending, Ending::Answered { delivery: Delivery::Pending, .. });
                assert!(!pending, "the card of {id} never says what became of the answer");
            }
        }
    }

    fn ask(&mut self) {
        self.asks += 1;
        let source = self.dice.usize(..SOURCES.len());
        let from = ReplyTo { source: SourceName::new(SOURCES[source]), ask: self.asks };
        // The ids are the same for all requests, as agents have it.
        let mut options = vec![
            ("\"allow\"", OptionKind::AllowOnce, Does::AllowOnce),
            ("\"always\"", OptionKind::AllowAlways, Does::AllowAlways),
            ("\"no\"", OptionKind::RejectOnce, Does::Refuse),
        ];
        self.dice.shuffle(&mut options);
        let option = |(id, kind, _): &(&str, OptionKind, Does)| PermissionOption {
            id: OptionId::parse(&RawValue::from_string((*id).to_owned()).expect("JSON")).expect("an id"),
            name: format!("button of {}", self.asks),
            kind: kind.clone(),
            meta: None,
        };
        let offered = Options::new(options.iter().map(option).collect()).expect("options");
        let request = self.request(from.clone(), offered.clone());
        let asked = Asked {
            from,
            room: RoomName::new(ROOMS[source]),
            arrived: self.now,
            offered,
            options: options.iter().map(|(id, _, does)| ((*id).to_owned(), *does)).collect(),
            tokens: BTreeMap::new(),
            card: None,
            shown: u64::MAX,
            first: None,
            private: BTreeMap::new(),
            chosen_by: None,
            told: Vec::new(),
            reminded: 0,
            over: false,
            replaced: false,
        };
        self.asked.insert(RequestId { run: u64::MAX, number: self.asks }, asked);
        self.give(Input::Source(SourceEvent::Requested(Box::new(request), Box::default())));
    }

    fn request(&mut self, from: ReplyTo, options: Options) -> PermissionRequest {
        let kind = if self.dice.u8(..) < 20 { ToolKind::Delete } else { ToolKind::Execute };
        let title = Some(format!("x{}", self.dice.u8(..4)));
        PermissionRequest {
            from,
            session: Session::default(),
            title: None,
            description: None,
            tool_call: Some(ToolCall { kind, title, ..ToolCall::default() }),
            options,
            meta: None,
            places: None,
        }
    }

    /// Somebody presses some button, mostly where it is.
    fn click(&mut self) {
        let Some((id, token)) = self.a_button() else { return };
        let asked = &self.asked[&id];
        let whose = asked.private.get(&token).filter(|_| self.dice.u8(..) < 200).map(|private| private.whose.clone());
        // Mostly those who may.
        let people = if self.dice.u8(..) < 150 { &PEOPLE[..3] } else { &PEOPLE[..] };
        let person = whose.unwrap_or_else(|| people[self.dice.usize(..people.len())].0.to_owned());
        let room = if self.dice.u8(..) < 40 { ROOMS[self.dice.usize(..ROOMS.len())] } else { asked.room.as_str() };
        let control = if self.dice.u8(..) < 40 { MessageId::new("another card") } else { control(id) };
        let by = a_person(&person);
        let at = ClickRef { room: RoomName::new(room), control, person: by.id.clone(), click: MessageId::new("click") };
        self.give(Input::Room(RoomEvent::Clicked(Click { token, by, at })));
    }

    /// One of a recent card, mostly; or one that somebody was shown alone, or that a second person has to choose.
    fn a_button(&mut self) -> Option<(RequestId, ButtonToken)> {
        type Pick = fn(&Asked) -> Vec<ButtonToken>;
        let of_cards: Pick = |asked| asked.tokens.keys().copied().collect();
        let waiting: Pick = |asked| asked.tokens.keys().filter(|_| !asked.over).copied().collect();
        let private: Pick = |asked| asked.private.keys().copied().collect();
        let chosen: Pick = |asked| {
            let is_chosen = |at| asked.first.as_ref().is_some_and(|(_, chosen)| !asked.over && *chosen == at);
            asked.tokens.iter().filter(|(_, at)| is_chosen(**at)).map(|(token, _)| *token).collect()
        };
        let (pick, latest) = match self.dice.u8(..6) {
            0 => (private, 4),
            1 => (chosen, 4),
            2 | 3 => (waiting, 12),
            _ => (of_cards, 12),
        };
        let buttons: Vec<_> =
            self.asked.iter().flat_map(|(id, asked)| pick(asked).into_iter().map(|token| (*id, token))).collect();
        self.dice.choice(buttons.iter().rev().take(latest)).copied()
    }

    /// Who is there, which a room may not know.
    fn people_news(&mut self) {
        if self.looking.is_empty() {
            return;
        }
        let id = self.looking.swap_remove(self.dice.usize(..self.looking.len()));
        let known = self.dice.u8(..) < 200;
        let there = PEOPLE.into_iter().filter(|_| self.dice.u8(..) < 150).map(|(person, _)| a_person(person)).collect();
        self.give(Input::People(id, known.then_some(there)));
    }

    fn post_news(&mut self) {
        if self.posting.is_empty() {
            return;
        }
        let card = self.posting.swap_remove(self.dice.usize(..self.posting.len()));
        let posted = CardRef { room: card.room, control: control(card.request), parts: vec![] };
        let fails = self.dice.u8(..) < 20;
        if !fails && let Some(asked) = self.asked.get_mut(&card.request) {
            asked.card = Some(posted.control.clone());
            asked.shown = self.now;
        }
        let result = match (fails, self.dice.bool()) {
            (true, true) => Err(RoomError::Unavailable("down".into())),
            (true, false) => Err(RoomError::NotAttached("down".into())),
            (false, _) => Ok(posted),
        };
        self.give(Input::Posted(card.request, result));
    }

    fn reply_news(&mut self) {
        if self.replying.is_empty() {
            return;
        }
        let id = self.replying.swap_remove(self.dice.usize(..self.replying.len()));
        let results = [Ok(()), Ok(()), Err(SourceError::Gone), Err(SourceError::Withdrawn)];
        let result = results[self.dice.usize(..results.len())];
        self.give(Input::Replied(id, result));
    }

    fn withdraw(&mut self) {
        let Some((id, asked)) = self.dice.choice(self.asked.iter().rev().take(6)) else { return };
        let (id, ask, options) = (*id, asked.from.clone(), asked.offered.clone());
        match self.dice.u8(..4) {
            0 => self.give(Input::Source(SourceEvent::Withdrawn(ask, Withdrawn::TurnEnded))),
            1 => self.give(Input::Source(SourceEvent::Changed { ask, now: None })),
            _ => {
                self.changing = Some(id);
                let now = Some(Box::new(self.request(ask.clone(), options)));
                self.give(Input::Source(SourceEvent::Changed { ask, now }));
                self.changing = None;
            }
        }
    }

    fn remove_card(&mut self) {
        let cards: Vec<_> =
            self.asked.iter().filter_map(|(id, asked)| asked.card.as_ref().map(|_| (*id, asked.room.clone()))).collect();
        let Some((id, room)) = self.dice.choice(cards) else { return };
        self.give(Input::Room(RoomEvent::CardRemoved(CardRef { room, control: control(id), parts: vec![] })));
    }

    /// The operator has the same rules read again, after which nobody is in any more.
    fn reload(&mut self) {
        for asked in self.asked.values_mut() {
            asked.first = None;
        }
        self.give(Input::Rules(Box::new(self.rules.clone())));
    }

    /// One instant before, at or after some deadline, where mistakes live.
    fn jump_to_a_deadline(&mut self) {
        let Some(deadline) = self.bridge.next_deadline() else { return };
        self.now = self.now.max((deadline.unix_millis() + self.dice.u64(..3)).saturating_sub(1));
    }

    pub(crate) fn give(&mut self, input: Input) {
        // What the rules have expire expires, whatever the input is.
        for asked in self.asked.values_mut().filter(|asked| asked.deadline() <= self.now) {
            asked.over = true;
        }
        let due = self.due(&input);
        let effects = self.bridge.handle(Timestamp::from_unix_millis(self.now), input);
        let failed = self.judge(&due, effects);
        for id in failed {
            self.give(Input::RecordFailed(id));
        }
        assert!(self.bridge.held_len() <= HELD_MAX);
    }
}

fn a_person(id: &str) -> Person {
    Person {
        id: PersonId::new(id),
        name: Some("Somebody".into()),
        humanity: if id == "@robot:x" { Humanity::Bot } else { Humanity::Human },
        presence: if id == "@gone:x" { Presence::Absent } else { Presence::InRoom },
        standing: Standing::Full,
        signature: Signature::Service,
        power: None,
        roles: BTreeSet::new(),
    }
}

fn control(id: RequestId) -> MessageId {
    MessageId::new(format!("control of {id}"))
}
