//! Stage 4, admit: how many requests of whom are worked on at one time, and in a minute.
//!
//! One gate behind one lock: what happens under it takes less than a microsecond, and one place that knows everything
//! can be fair.

mod overload;
mod rate;
mod rejections;
mod state;
mod wait_queue;

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::Timestamp;
use tokio::sync::Semaphore;
use websvc_store::{Caller, KeyId, Team};
use websvc_types::ErrorCode;
use websvc_validate::Rejection;

use self::rate::seconds;
use self::rejections::Rejections;
use self::state::{AdmissionDecision, AdmissionRequest, AdmissionState, Quota, RejectReason};
use self::wait_queue::QueueTicket;
use crate::response::ApiError;

pub(crate) use self::rate::RateLimitStatus;
pub(crate) use self::state::AdmissionMetrics;

/// Seconds after which a client may try again that was turned away because too much was in work.
const RETRY_AFTER_S: u64 = 1;

/// A body of at most this many bytes is read in a fraction of the half millisecond that an async thread may be held.
const QUICK_BODY_BYTES: usize = 16 * 1024;

/// A body above this many bytes is large: as a tree of values it may take twenty times as much.
const LARGE_BODY_BYTES: usize = 1024 * 1024;

/// So many large bodies are read into trees at one time.
const LARGE_AT_ONCE: usize = 2;

/// How much is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdmissionLimits {
    /// Requests per minute of a team of which nothing else is said; `None` is no bound.
    pub requests_per_minute: Option<u32>,
    /// Requests at a time of a team of which nothing else is said; `None` is no bound of its own.
    pub concurrency: Option<u32>,
    /// Requests at a time of all teams; at least 1.
    pub total_concurrency: usize,
    /// Requests that wait for their turn when so many are in work.
    pub queue: usize,
    /// How long one may wait.
    pub queue_wait: Duration,
    /// Requests that compute at one time; at least 1.
    pub processors: usize,
    /// How long after its arrival a request may wait for a processor when the queue stands; with zero for half of its
    /// `timeout`, as while it does not stand.
    pub overload_wait: Duration,
    /// The queue stands when it was not empty for so long.
    pub overload_after: Duration,
}

impl Default for AdmissionLimits {
    fn default() -> Self {
        Self {
            requests_per_minute: None,
            concurrency: None,
            total_concurrency: 256,
            queue: 1024,
            queue_wait: Duration::from_secs(2),
            processors: std::thread::available_parallelism().map_or(2, usize::from),
            overload_wait: Duration::from_millis(800),
            overload_after: Duration::from_secs(5),
        }
    }
}

/// The bounds on requests in work.
#[derive(Debug)]
pub(crate) struct Admission {
    gate: Arc<Mutex<AdmissionState>>,
    rejections: Rejections,
    large: Semaphore,
}

/// What admission says to a request.
#[derive(Debug)]
pub(crate) struct Admitted {
    /// How far the caller has come with its requests per minute, when they are bounded; for the headers of the answer,
    /// whatever that is.
    pub(crate) rate: Option<RateLimitStatus>,
    /// The right to be worked on, or 429.
    pub(crate) permit: Result<Permit, ApiError>,
}

/// The right to be worked on; dropping it lets the next one in.
#[derive(Debug)]
pub(crate) struct Permit {
    gate: Arc<Mutex<AdmissionState>>,
    team: Option<Arc<Team>>,
    /// The key, when it has bounds of its own.
    key: Option<KeyId>,
    /// Its number in the line for places in work.
    number: u64,
}

/// The right to compute, or to wait for that; dropping it lets the next one compute.
#[derive(Debug)]
pub(crate) struct ComputePermit {
    gate: Arc<Mutex<AdmissionState>>,
    team: Option<Arc<Team>>,
    /// Its number in the line for processors.
    number: u64,
}

/// For how long a turn is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermitScope {
    /// To the end: there is nothing else to wait for than the processors of this machine.
    WholeRequest,
    /// Until the work first waits for something, as for the network.
    UntilFirstPending,
}

