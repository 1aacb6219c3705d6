//! The process ends between any two effects: nothing is lost, told twice or allowed without a click, and every card is closed.

use std::collections::{BTreeMap, VecDeque};

use bridge_core::{Bridge, Details, Effect, Input, Limits, RoomEvent, RoomRules, Rules, SourceEvent, Terms, Tokens};
use bridge_model::{
    ButtonToken, CardLimits, Click, ClickRef, Humanity, OptionId, OptionKind, Options, PermissionOption, PermissionRequest,
    Person, PersonId, Presence, Session, Signature, SourceName, Standing, ToolCall, ToolKind,
};
use policy::{Approvers, Listed, Policy, Who};
use serde_json::value::RawValue;

use super::*;

const LIFETIME_MS: u64 = 60_000;

/// What survives the process: the disk, the room, and the caller.
struct Outside {
    folder: tempfile::TempDir,
    /// By control: whether it can be pressed, and its request and buttons.
    cards: BTreeMap<String, (bool, RequestId, Vec<ButtonToken>)>,
    posted: usize,
    told: Vec<String>,
    /// Effects that are carried out before the process ends.
    left: usize,
}

struct Crashed;

struct Count(u128);

impl Tokens for Count {
    fn draw(&mut self) -> ButtonToken {
        self.0 += 1;
        ButtonToken::from_random(self.0)
    }
}

/// One run of the bridge.
struct Run {
    bridge: Bridge<Count>,
    ledger: Ledger,
    inputs: VecDeque<Input>,
}

#[test]
fn nothing_is_lost_or_doubled_wherever_the_process_ends() {
    let mut chosen_before = 0;
    let mut points = 0;
    for comes_back in [true, false] {
        for at in 0.. {
            let mut outside = Outside::new(at);
            let Err(Crashed) = first_run(&mut outside, comes_back) else { break };
            points += 1;
            let told_before = outside.told.clone();
            second_run(&mut outside, comes_back);
            let told: std::collections::BTreeSet<_> = outside.told.iter().collect();
            if comes_back {
                assert_eq!(told.len(), 1, "told {:?} after {at} effects", outside.told);
            } else {
                // Its caller ended with the bridge, and hears nothing more.
                assert_eq!(told_before, outside.told, "after {at} effects");
            }
            assert!(outside.cards.values().all(|(is_live, ..)| !is_live), "a live card after {at} effects");
            chosen_before += usize::from(told_before.iter().any(|told| told == "\"yes\""));
        }
    }
    assert!(10 < points && 0 < chosen_before, "{points} points, {chosen_before} of them after the outcome");
}

/// Asks, posts, has somebody choose, and tells.
fn first_run(outside: &mut Outside, comes_back: bool) -> Result<(), Crashed> {
    let mut run = Run::begin(outside, 1);
    run.inputs.push_back(raised(comes_back));
    run.go_on(outside, 1)?;
    let press = outside.press(0).expect("a live card");
    run.inputs.push_back(press);
    run.go_on(outside, 2)
}

/// Starts again. Somebody chooses otherwise on what can be pressed; if nothing can, the deadline passes.
fn second_run(outside: &mut Outside, comes_back: bool) {
    outside.left = usize::MAX;
    let mut run = Run::begin(outside, 2);
    let going = run.ledger.that_go_on().expect("read");
    let outcomes = run.ledger.outcomes().expect("read");
    for (card, closed) in run.ledger.left_open().expect("read") {
        let (request, ending) = (closed.request, closed.ending.clone());
        run.ledger.write(&Entry::Settled { request, ending, at: closed.at, outcome: None }, time(3)).expect("written");
        let _ = run.carry_out(outside, 3, Effect::Close { card, closed });
    }
    // The caller asks for what it is owed.
    let is_known = !going.is_empty() || outcomes.iter().any(|kept| kept.comes_back == "mine");
    for kept in outcomes {
        outside.told.extend(kept.outcome);
    }
    for GoesOn { snapshot, card, .. } in going {
        let effects = run.bridge.restore(time(3), &snapshot, card).expect("understood");
        for effect in effects {
            let _ = run.carry_out(outside, 3, effect);
        }
    }
    let _ = run.go_on(outside, 3);
    if comes_back && !is_known && outside.told.is_empty() {
        // It was not on record yet, and is raised once more.
        run.inputs.push_back(raised(comes_back));
        let _ = run.go_on(outside, 3);
    }
    if let Some(press) = outside.press(1) {
        run.inputs.push_back(press);
        let _ = run.go_on(outside, 4);
    }
    run.inputs.push_back(Input::Tick);
    let _ = run.go_on(outside, LIFETIME_MS + 4);
}

fn raised(comes_back: bool) -> Input {
    let terms = Terms { comes_back: comes_back.then(|| "mine".to_owned()), ..Terms::default() };
    Input::Source(SourceEvent::Requested(Box::new(asked()), Box::new(terms)))
}

impl Run {
    fn begin(outside: &Outside, run: u64) -> Self {
        let ledger = Ledger::open(outside.folder.path(), None).expect("opened");
        Self { bridge: Bridge::new(rules(), run, Count(u128::from(run) << 64)), ledger, inputs: VecDeque::new() }
    }

