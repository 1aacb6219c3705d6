//! Countersign: holds an agent's permission requests until a person in a chat room answers.

#[cfg(not(any(feature = "discord", feature = "matrix", feature = "web")))]
compile_error!("build it with at least one kind of room: --features discord, matrix or web");
#[cfg(not(feature = "acp"))]
compile_error!("build it with at least one source: --features acp");

#[cfg(feature = "acp")]
mod acp;
#[cfg(feature = "http")]
mod ask;
mod audit;
mod check;
mod cli;
mod clock;
#[cfg(feature = "demo")]
mod demo;
mod explain;
mod hub;
mod init;
mod latest;
mod ledger;
mod log;
mod metrics;
#[cfg(feature = "http")]
mod operations;
mod places;
mod reload;
#[cfg(feature = "http")]
mod remote;
mod rooms;
#[cfg(feature = "http")]
mod serve;
mod setup;
mod signals;
mod status;
#[cfg(feature = "http")]
mod token;
mod tokens;
#[cfg(feature = "web")]
mod web_room;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

/// Runs what the command line says.
pub async fn run() -> ExitCode {
    // Two providers are linked in; without a choice the first TLS connection would panic. A second call changes nothing.
    #[cfg(any(feature = "discord", feature = "http", feature = "matrix", feature = "web-tls"))]
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    match Cli::parse().command {
        #[cfg(feature = "demo")]
        Command::Demo(args) => demo::run(args).await,
        Command::Init(init) => init::run(&init).await,
        #[cfg(feature = "acp")]
        Command::Acp(acp) => acp::run(acp).await,
        #[cfg(feature = "http")]
        Command::Ask(ask) => ask::run(*ask).await,
        #[cfg(feature = "http")]
        Command::Serve(serve) => serve::run(serve).await,
        #[cfg(feature = "http")]
        Command::Token(token) => token::run(&token),
        Command::Explain(explain) => explain::run(&explain).await,
        Command::Status(args) => status::status(&args),
        Command::Pending(args) => status::pending(&args),
        Command::Audit(audit) => audit::run(&audit),
        Command::Reload(reload) => reload::run(&reload),
        Command::Check(check) => check::run(&check.config).await,
        #[cfg(feature = "web")]
        Command::WebRoom(web_room) => web_room::run(&web_room),
        #[cfg(feature = "matrix")]
        Command::RecoveryKey(recovery_key) => check::recovery_key(&recovery_key.config).await,
        #[cfg(feature = "demo")]
        Command::DemoAgent => demo::agent().await,
    }
}
