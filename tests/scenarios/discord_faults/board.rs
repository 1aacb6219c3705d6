//! Carries out what the bridge wants shown, as the program does: side by side, a closing until it is done.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bridge_core::{Backoff, Board, Input, RoomError, Said};
use bridge_model::{Card, CardRef, ClickRef, ClickReply, ClosedCard, PersonId, RequestId, RoomName};
use countersign_tests::rest;
use tokio::sync::mpsc;

type Closing = (Option<CardRef>, ClosedCard);

pub(crate) struct Showing<B> {
    board: Arc<B>,
    inbox: mpsc::UnboundedSender<Input>,
    /// What each card has to say next; `None` while that is being carried out.
    closing: Arc<Mutex<BTreeMap<RequestId, Option<Closing>>>>,
}

impl<B: Board> Showing<B> {
    pub(crate) fn new(board: B, inbox: mpsc::UnboundedSender<Input>) -> Self {
        Self { board: Arc::new(board), inbox, closing: Arc::default() }
    }

    pub(crate) fn post(&self, card: Card, within: Duration) {
        let (board, inbox) = (self.board.clone(), self.inbox.clone());
        tokio::spawn(async move {
            let posted = board.post(&card, within).await;
            let _ = inbox.send(Input::Posted(card.request, posted));
        });
    }

    pub(crate) fn look(&self, request: RequestId, room: RoomName, among: Option<BTreeSet<PersonId>>) {
        let (board, inbox) = (self.board.clone(), self.inbox.clone());
        tokio::spawn(async move {
            let people = board.people(&room, among.as_ref()).await.unwrap_or_default();
            let _ = inbox.send(Input::People(request, people));
        });
    }

    pub(crate) fn update(&self, at: CardRef, card: Card) {
        let board = self.board.clone();
        tokio::spawn(async move {
            let _ = board.update(&at, &card).await;
        });
    }

    pub(crate) fn say(&self, said: Said) {
        let board = self.board.clone();
        tokio::spawn(async move {
            let _ = board.say(&said).await;
        });
    }

    pub(crate) fn answer(&self, click: ClickRef, reply: ClickReply) {
        let board = self.board.clone();
        tokio::spawn(async move {
            let _ = board.answer(&click, &reply).await;
        });
    }

    pub(crate) fn close(&self, card: Option<CardRef>, closed: ClosedCard) {
        let request = closed.request;
        let is_new = self.closing.lock().expect("no panic").insert(request, Some((card, closed))).is_none();
        if is_new {
            let (board, inbox, closing) = (self.board.clone(), self.inbox.clone(), self.closing.clone());
            tokio::spawn(async move {
                let mut backoff = Backoff::new();
                while let Some((card, closed)) = next(&closing, request) {
                    match board.close(card.as_ref(), &closed).await {
                        Err(RoomError::Unavailable(_)) => {
                            if let Some(next) = closing.lock().expect("no panic").get_mut(&request) {
                                next.get_or_insert((card, closed));
                            }
                            rest(backoff.next_span()).await;
                        }
                        Ok(()) | Err(RoomError::Refused(_) | RoomError::NotShowable(_) | RoomError::NotAttached(_)) => {
                            let _ = inbox.send(Input::CardClosed(request));
                        }
                    }
                }
            });
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.closing.lock().expect("no panic").is_empty()
    }
}

fn next(closing: &Mutex<BTreeMap<RequestId, Option<Closing>>>, request: RequestId) -> Option<Closing> {
    let mut closing = closing.lock().expect("no panic");
    let next = closing.get_mut(&request).and_then(Option::take);
    if next.is_none() {
        closing.remove(&request);
    }
    next
}
