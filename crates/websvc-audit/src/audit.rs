//! The audit log of a process: records events, delivers them to the sinks, and has metrics.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use websvc_notify::webhook::{Backoff, BackoffSchedule};
use websvc_transport::spawn_blocking;

use crate::error::{AuditError, SinkError};
use crate::event::Event;
use crate::sink::Sink;
use crate::spool::Spool;

/// The interval at which the spool is synced to disk while events are recorded.
const SYNC_INTERVAL: Duration = Duration::from_millis(200);

/// The interval at which [`Audit::record_and_wait`] looks for the event.
const RECEIPT_INTERVAL: Duration = Duration::from_millis(50);

/// The backoff of a failed sink.
const BACKOFF: BackoffSchedule =
    BackoffSchedule { initial: Duration::from_millis(250), factor: 2, max: Duration::from_secs(60) };

/// The sinks of audit events, and the limit of the spool.
#[derive(Debug)]
pub struct AuditConfig {
    /// The sinks, at most one of each kind, because the cursor of a sink is stored under its name.
    pub sinks: Vec<Sink>,
    /// The maximum size in bytes of the events on disk that not all sinks have received.
    pub max_bytes: u64,
}

/// The audit events of one process. Clones share all state.
#[derive(Debug, Clone)]
pub struct Audit(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    spool: Spool,
    /// The sinks, until their delivery starts.
    sinks: Mutex<Vec<Sink>>,
    states: Vec<SinkState>,
    recorded: AtomicU64,
    /// The number of events that could not be written to the spool.
    unwritten: AtomicU64,
    /// The last event could not be written.
    is_failing: AtomicBool,
    /// Changes with every event.
    added: watch::Sender<u64>,
}

/// The state of one sink.
#[derive(Debug)]
struct SinkState {
    name: &'static str,
    delivered: AtomicU64,
    failures: AtomicU64,
    /// The last error, while the sink accepts no events.
    failure: Mutex<Option<String>>,
}

/// The metrics since the start of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditMetrics {
    /// Recorded events.
    pub recorded: u64,
    /// Recorded events that could not be written to the spool. They are lost for all sinks.
    pub unwritten: u64,
    /// The size of the spool in bytes.
    pub spool_bytes: u64,
    /// The metrics of each sink.
    pub sinks: Vec<SinkMetrics>,
}

/// The metrics of a sink since the start of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkMetrics {
    /// The name of the sink: `file`, `syslog` or `webhook`.
    pub name: &'static str,
    /// Delivered events.
    pub delivered: u64,
    /// Events that were removed from the spool or damaged in it before they were delivered.
    pub lost: u64,
    /// Events that are not delivered yet.
    pub backlog: u64,
    /// Failed attempts.
    pub failures: u64,
    /// The last error, while the sink accepts no events; `None` if the last attempt succeeded.
    pub failure: Option<String>,
}

/// The delivery of one event to a sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The name of the sink: `file`, `syslog` or `webhook`.
    pub sink: &'static str,
    /// The reason why the sink has not received the event.
    pub failure: Option<String>,
}

impl Audit {
    /// Opens the spool in a directory of its own, which no other process may use at the same time.
    ///
    /// # Errors
    /// [`AuditError::Spool`]
    pub fn open(dir: &Path, config: AuditConfig) -> Result<Self, AuditError> {
        let AuditConfig { sinks, max_bytes } = config;
        let names: Vec<&'static str> = sinks.iter().map(Sink::name).collect();
        let spool = Spool::open(dir, max_bytes, &names)
            .map_err(|source| AuditError::Spool { path: dir.to_owned(), source })?;
        let state = |name| SinkState {
            name,
            delivered: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            failure: Mutex::default(),
        };
        Ok(Self(Arc::new(Shared {
            spool,
            sinks: Mutex::new(sinks),
            states: names.into_iter().map(state).collect(),
            recorded: AtomicU64::new(0),
            unwritten: AtomicU64::new(0),
            is_failing: AtomicBool::new(false),
            added: watch::Sender::new(0),
        })))
    }

    /// Writes an event to the spool. Afterwards, it survives the end of the process. This is one small write without
    /// waiting for the disk, so it may be called on an async thread. An event that cannot be written is counted and
    /// logged.
    pub fn record(&self, event: &Event) {
        self.append(event);
    }

    /// Records an event, and waits until all sinks have received it, at most for `patience`.
    pub async fn record_and_wait(&self, event: &Event, patience: Duration) -> Vec<Receipt> {
        let number = self.append(event);
        let deadline = Instant::now() + patience;
        loop {
            let receipts: Vec<Receipt> =
                (0..self.0.states.len()).map(|sink| self.receipt(sink, number, patience)).collect();
            let is_complete = number.is_none() || receipts.iter().all(|receipt| receipt.failure.is_none());
            if is_complete || Instant::now() >= deadline {
                return receipts;
            }
            sleep(RECEIPT_INTERVAL).await;
        }
    }

    fn receipt(&self, sink: usize, number: Option<u64>, patience: Duration) -> Receipt {
        let state = &self.0.states[sink];
        let failure = match number {
            None => Some("the event could not be written to the disk".to_owned()),
            Some(number) if self.0.spool.has_received(sink, number) => None,
            Some(_) => Some(state.failure().unwrap_or_else(|| {
                format!("the event was not received within {} seconds", patience.as_secs())
            })),
        };
        Receipt { sink: state.name, failure }
    }

