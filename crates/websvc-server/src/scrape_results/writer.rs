//! The thread that writes results to the database, so that no response waits for it. It also deletes expired rows.
//!
//! Its queue is bounded. While the database does not respond or is too slow, results are dropped: this process still has
//! them in memory, and other processes respond with 404.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use websvc_stage::Counter;
use websvc_store::{ScrapeResult, ScrapeResultLimits, Store, StoreError};

/// The maximum number of results in the queue.
const MAX_QUEUED: usize = 1_000;

/// The maximum size of the results in the queue and of those that are being written, compressed.
const MAX_QUEUED_BYTES: usize = 32 * 1024 * 1024;

/// The limits of the results of all processes in the database.
const LIMITS: ScrapeResultLimits = ScrapeResultLimits { max_bytes: 256 * 1024 * 1024, max_results: 100_000 };

/// The maximum number of results of a transaction.
const MAX_BATCH: usize = 64;

/// The interval in which expired rows are deleted and the limits are applied.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The size of written results after which the limits are applied earlier, so that they are exceeded only by as much.
const SWEEP_BYTES: usize = 8 * 1024 * 1024;

/// The pause after a failed write, in which results are dropped.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);

/// The minimum time between two warnings about dropped results.
const WARNING_INTERVAL: Duration = Duration::from_secs(30);

/// The counts of results for the database.
#[derive(Debug, Default)]
pub(crate) struct ResultWriteMetrics {
    pub(crate) written: Counter,
    /// Not written, because the queue was full or the database did not respond.
    pub(crate) dropped: Counter,
}

#[derive(Debug, Default)]
struct Counters {
    queued_bytes: AtomicUsize,
    metrics: ResultWriteMetrics,
}

/// The owner of the thread. Dropping this writes the queued results and joins the thread.
#[derive(Debug)]
pub(super) struct ResultWriter {
    queue: Option<SyncSender<ScrapeResult>>,
    counters: Arc<Counters>,
    thread: Option<JoinHandle<()>>,
}

impl ResultWriter {
    /// Starts the thread. If the system cannot start one, all results are dropped.
    pub(super) fn start(store: Store) -> Self {
        let (queue, queued) = sync_channel(MAX_QUEUED);
        let counters = Arc::new(Counters::default());
        let writing = Writing::new(store, Arc::clone(&counters));
        let thread = std::thread::Builder::new()
            .name("websvc-results".to_owned())
            .spawn(move || writing.run(&queued))
            .inspect_err(|error| {
                let error: &(dyn Error + 'static) = error;
                tracing::error!(
                    error,
                    "scrape results are not written to the database: no thread could be started"
                );
            });
        Self { queue: Some(queue), counters, thread: thread.ok() }
    }

    /// Queues a result, or drops it if the queue is full.
    pub(super) fn write(&self, result: ScrapeResult) {
        let bytes = result.body.len();
        let queued_bytes = self.counters.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        let is_queued = queued_bytes + bytes <= MAX_QUEUED_BYTES
            && self.queue.as_ref().is_some_and(|queue| queue.try_send(result).is_ok());
        if !is_queued {
            self.counters.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.counters.metrics.dropped.add(1);
        }
    }

    pub(super) fn metrics(&self) -> &ResultWriteMetrics {
        &self.counters.metrics
    }
}

impl Drop for ResultWriter {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic of the thread.
            let _ = thread.join();
        }
    }
}

/// The state of the thread.
struct Writing {
    store: Store,
    counters: Arc<Counters>,
    /// The size of the results written since the last sweep.
    unswept_bytes: usize,
    next_sweep: Instant,
    /// The end of the pause after a failure.
    paused_until: Option<Instant>,
    /// The results that were dropped before the last warning.
    warned_about: u64,
    next_warning: Instant,
}

