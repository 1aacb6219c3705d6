//! Logging in: the saved session first, then what the configuration gives; then cross-signing, without which an
//! encrypted room is not served.

use std::time::Duration;

use bridge_core::RoomError;
use matrix_sdk::authentication::matrix::MatrixSession;
use matrix_sdk::config::RequestConfig;
use matrix_sdk::cross_process_lock::CrossProcessLockConfig;
use matrix_sdk::encryption::EncryptionSettings;
use matrix_sdk::encryption::recovery::RecoveryState;
use matrix_sdk::ruma::api::client::uiaa;
use matrix_sdk::ruma::{OwnedUserId, UserId};
use matrix_sdk::{Client, Error, SessionMeta, SessionTokens};
use matrix_sdk_base::crypto::{CollectStrategy, DecryptionSettings, TrustRequirement};
use matrix_sdk_base::store::RoomLoadSettings;
use tokio::time::timeout;

use crate::account::REQUEST_TIMEOUT;
use crate::fault::Fault;
use crate::saved::{Saved, SessionFile};
use crate::{Login, Options, id};

/// Setting up cross-signing takes a few requests.
const SETUP_TIMEOUT: Duration = Duration::from_mins(1);

/// Whether the bot's own device is one that others will trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DeviceTrust {
    Signed,
    /// The text says why, and what to do.
    NotSigned(String),
}

/// A client that is logged in, and whether its device is signed.
pub(crate) async fn open(options: &Options) -> Result<(Client, OwnedUserId, DeviceTrust), RoomError> {
    let user = id::user_id(&options.user)?;
    let file = SessionFile::in_dir(&options.store_dir)?;
    let client = build(options).await?;
    save_refreshed_tokens(&client, &file, &options.homeserver)?;
    match file.read()? {
        Some(saved) => resume(options, &client, &user, saved, &file).await?,
        None => log_in(options, &client, &user, None, &file).await?,
    }
    let device = match timeout(SETUP_TIMEOUT, sign_device(options, &client)).await {
        Ok(device) => device,
        Err(_) => DeviceTrust::NotSigned("the homeserver took too long to set it up; start again".to_owned()),
    };
    Ok((client, user, device))
}

async fn build(options: &Options) -> Result<Client, RoomError> {
    let built = Client::builder()
        .homeserver_url(&options.homeserver)
        .respect_login_well_known(false)
        .sqlite_store(&options.store_dir, options.store_passphrase.as_ref().map(bridge_model::Secret::expose))
        .cross_process_store_config(CrossProcessLockConfig::SingleProcess)
        .handle_refresh_tokens()
        // The SDK would try for a quarter of an hour without a word. Whoever sends here decides about trying again.
        .request_config(RequestConfig::new().disable_retry().timeout(REQUEST_TIMEOUT))
        .with_encryption_settings(EncryptionSettings::default())
        .with_room_key_recipient_strategy(CollectStrategy::IdentityBasedStrategy)
        .with_decryption_settings(DecryptionSettings { sender_device_trust_requirement: TrustRequirement::CrossSigned })
        .build()
        .await;
    built.map_err(|error| {
        let hint = "check the homeserver's address, the directory and the store's passphrase";
        RoomError::Refused(format!("the Matrix client cannot start ({error}); {hint}"))
    })
}

fn save_refreshed_tokens(client: &Client, file: &SessionFile, homeserver: &str) -> Result<(), RoomError> {
    let (to_read, to_write, homeserver) = (file.clone(), file.clone(), homeserver.to_owned());
    let reload = Box::new(move |_: Client| match to_read.read() {
        Ok(Some(saved)) => Ok(saved.session.tokens),
        Ok(None) => Err("no session is saved".into()),
        Err(error) => Err(error.into()),
    });
    let save = Box::new(move |client: Client| {
        let session = client.matrix_auth().session().ok_or("there is no session to save")?;
        Ok(to_write.write(&Saved { homeserver: homeserver.clone(), session })?)
    });
    client.set_session_callbacks(reload, save).map_err(|error| Fault::of(&error).into())
}

