//! Logging in: the HTTP client, who the bot is, and what its rooms are like.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bridge_core::{RoomError, RoomEvent};
use reqwest::{Certificate, Client, ClientBuilder};
use serde::Deserialize;
use serenity::all::{ApplicationId, ChannelId, UserId};
use serenity::http::{HttpBuilder, Route};
use tokio::sync::mpsc;
use tracing::warn;

use crate::account::{Account, REQUEST_TIMEOUT, RoomState, ServedRoom};
use crate::rest::Rest;
use crate::{Options, id, look};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const KEPT_OPEN_FOR: Duration = Duration::from_mins(10);
const HOST: &str = "discord.com";

/// The application as Discord tells it, as far as it matters here.
#[derive(Debug, Deserialize)]
pub(crate) struct Application {
    pub(crate) id: ApplicationId,
    pub(crate) name: String,
    interactions_endpoint_url: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Bot {
    id: UserId,
}

#[derive(Debug, Deserialize)]
struct GatewayUrl {
    url: String,
}

/// Logs in and looks at every room.
pub(crate) async fn open(options: &Options, events: mpsc::WeakSender<RoomEvent>) -> Result<Account, RoomError> {
    let (account, _) = log_in(options, events).await?;
    for served in account.rooms.values() {
        look::refresh(&account, served).await;
        if let RoomState::Unfit(why) = served.state() {
            let name = &served.options.name;
            warn!(room = %name, "room {name} cannot be used yet: {why}");
            served.tell_when_found();
        }
    }
    Ok(account)
}

/// Learns who the bot is, and that clicks will come.
pub(crate) async fn log_in(options: &Options, events: mpsc::WeakSender<RoomEvent>) -> Result<(Account, Application), RoomError> {
    let rooms = rooms(options)?;
    let client = client(options)?;
    // Serenity wants one to hold the token for the gateway; requests do not go through it.
    let http = Arc::new(HttpBuilder::new(options.token.expose()).client(client.clone()).ratelimiter_disabled(true).build());
    let rest = Rest::new(client, &options.token);
    let bot: Bot = rest.get(Route::UserMe).await?;
    let application: Application = rest.get(Route::Oauth2ApplicationCurrent).await?;
    if application.interactions_endpoint_url.as_ref().is_some_and(|url| !url.is_empty()) {
        return Err(RoomError::Refused(
            "the application has an Interactions Endpoint URL, so that clicks go there and never arrive here; \
             remove it in the Developer Portal under General Information"
                .to_owned(),
        ));
    }
    Ok((Account::new(rest, http, bot.id, application.id, rooms, events), application))
}

/// Where the gateway is, from Discord itself.
pub(crate) async fn gateway_url(account: &Account) -> Result<String, RoomError> {
    let GatewayUrl { url } = account.rest.get(Route::Gateway).await?;
    let address = reqwest::Url::parse(&url).ok();
    let is_loopback = |address: &reqwest::Url| matches!(address.host_str(), Some("127.0.0.1" | "[::1]" | "localhost"));
    let is_safe = address.is_some_and(|address| address.scheme() == "wss" || (address.scheme() == "ws" && is_loopback(&address)));
    is_safe.then_some(url).ok_or_else(|| RoomError::Refused("Discord names a gateway without TLS; check the proxy".to_owned()))
}

fn rooms(options: &Options) -> Result<BTreeMap<bridge_model::RoomName, ServedRoom>, RoomError> {
    let mut rooms: BTreeMap<_, ServedRoom> = BTreeMap::new();
    for room in &options.rooms {
        let channel: ChannelId = id::channel_id(&room.channel)?;
        let is_taken = rooms.values().any(|other| other.channel == channel);
        if is_taken || rooms.insert(room.name.clone(), ServedRoom::new(room.clone(), channel)).is_some() {
            return Err(RoomError::Refused(format!("room {} is configured twice", room.name)));
        }
    }
    Ok(rooms)
}

fn client(options: &Options) -> Result<Client, RoomError> {
    let refused = |error: reqwest::Error| RoomError::Refused(format!("no connection to Discord can be set up ({error})"));
    let mut client = Client::builder()
        .use_rustls_tls()
        .https_only(true)
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(REQUEST_TIMEOUT)
        // An acknowledgement has no time for a new connection.
        .pool_idle_timeout(KEPT_OPEN_FOR)
        .tcp_keepalive(CONNECT_TIMEOUT * 6)
        .redirect(reqwest::redirect::Policy::none());
    if let Some(address) = options.connect_to {
        client = client.resolve(HOST, address).no_proxy();
    }
    if let Some(pem) = &options.ca_pem {
        client = client.tls_built_in_root_certs(false);
        let certificates = Certificate::from_pem_bundle(pem.as_bytes()).map_err(refused)?;
        if certificates.is_empty() {
            return Err(RoomError::Refused("discord.ca_file holds no certificate in PEM".to_owned()));
        }
        client = certificates.into_iter().fold(client, ClientBuilder::add_root_certificate);
    }
    client.build().map_err(refused)
}
