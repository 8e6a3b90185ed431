//! Rate limits that several replicas share: each takes a few requests at once from the bucket of the account in the
//! database, and admits them without asking again.
//!
//! While the database does not respond, each replica continues with its own count.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;
use websvc_store::{KeyId, SharedBucketSize, Store, TakenTokens};

use super::rate::bucket_size;
use super::state::{AdmissionRequest, AdmissionState};

/// The part of the requests per minute that a replica takes at once: up to this part of a limit is unused on the other
/// replicas.
const BATCH_PART: u32 = 32;

/// The maximum time that a request waits for the database.
const MAX_WAIT: Duration = Duration::from_millis(250);

/// A team or a key with a rate limit.
#[derive(Debug, Clone, Copy)]
pub(super) enum AccountName<'a> {
    Team(&'a str),
    Key(&'a KeyId),
}

impl AccountName<'_> {
    /// Returns the name of its bucket in the database.
    fn bucket(self) -> String {
        match self {
            Self::Team(team) => format!("team:{team}"),
            Self::Key(key) => format!("key:{key}"),
        }
    }
}

/// The limits of a service whose replicas share a database.
#[derive(Debug)]
pub(super) struct SharedLimits {
    store: Store,
    /// Held by the request that takes tokens, so that the others use its tokens.
    taking: AsyncMutex<()>,
}

impl SharedLimits {
    /// Returns the shared limits; `None` if no other process uses the database.
    pub(super) fn of(store: &Store) -> Option<Self> {
        store.is_shared().then(|| Self { store: store.clone(), taking: AsyncMutex::new(()) })
    }

    /// Returns the number of replicas.
    pub(super) fn replicas(&self) -> u32 {
        self.store.workers()
    }

    /// Takes tokens for the accounts of a request that have none.
    pub(super) async fn refill(&self, state: &Mutex<AdmissionState>, request: &AdmissionRequest<'_>) {
        for (account, limit) in request.rate_limits() {
            if !state.lock().needs_tokens(account, limit, Instant::now()) {
                continue;
            }
            let _taking = self.taking.lock().await;
            // Another request may have taken tokens meanwhile.
            if !state.lock().needs_tokens(account, limit, Instant::now()) {
                continue;
            }
            let started = Instant::now();
            if let Some(taken) = self.take(account, limit).await {
                state.lock().add_tokens(account, taken, started);
            }
        }
    }

    /// Takes tokens; returns `None` if the database does not respond.
    async fn take(&self, account: AccountName<'_>, limit: u32) -> Option<TakenTokens> {
        let (store, bucket) = (self.store.clone(), account.bucket());
        let size = bucket_size(limit);
        let size = SharedBucketSize { capacity: size.capacity, interval: size.interval };
        let wanted = (limit / BATCH_PART).max(1);
        let taking = tokio::task::spawn_blocking(move || store.take_tokens(&bucket, size, wanted));
        match tokio::time::timeout(MAX_WAIT, taking).await {
            Ok(Ok(Ok(taken))) => taken,
            Ok(Ok(Err(error))) => {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "rate limit counted by this replica alone"
                );
                None
            }
            Ok(Err(_)) | Err(_) => None,
        }
    }
}
