//! A bridge with two rooms to test with, and what tests want to know of its effects.

use std::collections::BTreeSet;

use bridge_model::{
    ButtonStyle, Card, Click, ClickRef, ClickReply, Humanity, MessageId, OptionId, OptionKind, Options, PermissionOption,
    PermissionRequest, Person, PersonId, Presence, ReplyTo, Session, Shown, Signature, Standing, ToolCall, ToolKind,
};
use policy::{Listed, Policy, Who};
use serde_json::value::RawValue;

use super::*;

pub(super) const LIFETIME_MS: u64 = 60_000;

/// A bridge with two rooms, and what its cards carry.
pub(super) struct Desk {
    pub(super) bridge: Bridge<Count>,
}

/// What a test needs to press a button.
#[derive(Clone)]
pub(super) struct Posted {
    pub(super) request: RequestId,
    pub(super) tokens: Vec<ButtonToken>,
}

impl Posted {
    pub(super) fn of(effects: &[Effect]) -> Option<Self> {
        let card = posted_card(effects)?;
        Some(Self { request: card.request, tokens: card.buttons.iter().map(|button| button.token).collect() })
    }

    pub(super) fn posted(&self) -> CardRef {
        let control = MessageId::new(format!("control {}", self.request.number));
        CardRef { room: RoomName::new("builds"), control, parts: vec![] }
    }
}

/// Tokens that can be told apart; guessing them is not what these tests are about.
#[derive(Debug)]
pub(super) struct Count(u128);

impl Tokens for Count {
    fn draw(&mut self) -> ButtonToken {
        self.0 += 1;
        ButtonToken::from_random(self.0)
    }
}

impl Desk {
    pub(super) fn new() -> Self {
        let listed = ["@ada:x", "@bob:x"].into_iter().map(PersonId::new);
        let room = RoomRules::of(
            Approvers { who: Who::Listed(Listed::people(listed)), power_min: None, bots: BTreeSet::new() },
            Details::Full,
            CardLimits { buttons_max: 20, label_max: 80, label_seen: 80, text_bytes_max: 10_000, unattached_bytes_max: 2_000 },
        );
        let rules = Rules {
            policy: Policy::asking(Duration::from_millis(LIFETIME_MS)),
            rooms: ["builds", "other"].into_iter().map(|name| (RoomName::new(name), room.clone())).collect(),
            routes: [(SourceName::new("acp"), RoomName::new("builds"))].into(),
            requesters: [].into(),
            limits: Limits::default(),
        };
        Self { bridge: Bridge::new(rules, 7, Count(0)) }
    }

    pub(super) fn at(&mut self, millis: u64, input: Input) -> Vec<Effect> {
        self.bridge.handle(Timestamp::from_unix_millis(millis), input)
    }

    pub(super) fn request(ask_number: u64) -> Input {
        Input::Source(SourceEvent::Requested(Box::new(Self::asked(ask_number, "ls")), Box::default()))
    }

    pub(super) fn asked(ask_number: u64, command: &str) -> PermissionRequest {
        let option = |id: &str, name: &str, kind| PermissionOption {
            id: OptionId::parse(&RawValue::from_string(id.into()).expect("JSON")).expect("an id"),
            name: name.into(),
            kind,
            meta: None,
        };
        let options =
            vec![option("\"allow:once/✅ \"", "Yes", OptionKind::AllowOnce), option("\"no\"", "No", OptionKind::RejectOnce)];
        let input = serde_json::json!({ "command": command });
        PermissionRequest {
            from: ask(ask_number),
            session: Session::default(),
            title: None,
            description: None,
            tool_call: Some(ToolCall { kind: ToolKind::Execute, raw_input: Some(input), ..ToolCall::default() }),
            options: Options::new(options).expect("options"),
            meta: None,
            places: None,
        }
    }

    /// The room that is asked.
    pub(super) fn room(&mut self) -> &mut RoomRules {
        self.rules().rooms.get_mut(&RoomName::new("builds")).expect("a room")
    }

    /// Under other limits, before the first request.
    pub(super) fn limit(&mut self, limit: impl Fn(&mut Limits)) {
        let mut rules = self.rules().clone();
        limit(&mut rules.limits);
        self.bridge = Bridge::new(rules, 7, Count(0));
    }

