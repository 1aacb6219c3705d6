//! What is to be done about each request next: of several, the latest.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bridge_model::RequestId;

/// `None` stands for what is being carried out while nothing else waits.
#[derive(Debug)]
pub(crate) struct Latest<T>(Mutex<BTreeMap<RequestId, Option<T>>>);

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Latest<T> {
    /// Takes the place of what waits. Whether nobody carries out anything for this request yet.
    pub(crate) fn put(&self, request: RequestId, next: T) -> bool {
        self.lock().insert(request, Some(next)).is_none()
    }

    /// What is to be carried out next; `None` ends it.
    pub(crate) fn next(&self, request: RequestId) -> Option<T> {
        let mut waiting = self.lock();
        let next = waiting.get_mut(&request).and_then(Option::take);
        if next.is_none() {
            waiting.remove(&request);
        }
        next
    }

    /// To be carried out once more, unless something newer waits.
    pub(crate) fn put_back(&self, request: RequestId, again: T) {
        if let Some(next) = self.lock().get_mut(&request) {
            next.get_or_insert(again);
        }
    }

    /// Whatever waits is not carried out any more.
    pub(crate) fn give_up(&self, request: RequestId) {
        self.lock().insert(request, None);
    }

    pub(crate) fn has(&self, request: RequestId) -> bool {
        self.lock().contains_key(&request)
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RequestId, Option<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