impl Writing {
    fn new(store: Store, counters: Arc<Counters>) -> Self {
        let now = Instant::now();
        Self {
            store,
            counters,
            unswept_bytes: 0,
            next_sweep: now + SWEEP_INTERVAL,
            paused_until: None,
            warned_about: 0,
            next_warning: now,
        }
    }

    /// Writes results until the queue is closed and empty.
    fn run(mut self, queue: &Receiver<ScrapeResult>) {
        loop {
            match queue.recv_timeout(self.next_sweep.saturating_duration_since(Instant::now())) {
                Ok(first) => {
                    let batch: Vec<_> =
                        std::iter::once(first).chain(queue.try_iter().take(MAX_BATCH - 1)).collect();
                    self.write(&batch);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.unswept_bytes >= SWEEP_BYTES || Instant::now() >= self.next_sweep {
                self.sweep();
            }
            self.warn_about_drops();
        }
    }

    /// Writes results, or drops them if the database does not respond.
    fn write(&mut self, batch: &[ScrapeResult]) {
        let bytes = batch.iter().map(|result| result.body.len()).sum();
        let is_paused = self.paused_until.is_some_and(|end| Instant::now() < end);
        let is_written = !is_paused && self.try_write(batch);
        let metrics = &self.counters.metrics;
        let counter = if is_written { &metrics.written } else { &metrics.dropped };
        counter.add(batch.len() as u64);
        self.counters.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
        if is_written {
            self.unswept_bytes += bytes;
        }
    }

    fn try_write(&mut self, batch: &[ScrapeResult]) -> bool {
        match self.store.put_scrape_results(batch) {
            Ok(()) => {
                self.paused_until = None;
                true
            }
            Err(error) => {
                // One warning for an outage, not one for each attempt.
                if self.paused_until.is_none() {
                    warn(&error, "scrape results could not be written to the database");
                }
                self.paused_until = Some(Instant::now() + FAILURE_PAUSE);
                false
            }
        }
    }

    fn sweep(&mut self) {
        self.unswept_bytes = 0;
        self.next_sweep = Instant::now() + SWEEP_INTERVAL;
        let now_ms = self.store.now_ms();
        let swept = self.store.evict_scrape_results(&LIMITS, now_ms);
        let swept = swept.and_then(|_| self.store.delete_expired_dashboard_sessions(now_ms));
        if let Err(error) = swept {
            warn(
                &error,
                "expired scrape results and sessions could not be deleted, the service tries again in a minute",
            );
        }
    }

    fn warn_about_drops(&mut self) {
        let dropped = self.counters.metrics.dropped.get();
        if dropped > self.warned_about && Instant::now() >= self.next_warning {
            tracing::warn!(
                results = dropped - self.warned_about,
                "scrape results were dropped because the database does not respond or is too slow: only this process \
                 can return them"
            );
            self.warned_about = dropped;
            self.next_warning = Instant::now() + WARNING_INTERVAL;
        }
    }
}

fn warn(error: &StoreError, what: &'static str) {
    let error: &(dyn Error + 'static) = error;
    tracing::warn!(error, "{what}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(bytes: usize) -> ScrapeResult {
        ScrapeResult { id: String::new(), team: String::new(), expires_at_ms: 0, body: vec![0; bytes].into() }
    }

    #[test]
    fn results_that_cannot_be_written_are_dropped_and_counted() {
        let dir = tempfile::tempdir().unwrap();
        // A database file has no table of results, so every write fails.
        let writer = ResultWriter::start(Store::open(dir.path()).unwrap());
        let counters = Arc::clone(&writer.counters);
        writer.write(result(MAX_QUEUED_BYTES + 1));
        assert_eq!(writer.metrics().dropped.get(), 1, "it does not fit into the queue");
        for _ in 0..3 {
            writer.write(result(10));
        }
        drop(writer);
        let ResultWriteMetrics { written, dropped } = &counters.metrics;
        assert_eq!((written.get(), dropped.get()), (0, 4));
        assert_eq!(counters.queued_bytes.load(Ordering::Relaxed), 0);
    }
}
