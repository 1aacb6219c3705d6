//! An agent on this machine whose requests a bridge elsewhere holds.
//!
//! Each request is raised under a key of its own, and again under the same key whenever the bridge was away. Its own deadline
//! runs on here: a bridge that does not answer until then is a refusal.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bridge_core::{Asks, Backoff, Replies, SourceEvent, Waiting};
use bridge_model::{OptionId, Outcome, PermissionRequest, ReplyTo, RequestId, RoomName, Timestamp, Withdrawn};
use data_encoding::HEXLOWER;
use http_source::client::{Client, ClientError, Wishes, body};
use http_source::{HowEnded, State, Status, TakenBack};
use policy::RefusalStyle;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tracing::{debug, info, warn};

use crate::clock::Clock;
use crate::places;
use crate::tokens::random;

/// How long a request waits here that no bridge has said anything about.
const LIFETIME: Duration = Duration::from_mins(5);
/// How much longer than at the bridge, so that an answer of the last moment arrives.
const GRACE: Duration = Duration::from_secs(2);
/// The clock is looked at this often, since a timer does not count suspended time.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(1);
/// How long the bridge is told that a request is taken back.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// News of one request that wait; what comes beside them is said by the next.
const NEWS_MAX: usize = 16;

/// What everything that is asked here shares.
pub(crate) struct Remote<R> {
    pub(crate) client: Client,
    pub(crate) wishes: Wishes,
    pub(crate) replies: R,
    pub(crate) clock: Clock,
}

/// What becomes of a request while it waits.
enum News {
    Changed(Option<Box<PermissionRequest>>),
    TakenBack(Withdrawn),
}

/// Has the bridge hold what the source asks, until the source ends or `ended` tells that something else has. What then still
/// waits is taken back.
pub(crate) async fn serve<R: Replies>(mut asks: impl Asks, remote: Arc<Remote<R>>, mut ended: oneshot::Receiver<Withdrawn>) {
    let mut waiting: BTreeMap<ReplyTo, mpsc::Sender<News>> = BTreeMap::new();
    let mut tasks: JoinSet<ReplyTo> = JoinSet::new();
    let why = loop {
        let event = tokio::select! {
            event = asks.next() => event,
            told = &mut ended => break told.unwrap_or(Withdrawn::AgentGone),
            Some(ended) = tasks.join_next() => {
                if let Ok(ended) = ended {
                    waiting.remove(&ended);
                }
                continue;
            }
        };
        match event {
            Some(SourceEvent::Requested(mut request, _)) => {
                places::look_up(&mut request).await;
                let (sender, news) = mpsc::channel(NEWS_MAX);
                let to = request.from.clone();
                waiting.insert(to.clone(), sender);
                let remote = Arc::clone(&remote);
                tasks.spawn(async move {
                    Asked { remote, request, news }.hold().await;
                    to
                });
            }
            Some(SourceEvent::Malformed { from, .. }) => {
                let remote = Arc::clone(&remote);
                tasks.spawn(async move {
                    let _ = remote.replies.reply(&from, &Outcome::Cancelled, None).await;
                    from
                });
            }
            Some(SourceEvent::Changed { ask, mut now }) => {
                if let Some(request) = &mut now {
                    places::look_up(request).await;
                }
                tell(&waiting, &ask, News::Changed(now)).await;
            }
            Some(SourceEvent::Withdrawn(ask, why)) => tell(&waiting, &ask, News::TakenBack(why)).await,
            None => break Withdrawn::AgentGone,
        }
    };
    for sender in waiting.values() {
        let _ = sender.send(News::TakenBack(why)).await;
    }
    while tasks.join_next().await.is_some() {}
}

async fn tell(waiting: &BTreeMap<ReplyTo, mpsc::Sender<News>>, ask: &ReplyTo, news: News) {
    if let Some(sender) = waiting.get(ask) {
        let _ = sender.send(news).await;
    }
}

/// One request.
struct Asked<R> {
    remote: Arc<Remote<R>>,
    request: Box<PermissionRequest>,
    news: mpsc::Receiver<News>,
}

/// How far it is with the bridge.
pub(crate) struct Progress {
    /// By which the bridge knows it, once it does.
    id: Option<String>,
    pub(crate) deadline: Timestamp,
    backoff: Backoff,
    /// It may have it, though nothing is known of that.
    is_raised: bool,
    /// Where it waits for a person, once that is known: "in ops, as #7".
    pub(crate) place: Option<String>,
    /// Why it could not be asked at first.
    pub(crate) problem: Option<String>,
    /// It is not any more what was raised.
    is_changed: bool,
    /// People are asked about it, for the first time or as it is now.
    asked_anew: Option<Waiting>,
}

