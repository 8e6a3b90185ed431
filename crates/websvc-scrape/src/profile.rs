//! The browser profile of a request: loaded before its pages are rendered, passed from page to page, saved after the
//! last.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::{Mutex, MutexGuard};
use tokio::task::JoinHandle;
use url::Url;
use websvc_browser::{Changes, Cookie, Session, State};
use websvc_store::{
    LockProfileOutcome, PROFILE_MAX_BYTES, PROFILES_MAX, ProfileLease, SaveProfileOutcome, Store,
};
use websvc_types::Profile;

use crate::error::ScrapeError;
use crate::scraper::Scraper;

/// The duration of the lease to save: how long a profile stays locked after its process dies.
const LEASE_DURATION: Duration = Duration::from_secs(30);
/// The interval at which the lease is renewed.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(10);

/// A profile that is open for the pages of one request.
///
/// A profile that saves has the only lease on it until it is closed or dropped; the changes of its pages are saved by
/// [`OpenProfile::close`], all at once.
pub struct OpenProfile {
    session: Mutex<SessionState>,
    save_lock: Option<SaveLock>,
}

/// The session state that the next page starts with.
struct SessionState {
    state: Arc<State>,
    is_changed: bool,
}

/// The lease to save a profile, with the task that renews it.
struct SaveLock {
    store: Store,
    /// The lease; `None` once it is released.
    lease: Option<ProfileLease>,
    renewal: JoinHandle<()>,
}

impl Scraper {
    /// Opens a team's profile: to read it, which many requests may do concurrently, or with the lease to save it, which
    /// only one request has.
    ///
    /// # Errors
    /// [`ScrapeError::ProfileLocked`] and [`ScrapeError::TooManyProfiles`]; [`ScrapeError::ProfileUnreadable`], or
    /// [`ScrapeError::Store`].
    pub async fn open_profile(&self, team: &str, profile: &Profile) -> Result<OpenProfile, ScrapeError> {
        let Profile { name, save_changes } = profile;
        let save_lock = match save_changes.unwrap_or(true) {
            true => Some(self.lock_profile(team, name).await?),
            false => None,
        };
        let (team, name) = (team.to_owned(), name.clone());
        let state = self
            .run_cpu_task(move |store| {
                let Some(profile) = store.profile(&team, &name).map_err(ScrapeError::Store)? else {
                    return Ok(State::default());
                };
                State::from_bytes(&profile.state)
                    .map_err(|source| ScrapeError::ProfileUnreadable { name, source })
            })
            .await?;
        let session = Mutex::new(SessionState { state: Arc::new(state), is_changed: false });
        Ok(OpenProfile { session, save_lock })
    }

    async fn lock_profile(&self, team: &str, name: &str) -> Result<SaveLock, ScrapeError> {
        let (team, name) = (team.to_owned(), name.to_owned());
        let runtime = tokio::runtime::Handle::current();
        // The guard is created in the same task as the lease, so that a cancelled caller does not leak the lease.
        self.run_cpu_task(move |store| {
            let locked = store
                .lock_profile(&team, &name, store.now_ms(), LEASE_DURATION)
                .map_err(ScrapeError::Store)?;
            match locked {
                LockProfileOutcome::Leased(lease) => {
                    let renewal = runtime.spawn(renew(store.clone(), lease.clone()));
                    Ok(SaveLock { store: store.clone(), lease: Some(lease), renewal })
                }
                LockProfileOutcome::Busy { until_ms: _ } => Err(ScrapeError::ProfileLocked { name }),
                LockProfileOutcome::TooMany => Err(ScrapeError::TooManyProfiles { max: PROFILES_MAX }),
            }
        })
        .await
    }
}

impl OpenProfile {
    /// Returns whether the changes of the pages are saved, so that the pages must be rendered one after another.
    #[must_use]
    pub fn can_save(&self) -> bool {
        self.save_lock.is_some()
    }

    /// Saves the changes of the pages and releases the lease. Returns a warning if saving failed, which does not affect
    /// the pages.
    pub async fn close(self) -> Option<String> {
        let Self { session, save_lock } = self;
        let mut save_lock = save_lock?;
        let SessionState { state, is_changed } = session.into_inner();
        let closing =
            websvc_transport::spawn_blocking(move || save_lock.finish(is_changed.then_some(&*state)));
        closing.await.unwrap_or_else(|_| Some("the profile could not be saved".to_owned()))
    }

