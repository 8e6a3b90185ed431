//! The profile of a request: read before its pages are drawn, handed from page to page, saved after the last.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::task::JoinHandle;
use url::Url;
use websvc_browser::{Changes, Cookie, Session, State};
use websvc_store::{
    LockProfileOutcome, PROFILE_MAX_BYTES, PROFILES_MAX, ProfileLease, SaveProfileOutcome, Store,
};
use websvc_types::Profile;

use crate::clock::Clock;
use crate::error::ScrapeError;
use crate::scraper::Scraper;

/// How long the right to save outlives a process that dies.
const LEASE: Duration = Duration::from_secs(30);
/// How often it is renewed.
const RENEWAL: Duration = Duration::from_secs(10);

/// A profile as the pages of one request see it.
///
/// One that saves has the right to it alone, until it is closed or dropped; what its pages change is saved by
/// [`OpenProfile::close`] alone, all at once.
pub struct OpenProfile {
    held: Mutex<SessionState>,
    saver: Option<SaveLock>,
}

/// What the next page finds.
struct SessionState {
    state: Arc<State>,
    is_changed: bool,
}

/// The right to save.
struct SaveLock {
    store: Store,
    clock: Clock,
    /// None once it is given back.
    lease: Option<ProfileLease>,
    renewing: JoinHandle<()>,
}

impl Scraper {
    /// Opens a team's profile: to read it, beside others, or with the right to save it, which one has at a time.
    ///
    /// # Errors
    /// [`ScrapeError::ProfileLocked`] and [`ScrapeError::TooManyProfiles`]; [`ScrapeError::ProfileUnreadable`], or
    /// [`ScrapeError::Store`].
    pub async fn open_profile(&self, team: &str, profile: &Profile) -> Result<OpenProfile, ScrapeError> {
        let Profile { name, save_changes } = profile;
        let saver = match save_changes.unwrap_or(true) {
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
        Ok(OpenProfile {
            held: Mutex::new(SessionState { state: Arc::new(state), is_changed: false }),
            saver,
        })
    }

    async fn lock_profile(&self, team: &str, name: &str) -> Result<SaveLock, ScrapeError> {
        let (team, name, clock) = (team.to_owned(), name.to_owned(), self.clock().clone());
        let runtime = tokio::runtime::Handle::current();
        // The guard is made where the lease is, so that who stops waiting in between loses neither.
        self.run_cpu_task(move |store| {
            let locked =
                store.lock_profile(&team, &name, clock.now_ms(), LEASE).map_err(ScrapeError::Store)?;
            match locked {
                LockProfileOutcome::Leased(lease) => {
                    let renewing = runtime.spawn(renew(store.clone(), clock.clone(), lease.clone()));
                    Ok(SaveLock { store: store.clone(), clock, lease: Some(lease), renewing })
                }
                LockProfileOutcome::Busy { until_ms: _ } => Err(ScrapeError::ProfileLocked { name }),
                LockProfileOutcome::TooMany => Err(ScrapeError::TooManyProfiles { most: PROFILES_MAX }),
            }
        })
        .await
    }
}

impl OpenProfile {
    /// Returns whether what pages change is saved, so that they are to be drawn one after another.
    #[must_use]
    pub fn saves(&self) -> bool {
        self.saver.is_some()
    }

    /// Saves what the pages have changed, and gives the right to do so back. Returns what the caller should be told when
    /// that failed: the pages are there all the same.
    pub async fn close(self) -> Option<String> {
        let Self { held, saver } = self;
        let mut saver = saver?;
        let SessionState { state, is_changed } = held.into_inner().unwrap_or_else(PoisonError::into_inner);
        let closing = tokio::task::spawn_blocking(move || saver.finish(is_changed.then_some(&*state)));
        closing.await.unwrap_or_else(|_| Some("the profile could not be saved".to_owned()))
    }

    /// Returns what a page begins with.
    pub(crate) fn session(&self) -> Session {
        let changes = if self.saves() { Changes::Kept } else { Changes::Forgotten };
        Session { state: Arc::clone(&self.current_session().state), changes }
    }