impl Progress {
    /// Of a request that waits here for so long if no bridge says anything about it.
    pub(crate) fn new(clock: &Clock, lifetime: Option<Duration>) -> Self {
        let deadline = clock.now().after(lifetime.unwrap_or(LIFETIME));
        Self {
            id: None,
            deadline,
            backoff: Backoff::new(),
            is_raised: false,
            place: None,
            problem: None,
            is_changed: false,
            asked_anew: None,
        }
    }
}

impl<R: Replies> Asked<R> {
    async fn hold(mut self) {
        let remote = Arc::clone(&self.remote);
        let body = body(&new_key(), &self.request, &remote.wishes);
        let mut progress = Progress::new(&remote.clock, remote.wishes.launch.lifetime);
        loop {
            let deadline = progress.deadline;
            let next = tokio::select! {
                biased;
                () = passed(&remote.clock, deadline) => Err(None),
                news = self.news.recv() => Err(Some(news.unwrap_or(News::TakenBack(Withdrawn::AgentGone)))),
                next = step(&remote.client, &remote.clock, &body, &mut progress) => Ok(next),
            };
            match next {
                Ok(Step::Again) => {
                    if let Some(waiting) = progress.asked_anew.take() {
                        remote.replies.asked(&self.request.from, &waiting);
                    }
                }
                Ok(Step::Settled(status)) => return self.settled(&remote, &status).await,
                Ok(Step::NotTaken(why)) => return self.refuse(&remote, &body, &progress, &why).await,
                Err(None) => return self.refuse(&remote, &body, &progress, "no bridge answered until its deadline").await,
                Err(Some(News::TakenBack(why))) => {
                    if why != Withdrawn::AgentGone {
                        self.tell(&remote, &Outcome::Cancelled).await;
                    }
                    return take_back(&remote.client, &body, &progress, taken_back(why)).await;
                }
                Err(Some(News::Changed(now))) => {
                    // A bridge that is not told would go on asking about what is not so any more, and what it says of what was
                    // so before does not count.
                    let told = match &progress.id {
                        Some(id) => {
                            remote.client.change(id, now.as_deref()).await.is_ok_and(|status| status.state == State::Held)
                        }
                        None => false,
                    };
                    if !told {
                        let why = "it has changed, and the bridge did not ask about it as it is now";
                        return self.refuse(&remote, &body, &progress, why).await;
                    }
                    progress.is_changed = true;
                    if let Some(now) = now {
                        self.request = now;
                    }
                }
            }
        }
    }

    async fn refuse(&self, remote: &Remote<R>, body: &[u8], progress: &Progress, why: &str) {
        warn!("a permission request is refused: {why}");
        self.tell(remote, &self.refusal()).await;
        take_back(&remote.client, body, progress, TakenBack::ByAgent).await;
    }

    /// The agent is told what its bridge says, if that is one of its own options.
    async fn settled(&self, remote: &Remote<R>, status: &Status) {
        let outcome = outcome(status.outcome.as_deref(), &self.request).unwrap_or_else(|| {
            warn!("a permission request is refused: the bridge chose what the agent did not offer");
            self.refusal()
        });
        info!("a permission request has ended: {}", status.words.as_deref().unwrap_or("the bridge does not say how"));
        let is_told = self.tell(remote, &outcome).await;
        if is_told && status.ending == Some(HowEnded::Answered) {
            // The bridge notices by itself that it never comes.
            let _ = remote.client.receipt(&status.id).await;
        }
    }

    async fn tell(&self, remote: &Remote<R>, outcome: &Outcome) -> bool {
        remote.replies.reply(&self.request.from, outcome, None).await.is_ok()
    }

    fn refusal(&self) -> Outcome {
        RefusalStyle::RejectOnce.refusal(&self.request.options)
    }
}

pub(crate) enum Step {
    /// It still waits.
    Again,
    Settled(Box<Status>),
    /// No bridge holds it, and trying again would not help.
    NotTaken(String),
}

/// By which a request is known to be the same.
pub(crate) fn new_key() -> String {
    HEXLOWER.encode(&random::<16>())
}

