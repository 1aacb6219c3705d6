//! `countersign demo`: a client, the bridge, an agent and a page, to see what it is like.
//!
//! This process is the client. It starts the bridge as anybody would, with a configuration of its own, and the bridge
//! starts the agent: the scripted one of this program, or a real one.

mod agent;
mod bridge;
mod client;
mod deeds;
mod folder;
mod invite;
mod log;
mod page;
mod play;
mod problem;
mod report;
mod screen;
mod story;
#[cfg(test)]
mod tests;
mod turn;
mod workspace;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use agent_client_protocol::v1::schema::SessionUpdate;
use bridge_model::PersonId;
use tokio::sync::mpsc;

use crate::cli::DemoArgs;
use crate::signals::Signals;
use bridge::Bridge;
use client::Introduction;
use folder::Folder;
use log::{Log, Said};
use play::{Ended, Play};
use problem::Problem;
use screen::{Screen, span};

pub(crate) use agent::run as agent;

/// News that may wait to be told; beyond it the agent's lines wait.
const NEWS_MAX: usize = 256;

/// Lines of the log that are shown where something failed.
const LOG_LINES: usize = 15;

/// What the demo hears, from both sides.
enum News {
    /// From the agent.
    Update(Box<SessionUpdate>),
    /// From the agent, which should have asked the bridge.
    AskedHere,
    /// From the bridge, about a permission request.
    Said(Said),
    /// A line of the bridge's log.
    Log(String),
}

pub(crate) async fn run(args: DemoArgs) -> ExitCode {
    let mut screen = Screen::new(anstream::stdout());
    match demo(args, &mut screen).await {
        Ok(status) => status.into(),
        Err((problem, log)) => {
            screen.problem(&problem.to_string());
            if let Some(log) = log.filter(|_| problem.is_of_bridge()) {
                let lines = log.lines();
                screen.log(&lines[lines.len().saturating_sub(LOG_LINES)..]);
            }
            problem.status().into()
        }
    }
}

/// The exit status; with a problem, the log that may tell more about it.
async fn demo<W: Write>(args: DemoArgs, screen: &mut Screen<W>) -> Result<u8, (Problem, Option<Arc<Log>>)> {
    let early = |problem: Problem| (problem, None);
    let mut signals = Signals::of_a_terminal().map_err(|error| early(error.into()))?;
    let folder = Folder::make(args.listen, args.lifetime).map_err(early)?;
    let workspace = workspace(&args, &folder).map_err(early)?;
    let (sender, mut news) = mpsc::channel(NEWS_MAX);
    let mut bridge = Bridge::start(&folder.config, &args.agent, sender.clone(), args.verbose).map_err(early)?;
    let log = Arc::clone(&bridge.log);

    let played = async {
        tokio::select! {
            up = bridge.page_is_up() => up?,
            signal = signals.next() => return Ok(Ended::Signal(signal)),
        }
        welcome(screen, &args, &invite::invite(&folder.config, &PersonId::new(folder::PERSON))?);
        let transport = bridge.transport()?;
        let connected = client::connect(transport, sender, async |connection| {
            let play = Play {
                connection,
                news: &mut news,
                signals: &mut signals,
                screen,
                folder: &workspace,
                lifetime: args.lifetime,
                agent: Introduction::default(),
            };
            Ok(if args.agent.is_empty() { play.scripted().await } else { play.real().await })
        });
        connected.await.or_else(|error| Ok(Ended::Agent { error, agent: Introduction::default() }))
    };
    let played: Result<Ended, Problem> = played.await;
    // Nobody listens any more, and the bridge must not wait for anybody who does.
    drop(news);
    let status = match played {
        Ok(Ended::Done) => Ok(0),
        Ok(Ended::Signal(signal)) => Ok(u8::try_from(128 + signal).unwrap_or(1)),
        Ok(Ended::Lost) => Err(match bridge.has_ended().await {
            Some(status) => Problem::BridgeEnded { status: status.max(1) },
            None => Problem::Agent { what: "the bridge has closed the connection".to_owned() },
        }),
        Ok(Ended::Agent { error, agent }) => Err(Problem::Agent { what: client::explain(&error, &agent) }),
        Err(problem) => Err(problem),
    };
    tokio::select! {
        ends = bridge.ends() => if !ends {
            screen.note("The agent is told to end, and gets some seconds for it. Ctrl-C does not wait.");
            bridge.tell_to_end();
            tokio::select! {
                () = bridge.end() => {}
                _ = signals.next() => {}
            }
        },
        _ = signals.next() => bridge.tell_to_end(),
    }
    status.map_err(|problem| (problem, Some(log)))
}

fn workspace(args: &DemoArgs, folder: &Folder) -> Result<PathBuf, Problem> {
    match &args.cwd {
        Some(chosen) => {
            let problem = |error| Problem::Setting(format!("{}: {error}", chosen.display()));
            chosen.canonicalize().map_err(problem)
        }
        None if args.agent.is_empty() => Ok(folder.workspace()?),
        None => Ok(folder.empty_workspace()?),
    }
}

fn welcome<W: Write>(screen: &mut Screen<W>, args: &DemoArgs, link: &str) {
    screen.title("Countersign, a demo");
    if args.agent.is_empty() {
        screen.paragraph(
            "An agent is about to ask for five things: to run a command, to edit a file,\n\
             to delete one, to fetch a page, and to run another command. All of it is\n\
             harmless and happens in a temporary folder. Before each it waits for you to\n\
             press a button on this page, which only this link opens:",
        );
    } else {
        screen.paragraph(
            "Whenever the agent asks for permission, it waits for you to press a button on\n\
             this page, which only this link opens:",
        );
    }
    screen.link(link);
    let refused = format!("What nobody presses within {} is refused, whether or not the page is open.", span(args.lifetime));
    screen.paragraph(&refused);
}
