//! `countersign acp --bridge`: the requests of one agent are held by a bridge that runs elsewhere.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use acp_source::{AcpSource, Agent, ExitHow, Options};
use bridge_config::Reach;
use bridge_core::Source;
use bridge_model::{RoomName, SourceName};
use http_source::client::{Client, ClientError, Wishes};
use tokio::sync::oneshot;
use tracing::{error, info, warn};

use super::{Ended, LAST_WORDS, agent_left, client_left, end, hand_on, start};
use crate::ask::bridges;
use crate::cli::{AcpArgs, EXIT_CONFIG, Permissions};
use crate::clock::Clock;
use crate::log;
use crate::remote::{self, Remote};
use crate::signals::Signals;

pub(super) async fn run(args: &AcpArgs) -> ExitCode {
    log::start(&log::default());
    let reach = Reach::find(&args.bridge, args.token_file.as_deref());
    let client = reach.and_then(|reach| Client::new(bridges(&reach)?, reach.token));
    let client = match client {
        Ok(client) => client,
        Err(problem) => {
            error!("{problem}");
            return EXIT_CONFIG.into();
        }
    };
    match client.check().await {
        Ok(()) => info!("permission requests go to the bridge at {}", args.bridge.join(", ")),
        Err(problem @ ClientError::Refused(_)) => {
            error!("{problem}");
            return EXIT_CONFIG.into();
        }
        Err(problem) => warn!("{problem}; what nobody can answer until its deadline is refused"),
    }
    let wishes = Wishes {
        room: args.room.as_ref().map(RoomName::new),
        launch: Permissions::launch(&args.permission, args.lifetime),
        detached: false,
    };
    let own_variables = Reach::OWN_VARIABLES.map(str::to_owned).into();
    let agent = match start(args, &own_variables) {
        Ok(agent) => agent,
        Err(status) => return status,
    };
    match between(args, client, wishes, agent).await {
        Ok(how) => hand_on(how),
        Err(problem) => {
            error!("the bridge cannot be asked: {problem}");
            ExitCode::FAILURE
        }
    }
}

async fn between(args: &AcpArgs, client: Client, wishes: Wishes, mut agent: Agent) -> io::Result<ExitHow> {
    let options = Options { name: SourceName::new("acp"), also_ask_client: false, agent_name: args.name.clone() };
    let source = AcpSource::on_stdio(options, &mut agent)?;
    let (there, flow) = (source.client(), source.flow());
    let mut signals = Signals::of_a_service()?;
    let (asks, replies) = source.connect().await.map_err(io::Error::other)?;
    let remote = Arc::new(Remote { client, wishes, replies, clock: Clock::default() });
    let (over, told) = oneshot::channel();
    let mut serving = tokio::spawn(remote::serve(asks, remote, told));
    let ended = tokio::select! {
        _ = &mut serving => Ended::AgentClosed,
        () = client_left(there, &flow) => Ended::ClientGone,
        () = agent_left(&agent, &flow) => Ended::AgentClosed,
        signal = signals.next() => Ended::Signal(signal),
    };
    // It may be over already.
    let _ = over.send(ended.why());
    if !serving.is_finished() && tokio::time::timeout(LAST_WORDS, serving).await.is_err() {
        warn!("the bridge could not be told of all that ends here; it notices it by itself");
    }
    Ok(end(ended, agent).await)
}
