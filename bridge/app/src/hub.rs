//! The one loop: every input passes through one inbox, and every effect is handed to whoever carries it out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bridge_core::{Asks, Bridge, Effect, Entry, Input, Replies, RoomEvent, Rules, SourceEvent};
use bridge_model::{Ending, Outcome, ReplyTo, RequestId, RoomName, SourceName, Withdrawn};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tracing::{error, info, warn};

use crate::clock::Clock;
use crate::ledger::{GoesOn, Ledger};
use crate::metrics::Metrics;
use crate::places;
use crate::rooms::RoomHandle;
use crate::tokens::{RandomTokens, random_run};

/// Inputs that may wait; whoever brings one more waits.
const INBOX_MAX: usize = 1_024;

/// The clock is looked at this often while something waits, since a timer does not count suspended time.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(1);

/// Where inputs go.
pub(crate) type Inbox = mpsc::Sender<Input>;

/// The state machine with its clock, its ledger and its two edges.
pub(crate) struct Hub<R> {
    bridge: Bridge<RandomTokens>,
    clock: Clock,
    /// `None`: there is no room, so nothing is ever held.
    ledger: Option<Ledger>,
    rooms: BTreeMap<RoomName, RoomHandle>,
    sources: BTreeMap<SourceName, Arc<R>>,
    inbox: mpsc::Receiver<Input>,
    sender: Inbox,
    metrics: Metrics,
    /// Replies that are on their way.
    replying: usize,
    /// Cards that are on their way.
    posting: usize,
}

/// The inbox of a hub that is yet to be made, so that its edges can be made first.
pub(crate) fn inbox() -> (Inbox, mpsc::Receiver<Input>) {
    mpsc::channel(INBOX_MAX)
}

impl<R: Replies> Hub<R> {
    pub(crate) fn new(
        rules: Rules,
        ledger: Option<Ledger>,
        rooms: BTreeMap<RoomName, RoomHandle>,
        sources: BTreeMap<SourceName, Arc<R>>,
        (sender, inbox): (Inbox, mpsc::Receiver<Input>),
    ) -> Self {
        let bridge = Bridge::new(rules, random_run(), RandomTokens);
        let metrics = Metrics::new(rooms.keys().cloned());
        Self { bridge, clock: Clock::default(), ledger, rooms, sources, inbox, sender, metrics, replying: 0, posting: 0 }
    }

    /// What it counts and times.
    #[cfg(feature = "http")]
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Goes on with what an earlier run held and comes back, and closes the other cards that it left behind.
    pub(crate) fn take_over(&mut self) {
        let kept = self.ledger.as_ref().map(Ledger::that_go_on).transpose().unwrap_or_else(|problem| {
            error!(%problem, "the ledger cannot be read, so nothing of an earlier run goes on");
            None
        });
        // What comes back to a source that is not here waits for a bridge that has it.
        let (kept, elsewhere): (Vec<_>, Vec<_>) =
            kept.into_iter().flatten().partition(|goes_on: &GoesOn| self.sources.contains_key(&goes_on.from.source));
        let elsewhere: BTreeSet<_> = elsewhere.into_iter().map(|goes_on| goes_on.request).collect();
        self.close_what_was_left(&elsewhere);
        let mut is_lost = false;
        for GoesOn { request, snapshot, card, .. } in kept {
            let Some(effects) = self.bridge.restore(self.clock.now(), &snapshot, card) else {
                warn!(request.id = %request, "request {request} of an earlier run cannot be understood and does not go on");
                let ending = Ending::Withdrawn(Withdrawn::BridgeRestarted);
                is_lost = self.record(&Entry::Settled { request, ending, at: None, outcome: None }) || is_lost;
                continue;
            };
            for input in self.run(effects) {
                self.take_in(input);
            }
        }
        if is_lost {
            self.close_what_was_left(&elsewhere);
        }
    }

    fn close_what_was_left(&mut self, except: &BTreeSet<RequestId>) {
        let Some(ledger) = &self.ledger else { return };
        let tip = ledger.tip();
        info!(audit.line = tip.seq, audit.hash = tip.hash, "the audit has {} lines so far", tip.seq);
        let left = ledger.left_open().unwrap_or_else(|problem| {
            error!(%problem, "the ledger cannot be read, so cards of an earlier run stay open");
            Vec::new()
        });
        for (card, closed) in left.into_iter().filter(|(_, closed)| !except.contains(&closed.request)) {
            info!(request.id = %closed.request, "an earlier run left a card open; it is closed");
            let (request, ending) = (closed.request, closed.ending.clone());
            self.record(&Entry::Settled { request, ending, at: closed.at, outcome: None });
            self.run(vec![Effect::Close { card, closed }]);
        }
    }

