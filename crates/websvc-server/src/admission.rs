//! Stage 4, admit: the concurrency limits and rate limits of teams and keys.
//!
//! One lock protects all of its state. What runs under the lock takes less than a microsecond, and only code that sees
//! all requests can be fair.

mod activity;
mod overload;
mod rate;
mod rejections;
mod shared;
mod slots;
mod state;

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use websvc_jobs::Jobs;
use websvc_store::{Caller, KeyId, Store, Team};
use websvc_transport::QueueTicket;
use websvc_types::ErrorCode;
use websvc_validate::Rejection;

use self::rate::seconds;
use self::rejections::Rejections;
use self::shared::SharedLimits;
use self::state::{
    AdmissionDecision, AdmissionRequest, AdmissionState, ConcurrencyShare, Quota, RejectReason,
};
use crate::blocking::run_blocking;
use crate::response::ApiError;

pub(crate) use self::rate::RateLimitStatus;
pub(crate) use self::state::AdmissionMetrics;

/// `Retry-After` of a request that was rejected because too many are in flight, in seconds.
const RETRY_AFTER_S: u64 = 1;

/// A body of at most this many bytes is decoded in a fraction of the half millisecond for which an async thread may be
/// blocked.
pub(crate) const SMALL_BODY_BYTES: usize = 16 * 1024;

/// A body above this many bytes is large: as a tree of values it may need sixteen times as much memory.
const LARGE_BODY_BYTES: usize = 64 * 1024;

/// The maximum number of large bodies that are decoded at the same time.
const MAX_LARGE_BODIES: usize = 2;

/// The limits of admission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdmissionLimits {
    /// Requests per minute of a team without a limit of its own; `None` is unlimited.
    pub requests_per_minute: Option<u32>,
    /// Concurrent requests of a team without a limit of its own; `None` is unlimited.
    pub concurrency: Option<u32>,
    /// Concurrent requests of all teams; at least 1.
    pub total_concurrency: usize,
    /// Requests that may be queued while `total_concurrency` are in flight.
    pub queue_len: usize,
    /// The maximum time in that queue.
    pub queue_wait: Duration,
    /// Searches that may compute at the same time; at least 1.
    pub search_concurrency: usize,
    /// The maximum time from the arrival of a search until it may compute, during overload. It is half of its `timeout`
    /// without overload, or if this is zero.
    pub overload_target: Duration,
    /// The time for which searches must be queued without interruption until it counts as overload.
    pub overload_interval: Duration,
}

impl Default for AdmissionLimits {
    fn default() -> Self {
        Self {
            requests_per_minute: None,
            concurrency: None,
            total_concurrency: 256,
            queue_len: 1024,
            queue_wait: Duration::from_secs(2),
            search_concurrency: std::thread::available_parallelism().map_or(2, usize::from),
            overload_target: Duration::from_millis(800),
            overload_interval: Duration::from_secs(5),
        }
    }
}

/// Admits, queues or rejects requests.
#[derive(Debug)]
pub(crate) struct Admission {
    state: Arc<Mutex<AdmissionState>>,
    rejections: Rejections,
    large_bodies: Arc<Semaphore>,
    /// The limits that replicas share; `None` if this is the only process.
    shared: Option<SharedLimits>,
}

/// The result of admission.
#[derive(Debug)]
pub(crate) struct Admitted {
    /// The rate limit of the caller, if there is one. Every response has its headers.
    pub(crate) rate: Option<RateLimitStatus>,
    /// The permit, or 429.
    pub(crate) permit: Result<Permit, ApiError>,
}

/// The right of a request to be in flight. Dropping it admits the next queued request.
#[derive(Debug)]
pub(crate) struct Permit {
    state: Arc<Mutex<AdmissionState>>,
    team: Option<Arc<Team>>,
    /// The key, if it has limits of its own.
    key: Option<KeyId>,
    /// The number of its ticket in the queue of requests.
    number: u64,
}

/// The right of a search to compute. Dropping it gives the right to the next queued search.
#[derive(Debug)]
pub(crate) struct ComputePermit {
    state: Arc<Mutex<AdmissionState>>,
    team: Option<Arc<Team>>,
    /// The number of its ticket in the queue of searches.
    number: u64,
}

/// The time for which a search keeps its [`ComputePermit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermitScope {
    /// The whole search: it needs nothing but the processors of this machine.
    WholeRequest,
    /// Until the search first waits, for example for the network.
    UntilFirstPending,
}

impl Admission {
    pub(crate) fn new(limits: AdmissionLimits) -> Self {
        let limits = AdmissionLimits {
            total_concurrency: limits.total_concurrency.max(1),
            search_concurrency: limits.search_concurrency.max(1),
            ..limits
        };
        let now = Instant::now();
        Self {
            state: Arc::new(Mutex::new(AdmissionState::new(limits, now))),
            rejections: Rejections::new(now),
            large_bodies: Arc::new(Semaphore::new(MAX_LARGE_BODIES)),
            shared: None,
        }
    }