/// Asks the bridge once. Cancel-safe: what was raised is raised again under the same key.
pub(crate) async fn step(client: &Client, clock: &Clock, body: &[u8], progress: &mut Progress) -> Step {
    progress.is_raised = true;
    let told = match &progress.id {
        None => client.raise(body).await,
        Some(id) => client.wait(id).await,
    };
    match told {
        Ok(status) if status.state == State::Settled => Step::Settled(Box::new(status)),
        Ok(status) => {
            if let (Some(room), Some(number), Some(left)) = (status.room, status.number, status.expires_in_ms) {
                let deadline = clock.now().after(Duration::from_millis(left) + GRACE);
                if progress.place.is_none() {
                    progress.deadline = deadline;
                }
                let place = format!("in {room}, as #{number}");
                if progress.place.as_ref() != Some(&place) {
                    info!("a permission request waits for a person {place}");
                    let request = RequestId { run: 0, number };
                    progress.asked_anew = Some(Waiting { request, room: RoomName::new(room), deadline });
                    progress.place = Some(place);
                }
                progress.deadline = progress.deadline.min(deadline);
            }
            progress.id = Some(status.id);
            progress.backoff.reset();
            Step::Again
        }
        Err(ClientError::Refused(why)) => Step::NotTaken(format!("the bridge does not take it: {why}")),
        Err(ClientError::Unknown) if progress.id.is_none() => {
            Step::NotTaken("what answers there is no bridge that takes requests".to_owned())
        }
        Err(ClientError::Unknown) if progress.is_changed => {
            Step::NotTaken("it has changed, and the bridge that knew of that does not know it any more".to_owned())
        }
        Err(problem @ (ClientError::Unreachable(..) | ClientError::NotNow(_) | ClientError::Unknown)) => {
            warn!("a permission request cannot be asked yet, and is tried again: {problem}");
            progress.problem.get_or_insert_with(|| problem.to_string());
            if matches!(problem, ClientError::Unknown) {
                // It is raised once more, under the same key.
                progress.id = None;
            }
            pause(progress.backoff.next_span()).await;
            Step::Again
        }
    }
}

/// `None`: it is none of the options that were offered.
pub(crate) fn outcome(told: Option<&RawValue>, request: &PermissionRequest) -> Option<Outcome> {
    #[derive(serde::Deserialize)]
    struct Told<'a> {
        outcome: &'a str,
        #[serde(borrow, rename = "optionId")]
        option_id: Option<&'a RawValue>,
    }
    let Some(told) = told else { return Some(Outcome::Cancelled) };
    let told: Told<'_> = serde_json::from_str(told.get()).ok()?;
    if told.outcome == "cancelled" {
        return Some(Outcome::Cancelled);
    }
    let id = OptionId::parse(told.option_id?).ok()?;
    let at = request.options.as_slice().iter().position(|option| option.id == id)?;
    request.options.offered(at).filter(|_| told.outcome == "selected").map(Outcome::Selected)
}

/// Best effort: a bridge that is not told notices by itself that nobody waits any more.
pub(crate) async fn take_back(client: &Client, body: &[u8], progress: &Progress, why: TakenBack) {
    let tell = async {
        let id = match &progress.id {
            Some(id) => id.clone(),
            // It may have it without our knowing.
            None if progress.is_raised => client.raise(body).await?.id,
            None => return Ok(()),
        };
        client.take_back(&id, why).await.map(drop)
    };
    if let Ok(Err(problem)) = tokio::time::timeout(LAST_WORDS, tell).await {
        debug!("the bridge could not be told that a request is taken back, and notices it by itself: {problem}");
    }
}

const fn taken_back(why: Withdrawn) -> TakenBack {
    match why {
        Withdrawn::TurnCancelled => TakenBack::TurnCancelled,
        Withdrawn::TurnEnded => TakenBack::TurnEnded,
        Withdrawn::Superseded => TakenBack::Superseded,
        Withdrawn::AgentGone => TakenBack::AgentGone,
        Withdrawn::ClientGone => TakenBack::ClientGone,
        Withdrawn::ByAgent
        | Withdrawn::AnsweredInClient
        | Withdrawn::AskedAgain
        | Withdrawn::CardRemoved
        | Withdrawn::BridgeStopped
        | Withdrawn::BridgeRestarted => TakenBack::ByAgent,
    }
}

pub(crate) async fn passed(clock: &Clock, deadline: Timestamp) {
    while !deadline.has_passed(clock.now()) {
        pause(deadline.since(clock.now()).min(LOOK_AT_CLOCK)).await;
    }
}

#[expect(clippy::disallowed_methods, reason = "a deadline is waited for, and tries keep apart")]
async fn pause(span: Duration) {
    tokio::time::sleep(span).await;
}
