//! Showing cards on the pages that are open, and on those that will be.

use std::sync::Arc;
use std::time::Duration;

use bridge_core::{Board, RoomError};
use bridge_model::{Card, CardLimits, CardRef, ClickRef, ClickReply, ClosedCard, RoomName};

use crate::id;
use crate::served::Served;

/// A page scrolls, so that nearly everything fits. Labels longer than a phone is wide wrap.
pub const LIMITS: CardLimits =
    CardLimits { buttons_max: 32, label_max: 200, label_seen: 80, text_bytes_max: 256 * 1024, unattached_bytes_max: 256 * 1024 };

/// Shows, closes and answers on the page.
#[derive(Debug)]
pub struct WebBoard {
    served: Arc<Served>,
}

impl WebBoard {
    pub(crate) fn new(served: Arc<Served>) -> Self {
        Self { served }
    }

    fn has(&self, room: &RoomName) -> Result<(), RoomError> {
        let is_here = self.served.rooms.contains(room);
        is_here.then_some(()).ok_or_else(|| RoomError::Refused(format!("{room} is not a room of this page")))
    }
}

impl Board for WebBoard {
    fn limits(&self, _: &RoomName) -> CardLimits {
        LIMITS
    }

    /// Whoever opens the page later sees it too.
    async fn post(&self, card: &Card, _: Duration) -> Result<CardRef, RoomError> {
        self.has(&card.room)?;
        let mut live = self.served.live();
        let told = live.open(card, (self.served.outside.now)())?;
        // Told under the lock, so that a page that begins now is told of it exactly once.
        self.served.streams.tell(&card.room, &told);
        Ok(id::card_ref(card.request, &card.room))
    }

    async fn close(&self, _: Option<&CardRef>, closed: &ClosedCard) -> Result<(), RoomError> {
        self.has(&closed.room)?;
        {
            let mut live = self.served.live();
            let told = live.close(closed, (self.served.outside.now)());
            self.served.streams.tell(&closed.room, &told);
        }
        self.served.streams.taken().await;
        Ok(())
    }

    async fn answer(&self, click: &ClickRef, reply: &ClickReply) -> Result<(), RoomError> {
        self.served.asking.answer(&click.click, reply.clone());
        Ok(())
    }
}