    /// Takes what a page has left.
    pub(crate) fn set_state(&self, state: State) {
        *self.current_session() = SessionState { state: Arc::new(state), is_changed: true };
    }

    /// Returns the cookies for a file that is fetched without a browser.
    pub(crate) fn cookies_for(&self, url: &Url) -> Vec<Cookie> {
        self.current_session().state.cookies_for(url, SystemTime::now())
    }

    fn current_session(&self) -> MutexGuard<'_, SessionState> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for OpenProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenProfile").field("saves", &self.saves()).finish_non_exhaustive()
    }
}

impl SaveLock {
    /// Saves a state, if there is one, and gives the right back, so that whoever has the answer can have it. Returns what
    /// to tell when nothing was saved. It blocks.
    fn finish(&mut self, state: Option<&State>) -> Option<String> {
        self.renewing.abort();
        let lease = self.lease.take()?;
        let told = state.and_then(|state| self.save(&lease, state));
        release(&self.store, &lease);
        told
    }

    fn save(&self, lease: &ProfileLease, state: &State) -> Option<String> {
        match self.store.save_profile(lease, &state.to_bytes(), self.clock.now_ms()) {
            Ok(SaveProfileOutcome::Saved) => None,
            Ok(SaveProfileOutcome::LeaseLost) => {
                Some("the profile was deleted meanwhile, and nothing was saved".to_owned())
            }
            Ok(SaveProfileOutcome::TooLarge { bytes }) => Some(format!(
                "the profile would be {bytes} bytes, more than {PROFILE_MAX_BYTES}, and stays as it was"
            )),
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "a profile could not be saved");
                Some("the profile could not be saved and stays as it was".to_owned())
            }
        }
    }
}

impl Drop for SaveLock {
    /// Gives the right back when the request ended otherwise.
    fn drop(&mut self) {
        self.renewing.abort();
        let Some(lease) = self.lease.take() else { return };
        let store = self.store.clone();
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || release(&store, &lease))),
            Err(_) => release(&store, &lease),
        }
    }
}

/// Gives the right back; where that fails, it ends with its time.
fn release(store: &Store, lease: &ProfileLease) {
    if let Err(error) = store.release_profile(lease) {
        let error = &error as &dyn std::error::Error;
        tracing::warn!(error, "a profile stays locked until its lease ends");
    }
}

/// Keeps the right for as long as nobody ends this.
async fn renew(store: Store, clock: Clock, lease: ProfileLease) {
    loop {
        tokio::time::sleep(RENEWAL).await;
        let (store, clock, lease) = (store.clone(), clock.clone(), lease.clone());
        let renewed =
            tokio::task::spawn_blocking(move || store.renew_profile(&lease, clock.now_ms(), LEASE)).await;
        match renewed {
            Ok(Ok(true)) => {}
            // Saving will tell.
            Ok(Ok(false)) | Err(_) => return,
            Ok(Err(error)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a lease could not be renewed");
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
    async fn changes_are_saved_at_the_end_and_what_was_deleted_stays_deleted() {
        let world = TestWeb::builder().start().await;
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let scraper = Scraper::new(world.client(), store.clone(), ScrapeConfig::default());
        let profile = Profile { name: "shop".to_owned(), save_changes: None };
        let open = || async { scraper.open_profile("default", &profile).await.unwrap() };
        let is_saved = || store.profile("default", "shop").unwrap().is_some();

        let changed = open().await;
        changed.set_state(State::default());
        assert!(!is_saved());
        assert_eq!(changed.close().await, None);
        assert!(is_saved());

        // Whoever has the answer can save at once.
        let late = open().await;
        late.set_state(State::default());
        assert!(store.delete_profile("default", "shop").unwrap());
        let told = late.close().await.unwrap();
        assert!(told.contains("deleted meanwhile"), "{told}");
        assert!(!is_saved());
    }
}