    /// Shares the rate and concurrency limits with the other replicas, if others may use the database.
    pub(crate) fn share_limits(self, store: &Store, jobs: &Jobs) -> Self {
        Self { shared: SharedLimits::new(store, jobs, &self.state), ..self }
    }

    pub(crate) fn metrics(&self) -> AdmissionMetrics {
        self.state.lock().metrics(Instant::now())
    }

    /// Returns the number of queued requests of the caller's team.
    pub(crate) fn queued_for(&self, caller: Option<&Caller>) -> usize {
        self.state.lock().queued_for(team_name(caller.map(|caller| &caller.team)))
    }

    /// Decodes a body: a small one on this thread, others on the blocking pool, large ones a few at a time. A body with a
    /// JSON Schema is not small, because the schema is compiled, and with regular expressions in it, it is a large one.
    ///
    /// # Errors
    /// The rejection of `decode`, and 500 if the service is shutting down.
    pub(crate) async fn decode_body<T: Send + 'static>(
        &self,
        body: Bytes,
        decode: impl FnOnce(&[u8]) -> Result<T, Rejection> + Send + 'static,
    ) -> Result<T, ApiError> {
        let is_large = body.len() > LARGE_BODY_BYTES || has_word(&body, b"pattern");
        if body.len() <= SMALL_BODY_BYTES && !is_large && !has_word(&body, b"schema") {
            return Ok(decode(&body)?);
        }
        self.decode_blocking(body, is_large, decode).await
    }

    /// Decodes a body like [`decode_body`](Self::decode_body). A body with path patterns counts as a large one, because
    /// compiling a short pattern may take long.
    ///
    /// # Errors
    /// As for [`decode_body`](Self::decode_body).
    pub(crate) async fn decode_with_patterns<T: Send + 'static>(
        &self,
        body: Bytes,
        decode: impl FnOnce(&[u8]) -> Result<T, Rejection> + Send + 'static,
    ) -> Result<T, ApiError> {
        // The field names end in `Paths`.
        if has_word(&body, b"Paths") {
            self.decode_blocking(body, true, decode).await
        } else {
            self.decode_body(body, decode).await
        }
    }

    async fn decode_blocking<T: Send + 'static>(
        &self,
        body: Bytes,
        is_large: bool,
        decode: impl FnOnce(&[u8]) -> Result<T, Rejection> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = if is_large { Arc::clone(&self.large_bodies).acquire_owned().await.ok() } else { None };
        // The work continues without a client that has left, so it keeps its permit.
        let decoding = run_blocking(move || {
            let _permit = permit;
            decode(&body)
        });
        Ok(decoding.await??)
    }

    /// Admits or rejects a request; queues it for a short time if too many are in flight. All requests without a caller
    /// count as those of one team. If there are many rejections, they are delayed.
    pub(crate) async fn admit(&self, caller: Option<&Caller>) -> Admitted {
        let arrived = Instant::now();
        let admitted = self.admit_at(caller, arrived).await;
        if admitted.permit.is_err() {
            self.rejections.pace(arrived, Instant::now()).await;
        }
        admitted
    }

    async fn admit_at(&self, caller: Option<&Caller>, now: Instant) -> Admitted {
        let key = caller.and_then(|caller| {
            let quota = Quota {
                requests_per_minute: caller.rights.requests_per_minute,
                concurrency: caller.rights.concurrency,
            };
            (quota != Quota::default()).then_some((&caller.key_id, quota))
        });
        let team = caller.map(|caller| &caller.team);
        let limits = *self.state.lock().limits();
        let team_quota = Quota {
            requests_per_minute: team
                .and_then(|team| team.requests_per_minute)
                .or(limits.requests_per_minute),
            concurrency: team.and_then(|team| team.concurrency).or(limits.concurrency),
        };
        let request =
            AdmissionRequest { team: team_name(team), team_quota, key, share: ConcurrencyShare::Whole };
        let (rate, decision) = match &self.shared {
            Some(shared) => self.enter_shared(shared, &request).await,
            None => self.state.lock().enter(&request, now),
        };
        let (number, queued) = match decision {
            AdmissionDecision::Rejected(reason) => return Admitted { rate, permit: Err(rejection(reason)) },
            AdmissionDecision::Admitted { number } => (number, None),
            AdmissionDecision::Queued { number, admitted, max_wait } => (number, Some((admitted, max_wait))),
        };
        // From here on, dropping the permit makes the request leave, at whatever point it is cancelled.
        let permit = Permit {
            state: Arc::clone(&self.state),
            team: team.cloned(),
            key: key.map(|(key, _)| key.clone()),
            number,
        };
        if let Some((admitted, max_wait)) = queued
            && !matches!(tokio::time::timeout(max_wait, admitted).await, Ok(Ok(())))
            && self.state.lock().cancel_wait(team_name(team), number, Instant::now())
        {
            return Admitted { rate, permit: Err(rejection(RejectReason::Overload)) };
        }
        Admitted { rate, permit: Ok(permit) }
    }

    /// Lets a request enter with the limits that the replicas share.
    async fn enter_shared(
        &self,
        shared: &SharedLimits,
        request: &AdmissionRequest<'_>,
    ) -> (Option<RateLimitStatus>, AdmissionDecision) {
        shared.refill(request).await;
        let (share, wait) = shared.lease_slots(&self.state, request).await;
        let mut state = self.state.lock();
        if let Some(wait) = wait {
            wait.end(&mut state);
        }
        state.enter(&AdmissionRequest { share, ..*request }, Instant::now())
    }

    /// Waits for the right of an admitted search to compute, for a part of its `timeout` since it arrived.
    ///
    /// # Errors
    /// 429 if it takes longer.
    pub(crate) async fn acquire_compute(
        &self,
        caller: Option<&Caller>,
        timeout: Duration,
        arrived: Instant,
    ) -> Result<ComputePermit, ApiError> {
        let team = caller.map(|caller| &caller.team);
        let (QueueTicket { number, admitted, .. }, max_wait) =
            self.state.lock().request_compute(team_name(team), timeout, Instant::now());
        let permit = ComputePermit { state: Arc::clone(&self.state), team: team.cloned(), number };
        if let Some(admitted) = admitted {
            let remaining = max_wait.saturating_sub(arrived.elapsed());
            if !matches!(tokio::time::timeout(remaining, admitted).await, Ok(Ok(())))
                && self.state.lock().cancel_compute_wait(team_name(team), number, Instant::now())
            {
                return Err(rejection(RejectReason::Overload));
            }
        }
        Ok(permit)
    }
}

