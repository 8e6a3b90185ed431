//! Limits that several replicas share. Of requests per minute, each takes a few at once from the bucket of the account in
//! the database, and admits them without asking again. Of concurrent requests, it [leases slots](super::slots).
//!
//! While the database does not respond, each replica continues with its own count.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use websvc_jobs::Jobs;
use websvc_store::{KeyId, SharedBucketSize, Store, TokenGrant};

use super::rate::bucket_size;
use super::slots::{SlotLeases, SlotWait};
use super::state::{AdmissionRequest, AdmissionState, ConcurrencyShare};

/// The part of the requests per minute that a replica takes at once: up to this part of a limit is unused on the other
/// replicas.
const BATCH_PART: u32 = 32;

/// The maximum time that a request waits for the database.
const MAX_WAIT: Duration = Duration::from_millis(250);

/// A team or a key with a limit.
#[derive(Debug, Clone, Copy)]
pub(super) enum AccountName<'a> {
    Team(&'a str),
    Key(&'a KeyId),
}

impl AccountName<'_> {
    /// Returns its name in the database.
    pub(super) fn key(self) -> String {
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
    tokens: TokenRefill,
    slots: SlotLeases,
}

impl SharedLimits {
    /// Returns the shared limits; `None` if no other process uses the database.
    pub(super) fn new(store: &Store, jobs: &Jobs, state: &Arc<Mutex<AdmissionState>>) -> Option<Self> {
        store.is_shared().then(|| Self {
            store: store.clone(),
            tokens: TokenRefill { state: Arc::clone(state), taking: Arc::default() },
            slots: SlotLeases::start(store, jobs, state),
        })
    }

    /// Leases slots for a request. Returns how many concurrent requests this replica may admit, and the wait, which must
    /// end when the request enters.
    pub(super) async fn lease_slots<'a>(
        &self,
        state: &'a Mutex<AdmissionState>,
        request: &'a AdmissionRequest<'a>,
    ) -> (ConcurrencyShare, Option<SlotWait<'a>>) {
        self.slots.wait(state, request).await
    }

    /// Takes tokens for the accounts of a request that have none. Gives up after [`MAX_WAIT`]: then this replica counts
    /// alone.
    pub(super) async fn refill(&self, request: &AdmissionRequest<'_>) {
        for (account, limit) in request.rate_limits() {
            if self.tokens.is_needed(account, limit)
                && tokio::time::timeout(MAX_WAIT, self.refill_account(account, limit)).await.is_err()
            {
                tracing::debug!("rate limit counted by this replica alone: the database is slow");
            }
        }
    }

    async fn refill_account(&self, account: AccountName<'_>, limit: u32) {
        let (store, bucket) = (self.store.clone(), account.key());
        self.tokens.refill(account, limit, move || take(&store, &bucket, limit)).await;
    }
}

/// Takes tokens; returns `None` if the database cannot be reached. Blocks.
fn take(store: &Store, bucket: &str, limit: u32) -> Option<TokenGrant> {
    let size = bucket_size(limit);
    let size = SharedBucketSize { capacity: size.capacity, interval: size.interval };
    let wanted = (limit / BATCH_PART).max(1);
    store.take_tokens(bucket, size, wanted).unwrap_or_else(|error| {
        let error = &error as &dyn std::error::Error;
        tracing::debug!(error, "rate limit counted by this replica alone");
        None
    })
}

/// The refill of the tokens of this replica, for one account after the other.
#[derive(Debug)]
struct TokenRefill {
    state: Arc<Mutex<AdmissionState>>,
    /// Held while tokens are taken, so that other requests use them.
    taking: Arc<AsyncMutex<()>>,
}

impl TokenRefill {
    fn is_needed(&self, account: AccountName<'_>, limit: u32) -> bool {
        self.state.lock().needs_tokens(account, limit, Instant::now())
    }

    /// Takes tokens for an account with `take`, which may block. The time of the caller includes that of the requests
    /// before it.
    ///
    /// A caller that no longer waits does not interrupt `take`. The tokens are then added for later requests, and none
    /// takes further ones before.
    async fn refill(
        &self,
        account: AccountName<'_>,
        limit: u32,
        take: impl FnOnce() -> Option<TokenGrant> + Send + 'static,
    ) {
        let taking = Arc::clone(&self.taking).lock_owned().await;
        // Another request may have taken tokens meanwhile.
        if self.is_needed(account, limit) {
            let (state, account) = (Arc::clone(&self.state), OwnedAccountName::from(account));
            let taken = websvc_transport::spawn_blocking(move || add_taken(&state, &account, take, taking));
            // The runtime shuts down if this fails.
            let _ = taken.await;
        }
    }
}

