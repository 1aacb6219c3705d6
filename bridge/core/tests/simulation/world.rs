//! Everything around the bridge, played by dice.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use bridge_core::{
    Bridge, Details, Effect, Entry, Input, Limits, RoomError, RoomEvent, RoomRules, Rules, SourceError, SourceEvent, Tokens,
};
use bridge_model::{
    ButtonToken, Card, CardLimits, CardRef, Click, ClickRef, Delivery, Ending, Humanity, MessageId, OptionId, OptionKind,
    Options, Outcome, PermissionOption, PermissionRequest, Person, PersonId, Presence, ReplyTo, RequestId, RoomName, Session,
    Signature, SourceName, Standing, Timestamp, ToolCall, ToolKind, Withdrawn,
};
use fastrand::Rng;
use policy::{Approvers, Listed, Pace, Policy, Verdict, Verdicts, WhenChanged, Who};
use serde_json::value::RawValue;

use crate::oracle::{Asked, LIFETIME_MS, PEOPLE, chosen};

const ROOMS: [&str; 2] = ["red", "blue"];
const SOURCES: [&str; 2] = ["left", "right"];
const HELD_MAX: usize = 6;

pub(crate) struct World {
    dice: Rng,
    bridge: Bridge<Dice>,
    now: u64,
    asks: u64,
    asked: BTreeMap<RequestId, Asked>,
    /// Effects whose outcome the bridge has not heard of yet.
    posting: Vec<Card>,
    replying: Vec<RequestId>,
    closings: BTreeMap<RequestId, Ending>,
    ledger_works: bool,
    held_in_ledger: BTreeSet<RequestId>,
    /// Clicks that came before the news of their card.
    parked: Vec<Click>,
    /// The request that its agent is changing now.
    changing: Option<RequestId>,
    told: Told,
}

/// How often each thing happened.
#[derive(Clone, Copy, Default)]
pub(crate) struct Told {
    allowed: usize,
    refused_by_person: usize,
    expired: usize,
    withdrawn: usize,
    ineligible: usize,
    asked_again: usize,
}

impl Told {
    pub(crate) fn add(&mut self, other: Self) {
        self.allowed += other.allowed;
        self.refused_by_person += other.refused_by_person;
        self.expired += other.expired;
        self.withdrawn += other.withdrawn;
        self.ineligible += other.ineligible;
        self.asked_again += other.asked_again;
    }

