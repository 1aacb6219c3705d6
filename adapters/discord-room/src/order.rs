//! Clicks are acknowledged side by side and reported in the order in which Discord made them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bridge_core::RoomEvent;
use bridge_model::Click;
use serenity::all::InteractionId;
use tokio::sync::mpsc;

/// Clicks whose acknowledgement is under way, or that wait for an earlier one's. As many as are looked at at once.
#[derive(Debug)]
pub(crate) struct Order {
    waiting: Mutex<BTreeMap<InteractionId, State>>,
    /// Held while events are handed on, so that no two tasks do at once.
    events: tokio::sync::Mutex<mpsc::Sender<RoomEvent>>,
}

/// A click's place. One that is dropped does not count.
#[derive(Debug)]
pub(crate) struct Turn {
    order: Arc<Order>,
    click: InteractionId,
}

impl Turn {
    /// `None`: it does not count.
    pub(crate) async fn end(self, what: Option<Box<Click>>) {
        self.order.waiting().insert(self.click, State::Done(what));
        self.order.hand_on().await;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(state @ State::UnderWay) = self.order.waiting().get_mut(&self.click) {
            *state = State::Done(None);
        }
    }
}

#[derive(Debug)]
enum State {
    UnderWay,
    /// `None`: it does not count.
    Done(Option<Box<Click>>),
}

impl Order {
    pub(crate) fn new(events: mpsc::Sender<RoomEvent>) -> Self {
        Self { waiting: Mutex::default(), events: tokio::sync::Mutex::new(events) }
    }

    /// From now on no later click is reported before this one's turn has ended.
    pub(crate) fn begin(self: &Arc<Self>, click: InteractionId) -> Turn {
        self.waiting().insert(click, State::UnderWay);
        Turn { order: Arc::clone(self), click }
    }

    async fn hand_on(&self) {
        let events = self.events.lock().await;
        while let Some(click) = self.next() {
            // The bridge outlives its rooms, or nobody cares any more.
            let _ = events.send(RoomEvent::Clicked(*click)).await;
        }
    }

    /// The next click, once every earlier one is done.
    fn next(&self) -> Option<Box<Click>> {
        let mut waiting = self.waiting();
        loop {
            let first = waiting.first_entry()?;
            if matches!(first.get(), State::UnderWay) {
                return None;
            }
            if let State::Done(Some(click)) = first.remove() {
                return Some(click);
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<InteractionId, State>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bridge_model::{ButtonToken, ClickRef, Humanity, MessageId, Person, PersonId, Presence, RoomName, Signature, Standing};

    use super::*;

    #[tokio::test]
    async fn a_click_waits_for_the_earlier_ones_and_for_no_later_one() {
        let (sender, mut events) = mpsc::channel(8);
        let order = Arc::new(Order::new(sender));
        let [first, second, third, fourth, fifth] = [1, 2, 3, 4, 5].map(|id| order.begin(InteractionId::new(id)));
        third.end(Some(click(3))).await;
        assert!(events.try_recv().is_err());
        first.end(Some(click(1))).await;
        assert_eq!(next(&mut events).as_deref(), Some("1"));
        // One that does not count keeps nobody waiting, nor does one whose task is gone.
        second.end(None).await;
        assert_eq!(next(&mut events).as_deref(), Some("3"));
        assert_eq!(next(&mut events), None);
        drop(fourth);
        fifth.end(Some(click(5))).await;
        assert_eq!(next(&mut events).as_deref(), Some("5"));
    }

    fn next(events: &mut mpsc::Receiver<RoomEvent>) -> Option<String> {
        match events.try_recv() {
            Ok(RoomEvent::Clicked(click)) => Some(click.at.click.to_string()),
            _ => None,
        }
    }

    fn click(id: u64) -> Box<Click> {
        let by = Person {
            id: PersonId::new("11"),
            name: None,
            humanity: Humanity::Human,
            presence: Presence::InRoom,
            standing: Standing::Full,
            signature: Signature::Service,
            power: None,
            roles: BTreeSet::new(),
        };
        let at = ClickRef {
            room: RoomName::new("ops"),
            control: MessageId::new("1/2/3"),
            person: by.id.clone(),
            click: MessageId::new(id.to_string()),
        };
        Box::new(Click { token: ButtonToken::from_random(1), by, at })
    }
}