    /// Returns the number of the event; `None` if it could not be written.
    fn append(&self, event: &Event) -> Option<u64> {
        let shared = &*self.0;
        shared.recorded.fetch_add(1, Ordering::Relaxed);
        match shared.spool.append(&event.to_line()) {
            Ok(number) => {
                shared.is_failing.store(false, Ordering::Relaxed);
                shared.added.send_modify(|added| *added += 1);
                Some(number)
            }
            Err(error) => {
                shared.unwritten.fetch_add(1, Ordering::Relaxed);
                if !shared.is_failing.swap(true, Ordering::Relaxed) {
                    tracing::error!(%error, "audit events cannot be written and are lost");
                }
                None
            }
        }
    }

    /// Returns the metrics.
    #[must_use]
    pub fn metrics(&self) -> AuditMetrics {
        let shared = &*self.0;
        let sinks = shared.states.iter().enumerate().map(|(index, state)| {
            let (backlog, lost) = shared.spool.backlog_and_lost(index);
            SinkMetrics {
                name: state.name,
                delivered: state.delivered.load(Ordering::Relaxed),
                lost,
                backlog,
                failures: state.failures.load(Ordering::Relaxed),
                failure: state.failure(),
            }
        });
        AuditMetrics {
            recorded: shared.recorded.load(Ordering::Relaxed),
            unwritten: shared.unwritten.load(Ordering::Relaxed),
            spool_bytes: shared.spool.bytes(),
            sinks: sinks.collect(),
        }
    }

    /// Delivers events until `stop` is ready, and then the remaining ones for at most `shutdown_timeout`. Events that
    /// are left then are delivered by the next process. A second call only waits for `stop`.
    pub async fn deliver(&self, stop: impl Future<Output = ()>, shutdown_timeout: Duration) {
        let sinks = std::mem::take(&mut *self.0.sinks.lock());
        let (stop_sender, stopped) = watch::channel(false);
        let tasks = sinks.into_iter().enumerate().map(|(index, sink)| {
            let task = SinkTask { shared: Arc::clone(&self.0), index, sink, stopped: stopped.clone() };
            task.run()
        });
        let stopping = async {
            stop.await;
            stop_sender.send_replace(true);
            sleep(shutdown_timeout).await;
        };
        let delivering = join_all(tasks);
        let working = async {
            tokio::pin!(stopping, delivering);
            tokio::select! {
                () = &mut stopping => {}
                _ = &mut delivering => {
                    // Without sinks, only wait for the shutdown.
                    if !*stopped.borrow() {
                        stopping.await;
                    }
                }
            }
        };
        tokio::select! {
            () = working => {}
            never = self.sync_periodically() => match never {},
        }
        self.sync().await;
    }

    async fn sync_periodically(&self) -> std::convert::Infallible {
        loop {
            sleep(SYNC_INTERVAL).await;
            if self.0.spool.is_dirty() {
                self.sync().await;
            }
        }
    }

    async fn sync(&self) {
        if let Err(error) = self.0.run_blocking(|shared| shared.spool.sync()).await {
            tracing::error!(%error, "audit events could not be synced to disk");
        }
    }
}

impl Shared {
    async fn run_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> std::io::Result<T> + Send + 'static,
    ) -> Result<T, SinkError> {
        let shared = Arc::clone(self);
        match spawn_blocking(move || work(&shared)).await {
            Ok(result) => result.map_err(|error| SinkError::io("the spool failed", &error)),
            Err(_) => Err(SinkError::new("the process is shutting down")),
        }
    }
}

impl SinkState {
    fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }

    fn replace_failure(&self, failure: Option<String>) -> Option<String> {
        std::mem::replace(&mut *self.failure.lock(), failure)
    }

    fn record_success(&self, events: u64) {
        self.delivered.fetch_add(events, Ordering::Relaxed);
        if self.replace_failure(None).is_some() {
            tracing::info!(sink = self.name, "delivery of audit events recovered");
        }
    }

    fn record_failure(&self, error: &SinkError) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        if self.replace_failure(Some(error.to_string())).is_none() {
            tracing::warn!(sink = self.name, %error, "audit events cannot be delivered and stay in the spool");
        }
    }
}

/// The task that delivers events to one sink.
struct SinkTask {
    shared: Arc<Shared>,
    index: usize,
    sink: Sink,
    stopped: watch::Receiver<bool>,
}

impl SinkTask {
    async fn run(mut self) {
        let mut added = self.shared.added.subscribe();
        let mut backoff = Backoff::new(BACKOFF);
        loop {
            added.mark_unchanged();
            match self.deliver_next().await {
                Ok(Delivery::Done) => backoff.succeeded(),
                Ok(Delivery::Nothing) => {
                    // An event that was added while the spool was read is still to be delivered.
                    if *self.stopped.borrow() && !added.has_changed().unwrap_or(false) {
                        return;
                    }
                    // Both senders live at least as long as this task.
                    tokio::select! {
                        _ = added.changed() => {}
                        _ = self.stopped.changed() => {}
                    }
                }
                Err(error) => {
                    self.state().record_failure(&error);
                    if *self.stopped.borrow() {
                        return;
                    }
                    let delay = backoff.failed(error.retry_after);
                    // Shutdown ends the delay, and one more attempt follows.
                    let _stopped_or_elapsed = timeout(delay, self.stopped.changed()).await;
                }
            }
        }
    }

    async fn deliver_next(&mut self) -> Result<Delivery, SinkError> {
        let index = self.index;
        let mut batch = self.shared.run_blocking(move |shared| shared.spool.read(index)).await?;
        if batch.is_empty() {
            return Ok(Delivery::Nothing);
        }
        if !batch.events.is_empty() {
            self.sink.deliver(&mut batch).await?;
        }
        let count = batch.events.len() as u64;
        self.shared.run_blocking(move |shared| shared.spool.commit(index, &batch)).await?;
        self.state().record_success(count);
        Ok(Delivery::Done)
    }

    fn state(&self) -> &SinkState {
        &self.shared.states[self.index]
    }
}

enum Delivery {
    Done,
    /// There are no events.
    Nothing,
}