impl Admission {
    pub(crate) fn new(limits: AdmissionLimits) -> Self {
        let limits = AdmissionLimits {
            total_concurrency: limits.total_concurrency.max(1),
            processors: limits.processors.max(1),
            ..limits
        };
        let now = Instant::now();
        let gate = Arc::new(Mutex::new(AdmissionState::new(limits, now)));
        Self { gate, rejections: Rejections::new(now), large: Semaphore::new(LARGE_AT_ONCE) }
    }

    pub(crate) fn figures(&self) -> AdmissionMetrics {
        lock(&self.gate).figures(Instant::now())
    }

    /// Returns how many requests of a caller's team wait for their turn.
    pub(crate) fn queued_for(&self, caller: Option<&Caller>) -> usize {
        lock(&self.gate).waiting_of(team_name(caller.map(|caller| &caller.team)))
    }

    /// Reads a body: in place when that is quick, else where it holds nobody up, and large ones a few at a time.
    ///
    /// # Errors
    /// What `read` refuses, and 500 when the service is stopping.
    pub(crate) async fn decode_body<T: Send + 'static>(
        &self,
        body: Bytes,
        read: impl FnOnce(&[u8]) -> Result<T, Rejection> + Send + 'static,
    ) -> Result<T, ApiError> {
        if body.len() <= QUICK_BODY_BYTES {
            return Ok(read(&body)?);
        }
        let is_large = body.len() > LARGE_BODY_BYTES;
        self.decode_apart(body, is_large, read).await
    }

    /// Reads a body like [`decode`](Self::decode); one with path patterns like a large one, because compiling them takes
    /// longer than their length tells.
    ///
    /// # Errors
    /// As there.
    pub(crate) async fn decode_with_patterns<T: Send + 'static>(
        &self,
        body: Bytes,
        read: impl FnOnce(&[u8]) -> Result<T, Rejection> + Send + 'static,
    ) -> Result<T, ApiError> {
        // A backslash may be that of an escaped letter of the name.
        let has_patterns = body.windows(5).any(|part| part == b"Paths") || body.contains(&b'\\');
        if has_patterns {
            self.decode_apart(body, true, read).await
        } else {
            self.decode_body(body, read).await
        }
    }

    async fn decode_apart<T: Send + 'static>(
        &self,
        body: Bytes,
        is_large: bool,
        read: impl FnOnce(&[u8]) -> Result<T, Rejection> + Send + 'static,
    ) -> Result<T, ApiError> {
        let _permit = if is_large { self.large.acquire().await.ok() } else { None };
        let reading = tokio::task::spawn_blocking(move || read(&body));
        Ok(reading.await.map_err(|error| ApiError::internal(&error, "the body could not be read"))??)
    }

    /// Admits a request of a caller, all those without one as of one team; waits for its turn while more is in work
    /// than may be, a little while. When there are many rejections, theirs is a wait, too.
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
            let bounds = Quota {
                requests_per_minute: caller.rights.requests_per_minute,
                concurrency: caller.rights.concurrency,
            };
            (bounds != Quota::default()).then_some((&caller.key_id, bounds))
        });
        let team = caller.map(|caller| &caller.team);
        let (rate, entry) = {
            let mut gate = lock(&self.gate);
            let of_team = Quota {
                requests_per_minute: team
                    .and_then(|team| team.requests_per_minute)
                    .or(gate.limits().requests_per_minute),
                concurrency: team.and_then(|team| team.concurrency).or(gate.limits().concurrency),
            };
            gate.enter(&AdmissionRequest { team: team_name(team), of_team, key }, now)
        };
        let (number, turn) = match entry {
            AdmissionDecision::Refused(refusal) => return Admitted { rate, permit: Err(failure(refusal)) },
            AdmissionDecision::Admitted { number } => (number, None),
            AdmissionDecision::Waiting { number, turn, at_most } => (number, Some((turn, at_most))),
        };
        // From here on it leaves the gate when this is dropped, at whatever point.
        let permit = Permit {
            gate: Arc::clone(&self.gate),
            team: team.cloned(),
            key: key.map(|(key, _)| key.clone()),
            number,
        };
        if let Some((turn, at_most)) = turn
            && !matches!(tokio::time::timeout(at_most, turn).await, Ok(Ok(())))
            && lock(&self.gate).cancel_wait(team_name(team), number, Instant::now())
        {
            return Admitted { rate, permit: Err(failure(RejectReason::Overload)) };
        }
        Admitted { rate, permit: Ok(permit) }
    }

    /// Waits until it is the turn of an admitted request to compute, for a part of its `timeout` since it arrived.
    ///
    /// # Errors
    /// 429 when it would be too late.
    pub(crate) async fn acquire_compute(
        &self,
        caller: Option<&Caller>,
        timeout: Duration,
        arrived: Instant,
    ) -> Result<ComputePermit, ApiError> {
        let team = caller.map(|caller| &caller.team);
        let (QueueTicket { number, turn }, max_wait) =
            lock(&self.gate).request_compute(team_name(team), timeout, Instant::now());
        let held = ComputePermit { gate: Arc::clone(&self.gate), team: team.cloned(), number };
        if let Some(turn) = turn {
            let left = max_wait.saturating_sub(arrived.elapsed());
            if !matches!(tokio::time::timeout(left, turn).await, Ok(Ok(())))
                && lock(&self.gate).give_up_computing(team_name(team), number, Instant::now())
            {
                return Err(failure(RejectReason::Overload));
            }
        }
        Ok(held)
    }
}