    fn go_on(&mut self, outside: &mut Outside, millis: u64) -> Result<(), Crashed> {
        while let Some(input) = self.inputs.pop_front() {
            for effect in self.bridge.handle(time(millis), input) {
                self.carry_out(outside, millis, effect)?;
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, outside: &mut Outside, millis: u64, effect: Effect) -> Result<(), Crashed> {
        outside.left = outside.left.checked_sub(1).ok_or(Crashed)?;
        match effect {
            Effect::Record { entry, then } => {
                self.ledger.write(&entry, time(millis)).expect("written");
                for effect in then {
                    self.carry_out(outside, millis, effect)?;
                }
            }
            Effect::Post { card, .. } => {
                outside.posted += 1;
                let at = CardRef { room: card.room.clone(), control: MessageId::new(outside.posted.to_string()), parts: vec![] };
                let tokens = card.buttons.iter().map(|button| button.token).collect();
                outside.cards.insert(at.control.as_str().to_owned(), (true, card.request, tokens));
                // It is in the room, and the news of it has yet to arrive.
                outside.left = outside.left.checked_sub(1).ok_or(Crashed)?;
                self.inputs.push_back(Input::Posted(card.request, Ok(at)));
            }
            Effect::Resume { at, card, .. } => {
                let (is_live, request, _) = &outside.cards[at.control.as_str()];
                assert!(*is_live && *request == card.request, "an open card is taken up");
                self.inputs.push_back(Input::Posted(card.request, Ok(at)));
            }
            Effect::Close { card, closed } => {
                for (control, (is_live, request, _)) in &mut outside.cards {
                    // As rooms do: without a card, whatever a lost post may have left there.
                    let is_meant = card.as_ref().map_or(*request == closed.request, |card| card.control.as_str() == control);
                    *is_live = *is_live && !is_meant;
                }
                self.ledger.card_closed(closed.request).expect("written");
            }
            Effect::Reply { request, outcome, .. } => {
                outside.told.push(told(&outcome));
                self.inputs.push_back(Input::Replied(request, Ok(())));
            }
            Effect::Asked(..) | Effect::Look { .. } | Effect::Update { .. } | Effect::Say(_) | Effect::Answer { .. } => {}
        }
        Ok(())
    }
}

impl Outside {
    fn new(left: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder, cards: BTreeMap::new(), posted: 0, told: Vec::new(), left }
    }

    /// Somebody presses this button of the card that can be pressed.
    fn press(&self, button: usize) -> Option<Input> {
        let live: Vec<_> = self.cards.iter().filter(|(_, (is_live, ..))| *is_live).collect();
        assert!(live.len() <= 1, "two cards of one request are live");
        let (control, (_, _, tokens)) = live.first()?;
        let at = ClickRef {
            room: RoomName::new("r"),
            control: MessageId::new(control.as_str()),
            person: PersonId::new("ada"),
            click: MessageId::new("click"),
        };
        Some(Input::Room(RoomEvent::Clicked(Click { token: tokens[button], by: ada(), at })))
    }
}

fn time(millis: u64) -> Timestamp {
    Timestamp::from_unix_millis(millis)
}

fn rules() -> Rules {
    let who = Who::Listed(Listed::people([PersonId::new("ada")]));
    let approvers = Approvers { who, power_min: None, bots: [].into() };
    let limits =
        CardLimits { buttons_max: 20, label_max: 80, label_seen: 80, text_bytes_max: 10_000, unattached_bytes_max: 2_000 };
    Rules {
        policy: Policy::asking(Duration::from_millis(LIFETIME_MS)),
        rooms: [(RoomName::new("r"), RoomRules::of(approvers, Details::Full, limits))].into(),
        routes: [(SourceName::new("http"), RoomName::new("r"))].into(),
        requesters: [].into(),
        limits: Limits { say_pending_after: Duration::ZERO, ..Limits::default() },
    }
}

fn asked() -> PermissionRequest {
    let option = |id: &str, kind| PermissionOption {
        id: OptionId::parse(&RawValue::from_string(format!("\"{id}\"")).expect("JSON")).expect("an id"),
        name: id.to_owned(),
        kind,
        meta: None,
    };
    let options = vec![option("yes", OptionKind::AllowOnce), option("no", OptionKind::RejectOnce)];
    PermissionRequest {
        from: ReplyTo { source: SourceName::new("http"), ask: 1 },
        session: Session::default(),
        title: None,
        description: None,
        tool_call: Some(ToolCall { title: Some("x".to_owned()), kind: ToolKind::Execute, ..ToolCall::default() }),
        options: Options::new(options).expect("options"),
        meta: None,
        places: None,
    }
}

fn ada() -> Person {
    Person {
        id: PersonId::new("ada"),
        name: None,
        humanity: Humanity::Human,
        presence: Presence::InRoom,
        standing: Standing::Full,
        signature: Signature::Service,
        power: None,
        roles: [].into(),
    }
}