    /// Serves until `until` ends.
    pub(crate) async fn serve<T>(&mut self, until: impl Future<Output = T>) -> T {
        tokio::pin!(until);
        loop {
            let due = self.bridge.next_deadline().map(|at| at.since(self.clock.now()).min(LOOK_AT_CLOCK));
            tokio::select! {
                Some(input) = self.inbox.recv() => self.take_in(input),
                () = passed(due) => self.take_in(Input::Tick),
                ended = &mut until => return ended,
            }
        }
    }

    /// Refuses all that is held and sees it delivered, for `within` at most.
    pub(crate) async fn stop(&mut self, input: Input, within: Duration) {
        self.take_in(input);
        let delivered = async {
            // A card that is on its way has yet to be closed.
            while 0 < self.replying + self.posting {
                match self.inbox.recv().await {
                    Some(input) => self.take_in(input),
                    None => return,
                }
            }
        };
        if tokio::time::timeout(within, delivered).await.is_err() {
            warn!("some refusals or cards were still on their way at the end; the next start closes what they leave");
        }
        if 0 < self.bridge.allowed() {
            info!("{} requests were allowed by the policy, without a person", self.bridge.allowed());
        }
        // Together: those of one account wait for the same closings.
        let mut closings: JoinSet<()> =
            self.rooms.values().cloned().map(|room| async move { room.closed(within).await }).collect();
        while closings.join_next().await.is_some() {}
        // What the rooms told meanwhile, that their cards are closed above all, goes on record.
        while let Ok(input) = self.inbox.try_recv() {
            self.take_in(input);
        }
    }

    fn take_in(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            if let Input::Posted(..) = input {
                self.posting = self.posting.saturating_sub(1);
            }
            match &input {
                Input::Replied(..) => self.replying = self.replying.saturating_sub(1),
                Input::Posted(id, Ok(_)) => info!(request.id = %id, "the card of request {id} is in its room"),
                Input::Posted(id, Err(problem)) => warn!(request.id = %id, %problem, "the card of request {id} was not posted"),
                Input::Room(RoomEvent::RoomLost(room, why)) => {
                    error!(room = %room, "the room {room} is lost: {why}");
                    self.metrics.room(room, false);
                }
                Input::Room(RoomEvent::RoomFound(room)) => {
                    info!(room = %room, "the room {room} can be used again");
                    self.metrics.room(room, true);
                }
                Input::RoomOpen(room, _) => self.metrics.room(room, true),
                Input::CardClosed(id) => self.card_closed(*id),
                Input::Source(_)
                | Input::SourceGone(..)
                | Input::Room(RoomEvent::Clicked(_) | RoomEvent::CardRemoved(_))
                | Input::People(..)
                | Input::Rules(_)
                | Input::RecordFailed(_)
                | Input::Stop
                | Input::Tick => {}
            }
            let effects = self.bridge.handle(self.clock.now(), input);
            inputs.extend(self.run(effects));
        }
        self.metrics.now(self.bridge.held_len(), self.bridge.allowed());
    }

    /// Carries effects out in their order; returns what has to be taken in at once.
    fn run(&mut self, effects: Vec<Effect>) -> Vec<Input> {
        let mut inputs = Vec::new();
        for effect in effects {
            match effect {
                Effect::Record { entry, then } => {
                    if self.record(&entry) {
                        inputs.extend(self.run(then));
                    } else if !then.is_empty() {
                        inputs.push(Input::RecordFailed(entry.request()));
                    }
                }
                Effect::Reply { request, to, outcome, ending } => self.reply(request, to, outcome, ending),
                Effect::Post { card, within } => {
                    if let Some(room) = self.rooms.get(&card.room) {
                        self.posting += 1;
                        room.post(card, within);
                    }
                }
                Effect::Resume { at, card, within } => {
                    if let Some(room) = self.rooms.get(&card.room) {
                        self.posting += 1;
                        room.resume(at, card, within);
                    }
                }
                Effect::Asked(to, waiting) => {
                    if let Some(source) = self.sources.get(&to.source) {
                        source.asked(&to, &waiting);
                    }
                }
                Effect::Look { request, room: name, among } => match self.rooms.get(&name) {
                    Some(room) => room.look(request, name, among),
                    None => inputs.push(Input::People(request, None)),
                },
                Effect::Update { card, now } => {
                    if let Some(room) = self.rooms.get(&card.room) {
                        room.update(card, now);
                    }
                }
                Effect::Say(said) => {
                    if let Some(room) = self.rooms.get(&said.room) {
                        room.say(said);
                    }
                }
                Effect::Close { card, closed } => {
                    if let Some(room) = self.rooms.get(&closed.room) {
                        room.close(card, closed);
                    }
                }
                Effect::Answer { click, reply } => {
                    if let Some(room) = self.rooms.get(&click.room) {
                        room.answer(click, reply);
                    }
                }
            }
        }
        inputs
    }

    fn record(&mut self, entry: &Entry) -> bool {
        log(entry);
        self.metrics.entry(entry, self.clock.now());
        let Some(ledger) = &mut self.ledger else { return true };
        let written = ledger.write(entry, self.clock.now());
        if let Err(problem) = &written {
            error!(%problem, request.id = %entry.request(), "the ledger cannot be written; the agent is refused");
        }
        written.is_ok()
    }

    fn card_closed(&mut self, id: RequestId) {
        if let Some(ledger) = &mut self.ledger
            && let Err(problem) = ledger.card_closed(id)
        {
            warn!(%problem, request.id = %id, "that a card is closed could not be written; the next start closes it again");
        }
    }

    fn reply(&mut self, id: RequestId, to: ReplyTo, outcome: Outcome, ending: Option<Ending>) {
        let Some(source) = self.sources.get(&to.source).map(Arc::clone) else { return };
        self.replying += 1;
        let sender = self.sender.clone();
        tokio::spawn(async move {
            let result = source.reply(&to, &outcome, ending.as_ref()).await;
            // The hub outlives its replies, or nobody cares any more.
            let _ = sender.send(Input::Replied(id, result)).await;
        });
    }
}

