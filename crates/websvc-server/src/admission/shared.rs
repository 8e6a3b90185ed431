//! Limits that several replicas share. Of requests per minute, each takes a few at once from the bucket of the account in
//! the database, and admits them without asking again. Of concurrent requests, it [leases slots](super::slots).
//!
//! While the database does not respond, each replica continues with its own count.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;
use websvc_jobs::Jobs;
use websvc_store::{KeyId, SharedBucketSize, Store, TakenTokens};

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
    /// Held by the request that takes tokens, so that the others use its tokens.
    taking: AsyncMutex<()>,
    slots: SlotLeases,
}

impl SharedLimits {
    /// Returns the shared limits; `None` if no other process uses the database.
    pub(super) fn of(store: &Store, jobs: &Jobs, state: &Arc<Mutex<AdmissionState>>) -> Option<Self> {
        store.is_shared().then(|| Self {
            store: store.clone(),
            taking: AsyncMutex::new(()),
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
    pub(super) async fn refill(&self, state: &Mutex<AdmissionState>, request: &AdmissionRequest<'_>) {
        for (account, limit) in request.rate_limits() {
            if state.lock().needs_tokens(account, limit, Instant::now())
                && tokio::time::timeout(MAX_WAIT, self.refill_account(state, account, limit)).await.is_err()
            {
                tracing::debug!("rate limit counted by this replica alone: the database is slow");
            }
        }
    }

    /// Takes tokens, one request after the other. The time of the caller includes that of the requests before it.
    async fn refill_account(&self, state: &Mutex<AdmissionState>, account: AccountName<'_>, limit: u32) {
        let _taking = self.taking.lock().await;
        let started = Instant::now();
        // Another request may have taken tokens meanwhile.
        if state.lock().needs_tokens(account, limit, started)
            && let Some(taken) = self.take(account, limit).await
        {
            state.lock().add_tokens(account, taken, started);
        }
    }

    /// Takes tokens; returns `None` if the database cannot be reached.
    async fn take(&self, account: AccountName<'_>, limit: u32) -> Option<TakenTokens> {
        let (store, bucket) = (self.store.clone(), account.key());
        let size = bucket_size(limit);
        let size = SharedBucketSize { capacity: size.capacity, interval: size.interval };
        let wanted = (limit / BATCH_PART).max(1);
        let taking = tokio::task::spawn_blocking(move || store.take_tokens(&bucket, size, wanted));
        match taking.await {
            Ok(Ok(taken)) => taken,
            Ok(Err(error)) => {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(error, "rate limit counted by this replica alone");
                None
            }
            Err(_runtime_shuts_down) => None,
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
        let taken = TakenTokens { granted: 2, until_full: Duration::from_secs(52) };
        state.add_tokens(red, taken, start);
        assert!(!state.needs_tokens(red, 60, start));
        let (rate, decision) = state.enter(&request, start);
        assert!(matches!(decision, AdmissionDecision::Admitted { .. }));
        assert_eq!(rate.map(|rate| (rate.limit, rate.remaining, rate.reset.as_secs())), Some((60, 9, 52)));
        state.enter(&request, start);
        assert!(state.needs_tokens(red, 60, start));

        // The bucket was empty.
        let taken = TakenTokens { granted: 0, until_full: Duration::from_secs(60) };
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

    #[test]
    fn tokens_that_were_not_used_until_the_bucket_is_full_are_part_of_it() {
        let start = Instant::now();
        let mut state = AdmissionState::new(AdmissionLimits::default(), start);
        let red = AccountName::Team("red");
        state.add_tokens(red, TakenTokens { granted: 5, until_full: Duration::from_secs(5) }, start);
        assert!(!state.needs_tokens(red, 60, start + Duration::from_secs(4)));
        assert!(state.needs_tokens(red, 60, start + Duration::from_secs(5)));
    }
}
