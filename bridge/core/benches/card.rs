//! How long it takes to draw the card of a large request: `cargo bench -p bridge-core --bench card`.

#![expect(clippy::print_stdout, reason = "this program prints a table")]

use std::time::{Duration, Instant};

use bridge_core::{Bridge, Details, Effect, Input, Limits, RoomRules, Rules, SourceEvent, Tokens};
use bridge_model::{
    ButtonToken, CardLimits, Content, Location, OptionId, OptionKind, Options, PermissionOption, PermissionRequest, ReplyTo,
    RoomName, Session, SourceName, Timestamp, ToolCall, ToolKind,
};
use policy::{Approvers, Policy, Who};
use serde_json::json;
use serde_json::value::RawValue;

const SIZE: usize = 1 << 20;
const RUNS: u32 = 21;
/// The worst that a request may cost.
const BOUND: Duration = Duration::from_millis(20);

fn main() {
    let mut worst = Duration::ZERO;
    for (name, call) in calls() {
        let took = drawing(&call);
        println!("{name:<40} {:>8.2} ms", took.as_secs_f64() * 1e3);
        worst = worst.max(took);
    }
    assert!(worst < BOUND, "a card took {worst:?}");
}

/// The median of several runs.
#[expect(clippy::disallowed_methods, reason = "it measures time")]
fn drawing(call: &ToolCall) -> Duration {
    let run = |_| {
        let mut bridge = Bridge::new(rules(), 1, Counted(0));
        let asked = SourceEvent::Requested(Box::new(request(call.clone())), Box::default());
        let start = Instant::now();
        let effects = bridge.handle(Timestamp::from_unix_millis(0), Input::Source(asked));
        let took = start.elapsed();
        assert!(matches!(effects.as_slice(), [Effect::Record { .. }]), "it has a card");
        took
    };
    let mut runs: Vec<_> = (0..RUNS).map(run).collect();
    runs.sort();
    runs[runs.len() / 2]
}

fn calls() -> Vec<(&'static str, ToolCall)> {
    let repeated = |text: &str| text.repeat(SIZE / text.len());
    let command = |text: &str| ToolCall {
        kind: ToolKind::Execute,
        raw_input: Some(json!({ "command": repeated(text) })),
        ..ToolCall::default()
    };
    let lines =
        |name: &str, size: usize| (0..).map(|n| format!("{name} line {n} of a file\n")).take(size / 24).collect::<String>();
    let change = |old: String, new: String| ToolCall {
        kind: ToolKind::Edit,
        content: vec![Content::Diff { path: "/srv/a".into(), old: Some(old), new }],
        ..ToolCall::default()
    };
    let members: serde_json::Map<_, _> = (0..SIZE / 24).map(|n| (format!("member{n}"), json!(format!("value {n}")))).collect();
    vec![
        ("a command of 1 MiB", command("cargo test --workspace && ")),
        ("of hidden characters", command("\u{200b}\u{202e}")),
        ("of combining marks", command("a\u{301}\u{302}\u{303}\u{304}")),
        ("of other scripts", command("削除 数据库 ")),
        ("of addresses", command("https://a:b@x.example/ ")),
        ("of colons and slashes", command("://")),
        ("of assignments", command("password=")),
        ("of private keys", command("-----BEGIN PRIVATE KEY-----\n")),
        ("of base64", command("eyJhbGciOiJIUzI1NiJ9.")),
        ("of line breaks", command("\n")),
        ("of backticks and quotes", command("`'\"\\")),
        ("a change that has nothing in common", change(lines("old", SIZE / 2), lines("new", SIZE / 2))),
        ("a change of 2,000 lines", change(lines("old", 24_000), lines("new", 24_000))),
        ("a change of one line in 1 MiB", {
            let old = lines("old", SIZE / 2);
            change(old.clone(), old.replacen("line 9000 ", "line x ", 1))
        }),
        ("an input of 43,690 members", ToolCall { raw_input: Some(members.into()), ..ToolCall::default() }),
        ("60,000 locations", {
            let location = |n| Location { path: format!("/srv/ws/{n}"), line: None };
            ToolCall { locations: (0..60_000).map(location).collect(), ..ToolCall::default() }
        }),
        ("20,000 texts", {
            let content = (0..20_000).map(|n| Content::Text(n.to_string())).collect();
            ToolCall { content, ..ToolCall::default() }
        }),
        ("10,000 changes", {
            let change = |n| Content::Diff { path: format!("/srv/{n}"), old: Some("a\n".into()), new: "b\n".into() };
            ToolCall { content: (0..10_000).map(change).collect(), ..ToolCall::default() }
        }),
        ("64 changes that have nothing in common", {
            let change =
                |n| Content::Diff { path: format!("/srv/{n}"), old: Some(lines("old", 8_000)), new: lines("new", 8_000) };
            ToolCall { content: (0..64).map(change).collect(), ..ToolCall::default() }
        }),
        ("a change of carriage returns", {
            let [old, new] = ["a", "b"].map(|name| lines(name, SIZE / 2).replace('\n', "\r"));
            change(old, new)
        }),
        ("60,000 files in a patch", {
            let paths = (0..60_000).map(|n| format!("/srv/{n}")).collect();
            ToolCall { content: vec![Content::Patch { paths, text: "+x\n".into() }], ..ToolCall::default() }
        }),
        (
            "250 KiB of half a name",
            ToolCall { raw_input: Some(json!({ "command": "pass".repeat(64_000) })), ..ToolCall::default() },
        ),
        (
            "250 KiB of tokens with names",
            ToolCall {
                raw_input: Some(
                    json!({ "command": (0..9_000).flat_map(|n| ["export A".into(), n.to_string(), "_TOKEN=ab12cd34 ".into()]).collect::<String>() }),
                ),
                ..ToolCall::default()
            },
        ),
        (
            "a command of 256 KiB, whole",
            ToolCall {
                raw_input: Some(json!({ "command": "cargo test --workspace && ".repeat(10_000) })),
                ..ToolCall::default()
            },
        ),
    ]
}

struct Counted(u128);

impl Tokens for Counted {
    fn draw(&mut self) -> ButtonToken {
        self.0 += 1;
        ButtonToken::from_random(self.0)
    }
}

fn request(call: ToolCall) -> PermissionRequest {
    let option = |id: &str, name: &str, kind| PermissionOption {
        id: OptionId::parse(&RawValue::from_string(id.to_owned()).expect("JSON")).expect("an id"),
        name: name.to_owned(),
        kind,
        meta: None,
    };
    let options = vec![option("\"a\"", "Yes", OptionKind::AllowOnce), option("\"b\"", "No", OptionKind::RejectOnce)];
    PermissionRequest {
        from: ReplyTo { source: SourceName::new("acp"), ask: 1 },
        session: Session { cwd: Some("/srv".into()), ..Session::default() },
        title: None,
        description: None,
        tool_call: Some(call),
        options: Options::new(options).expect("options"),
        meta: None,
        places: None,
    }
}

fn rules() -> Rules {
    let card =
        CardLimits { buttons_max: 20, label_max: 80, label_seen: 80, text_bytes_max: 256 * 1024, unattached_bytes_max: 8_000 };
    let approvers = Approvers { who: Who::Anyone, power_min: None, bots: [].into() };
    Rules {
        policy: Policy::asking(Duration::from_mins(5)),
        rooms: [(RoomName::new("r"), RoomRules::of(approvers, Details::Full, card))].into(),
        routes: [(SourceName::new("acp"), RoomName::new("r"))].into(),
        requesters: [].into(),
        limits: Limits::default(),
    }
}