/// Brings what a source on this machine reports into the inbox, with where its files are, until it ends.
pub(crate) async fn forward(mut asks: impl Asks, inbox: Inbox) {
    while let Some(mut event) = asks.next().await {
        match &mut event {
            SourceEvent::Requested(request, _) | SourceEvent::Changed { now: Some(request), .. } => {
                places::look_up(request).await;
            }
            SourceEvent::Changed { now: None, .. } | SourceEvent::Malformed { .. } | SourceEvent::Withdrawn(..) => {}
        }
        if inbox.send(Input::Source(event)).await.is_err() {
            return;
        }
    }
}

/// Brings what a source reports into the inbox as it is, until it ends: where its files are, only its callers know.
#[cfg(feature = "http")]
pub(crate) async fn forward_as_told(mut asks: impl Asks, inbox: Inbox) {
    while let Some(event) = asks.next().await {
        if inbox.send(Input::Source(event)).await.is_err() {
            return;
        }
    }
}

/// What happened, once, without what the tool would have done.
fn log(entry: &Entry) {
    match entry {
        Entry::Held { request: id, room, shown, .. } => {
            info!(request.id = %id, room = %room, %shown, "request {id} is held and shown in {room}");
        }
        Entry::Posted { .. } => {}
        Entry::ChosenFirst { request: id, person, option, .. } => {
            info!(request.id = %id, person = %person, "{person} is the first of two who chose {option:?} for request {id}");
        }
        Entry::Settled { request: id, ending, .. } => match ending {
            Ending::Answered { person, delivery, .. } => {
                info!(request.id = %id, person = %person, outcome = "answered", ?delivery, "{person} answered request {id}");
            }
            Ending::Expired => {
                info!(request.id = %id, outcome = "expired", "nobody answered request {id} in time; it is refused");
            }
            Ending::Withdrawn(Withdrawn::BridgeRestarted) => {}
            Ending::Withdrawn(why) => info!(request.id = %id, outcome = "withdrawn", "request {id} was withdrawn: {why:?}"),
            Ending::Refused(why) => warn!(request.id = %id, outcome = "refused", "request {id} is refused: {why:?}"),
        },
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the timer of the one loop")]
async fn passed(due: Option<Duration>) {
    match due {
        Some(due) => tokio::time::sleep(due).await,
        None => std::future::pending().await,
    }
}