impl ComputePermit {
    /// Does what the turn is for.
    pub(crate) async fn run<F: Future>(self, held: PermitScope, work: F) -> F::Output {
        let (mut turn, mut work) = (Some(self), pin!(work));
        std::future::poll_fn(|cx| {
            let polled = work.as_mut().poll(cx);
            if matches!((&polled, held), (Poll::Pending, PermitScope::UntilFirstPending)) {
                turn = None;
            }
            polled
        })
        .await
    }
}

impl Drop for ComputePermit {
    fn drop(&mut self) {
        lock(&self.gate).release_compute(team_name(self.team.as_ref()), self.number, Instant::now());
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Self { gate, team, key, number } = self;
        lock(gate).leave(team_name(team.as_ref()), key.as_ref(), *number, Instant::now());
    }
}

/// Returns the name under which a team is counted; those without a key are one.
fn team_name(team: Option<&Arc<Team>>) -> &str {
    team.map_or("", |team| team.name.as_str())
}

/// Returns the answer to a request that is turned away, in words that clients read: they look for "retry after 7s".
fn failure(refusal: RejectReason) -> ApiError {
    let (text, after_s) = match refusal {
        RejectReason::Rate(rate) => {
            let RateLimitStatus { limit, remaining, reset, next } = rate;
            // A client that comes in the same second would be turned away again.
            let after_s = seconds(next).max(1);
            let resets = Timestamp::now().checked_add(reset).unwrap_or(Timestamp::MAX);
            let text = format!(
                "{} of {limit} requests per minute are consumed, {remaining} remain, retry after {after_s}s, \
                 resets at {}",
                limit.saturating_sub(remaining),
                resets.strftime("%Y-%m-%dT%H:%M:%SZ")
            );
            (text, after_s)
        }
        RejectReason::Concurrency { limit } => {
            let text = format!(
                "no more than {limit} requests are worked on at one time, retry after {RETRY_AFTER_S}s"
            );
            (text, RETRY_AFTER_S)
        }
        RejectReason::Overload => {
            let text =
                format!("the service works on as many requests as it may, retry after {RETRY_AFTER_S}s");
            (text, RETRY_AFTER_S)
        }
    };
    ApiError::new(ErrorCode::RateLimited, format!("Rate limit exceeded: {text}")).retry_after(after_s)
}

fn lock(gate: &Mutex<AdmissionState>) -> MutexGuard<'_, AdmissionState> {
    gate.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod closed_loop;
#[cfg(test)]
mod cost;
#[cfg(test)]
mod tests;
