//! One request to Discord, made once.

use std::fmt;

use bridge_model::Secret;
use reqwest::{Client, Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serenity::all::LightMethod;
use serenity::http::{Request, Route};
use tokio::time::timeout;

use crate::account::REQUEST_TIMEOUT;
use crate::fault::Fault;
use crate::limits::Limits;

/// Larger answers are not read.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Discord's API, with the bot's token.
pub(crate) struct Rest {
    client: Client,
    /// As the header has it.
    authorization: Secret,
    limits: Limits,
}

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rest(..)")
    }
}

/// What Discord says of a request that it does not carry out.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Refusal {
    code: i64,
    message: String,
    retry_after: Option<f64>,
    global: bool,
}

impl Rest {
    pub(crate) fn new(client: Client, token: &Secret) -> Self {
        let authorization = Secret::new(format!("Bot {}", token.expose()));
        Self { client, authorization, limits: Limits::default() }
    }

    /// Waits while Discord's rate limits ask for it, then makes the request; what comes back is dropped. Cancelling it
    /// leaves open whether it was carried out.
    pub(crate) async fn send(&self, request: Request<'_>) -> Result<(), Fault> {
        let route = request.route_ref().ratelimiting_bucket();
        let _turn = self.limits.turn(route).await;
        self.send_now(request).await.map(drop)
    }

    /// Like [`Rest::send`], and reads what comes back.
    pub(crate) async fn read<T: DeserializeOwned>(&self, request: Request<'_>) -> Result<T, Fault> {
        let route = request.route_ref().ratelimiting_bucket();
        let _turn = self.limits.turn(route).await;
        let body = body(self.send_now(request).await?).await?;
        serde_json::from_slice(&body).map_err(|_| Fault::Unsure("Discord's answer was not understood".to_owned()))
    }

    /// Asks once, for what nobody waits for longer.
    pub(crate) async fn get<T: DeserializeOwned>(&self, route: Route<'_>) -> Result<T, Fault> {
        let asked = self.read(Request::new(route, LightMethod::Get));
        let late = |_| Fault::Unsure("Discord did not answer in time".to_owned());
        timeout(REQUEST_TIMEOUT, asked).await.map_err(late)?
    }

    /// Without a look at the rate limits, for what cannot wait.
    pub(crate) async fn send_now(&self, request: Request<'_>) -> Result<Response, Fault> {
        let route = request.route_ref().ratelimiting_bucket();
        let built = request.build(&self.client, self.authorization.expose(), None);
        let built = built.map_err(|error| Fault::Final(error.to_string()))?.build();
        let built = built.map_err(|error| Fault::Final(error.to_string()))?;
        let answer = self.client.execute(built).await.map_err(|error| Fault::of_transport(&error))?;
        let status = answer.status();
        self.limits.note(route, answer.headers());
        if status.is_success() {
            return Ok(answer);
        }
        let headers = answer.headers().clone();
        let body = body(answer).await.unwrap_or_default();
        let refusal: Option<Refusal> = serde_json::from_slice(&body).ok();
        if status == StatusCode::TOO_MANY_REQUESTS {
            let Refusal { global, retry_after, .. } = refusal.unwrap_or_default();
            self.limits.refused(route, &headers, global, retry_after);
            return Err(Fault::Later("Discord limits how often the bot may do this".to_owned()));
        }
        Err(Fault::of_refusal(status, refusal.map(|refusal| (refusal.code, refusal.message))))
    }
}

async fn body(mut answer: Response) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| Fault::of_transport(&error))? {
        if ANSWER_BYTES_MAX < body.len() + chunk.len() {
            return Err(Fault::Unsure("Discord's answer is too long".to_owned()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