impl ComputePermit {
    /// Runs a search, and releases the permit according to `scope`.
    pub(crate) async fn run<F: Future>(self, scope: PermitScope, search: F) -> F::Output {
        let (mut permit, mut search) = (Some(self), pin!(search));
        std::future::poll_fn(|cx| {
            let polled = search.as_mut().poll(cx);
            if matches!((&polled, scope), (Poll::Pending, PermitScope::UntilFirstPending)) {
                permit = None;
            }
            polled
        })
        .await
    }
}

impl Drop for ComputePermit {
    fn drop(&mut self) {
        let Self { state, team, number } = self;
        state.lock().release_compute(team_name(team.as_ref()), *number, Instant::now());
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Self { state, team, key, number } = self;
        state.lock().leave(team_name(team.as_ref()), key.as_ref(), *number, Instant::now());
    }
}

/// Returns whether a body may have a field whose name contains a word. A letter of the name may be escaped.
fn has_word(body: &[u8], word: &[u8]) -> bool {
    let is_escaped_letter = |text: &[u8]| text.starts_with(b"\\u00") && matches!(text[4], b'4'..=b'7');
    body.windows(word.len()).any(|text| text == word)
        || (body.contains(&b'\\') && body.windows(5).any(is_escaped_letter))
}

/// Returns the name under which a team is counted. Requests without a key have an empty one.
fn team_name(team: Option<&Arc<Team>>) -> &str {
    team.map_or("", |team| team.name.as_str())
}

/// Returns the 429 of a rejected request. Clients look for "retry after 7s" in its text.
fn rejection(reason: RejectReason) -> ApiError {
    let (text, after_s) = match reason {
        RejectReason::Rate(RateLimitStatus { limit, remaining, reset, next }) => {
            // With 0, a client that retries in the same second would be rejected again.
            let after_s = seconds(next).max(1);
            let resets_at = Timestamp::now().checked_add(reset).unwrap_or(Timestamp::MAX);
            let text = format!(
                "{} of {limit} requests per minute are consumed, {remaining} remain, retry after {after_s}s, \
                 resets at {}",
                limit.saturating_sub(remaining),
                resets_at.strftime("%Y-%m-%dT%H:%M:%SZ")
            );
            (text, after_s)
        }
        RejectReason::Concurrency { limit } => {
            let text = format!("concurrency limit of {limit} reached, retry after {RETRY_AFTER_S}s");
            (text, RETRY_AFTER_S)
        }
        RejectReason::Overload => {
            (format!("the server is overloaded, retry after {RETRY_AFTER_S}s"), RETRY_AFTER_S)
        }
    };
    ApiError::new(ErrorCode::RateLimited, format!("Rate limit exceeded: {text}")).retry_after(after_s)
}

#[cfg(test)]
mod closed_loop;
#[cfg(test)]
mod cost;
#[cfg(test)]
mod tests;
