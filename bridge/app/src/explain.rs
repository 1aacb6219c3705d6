//! `countersign explain`: which rule decides about a request, and why.

use std::process::ExitCode;

use bridge_config::{Config, RoomConfig};
use bridge_model::{
    Humanity, Location, OptionId, OptionKind, Options, PermissionOption, PermissionRequest, Person, PersonId, Presence, ReplyTo,
    RoleId, Session, Signature, SourceName, Standing, Timestamp, ToolCall, ToolKind,
};
use policy::{AnswerRules, Approvals, Because, Confirm, Policy, Ruled, Ruling, WhenNobody, Who};
use serde_json::value::RawValue;

use crate::check::{load, say};
use crate::cli::{EXIT_CONFIG, ExplainArgs, Permissions};
use crate::places;

pub(crate) async fn run(args: &ExplainArgs) -> ExitCode {
    let config = match load(&args.config) {
        Ok(config) => config,
        Err(status) => return status,
    };
    match explain(args, &config).await {
        Ok(lines) => {
            say(&lines.join("\n"));
            ExitCode::SUCCESS
        }
        Err(problem) => {
            say(&problem);
            EXIT_CONFIG.into()
        }
    }
}

async fn explain(args: &ExplainArgs, config: &Config) -> Result<Vec<String>, String> {
    let launch = Permissions::launch(&args.permission, args.lifetime);
    config.policy.check(&launch, false).map_err(|widens| format!("the launch asks for more than the policy has: {widens}"))?;
    let policy = Policy { launches: vec![launch], ..config.policy.clone() };
    let mut request = request(args)?;
    places::look_up(&mut request).await;
    let ruled = bridge_core::ruled(&policy, &request);
    let mut lines = verdict(&ruled);
    if ruled.ruling != Ruling::Ask {
        lines.extend(args.person.as_ref().map(|person| format!("person     {person} is not asked, and nobody is")));
        return Ok(lines);
    }
    lines.push(waits(&policy));
    let name = args.room.as_deref().or(config.acp.room.as_ref().map(bridge_model::RoomName::as_str));
    let Some(name) = name else {
        lines.push("room       none is configured, so what would be asked is refused".to_owned());
        return Ok(lines);
    };
    let room = config.rooms.iter().find(|(known, _)| known.as_str() == name);
    let (_, room) = room.ok_or_else(|| format!("{name} is not a configured room"))?;
    lines.push(format!("room       {name}"));
    lines.extend(what_it_takes(room, request.kind()));
    if let Some(person) = &args.person {
        lines.push(about(args, room, request.kind(), person)?);
    }
    Ok(lines)
}

fn verdict(ruled: &Ruled) -> Vec<String> {
    let said = match ruled.ruling {
        Ruling::Allow(_) => "auto_allow: allowed this once, without asking anybody",
        Ruling::Ask => "ask: people are asked",
        Ruling::Deny => "auto_deny: refused at once",
    };
    let decisive = ruled.decisive();
    let step = |because: &Because| format!("  {:<9}{because}", if Some(because) == decisive { "because" } else { "also" });
    [format!("verdict    {said}")].into_iter().chain(ruled.because.iter().map(step)).collect()
}

fn waits(policy: &Policy) -> String {
    let now = Timestamp::from_unix_millis(0);
    let span = humantime::format_duration(policy.deadline(now, None, false).since(now));
    format!("waits      {span} at most, then it is refused")
}

/// The rules of a room for a kind, in words.
fn what_it_takes(room: &RoomConfig, kind: ToolKind) -> Vec<String> {
    let rules = rules(room, kind);
    let who = match &rules.approvers.who {
        Who::Anyone => "any human who is in the room".to_owned(),
        Who::Listed(listed) if listed.is_empty() => "NOBODY".to_owned(),
        Who::Listed(listed) => {
            let members = listed.roles.iter().map(|role| format!("members of the role {role}"));
            listed.people.iter().map(PersonId::to_string).chain(members).collect::<Vec<_>>().join(", ")
        }
    };
    let mut lines = vec![format!("approvers  {who}")];
    if rules.approvals == Approvals::Two {
        lines.push("           two different people have to choose the same option".to_owned());
    }
    if !rules.requester_may_answer {
        lines.push("           not whoever launched the agent".to_owned());
    }
    if !rules.arm_delay.is_zero() {
        lines.push(format!("           allowed only after {} on the card", humantime::format_duration(rules.arm_delay)));
    }
    let confirmed = rules.confirm.iter().map(|confirm| match confirm {
        Confirm::AllowAlways => "options that allow for longer".to_owned(),
        Confirm::Unknown => "what is of unknown kind".to_owned(),
        Confirm::Kind(kind) => format!("kind {}", kind.name()),
    });
    let confirmed = confirmed.collect::<Vec<_>>().join(", ");
    if !confirmed.is_empty() {
        lines.push(format!("           a second press for: {confirmed}"));
    }
    if room.answers.when_nobody == WhenNobody::Refuse {
        lines.push("           refused at once while none of them is known to be there".to_owned());
    }
    lines
}

/// Whether a person may answer, if all that cannot be known from here is as it should be.
fn about(args: &ExplainArgs, room: &RoomConfig, kind: ToolKind, text: &str) -> Result<String, String> {
    let id = room.person(text).ok_or_else(|| format!("{text:?} is nobody's id in that room's service"))?;
    let requester = args.requester.as_deref();
    let requester = requester
        .map(|text| room.person(text).ok_or_else(|| format!("{text:?} is nobody's id in that room's service")))
        .transpose()?;
    let rules = rules(room, kind);
    let person = Person {
        id,
        name: None,
        humanity: Humanity::Human,
        presence: Presence::InRoom,
        standing: Standing::Full,
        signature: Signature::Service,
        power: rules.approvers.power_min,
        roles: args.role.iter().map(|role| RoleId::new(role.as_str())).collect(),
    };
    Ok(match rules.admit(&person, requester.as_ref()) {
        Ok(_) => format!("person     {text} may answer, as a human who is in the room"),
        Err(why) => format!("person     {text} may not answer: {}", why.reason()),
    })
}

fn rules(room: &RoomConfig, kind: ToolKind) -> &AnswerRules {
    room.answers.by_kind.get(&kind.in_rules()).unwrap_or(&room.answers.rules)
}

/// A request as an agent would make it.
fn request(args: &ExplainArgs) -> Result<PermissionRequest, String> {
    let option = |(at, kind): (usize, &String)| {
        let id = RawValue::from_string(format!("\"{at}\"")).ok().and_then(|raw| OptionId::parse(&raw).ok());
        Some(PermissionOption { id: id?, name: kind.clone(), kind: OptionKind::parse(kind), meta: None })
    };
    let options = args.option.iter().enumerate().filter_map(option).collect();
    let cwd = match &args.cwd {
        Some(cwd) => std::path::absolute(cwd),
        None => std::env::current_dir(),
    };
    let locations = args.path.iter().map(|path| Location { path: path.clone(), line: None }).collect();
    Ok(PermissionRequest {
        from: ReplyTo { source: SourceName::new("explain"), ask: 0 },
        session: Session { cwd: cwd.ok().and_then(|cwd| cwd.to_str().map(str::to_owned)), ..Session::default() },
        title: None,
        description: None,
        tool_call: Some(ToolCall {
            kind: ToolKind::named(&args.kind).unwrap_or(ToolKind::Unknown),
            title: args.title.clone(),
            locations,
            ..ToolCall::default()
        }),
        options: Options::new(options).map_err(|problem| problem.to_string())?,
        meta: None,
        places: None,
    })
}