    /// A posted request that offers these: id, label and kind.
    pub(super) fn ask_with(&mut self, ask_number: u64, offered: &[(&str, &str, &str)]) -> Posted {
        let option = |(id, name, kind): &(&str, &str, &str)| PermissionOption {
            id: OptionId::parse(&RawValue::from_string(format!("\"{id}\"")).expect("JSON")).expect("an id"),
            name: (*name).into(),
            kind: OptionKind::parse(kind),
            meta: None,
        };
        let options = Options::new(offered.iter().map(option).collect()).expect("options");
        let asked = PermissionRequest { options, ..Self::asked(ask_number, "ls") };
        let effects = self.at(0, Input::Source(SourceEvent::Requested(Box::new(asked), Box::default())));
        let card = Posted::of(&effects).expect("a card is posted");
        self.at(0, Input::Posted(card.request, Ok(card.posted())));
        card
    }

    pub(super) fn rules(&mut self) -> &mut Rules {
        &mut self.bridge.rules
    }

    pub(super) fn ask(&mut self, ask_number: u64) -> Posted {
        let effects = self.at(0, Self::request(ask_number));
        Posted::of(&effects).expect("a card is posted")
    }

    pub(super) fn ask_and_post(&mut self, ask_number: u64) -> Posted {
        let card = self.ask(ask_number);
        self.at(0, Input::Posted(card.request, Ok(card.posted())));
        card
    }

    pub(super) fn click_on(card: &Posted, button: usize, by: Person) -> Click {
        let control = card.posted().control;
        let at = ClickRef { room: RoomName::new("builds"), control, person: by.id.clone(), click: MessageId::new("click") };
        Click { token: card.tokens[button], by, at }
    }

    pub(super) fn click(&mut self, card: &Posted, button: usize, by: Person) -> Vec<Effect> {
        self.click_at(1, card, button, by)
    }

    pub(super) fn click_at(&mut self, millis: u64, card: &Posted, button: usize, by: Person) -> Vec<Effect> {
        self.at(millis, Input::Room(RoomEvent::Clicked(Self::click_on(card, button, by))))
    }
}

pub(super) fn ask(ask: u64) -> ReplyTo {
    ReplyTo { source: SourceName::new("acp"), ask }
}

pub(super) fn ada() -> Person {
    person("@ada:x")
}

pub(super) fn person(id: &str) -> Person {
    Person {
        id: PersonId::new(id),
        name: Some("Ada".into()),
        humanity: Humanity::Human,
        presence: Presence::InRoom,
        standing: Standing::Full,
        signature: Signature::Service,
        power: Some(0),
        roles: BTreeSet::new(),
    }
}

pub(super) fn answered(delivery: Delivery) -> Ending {
    answered_with("Yes", delivery)
}

pub(super) fn answered_with(option: &str, delivery: Delivery) -> Ending {
    let does = if option == "No" { ButtonStyle::Reject } else { ButtonStyle::AllowOnce };
    Ending::Answered {
        person: PersonId::new("@ada:x"),
        name: Shown::line("Ada"),
        option: Shown::line(option),
        does,
        first: None,
        delivery,
    }
}

/// All effects, those that wait for a record included.
pub(super) fn flat(effects: &[Effect]) -> Vec<&Effect> {
    let mut all = Vec::new();
    for effect in effects {
        all.push(effect);
        if let Effect::Record { then, .. } = effect {
            all.extend(then);
        }
    }
    all
}

/// What the agent is told.
pub(super) fn told(effects: &[Effect]) -> Vec<String> {
    let outcome = |effect: &&Effect| match effect {
        Effect::Reply { outcome: Outcome::Selected(offered), .. } => {
            Some(format!("selected {}", offered.option().id.raw().get()))
        }
        Effect::Reply { outcome: Outcome::Cancelled, .. } => Some("cancelled".to_owned()),
        Effect::Record { .. }
        | Effect::Asked(..)
        | Effect::Look { .. }
        | Effect::Post { .. }
        | Effect::Resume { .. }
        | Effect::Update { .. }
        | Effect::Say(_)
        | Effect::Close { .. }
        | Effect::Answer { .. } => None,
    };
    flat(effects).iter().filter_map(outcome).collect()
}

pub(super) fn closings(effects: &[Effect]) -> Vec<Ending> {
    flat(effects)
        .into_iter()
        .filter_map(|effect| if let Effect::Close { closed, .. } = effect { Some(closed.ending.clone()) } else { None })
        .collect()
}

pub(super) fn replies(effects: &[Effect]) -> Vec<ClickReply> {
    flat(effects)
        .into_iter()
        .filter_map(|effect| if let Effect::Answer { reply, .. } = effect { Some(reply.clone()) } else { None })
        .collect()
}

pub(super) fn posted_card(effects: &[Effect]) -> Option<&Card> {
    flat(effects).into_iter().find_map(|effect| if let Effect::Post { card, .. } = effect { Some(card) } else { None })
}