/// Takes up the saved session. Where its token is no longer good, the configured login revives the same device.
async fn resume(options: &Options, client: &Client, user: &UserId, saved: Saved, file: &SessionFile) -> Result<(), RoomError> {
    let path = file.path().display();
    if saved.homeserver != options.homeserver || saved.session.meta.user_id != *user {
        let (whose, where_) = (&saved.session.meta.user_id, &saved.homeserver);
        return Err(RoomError::Refused(format!(
            "{path} belongs to {whose} on {where_}; give this account a directory of its own"
        )));
    }
    let meta = saved.session.meta.clone();
    if let Login::AccessToken { token, device_id } = &options.login
        && meta.device_id.as_str() == device_id
        && saved.session.tokens.refresh_token.is_none()
        && saved.session.tokens.access_token != token.expose()
    {
        // The operator replaced the token of the same device.
        return log_in(options, client, user, None, file).await;
    }
    restore(client, saved.session).await?;
    match who_am_i(client, &meta).await {
        Err(Fault::TokenGone) => log_in(options, client, user, Some(meta), file).await,
        Err(fault) => Err(fault.into()),
        Ok(()) => Ok(()),
    }
}

async fn log_in(
    options: &Options,
    client: &Client,
    user: &UserId,
    lost: Option<SessionMeta>,
    file: &SessionFile,
) -> Result<(), RoomError> {
    match (&options.login, lost) {
        (Login::Password(password), None) => {
            let login = client
                .matrix_auth()
                .login_username(user, password.expose())
                .initial_device_display_name(&options.device_name)
                .request_refresh_token();
            timeout(REQUEST_TIMEOUT * 2, login.send())
                .await
                .map_err(|_| RoomError::Unavailable("the homeserver took too long to log in".to_owned()))?
                .map_err(|error| login_error(user, &error, file))?;
        }
        (Login::AccessToken { token, device_id }, None) => {
            let meta = SessionMeta { user_id: user.to_owned(), device_id: device_id.as_str().into() };
            let tokens = SessionTokens { access_token: token.expose().to_owned(), refresh_token: None };
            let session = MatrixSession { meta, tokens };
            check_token(options, &session).await?;
            restore(client, session).await?;
        }
        (Login::Restore, None) => {
            let path = file.path().display();
            return Err(RoomError::Refused(format!("{path} does not exist; log in once by password or access token")));
        }
        (Login::Password(_) | Login::AccessToken { .. } | Login::Restore, Some(meta)) => {
            // A client takes one session in its life, so a new login needs a new start without the old file.
            let (device, path) = (meta.device_id, file.path().display());
            return Err(RoomError::Refused(format!(
                "the session of {user} (device {device}) was ended by the homeserver; \
                 move the directory of {path} away and log in anew, with the recovery key if rooms are encrypted"
            )));
        }
    }
    let session = client.matrix_auth().session().ok_or_else(|| RoomError::Refused("the login gave no session".to_owned()))?;
    let saved = Saved { homeserver: options.homeserver.clone(), session };
    file.write(&saved).map_err(|error| RoomError::Refused(format!("cannot write {}: {error}", file.path().display())))
}

async fn restore(client: &Client, session: MatrixSession) -> Result<(), RoomError> {
    let restored = client.matrix_auth().restore_session(session, RoomLoadSettings::default()).await;
    restored.map_err(|error| store_error(&error))
}

/// Sees whose token this is before the store becomes that device's for good.
async fn check_token(options: &Options, session: &MatrixSession) -> Result<(), RoomError> {
    let request_config = RequestConfig::new().disable_retry().timeout(REQUEST_TIMEOUT);
    let client = Client::builder().homeserver_url(&options.homeserver).request_config(request_config);
    let client = client.build().await.map_err(|error| RoomError::Refused(format!("the Matrix client cannot start ({error})")))?;
    restore(&client, session.clone()).await?;
    who_am_i(&client, &session.meta).await.map_err(|fault| match fault {
        Fault::TokenGone => RoomError::Refused("the homeserver does not know the access token; make a new one".to_owned()),
        fault @ (Fault::Later(..) | Fault::TooLarge | Fault::Final(_)) => fault.into(),
    })
}