    /// Returns the browser session that a page starts with.
    pub(crate) fn session(&self) -> Session {
        let changes = if self.can_save() { Changes::Captured } else { Changes::Discarded };
        Session { state: Arc::clone(&self.current_session().state), changes }
    }

    /// Replaces the state by the one that a page has left.
    pub(crate) fn set_state(&self, state: State) {
        *self.current_session() = SessionState { state: Arc::new(state), is_changed: true };
    }

    /// Returns the cookies for a file that is fetched without a browser.
    pub(crate) fn cookies_for(&self, url: &Url) -> Vec<Cookie> {
        self.current_session().state.cookies_for(url, SystemTime::now())
    }

    fn current_session(&self) -> MutexGuard<'_, SessionState> {
        self.session.lock()
    }
}

impl fmt::Debug for OpenProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenProfile").field("can_save", &self.can_save()).finish_non_exhaustive()
    }
}

impl SaveLock {
    /// Saves a state, if there is one, and releases the lease, so that a client that has the response can take it at
    /// once. Returns a warning if the state was not saved. Blocks the thread.
    fn finish(&mut self, state: Option<&State>) -> Option<String> {
        self.renewal.abort();
        let lease = self.lease.take()?;
        let warning = state.and_then(|state| self.save(&lease, state));
        release(&self.store, &lease);
        warning
    }

    fn save(&self, lease: &ProfileLease, state: &State) -> Option<String> {
        match self.store.save_profile(lease, &state.to_bytes(), self.store.now_ms()) {
            Ok(SaveProfileOutcome::Saved) => None,
            Ok(SaveProfileOutcome::LeaseLost) => {
                Some("the profile was deleted in the meantime, and nothing was saved".to_owned())
            }
            Ok(SaveProfileOutcome::TooLarge { bytes }) => Some(format!(
                "the profile was not saved: it would have {bytes} bytes, more than {PROFILE_MAX_BYTES}"
            )),
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "profile could not be saved");
                Some("the profile could not be saved".to_owned())
            }
        }
    }
}

impl Drop for SaveLock {
    /// Releases the lease if the request ended without closing the profile.
    fn drop(&mut self) {
        self.renewal.abort();
        let Some(lease) = self.lease.take() else { return };
        let store = self.store.clone();
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || release(&store, &lease))),
            Err(_) => release(&store, &lease),
        }
    }
}

/// Releases a lease; if that fails, the lease expires.
fn release(store: &Store, lease: &ProfileLease) {
    if let Err(error) = store.release_profile(lease) {
        let error = &error as &dyn std::error::Error;
        tracing::warn!(error, "profile lease could not be released; it stays locked until the lease expires");
    }
}

/// Renews a lease until the task is aborted.
async fn renew(store: Store, lease: ProfileLease) {
    loop {
        tokio::time::sleep(RENEWAL_INTERVAL).await;
        let (store, lease) = (store.clone(), lease.clone());
        let renewing = websvc_transport::spawn_blocking(move || {
            store.renew_profile(&lease, store.now_ms(), LEASE_DURATION)
        });
        match renewing.await {
            Ok(Ok(true)) => {}
            // The lost lease is reported when the profile is saved.
            Ok(Ok(false)) | Err(_) => return,
            Ok(Err(error)) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "profile lease could not be renewed"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use websvc_testkit::TestWeb;

    use super::*;
    use crate::config::ScrapeConfig;

    #[tokio::test]
    async fn changes_are_saved_on_close_unless_profile_was_deleted() {
        let web = TestWeb::builder().start().await;
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let scraper = Scraper::new(web.client(), store.clone(), ScrapeConfig::default());
        let profile = Profile { name: "shop".to_owned(), save_changes: None };
        let open = || async { scraper.open_profile("default", &profile).await.unwrap() };
        let is_saved = || store.profile("default", "shop").unwrap().is_some();

        let changed = open().await;
        changed.set_state(State::default());
        assert!(!is_saved());
        assert_eq!(changed.close().await, None);
        assert!(is_saved());

        // After close returns, the lease is free at once.
        let deleted = open().await;
        deleted.set_state(State::default());
        assert!(store.delete_profile("default", "shop").unwrap());
        let warning = deleted.close().await.unwrap();
        assert!(warning.contains("deleted in the meantime"), "{warning}");
        assert!(!is_saved());
    }
}
