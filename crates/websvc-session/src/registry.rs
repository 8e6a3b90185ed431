//! The sessions of this process by their IDs, from the first moment of their start to their end.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

/// The sessions of this process. Each is in one state at any time, so a session that starts is never taken for one that
/// has ended.
#[derive(Debug)]
pub(crate) struct Registry<T>(Mutex<HashMap<String, Entry<T>>>);

/// The state of a session of this process.
#[derive(Debug)]
pub(crate) enum Entry<T> {
    Starting,
    Active(Arc<T>),
}

/// A session that starts. Dropping it means that the start has failed.
#[derive(Debug)]
pub(crate) struct StartingGuard<'a, T> {
    registry: &'a Registry<T>,
    id: String,
}

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Starting => Self::Starting,
            Self::Active(session) => Self::Active(Arc::clone(session)),
        }
    }
}

impl<T> Registry<T> {
    /// Adds a session that starts.
    pub(crate) fn start(&self, id: String) -> StartingGuard<'_, T> {
        self.0.lock().insert(id.clone(), Entry::Starting);
        StartingGuard { registry: self, id }
    }

    /// Returns the state of a session; `None` if it has ended, or is not one of this process.
    pub(crate) fn find(&self, id: &str) -> Option<Entry<T>> {
        self.0.lock().get(id).cloned()
    }

    /// Returns an active session.
    pub(crate) fn active(&self, id: &str) -> Option<Arc<T>> {
        match self.find(id) {
            Some(Entry::Active(session)) => Some(session),
            Some(Entry::Starting) | None => None,
        }
    }

    /// Returns the active sessions.
    pub(crate) fn all_active(&self) -> Vec<Arc<T>> {
        let entries = self.0.lock();
        let active = entries.values().filter_map(|entry| match entry {
            Entry::Active(session) => Some(Arc::clone(session)),
            Entry::Starting => None,
        });
        active.collect()
    }

    /// Removes a session that has ended.
    pub(crate) fn remove(&self, id: &str) {
        self.0.lock().remove(id);
    }
}

impl<T> StartingGuard<'_, T> {
    /// Makes the session an active one.
    pub(crate) fn activate(self, session: Arc<T>) {
        // The drop of the guard leaves an active session alone.
        self.registry.0.lock().insert(self.id.clone(), Entry::Active(session));
    }
}

impl<T> Drop for StartingGuard<'_, T> {
    fn drop(&mut self) {
        let mut entries = self.registry.0.lock();
        if let Some(Entry::Starting) = entries.get(&self.id) {
            entries.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn started_session_becomes_active_and_a_failed_one_leaves_no_trace() {
        let registry = Registry::default();
        let (first, second) = (registry.start("first".to_owned()), registry.start("second".to_owned()));
        assert!(matches!(registry.find("first"), Some(Entry::Starting)));
        assert!(registry.active("first").is_none());
        assert!(registry.all_active().is_empty());
        first.activate(Arc::new(1));
        drop(second);
        assert_eq!((registry.active("first").as_deref(), registry.all_active().len()), (Some(&1), 1));
        assert!(registry.find("second").is_none());
        registry.remove("first");
        assert!(registry.find("first").is_none());
    }
}
