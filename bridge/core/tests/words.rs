//! No text whatsoever is an answer: the only way in is a button's token, whole, on its card, from a person who may.

use std::collections::BTreeSet;
use std::time::Duration;

use bridge_core::{Bridge, Details, Effect, Input, Limits, RoomEvent, RoomRules, Rules, SourceEvent, Tokens};
use bridge_model::{
    ButtonToken, CardLimits, CardRef, Click, ClickRef, Humanity, MessageId, OptionId, OptionKind, Options, PermissionOption,
    PermissionRequest, Person, PersonId, Presence, ReplyTo, RoomName, Session, Signature, SourceName, Standing, Timestamp,
};
use policy::{Approvers, Policy, Who};
use proptest::prelude::*;
use serde_json::value::RawValue;

/// The token of the only button that allows.
const SECRET: u128 = 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn no_text_answers_a_request(text in typed()) {
        let mut bridge = bridge_with_a_card();
        // An adapter has nothing else to make a click of: what is no token does not even become an input.
        let effects = ButtonToken::parse(&text).map(|token| bridge.handle(Timestamp::from_unix_millis(1), click(token)));
        let replied = effects.iter().flatten().any(|effect| matches!(effect, Effect::Record { .. } | Effect::Reply { .. }));
        let is_the_button = text == ButtonToken::from_random(SECRET).to_string();
        prop_assert_eq!(replied, is_the_button);
        prop_assert_eq!(bridge.held_len(), usize::from(!is_the_button));
    }
}

/// What a person could type: anything, words of consent, the option's own words, and whatever looks like a token.
fn typed() -> impl Strategy<Value = String> {
    let token = ButtonToken::from_random(SECRET).to_string();
    let words = ["yes", "y", "ok", "Yes", "approve", "/approve 1", "allow", "👍", "once", "#1", "1"];
    prop_oneof![
        any::<String>(),
        proptest::sample::select(words.map(str::to_owned).to_vec()),
        "[0-9a-fA-F]{30,34}",
        Just(token.clone()),
        Just(token.to_uppercase()),
        Just(format!(" {token}")),
        Just(token[..31].to_owned()),
    ]
}

struct One;

impl Tokens for One {
    fn draw(&mut self) -> ButtonToken {
        ButtonToken::from_random(SECRET)
    }
}

fn bridge_with_a_card() -> Bridge<One> {
    let room = RoomRules::of(
        Approvers { who: Who::Anyone, power_min: None, bots: BTreeSet::new() },
        Details::Full,
        CardLimits { buttons_max: 5, label_max: 40, label_seen: 40, text_bytes_max: 4_000, unattached_bytes_max: 2_000 },
    );
    let lifetime = Duration::from_mins(1);
    let rules = Rules {
        policy: Policy::asking(lifetime),
        rooms: [(RoomName::new("r"), room)].into(),
        routes: [(SourceName::new("s"), RoomName::new("r"))].into(),
        requesters: [].into(),
        limits: Limits::default(),
    };
    let id = OptionId::parse(&RawValue::from_string("\"once\"".into()).expect("JSON")).expect("an id");
    let option = PermissionOption { id, name: "Yes".into(), kind: OptionKind::AllowOnce, meta: None };
    let request = PermissionRequest {
        from: ReplyTo { source: SourceName::new("s"), ask: 1 },
        session: Session::default(),
        title: None,
        description: None,
        tool_call: None,
        options: Options::new(vec![option]).expect("options"),
        meta: None,
        places: None,
    };
    let mut bridge = Bridge::new(rules, 1, One);
    bridge.handle(Timestamp::from_unix_millis(0), Input::Source(SourceEvent::Requested(Box::new(request), Box::default())));
    let card = CardRef { room: RoomName::new("r"), control: MessageId::new("card"), parts: vec![] };
    bridge.handle(Timestamp::from_unix_millis(0), Input::Posted(bridge_model::RequestId { run: 1, number: 1 }, Ok(card)));
    bridge
}

fn click(token: ButtonToken) -> Input {
    let by = Person {
        id: PersonId::new("@ada:x"),
        name: None,
        humanity: Humanity::Human,
        presence: Presence::InRoom,
        standing: Standing::Full,
        signature: Signature::Service,
        power: None,
        roles: BTreeSet::new(),
    };
    let at =
        ClickRef { room: RoomName::new("r"), control: MessageId::new("card"), person: by.id.clone(), click: MessageId::new("c") };
    Input::Room(RoomEvent::Clicked(Click { token, by, at }))
}
