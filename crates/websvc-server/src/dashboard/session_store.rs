//! The storage of the dashboard's sessions: memory, or a database on a server, where every process of the service finds
//! them.

use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use websvc_store::{DashboardSession, Store, StoreError};

use crate::blocking::run_blocking;
use crate::response::ApiError;

/// The lifetime of a session.
pub(crate) const SESSION_TTL: Duration = Duration::from_secs(12 * 3600);

/// The maximum number of sessions. Beyond that, the oldest one ends.
const MAX_SESSIONS: usize = 1000;

/// The content of a session. `Debug` does not print its secrets.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) key: String,
    /// The token that requests must contain if they change something.
    pub(super) token: String,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session(..)")
    }
}

/// The sessions by their cookie.
#[derive(Debug)]
pub(super) enum SessionStore {
    /// The sessions of this process. They end with it.
    Memory(MemorySessions),
    /// The sessions of all processes, encrypted in the database. They are not cached, so one that another process ended
    /// ends at once.
    Shared(Store),
}

impl SessionStore {
    pub(super) fn new(store: &Store) -> Self {
        if store.is_shared() { Self::Shared(store.clone()) } else { Self::Memory(MemorySessions::default()) }
    }

    /// Starts a session for the lifetime of one.
    ///
    /// # Errors
    /// 503 or 500 if the database cannot be written.
    pub(super) async fn start(&self, cookie: String, session: Session) -> Result<(), ApiError> {
        match self {
            Self::Memory(sessions) => sessions.start(cookie, session, Instant::now()),
            Self::Shared(store) => {
                let now_ms = store.now_ms();
                let Session { key, token } = session;
                let expires_at_ms =
                    now_ms.saturating_add(u64::try_from(SESSION_TTL.as_millis()).unwrap_or(u64::MAX));
                let session = DashboardSession { key, csrf_token: token, expires_at_ms };
                run_on(store, move |store| {
                    store.start_dashboard_session(&cookie, &session, MAX_SESSIONS as u64, now_ms)
                })
                .await?;
            }
        }
        Ok(())
    }

    /// Returns the session of a cookie, if it has not ended.
    ///
    /// # Errors
    /// 503 or 500 if the database cannot be read.
    pub(super) async fn find(&self, cookie: &str) -> Result<Option<Session>, ApiError> {
        match self {
            Self::Memory(sessions) => Ok(sessions.find(cookie, Instant::now())),
            Self::Shared(store) => {
                let cookie = cookie.to_owned();
                let session =
                    run_on(store, move |store| store.dashboard_session(&cookie, store.now_ms())).await?;
                Ok(session.map(|DashboardSession { key, csrf_token, expires_at_ms: _ }| Session {
                    key,
                    token: csrf_token,
                }))
            }
        }
    }

    /// Ends the session of a cookie.
    ///
    /// # Errors
    /// 503 or 500 if the database cannot be written; then the session may continue.
    pub(super) async fn end(&self, cookie: &str) -> Result<(), ApiError> {
        match self {
            Self::Memory(sessions) => sessions.end(cookie),
            Self::Shared(store) => {
                let cookie = cookie.to_owned();
                run_on(store, move |store| store.end_dashboard_session(&cookie)).await?;
            }
        }
        Ok(())
    }
}

async fn run_on<T: Send + 'static>(
    store: &Store,
    work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    let store = store.clone();
    let result = run_blocking(move || work(&store)).await?;
    result.map_err(|error| ApiError::internal(&error, "the sessions could not be used"))
}

/// The sessions of one process.
#[derive(Default)]
pub(super) struct MemorySessions(Mutex<HashMap<String, MemorySession>>);

impl fmt::Debug for MemorySessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySessions").finish_non_exhaustive()
    }
}

struct MemorySession {
    session: Session,
    expires_at: Instant,
}

impl MemorySessions {
    fn start(&self, cookie: String, session: Session, now: Instant) {
        let mut sessions = self.0.lock();
        sessions.retain(|_, session| session.expires_at > now);
        if sessions.len() >= MAX_SESSIONS {
            let oldest = sessions
                .iter()
                .min_by_key(|(_, session)| session.expires_at)
                .map(|(cookie, _)| cookie.clone());
            oldest.map(|cookie| sessions.remove(&cookie));
        }
        sessions.insert(cookie, MemorySession { session, expires_at: now + SESSION_TTL });
    }

    fn find(&self, cookie: &str, now: Instant) -> Option<Session> {
        let sessions = self.0.lock();
        sessions.get(cookie).filter(|session| session.expires_at > now).map(|found| found.session.clone())
    }

    fn end(&self, cookie: &str) {
        self.0.lock().remove(cookie);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Session {
        Session { key: "fc-1".to_owned(), token: "token".to_owned() }
    }

    #[test]
    fn session_expires_even_if_it_is_used() {
        let (sessions, now) = (MemorySessions::default(), Instant::now());
        sessions.start("a".to_owned(), session(), now);
        assert_eq!(sessions.find("a", now + SESSION_TTL - Duration::from_secs(1)), Some(session()));
        assert_eq!(sessions.find("a", now + SESSION_TTL), None);
        assert_eq!(sessions.find("b", now), None);
    }

    #[test]
    fn number_of_sessions_is_bounded_and_the_oldest_ends_first() {
        let (sessions, now) = (MemorySessions::default(), Instant::now());
        for number in 0..=MAX_SESSIONS {
            sessions.start(number.to_string(), session(), now + Duration::from_millis(number as u64));
        }
        assert_eq!(sessions.0.lock().len(), MAX_SESSIONS);
        assert_eq!(sessions.find("0", now), None);
        assert!(sessions.find("1", now).is_some());
    }

    #[test]
    fn debug_output_hides_the_secrets() {
        let sessions = MemorySessions::default();
        sessions.start("cookie".to_owned(), session(), Instant::now());
        let text = format!("{:?} {:?}", session(), SessionStore::Memory(sessions));
        assert!(["fc-1", "token", "cookie"].iter().all(|secret| !text.contains(secret)), "{text}");
    }
}
