//! A person with a real client.

mod acts;
mod sees;

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use matrix_sdk::config::SyncSettings;
use matrix_sdk::ruma::UInt;
use matrix_sdk::ruma::api::client::filter::FilterDefinition;
use matrix_sdk::{Client, Room, RoomState};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::http_member::{Credentials, HttpMember};
use crate::sight::Sight;
use crate::wait::{pause, until, within};

/// Whether the person's cross-signing keys vouch for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    CrossSigned,
    Unsigned,
}

pub struct Member {
    pub user_id: String,
    /// The same device, for whatever needs no encryption.
    pub http: HttpMember,
    client: Client,
    sight: Sight,
    /// Cards that were handed out, by their polls.
    taken: Mutex<HashSet<String>>,
    syncing: JoinHandle<()>,
    _store: TempDir,
}

impl Member {
    /// Logs in on a new device.
    pub async fn log_in(account: &Credentials, device: Device) -> Self {
        let store = tempfile::Builder::new().prefix("countersign-member-").tempdir().expect("a temporary directory");
        let builder = Client::builder().homeserver_url(&account.homeserver).sqlite_store(store.path(), None);
        let client = builder.build().await.expect("a client");
        let login = client.matrix_auth().login_username(&account.user, &account.password);
        login.initial_device_display_name("a test's").send().await.expect("a login");
        client.encryption().wait_for_e2ee_initialization_tasks().await;
        let sight = Sight::of(&client);
        sync_once(&client, Duration::ZERO).await.expect("a first sync");
        if device == Device::CrossSigned {
            client.encryption().bootstrap_cross_signing(None).await.expect("the account has no cross-signing keys yet");
        }
        let token = client.access_token().expect("logged in");
        let http = HttpMember::with_token(account.homeserver.clone(), account.user_id.clone(), &token);
        let syncing = tokio::spawn(sync(client.clone()));
        let user_id = account.user_id.clone();
        Self { user_id, http, client, sight, taken: Mutex::default(), syncing, _store: store }
    }

    /// The SDK's view, for what this type does not offer.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The room, once this client knows that it has joined.
    async fn joined(&self, room: &str) -> Room {
        let id = matrix_sdk::ruma::RoomId::parse(room).expect("a room id");
        let joined = async || self.client.get_room(&id).filter(|room| room.state() == RoomState::Joined);
        until(&format!("{} to be in {room}", self.user_id), joined).await
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.syncing.abort();
    }
}

/// `Client::sync` pauses for up to a second between quick answers; this does not.
async fn sync(client: Client) {
    loop {
        if sync_once(&client, Duration::from_secs(20)).await.is_err() {
            // The homeserver may be stopped on purpose.
            pause().await;
        }
    }
}

async fn sync_once(client: &Client, timeout: Duration) -> matrix_sdk::Result<()> {
    let mut filter = FilterDefinition::default();
    // So that a flood of chat does not push a card out of sight.
    filter.room.timeline.limit = Some(UInt::from(500_u32));
    let settings = SyncSettings::default().timeout(timeout).filter(filter.into());
    within("a sync", client.sync_once(settings)).await.map(drop)
}