/// Adds the tokens that `take` returns, then lets the next request take some.
fn add_taken(
    state: &Mutex<AdmissionState>,
    account: &OwnedAccountName,
    take: impl FnOnce() -> Option<TokenGrant>,
    taking: OwnedMutexGuard<()>,
) {
    let started = Instant::now();
    if let Some(taken) = take() {
        state.lock().add_tokens(account.borrow(), taken, started);
    }
    drop(taking);
}

/// An [`AccountName`] that another thread can use.
#[derive(Debug)]
enum OwnedAccountName {
    Team(String),
    Key(KeyId),
}

impl From<AccountName<'_>> for OwnedAccountName {
    fn from(account: AccountName<'_>) -> Self {
        match account {
            AccountName::Team(team) => Self::Team(team.to_owned()),
            AccountName::Key(key) => Self::Key(key.clone()),
        }
    }
}

impl OwnedAccountName {
    fn borrow(&self) -> AccountName<'_> {
        match self {
            Self::Team(team) => AccountName::Team(team),
            Self::Key(key) => AccountName::Key(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::AdmissionLimits;
    use super::super::state::{AdmissionDecision, Quota, RejectReason};
    use super::*;

    const fn per_minute(requests: u32) -> Quota {
        Quota { requests_per_minute: Some(requests), concurrency: None }
    }

    /// A request of team `red` with a rate limit.
    fn shared_request(quota: Quota) -> AdmissionRequest<'static> {
        AdmissionRequest { team: "red", team_quota: quota, key: None, share: ConcurrencyShare::Leased }
    }

    #[test]
    fn requests_are_admitted_with_the_tokens_that_a_replica_has_taken() {
        let start = Instant::now();
        let mut state = AdmissionState::new(AdmissionLimits::default(), start);
        let (request, red) = (shared_request(per_minute(60)), AccountName::Team("red"));
        assert!(state.needs_tokens(red, 60, start));
        // Others have taken 50 before.
        let taken = TokenGrant { granted: 2, until_full: Duration::from_secs(52) };
        state.add_tokens(red, taken, start);
        assert!(!state.needs_tokens(red, 60, start));
        let (rate, decision) = state.enter(&request, start);
        assert!(matches!(decision, AdmissionDecision::Admitted { .. }));
        assert_eq!(rate.map(|rate| (rate.limit, rate.remaining, rate.reset.as_secs())), Some((60, 9, 52)));
        state.enter(&request, start);
        assert!(state.needs_tokens(red, 60, start));

        // The bucket was empty.
        let taken = TokenGrant { granted: 0, until_full: Duration::from_secs(60) };
        state.add_tokens(red, taken, start);
        let (rate, decision) = state.enter(&request, start);
        assert!(matches!(decision, AdmissionDecision::Rejected(RejectReason::Rate(_))));
        assert_eq!(rate.map(|rate| (rate.remaining, rate.next.as_secs())), Some((0, 1)));
        assert!(!state.needs_tokens(red, 60, start), "it has none before the next refill");
        let later = start + Duration::from_secs(1);
        assert!(state.needs_tokens(red, 60, later));
        // Without a response of the database, the replica counts alone.
        assert!(matches!(state.enter(&request, later).1, AdmissionDecision::Admitted { .. }));
        assert!(matches!(state.enter(&request, later).1, AdmissionDecision::Rejected(_)));
    }

    #[tokio::test]
    async fn tokens_of_a_request_that_gave_up_waiting_are_used_by_the_next_one() {
        let start = Instant::now();
        let state = Arc::new(Mutex::new(AdmissionState::new(AdmissionLimits::default(), start)));
        let tokens = TokenRefill { state: Arc::clone(&state), taking: Arc::default() };
        let red = AccountName::Team("red");
        let (respond, response) = std::sync::mpsc::channel();
        {
            let refill = std::pin::pin!(tokens.refill(red, 60, move || response.recv().ok()));
            assert!(futures_util::poll!(refill).is_pending(), "the database has not responded");
        }
        respond.send(TokenGrant { granted: 2, until_full: Duration::from_secs(52) }).unwrap();
        // Waits for the first one, and takes no others.
        tokens.refill(red, 60, || panic!("the replica has tokens")).await;
        assert!(!state.lock().needs_tokens(red, 60, start));
    }

    #[test]
    fn tokens_that_were_not_used_until_the_bucket_is_full_are_part_of_it() {
        let start = Instant::now();
        let mut state = AdmissionState::new(AdmissionLimits::default(), start);
        let red = AccountName::Team("red");
        state.add_tokens(red, TokenGrant { granted: 5, until_full: Duration::from_secs(5) }, start);
        assert!(!state.needs_tokens(red, 60, start + Duration::from_secs(4)));
        assert!(state.needs_tokens(red, 60, start + Duration::from_secs(5)));
    }
}