/// Asks the homeserver whose token this is.
async fn who_am_i(client: &Client, meta: &SessionMeta) -> Result<(), Fault> {
    let answer = client.whoami().await.map_err(|error| Fault::of_http(&error))?;
    let same_device = answer.device_id.as_ref().is_none_or(|device| *device == meta.device_id);
    if answer.user_id == meta.user_id && same_device {
        return Ok(());
    }
    let is = answer.device_id.as_ref().map_or("no device", |device| device.as_str());
    Err(Fault::Final(format!(
        "the access token is for {} (device {is}), not for {} (device {}); correct the configuration",
        answer.user_id, meta.user_id, meta.device_id
    )))
}

fn login_error(user: &UserId, error: &Error, file: &SessionFile) -> RoomError {
    if matches!(error, Error::Http(_)) {
        return match Fault::of(error) {
            Fault::Final(why) => RoomError::Refused(format!("the homeserver did not log {user} in: {why}")),
            fault @ (Fault::Later(..) | Fault::TooLarge | Fault::TokenGone) => fault.into(),
        };
    }
    let path = file.path().display();
    RoomError::Refused(format!("{}; {path} is missing, so nothing can use this store any more", store_error(error)))
}

fn store_error(error: &Error) -> RoomError {
    let hint = "the store is another device's; give this account a directory of its own, or move the old one away";
    RoomError::Refused(format!("the Matrix store cannot be used ({error}); {hint}"))
}

/// Sees to it that others can trust this device, in this order: with keys that are here, with the recovery key, with
/// new keys where the account never had any.
async fn sign_device(options: &Options, client: &Client) -> DeviceTrust {
    let encryption = client.encryption();
    encryption.wait_for_e2ee_initialization_tasks().await;
    if let Err(why) = bootstrap(options, client).await {
        return DeviceTrust::NotSigned(why);
    }
    if is_signed(client).await {
        return DeviceTrust::Signed;
    }
    let has_keys = encryption.cross_signing_status().await.is_some_and(|status| status.has_self_signing);
    if !has_keys {
        let Some(key) = &options.recovery_key else {
            let hint = "give its recovery key, or verify this device from another session of the account";
            return DeviceTrust::NotSigned(format!("the account's signing keys are elsewhere; {hint}"));
        };
        if let Err(error) = encryption.recovery().recover(key.expose()).await {
            return DeviceTrust::NotSigned(format!("the recovery key did not work ({error}); check it"));
        }
        if is_signed(client).await {
            return DeviceTrust::Signed;
        }
    }
    if let Ok(Some(device)) = encryption.get_own_device().await
        && device.verify().await.is_ok()
        && is_signed(client).await
    {
        return DeviceTrust::Signed;
    }
    DeviceTrust::NotSigned("the device could not be signed; verify it from another session of the account".to_owned())
}

async fn bootstrap(options: &Options, client: &Client) -> Result<(), String> {
    let encryption = client.encryption();
    let Err(error) = encryption.bootstrap_cross_signing_if_needed(None).await else { return Ok(()) };
    let failed = |error: &Error| format!("cross-signing could not be set up ({error})");
    let Some(challenge) = error.as_uiaa_response() else { return Err(failed(&error)) };
    let Login::Password(password) = &options.login else {
        return Err("setting up cross-signing needs the account's password once; log in by password".to_owned());
    };
    let user = uiaa::UserIdentifier::Matrix(uiaa::MatrixUserIdentifier::new(options.user.clone()));
    let mut answer = uiaa::Password::new(user, password.expose().to_owned());
    answer.session.clone_from(&challenge.session);
    let again = encryption.bootstrap_cross_signing(Some(uiaa::AuthData::Password(answer))).await;
    again.map_err(|error| failed(&error))
}

/// By what the client knows, and where that says no, by what the server says now: a signature made here is known here
/// only once it has been fetched.
async fn is_signed(client: &Client) -> bool {
    let is_known_signed = async || {
        let device = client.encryption().get_own_device().await;
        device.is_ok_and(|device| device.is_some_and(|device| device.is_cross_signed_by_owner()))
    };
    if is_known_signed().await {
        return true;
    }
    match client.user_id() {
        Some(user) => client.encryption().request_user_identity(user).await.is_ok() && is_known_signed().await,
        None => false,
    }
}

/// Whether the account has a recovery key, as far as the client has been told.
pub(crate) fn has_recovery_key(client: &Client) -> bool {
    matches!(client.encryption().recovery().state(), RecoveryState::Enabled | RecoveryState::Incomplete)
}