    pub(crate) fn counts(self) -> [(&'static str, usize); 6] {
        [
            ("allowed", self.allowed),
            ("refused by a person", self.refused_by_person),
            ("expired", self.expired),
            ("withdrawn", self.withdrawn),
            ("clicks that may not count", self.ineligible),
            ("asked again", self.asked_again),
        ]
    }
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
        let listed = ["@ada:x", "@bob:x", "@robot:x", "@gone:x"].into_iter().map(PersonId::new);
        let room = RoomRules::of(
            Approvers { who: Who::Listed(Listed::people(listed)), power_min: None, bots: BTreeSet::new() },
            Details::Full,
            CardLimits { buttons_max: 10, label_max: 40, label_seen: 40, text_bytes_max: 4_000, unattached_bytes_max: 2_000 },
        );
        let rules = Rules {
            policy: Policy {
                verdicts: Verdicts { by_kind: [(ToolKind::Delete, Verdict::AutoDeny)].into(), ..Verdicts::default() },
                when_changed: if seed.is_multiple_of(2) { WhenChanged::Refuse } else { WhenChanged::AskAgain },
                ..Policy::asking(Duration::from_millis(LIFETIME_MS))
            },
            rooms: ROOMS.into_iter().map(|name| (RoomName::new(name), room.clone())).collect(),
            routes: SOURCES.into_iter().zip(ROOMS).map(|(source, room)| (SourceName::new(source), RoomName::new(room))).collect(),
            requesters: [].into(),
            limits: limits(),
        };
        let mut dice = Rng::with_seed(seed);
        let tokens = Dice(dice.fork());
        Self {
            bridge: Bridge::new(rules, seed, tokens),
            dice,
            now: 1,
            asks: 0,
            asked: BTreeMap::new(),
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

    pub(crate) fn told(&self) -> Told {
        self.told
    }

    pub(crate) fn step(&mut self) {
        self.ledger_works = self.dice.u8(..) < 250;
        match self.dice.u8(..100) {
            0..20 => self.ask(),
            20..55 => self.click(),
            55..68 => self.post_news(),
            68..76 => self.reply_news(),
            76..84 => self.withdraw(),
            84..86 => self.remove_card(),
            86..92 => self.jump_to_a_deadline(),
            _ => self.now += self.dice.u64(..LIFETIME_MS / 3),
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
        while !self.posting.is_empty() || !self.replying.is_empty() {
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
            ("\"allow\"", OptionKind::AllowOnce),
            ("\"always\"", OptionKind::AllowAlways),
            ("\"no\"", OptionKind::RejectOnce),
        ];
        self.dice.shuffle(&mut options);
        let option = |(id, kind): &(&str, OptionKind)| PermissionOption {
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
            options: options.iter().map(|(id, kind)| ((*id).to_owned(), !kind.refuses())).collect(),
            tokens: BTreeMap::new(),
            card: None,
            told: Vec::new(),
            over: false,
            replaced: false,
        };
        self.asked.insert(RequestId { run: u64::MAX, number: self.asks }, asked);
        self.give(Input::Source(SourceEvent::Requested(Box::new(request))));
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
        let buttons: Vec<_> = self.asked.iter().flat_map(|(id, asked)| asked.tokens.keys().map(|token| (*id, *token))).collect();
        let Some((id, token)) = self.dice.choice(buttons.iter().rev().take(12)).copied() else { return };
        let (person, _) = PEOPLE[self.dice.usize(..PEOPLE.len())];
        let room = if self.dice.u8(..) < 40 { ROOMS[self.dice.usize(..ROOMS.len())] } else { self.asked[&id].room.as_str() };
        let control = if self.dice.u8(..) < 40 { MessageId::new("another card") } else { control(id) };
        let by = Person {
            id: PersonId::new(person),
            name: Some("Somebody".into()),
            humanity: if person == "@robot:x" { Humanity::Bot } else { Humanity::Human },
            presence: if person == "@gone:x" { Presence::Absent } else { Presence::InRoom },
            standing: Standing::Full,
            signature: Signature::Service,
            power: None,
            roles: BTreeSet::new(),
        };
        let at = ClickRef { room: RoomName::new(room), control, person: by.id.clone(), click: MessageId::new("click") };
        self.give(Input::Room(RoomEvent::Clicked(Click { token, by, at })));
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

    /// One instant before, at or after some deadline, where mistakes live.
    fn jump_to_a_deadline(&mut self) {
        let Some(deadline) = self.bridge.next_deadline() else { return };
        self.now = self.now.max((deadline.unix_millis() + self.dice.u64(..3)).saturating_sub(1));
    }

    fn give(&mut self, input: Input) {
        let click = if let Input::Room(RoomEvent::Clicked(click)) = &input { Some(click.clone()) } else { None };
        // What the rules have expire expires, whatever the input is.
        for asked in self.asked.values_mut().filter(|asked| asked.deadline() <= self.now) {
            asked.over = true;
        }
        let due = self.due(click.as_ref(), &input);
        let effects = self.bridge.handle(Timestamp::from_unix_millis(self.now), input);
        let mut outcomes = Vec::new();
        let failed = self.carry_out(effects, &mut outcomes);
        self.judge(due, &outcomes, failed.is_empty());
        for id in failed {
            self.give(Input::RecordFailed(id));
        }
        assert!(self.bridge.held_len() <= HELD_MAX);
    }

    /// The option that this input has to choose: a click on a card that is known, or the first that counts of those that
    /// waited for the news of theirs.
    fn due(&mut self, click: Option<&Click>, input: &Input) -> Option<(RequestId, usize)> {
        let is_known =
            |click: &Click| self.asked.values().any(|asked| asked.card.is_some() && asked.tokens.contains_key(&click.token));
        if let Some(click) = click {
            if is_known(click) {
                return chosen(&self.asked, click, self.now);
            }
            let goes_there = |asked: &Asked| asked.tokens.contains_key(&click.token) && asked.room == click.at.room;
            if self.asked.values().any(goes_there) {
                self.parked.push(click.clone());
            }
            return None;
        }
        let Input::Posted(id, Ok(_)) = input else { return None };
        let tokens = self.asked.get(id)?.tokens.clone();
        let waited: Vec<_> = self.parked.extract_if(.., |click| tokens.contains_key(&click.token)).collect();
        waited.iter().find_map(|click| chosen(&self.asked, click, self.now))
    }

    /// Returns the requests whose record failed.
    fn carry_out(&mut self, effects: Vec<Effect>, outcomes: &mut Vec<(RequestId, Outcome)>) -> Vec<RequestId> {
        let mut failed = Vec::new();
        for effect in effects {
            match effect {
                Effect::Record { entry, then } => {
                    self.recorded(&entry);
                    if self.ledger_works {
                        failed.extend(self.carry_out(then, outcomes));
                    } else if !then.is_empty() {
                        failed.push(entry.request());
                    }
                }
                Effect::Post { card, .. } => self.posted(card),
                Effect::Say(said) => assert_eq!(said.about, None, "nobody is reminded"),
                effect @ (Effect::Look { .. } | Effect::Update { .. }) => panic!("no rule leads to {effect:?}"),
                Effect::Close { closed, .. } => {
                    self.closings.insert(closed.request, closed.ending);
                }
                Effect::Reply { request, to, outcome } => {
                    let asked = self.asked.values_mut().rfind(|asked| asked.from == to).expect("a request of this source");
                    asked.over = true;
                    asked.told.push(match &outcome {
                        Outcome::Selected(offered) => offered.option().id.raw().get().to_owned(),
                        Outcome::Cancelled => "cancelled".to_owned(),
                    });
                    self.replying.push(request);
                    outcomes.push((request, outcome));
                }
                Effect::Answer { reply, .. } => {
                    if matches!(reply, bridge_model::ClickReply::MayNotAnswer(_)) {
                        self.told.ineligible += 1;
                    }
                }
            }
        }
        failed
    }

    /// The last card of the request that this one was about.
    fn latest(&mut self, id: RequestId) -> Option<&mut Asked> {
        let from = self.asked.get(&id)?.from.clone();
        self.asked.values_mut().rfind(|asked| asked.from == from)
    }

    fn recorded(&mut self, entry: &Entry) {
        match entry {
            Entry::Held { request, .. } => {
                let _ = self.ledger_works && self.held_in_ledger.insert(*request);
            }
            Entry::Settled { ending: Ending::Expired, .. } => self.told.expired += 1,
            Entry::Settled { ending: Ending::Withdrawn(_), .. } => self.told.withdrawn += 1,
            Entry::Settled { .. } | Entry::Posted { .. } | Entry::ChosenFirst { .. } => {}
        }
    }

    fn posted(&mut self, card: Card) {
        assert!(self.held_in_ledger.contains(&card.request), "a card is posted before its deadline is recorded");
        let text = format!("{card:?}");
        assert!(!["\"allow\\\"", "optionId"].iter().any(|id| text.contains(id)), "an option id travels to the room: {text}");
        let mut asked = if let Some(asked) = self.asked.remove(&card.request) {
            asked
        } else if let Some(before) = self.changing.take().and_then(|before| self.latest(before)) {
            let again = before.clone();
            (before.over, before.replaced) = (true, true);
            self.told.asked_again += 1;
            Asked { card: None, ..again }
        } else {
            self.asked.pop_last().expect("a request was just made").1
        };
        assert_eq!((asked.options.len(), &asked.room), (card.buttons.len(), &card.room));
        asked.tokens = card.buttons.iter().enumerate().map(|(at, button)| (button.token, at)).collect();
        self.asked.insert(card.request, asked);
        self.posting.push(card);
    }

    /// Whether what was told is what the rules have.
    ///
    /// `due`: the option that the input has to choose, if it is a click that counts.
    fn judge(&mut self, due: Option<(RequestId, usize)>, outcomes: &[(RequestId, Outcome)], recorded: bool) {
        for (id, outcome) in outcomes {
            let Outcome::Selected(offered) = outcome else { continue };
            let option = offered.option();
            let by_click = due == Some((*id, self.option_at(*id, option.id.raw().get())));
            assert!(by_click || option.kind == OptionKind::RejectOnce, "{id} got {option:?} without a click that counts");
            assert!(!by_click || self.ledger_works, "{id} was told a choice that is not recorded");
            if by_click {
                *(if option.kind.refuses() { &mut self.told.refused_by_person } else { &mut self.told.allowed }) += 1;
            }
        }
        if let Some((id, at)) = due
            && recorded
        {
            let expected = self.asked[&id].options[at].0.clone();
            let told: Vec<_> = outcomes.iter().filter(|(told, _)| *told == id).collect();
            let is_it =
                |outcome: &Outcome| matches!(outcome, Outcome::Selected(offered) if offered.option().id.raw().get() == expected);
            assert!(told.len() == 1 && is_it(&told[0].1), "a click that counts chose {expected}, and {id} was told {told:?}");
        }
    }

    fn option_at(&self, id: RequestId, raw: &str) -> usize {
        let asked = self.asked.get(&id);
        asked.and_then(|asked| asked.options.iter().position(|(id, _)| id == raw)).unwrap_or(usize::MAX)
    }
}

fn control(id: RequestId) -> MessageId {
    MessageId::new(format!("control of {id}"))
}

/// Small tables, and people who are spared nothing: what wears them down has tests of its own.
fn limits() -> Limits {
    let many = NonZeroU32::MAX;
    let pace = Pace {
        held_max: HELD_MAX,
        cards_a_minute: many,
        cards_a_minute_in_room: many,
        cards_a_minute_of_session: many,
        presses_a_minute: many,
        refused_in_a_row: many,
        ..Pace::default()
    };
    Limits { pace, settled_max: 32, say_pending_after: Duration::from_millis(50) }
}
