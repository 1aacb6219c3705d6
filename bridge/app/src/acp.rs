//! `countersign acp`: one client, one agent, and the bridge between them in one process.

#[cfg(feature = "http")]
mod behind;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use acp_source::{AcpSource, Agent, ClientState, ExitHow, Flow, Options};
use bridge_config::{Config, ConfigError, Reach};
use bridge_core::{Input, Source};
use bridge_model::{PersonId, SourceName, Withdrawn};
use policy::{Launch, Who};
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::watch;
use tracing::{error, info, warn};

use crate::cli::{AcpArgs, EXIT_CONFIG, EXIT_NOT_STARTED, Permissions};
use crate::hub::{Hub, forward, inbox};
use crate::ledger::Ledger;
use crate::setup::Reserved;
use crate::signals::Signals;
use crate::{log, reload, setup};

/// How long the agent may take to end once its client is gone or the bridge was told to end.
const GRACE: Duration = Duration::from_secs(5);

/// How long refusals and closings may take at the end.
const LAST_WORDS: Duration = Duration::from_secs(5);

pub(crate) async fn run(args: AcpArgs) -> ExitCode {
    #[cfg(feature = "http")]
    if !args.bridge.is_empty() {
        return behind::run(&args).await;
    }
    let config = match bridge_config::load(args.config.config.as_deref()) {
        Ok(config) => config,
        Err(problems) => return wrong(&problems),
    };
    log::start(&config.as_ref().map_or_else(log::default, |config| config.log.clone()));
    // From here on it is no reason to end.
    let hangup = match unix::signal(SignalKind::hangup()) {
        Ok(hangup) => hangup,
        Err(problem) => {
            error!("signals cannot be listened to: {problem}");
            return ExitCode::FAILURE;
        }
    };
    let requester = match requester(args.requester.as_deref(), config.as_ref()) {
        Ok(requester) => requester,
        Err(problem) => {
            error!("{problem}");
            return EXIT_CONFIG.into();
        }
    };
    let launch = Permissions::launch(&args.permission, args.lifetime);
    if let Err(widens) = setup::policy(config.as_ref()).check(&launch, false) {
        error!("the launch asks for more than the policy has: {widens}; ask for less, or change the policy");
        return EXIT_CONFIG.into();
    }
    announce(config.as_ref(), &launch);
    let (ledger, reserved) = match before_any_agent(config.as_ref()).await {
        Ok(had) => had,
        Err(problem) => {
            error!("{problem}");
            return EXIT_CONFIG.into();
        }
    };
    let own_variables = config.as_ref().map(|config| config.own_variables.clone()).unwrap_or_default();
    // Nor what lets a program raise requests with a bridge elsewhere.
    let own_variables = own_variables.into_iter().chain(Reach::OWN_VARIABLES.map(str::to_owned)).collect();
    let agent = match start(&args, &own_variables) {
        Ok(agent) => agent,
        Err(status) => return status,
    };
    let served = Served { config: config.as_ref(), launch, requester, hangup, ledger, reserved };
    match between(&args, served, agent).await {
        Ok(how) => hand_on(how),
        Err(problem) => {
            error!("the bridge cannot run: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn start(args: &AcpArgs, own_variables: &BTreeSet<String>) -> Result<Agent, ExitCode> {
    let Some((program, arguments)) = args.agent.split_first() else { return Err(EXIT_CONFIG.into()) };
    Agent::start(program, arguments, own_variables).map_err(|problem| {
        error!("the agent {} cannot be started: {problem}", program.display());
        EXIT_NOT_STARTED.into()
    })
}

/// What a bridge has to have before its agent starts, so that it is noticed while nothing depends on it: another bridge on
/// the same rooms, or another program on the page's port.
async fn before_any_agent(config: Option<&Config>) -> Result<(Option<Ledger>, Reserved), String> {
    let Some(config) = config else { return Ok((None, Reserved::default())) };
    if let Some(problem) = setup::not_built_in(config) {
        return Err(problem);
    }
    let ledger = (!config.rooms.is_empty()).then(|| Ledger::open(&config.state_dir, config.audit_keep)).transpose();
    let ledger = ledger.map_err(|problem| problem.to_string())?;
    let reserved = setup::reserve(config).await.map_err(|problem| problem.to_string())?;
    Ok((ledger, reserved))
}

/// What the bridge stands on, all of it had before the agent ran.
struct Served<'a> {
    config: Option<&'a Config>,
    launch: Launch,
    requester: Option<PersonId>,
    hangup: unix::Signal,
    ledger: Option<Ledger>,
    reserved: Reserved,
}

/// Serves until the agent's output ends, its client is gone, or a signal comes; then ends the agent.
async fn between(args: &AcpArgs, served: Served<'_>, mut agent: Agent) -> io::Result<ExitHow> {
    let Served { config, launch, requester, hangup, ledger, reserved } = served;
    let name = SourceName::new("acp");
    let configured = config.map(|config| &config.acp);
    let options = Options {
        name: name.clone(),
        also_ask_client: configured.is_some_and(|acp| acp.also_ask_client),
        agent_name: args.name.clone().or_else(|| configured?.name.clone()),
    };
    let source = AcpSource::on_stdio(options, &mut agent)?;
    let (client, flow) = (source.client(), source.flow());
    let mut signals = Signals::of_a_service()?;
    let (asks, replies) = source.connect().await.map_err(io::Error::other)?;

    let inbox = inbox();
    let rooms = config.map(|config| setup::rooms(config, reserved, &inbox.0)).unwrap_or_default();
    let sources = BTreeMap::from([(name.clone(), Arc::new(replies))]);
    let asked = tokio::spawn(forward(asks, inbox.0.clone()));
    let rules = {
        let name = name.clone();
        move |config: Option<&Config>| {
            let room = config.and_then(|config| config.acp.room.as_ref());
            setup::rules(config, launch.clone(), requester.clone(), (&name, room))
        }
    };
    let (first, sender) = (rules(config), inbox.0.clone());
    let mut hub = Hub::new(first, ledger, rooms, sources, inbox);
    hub.take_over();
    let fixed = config.map(reload::fixed).unwrap_or_default();
    let asked_for = args.requester.clone();
    let reloading = reload::on_signal(hangup, args.config.config.clone(), fixed, sender, move |config| {
        self::requester(asked_for.as_deref(), Some(config))?;
        Ok(rules(Some(config)))
    });
    let reloading = tokio::spawn(reloading);

    let ended = hub
        .serve(async {
            tokio::select! {
                _ = asked => Ended::AgentClosed,
                () = client_left(client, &flow) => Ended::ClientGone,
                () = agent_left(&agent, &flow) => Ended::AgentClosed,
                signal = signals.next() => Ended::Signal(signal),
            }
        })
        .await;
    reloading.abort();
    let last = match ended {
        Ended::AgentClosed | Ended::ClientGone => Input::SourceGone(name, ended.why()),
        Ended::Signal(_) => {
            info!("ending: what is held is refused, then the agent ends");
            Input::Stop
        }
    };
    hub.stop(last, LAST_WORDS).await;
    Ok(end(ended, agent).await)
}

#[derive(Clone, Copy)]
enum Ended {
    AgentClosed,
    ClientGone,
    Signal(i32),
}

impl Ended {
    /// For what still waits.
    const fn why(self) -> Withdrawn {
        match self {
            Self::AgentClosed => Withdrawn::AgentGone,
            Self::ClientGone => Withdrawn::ClientGone,
            Self::Signal(_) => Withdrawn::BridgeStopped,
        }
    }
}

/// Sees that the agent ends, once all that waited has been told.
async fn end(ended: Ended, agent: Agent) -> ExitHow {
    let how = match ended {
        Ended::AgentClosed => agent.exited(GRACE).await,
        Ended::ClientGone => None,
        Ended::Signal(signal) => {
            agent.signal(signal);
            agent.exited(GRACE).await
        }
    };
    let ended = agent.end(if how.is_some() { Duration::ZERO } else { GRACE }).await;
    how.unwrap_or(ended)
}

/// The client is gone, and the agent has had its time to take what was said last and to end by itself.
async fn client_left(mut client: watch::Receiver<ClientState>, flow: &Flow) {
    if client.wait_for(|state| *state != ClientState::There).await.is_err() {
        std::future::pending::<()>().await;
    }
    loop {
        let (state, taken) = (*client.borrow(), flow.to_agent_bytes());
        grace().await;
        // An agent that still takes what the client left behind is given more time.
        if state == ClientState::Gone || (*client.borrow() == state && flow.to_agent_bytes() == taken) {
            return;
        }
    }
}

/// The agent has ended, and its last words have had their time to arrive, though something it left behind keeps its
/// output open. A client that reads late is waited for.
async fn agent_left(agent: &Agent, flow: &Flow) {
    while agent.exited(Duration::from_hours(1)).await.is_none() {}
    grace().await;
    while flow.is_writing_to_client() {
        grace().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "there is no event for nothing happening")]
async fn grace() {
    tokio::time::sleep(GRACE).await;
}

/// Whoever launched the agent, which has to be known where they may not answer themselves.
fn requester(asked_for: Option<&str>, config: Option<&Config>) -> Result<Option<PersonId>, String> {
    let room = config.and_then(|config| Some((config.acp.room.as_ref()?, config.rooms.get(config.acp.room.as_ref()?)?)));
    let Some((name, room)) = room else { return Ok(None) };
    match asked_for {
        Some(text) => {
            let nobody = || format!("--requester {text:?} is nobody's id in the service of {name}");
            let requester = room.person(text).ok_or_else(nobody)?;
            let lists = |who: &Who| matches!(who, Who::Listed(listed) if listed.people.contains(&requester));
            if room.asks_who_launched() && !room.answers.all_rules().any(|(_, rules)| lists(&rules.approvers.who)) {
                warn!(
                    "--requester {text} is not listed under rooms.{name}.approvers; under another id they may answer what they launch"
                );
            }
            Ok(Some(requester))
        }
        None if room.asks_who_launched() => Err(format!(
            "rooms.{name}.requester_may_answer is false, so it has to be known who launches the agent: add --requester ID"
        )),
        None => Ok(None),
    }
}

/// Says what the operator has to know before the first request.
fn announce(config: Option<&Config>, launch: &Launch) {
    let Some(config) = config else {
        let places = bridge_config::places().unwrap_or_default();
        let places: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
        let places = places.join(", ");
        warn!(
            "there is no configuration, so every permission request is refused; `countersign init` writes one; looked for {places}"
        );
        return;
    };
    info!("the configuration is {}", config.file.display());
    for warning in &config.warnings {
        warn!("{warning}");
    }
    let narrowed = launch.verdicts.all().map(|(key, verdict)| format!("{key} = {}", verdict.name()));
    let narrowed = narrowed.collect::<Vec<_>>().join(", ");
    if !narrowed.is_empty() {
        info!("this launch narrows the policy: {narrowed}");
    }
    match &config.acp.room {
        None => warn!("no room is configured, so every permission request is refused"),
        Some(room) => {
            let lifetime = launch.lifetime.unwrap_or(config.policy.lifetime);
            info!("permission requests go to {room}; one that nobody answers within {lifetime:?} is refused");
        }
    }
}

#[expect(clippy::print_stderr, reason = "there is no configuration to say how to log")]
fn wrong(problems: &ConfigError) -> ExitCode {
    eprintln!("{problems}");
    EXIT_CONFIG.into()
}

/// Ends as the agent ended.
fn hand_on(how: ExitHow) -> ExitCode {
    match how {
        ExitHow::Code(code) => std::process::exit(code),
        ExitHow::Signal(number) => {
            // Ends this process; if it does not, the status says the same the way a shell does.
            let _ = signal_hook::low_level::emulate_default_handler(number);
            std::process::exit(128 + number)
        }
    }
}
