//! `countersign serve`: one bridge for many agents, on this machine and on others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bridge_config::{Config, RoomConfig};
use bridge_core::Input;
use bridge_model::SourceName;
use http_source::{HttpSource, Known, KnownEnd, Listening, Options, Outside, RoomFacts};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use policy::Launch;
use tokio::net::TcpListener;
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::watch;
use tracing::{error, info, warn};

use crate::cli::{EXIT_CONFIG, ServeArgs};
use crate::clock::Clock;
use crate::hub::{Hub, forward_as_told, inbox};
use crate::ledger::{KeptOutcome, Ledger};
use crate::setup::Reserved;
use crate::signals::Signals;
use crate::tokens::random;
use crate::{log, operations, reload, setup};

/// How long refusals and closings may take at the end.
const LAST_WORDS: Duration = Duration::from_secs(5);

pub(crate) async fn run(args: ServeArgs) -> ExitCode {
    let config = match crate::check::load(&args.config) {
        Ok(config) => config,
        Err(status) => return status,
    };
    log::start(&config.log);
    allow_more_files();
    // From here on it is no reason to end.
    let (hangup, signals) = match (unix::signal(SignalKind::hangup()), Signals::of_a_service()) {
        (Ok(hangup), Ok(signals)) => (hangup, signals),
        (Err(problem), _) | (_, Err(problem)) => {
            error!("signals cannot be listened to: {problem}");
            return ExitCode::FAILURE;
        }
    };
    info!("the configuration is {}", config.file.display());
    for warning in &config.warnings {
        warn!("{warning}");
    }
    match before_any_caller(&config).await {
        Ok(had) => {
            serve(&config, args.config.config.as_deref(), had, hangup, signals).await;
            ExitCode::SUCCESS
        }
        Err(problem) => {
            error!("{problem}");
            EXIT_CONFIG.into()
        }
    }
}

/// As many files as the system lets it have, since each connection of a program is one.
fn allow_more_files() {
    let raised = getrlimit(Resource::RLIMIT_NOFILE).and_then(|(_, hard)| setrlimit(Resource::RLIMIT_NOFILE, hard, hard));
    if let Err(problem) = raised {
        warn!("no more files than at first can be open: {problem}");
    }
}

/// What has to be had before anybody is served.
struct Had {
    ledger: Ledger,
    reserved: Reserved,
    listening: Listening,
    operations: Option<TcpListener>,
}

async fn before_any_caller(config: &Config) -> Result<Had, String> {
    if let Some(problem) = setup::not_built_in(config) {
        return Err(problem);
    }
    if config.rooms.is_empty() {
        return Err("no room is configured, so nobody could answer; add one: [rooms.NAME]".to_owned());
    }
    let ledger = Ledger::open(&config.state_dir, config.audit_keep).map_err(|problem| problem.to_string())?;
    let reserved = setup::reserve(config).await.map_err(|problem| problem.to_string())?;
    let socket = Some(config.http.socket.as_path());
    let listening = Listening::open(config.http.listen, socket).await.map_err(|problem| problem.to_string())?;
    let operations = match config.metrics {
        Some(listen) => Some(operations::open(listen).await?),
        None => None,
    };
    Ok(Had { ledger, reserved, listening, operations })
}

async fn serve(config: &Config, named: Option<&Path>, had: Had, hangup: unix::Signal, mut signals: Signals) {
    let Had { ledger, reserved, listening, operations } = had;
    let name = SourceName::new("http");
    let (policy, operators) = watch::channel(Arc::new(config.policy.clone()));
    let source = HttpSource::new(options(config, &name, operators), known(&ledger));
    if let Some(address) = listening.address() {
        info!("programs can connect to http://{address}");
    }
    info!("programs can connect to the socket {}", config.http.socket.display());
    let (asks, replies) = source.serve(listening);

    let inbox = inbox();
    let rooms = setup::rooms(config, reserved, &inbox.0);
    let sources = BTreeMap::from([(name.clone(), Arc::new(replies))]);
    let asked = tokio::spawn(forward_as_told(asks, inbox.0.clone()));
    let route = config.http.room.clone();
    let rules = move |config: &Config| {
        policy.send_replace(Arc::new(config.policy.clone()));
        setup::rules(Some(config), Launch::default(), None, (&name, route.as_ref()))
    };
    let (first, sender) = (rules(config), inbox.0.clone());
    let mut hub = Hub::new(first, Some(ledger), rooms, sources, inbox);
    if let Some(listener) = operations {
        operations::serve(listener, hub.metrics().clone(), sender.clone());
    }
    hub.take_over();
    let fixed = reload::fixed(config);
    let reloading = reload::on_signal(hangup, named.map(Path::to_owned), fixed, sender, move |config| Ok(rules(config)));
    let reloading = tokio::spawn(reloading);
    hub.serve(async {
        tokio::select! {
            _ = asked => {}
            _ = signals.next() => {}
        }
    })
    .await;
    reloading.abort();
    info!("ending: what can come back waits for the next start, all else is refused");
    hub.stop(Input::Stop, LAST_WORDS).await;
}

fn options(config: &Config, name: &SourceName, policy: watch::Receiver<Arc<policy::Policy>>) -> Options {
    let clock = Arc::new(Clock::default());
    Options {
        name: name.clone(),
        folder: config.state_dir.clone(),
        rooms: config.rooms.iter().map(|(name, room)| (name.clone(), facts(room))).collect(),
        room: config.http.room.clone(),
        policy,
        lease: config.http.lease,
        outside: Outside { now: Arc::new(move || clock.now()), random: random::<8> },
    }
}

fn facts(room: &RoomConfig) -> RoomFacts {
    RoomFacts { asks_who_launched: room.asks_who_launched() }
}

/// What earlier runs took, as the source has to know it.
fn known(ledger: &Ledger) -> Vec<Known> {
    let read = ledger.that_go_on().and_then(|going| Ok((going, ledger.outcomes()?)));
    let (going, ended) = read.unwrap_or_else(|problem| {
        error!(%problem, "the ledger cannot be read, so nobody can ask for what an earlier run took");
        (Vec::new(), Vec::new())
    });
    // What has several lines is what the latest says; the oldest first, as they are forgotten.
    let mut seen: BTreeSet<_> = going.iter().map(|kept| kept.from.clone()).collect();
    let ended: Vec<_> = ended.into_iter().filter(|kept| seen.insert(kept.from.clone())).collect();
    let ended = ended.into_iter().rev().map(|KeptOutcome { from, comes_back, outcome, ending, at }| Known {
        from,
        comes_back,
        ended: Some(KnownEnd { outcome, ending, at }),
    });
    let going = going.into_iter().map(|kept| Known { from: kept.from, comes_back: kept.comes_back, ended: None });
    ended.chain(going).collect()
}
