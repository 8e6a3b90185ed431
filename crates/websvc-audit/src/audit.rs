//! The handle: events in, deliveries out, figures.

use std::future::Future;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use websvc_webhook::{Backoff, BackoffSchedule};

use crate::error::{AuditError, SinkError};
use crate::event::Event;
use crate::sink::Sink;
use crate::spool::Spool;

/// How often the spool is brought to the disk while events come in.
const SYNC_INTERVAL: Duration = Duration::from_millis(200);

/// How long a sink that failed is left alone.
const PAUSES: BackoffSchedule =
    BackoffSchedule { initial: Duration::from_millis(250), factor: 2, max: Duration::from_secs(60) };

/// Sinks of audit events, and limits of the spool.
#[derive(Debug)]
pub struct AuditConfig {
    /// The sinks, at most one of a kind: its name says how far it has come.
    pub sinks: Vec<Sink>,
    /// The most bytes of events on the disk that some sink has not got yet.
    pub max_bytes: u64,
}

/// The audit events of one process. Clones share everything.
#[derive(Debug, Clone)]
pub struct Audit(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    spool: Spool,
    /// Until they are delivered to.
    sinks: Mutex<Vec<Sink>>,
    notes: Vec<SinkState>,
    recorded: AtomicU64,
    unwritten: AtomicU64,
    /// True if the last event could not be written.
    is_failing: AtomicBool,
    /// Changes with every event.
    added: watch::Sender<u64>,
}

/// State of one sink.
#[derive(Debug)]
struct SinkState {
    name: &'static str,
    delivered: AtomicU64,
    failures: AtomicU64,
    /// Why it does not take events now.
    failure: Mutex<Option<String>>,
}

/// Figures since the process began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditMetrics {
    /// Events that came in.
    pub recorded: u64,
    /// Those of them that could not be written to the spool: they are lost for every sink.
    pub unwritten: u64,
    /// Bytes of the spool.
    pub spool_bytes: u64,
    /// The sinks.
    pub sinks: Vec<SinkMetrics>,
}

/// Figures of a sink since the process began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkMetrics {
    /// Its name: `file`, `syslog` or `webhook`.
    pub name: &'static str,
    /// Events that it took.
    pub delivered: u64,
    /// Events that left the spool, or were damaged in it, before it took them.
    pub lost: u64,
    /// Events that wait for it.
    pub backlog: u64,
    /// Attempts that failed.
    pub failures: u64,
    /// Why it does not take events now; `None` when it does.
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
        let note = |name| SinkState {
            name,
            delivered: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            failure: Mutex::default(),
        };
        Ok(Self(Arc::new(Shared {
            spool,
            sinks: Mutex::new(sinks),
            notes: names.into_iter().map(note).collect(),
            recorded: AtomicU64::new(0),
            unwritten: AtomicU64::new(0),
            is_failing: AtomicBool::new(false),
            added: watch::Sender::new(0),
        })))
    }

    /// Writes an event to the spool; when this returns, it outlives the process. It is one small write without waiting
    /// for the disk, so it may be called on an async thread. One that cannot be written is counted and logged.
    pub fn record(&self, event: &Event) {
        let shared = &*self.0;
        shared.recorded.fetch_add(1, Ordering::Relaxed);
        match shared.spool.append(&event.to_line()) {
            Ok(()) => {
                shared.is_failing.store(false, Ordering::Relaxed);
                shared.added.send_modify(|added| *added += 1);
            }
            Err(error) => {
                shared.unwritten.fetch_add(1, Ordering::Relaxed);
                if !shared.is_failing.swap(true, Ordering::Relaxed) {
                    tracing::error!(%error, "audit events cannot be written and are lost");
                }
            }
        }
    }

    /// Returns the figures.
    #[must_use]
    pub fn report(&self) -> AuditMetrics {
        let shared = &*self.0;
        let sinks = shared.notes.iter().enumerate().map(|(at, note)| {
            let (backlog, lost) = shared.spool.figures(at);
            SinkMetrics {
                name: note.name,
                delivered: note.delivered.load(Ordering::Relaxed),
                lost,
                backlog,
                failures: note.failures.load(Ordering::Relaxed),
                failure: note.failure(),
            }
        });
        AuditMetrics {
            recorded: shared.recorded.load(Ordering::Relaxed),
            unwritten: shared.unwritten.load(Ordering::Relaxed),
            spool_bytes: shared.spool.bytes(),
            sinks: sinks.collect(),
        }
    }

    /// Delivers events until `stop` is ready, and then what is left, for at most `limit`; what no sink took by then is
    /// delivered by the next process. Called a second time, it only waits for `stop`.
    pub async fn deliver(&self, stop: impl Future<Output = ()>, limit: Duration) {
        let sinks = std::mem::take(&mut *self.0.sinks.lock().unwrap_or_else(PoisonError::into_inner));
        let (stopping, stopped) = watch::channel(false);
        let loops = sinks.into_iter().enumerate().map(|(at, sink)| {
            let feed = SinkTask { shared: Arc::clone(&self.0), at, sink, stopped: stopped.clone() };
            feed.run()
        });
        let stopping = async {
            stop.await;
            stopping.send_replace(true);
            sleep(limit).await;
        };
        let delivering = join_all(loops);
        let working = async {
            tokio::pin!(stopping, delivering);
            tokio::select! {
                () = &mut stopping => {}
                _ = &mut delivering => {
                    // Without sinks there is nothing to wait for but the end.
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
        if let Err(error) = self.0.blocking(|shared| shared.spool.sync()).await {
            tracing::error!(%error, "audit events cannot be brought to the disk");
        }
    }
}

impl Shared {
    async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> std::io::Result<T> + Send + 'static,
    ) -> Result<T, SinkError> {
        let shared = Arc::clone(self);
        match tokio::task::spawn_blocking(move || work(&shared)).await {
            Ok(done) => done.map_err(|error| SinkError::io("the spool failed", &error)),
            Err(_) => Err(SinkError::new("the process is ending")),
        }
    }
}

impl SinkState {
    fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, failure: Option<String>) -> Option<String> {
        std::mem::replace(&mut *self.failure.lock().unwrap_or_else(PoisonError::into_inner), failure)
    }

    fn succeeded(&self, events: u64) {
        self.delivered.fetch_add(events, Ordering::Relaxed);
        if self.set(None).is_some() {
            tracing::info!(sink = self.name, "audit events are delivered again");
        }
    }

    fn failed(&self, error: &SinkError) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        if self.set(Some(error.to_string())).is_none() {
            tracing::warn!(sink = self.name, %error, "audit events cannot be delivered, they wait in the spool");
        }
    }
}

/// Task that delivers events to one sink.
struct SinkTask {
    shared: Arc<Shared>,
    at: usize,
    sink: Sink,
    stopped: watch::Receiver<bool>,
}

impl SinkTask {
    async fn run(mut self) {
        let mut added = self.shared.added.subscribe();
        let mut backoff = Backoff::new(PAUSES);
        loop {
            added.mark_unchanged();
            match self.next().await {
                Ok(Delivery::Done) => backoff.succeeded(),
                Ok(Delivery::Nothing) => {
                    if *self.stopped.borrow() {
                        return;
                    }
                    // Both live for as long as this does.
                    tokio::select! {
                        _ = added.changed() => {}
                        _ = self.stopped.changed() => {}
                    }
                }
                Err(error) => {
                    self.note().failed(&error);
                    if *self.stopped.borrow() {
                        return;
                    }
                    let pause = backoff.failed(error.retry_after);
                    // At the end it is tried once more.
                    let _ended_or_over = timeout(pause, self.stopped.changed()).await;
                }
            }
        }
    }

    async fn next(&mut self) -> Result<Delivery, SinkError> {
        let at = self.at;
        let mut batch = self.shared.blocking(move |shared| shared.spool.read(at)).await?;
        if batch.is_empty() {
            return Ok(Delivery::Nothing);
        }
        if !batch.events.is_empty() {
            self.sink.deliver(&mut batch).await?;
        }
        let taken = batch.events.len() as u64;
        self.shared.blocking(move |shared| shared.spool.commit(at, &batch)).await?;
        self.note().succeeded(taken);
        Ok(Delivery::Done)
    }

    fn note(&self) -> &SinkState {
        &self.shared.notes[self.at]
    }
}

enum Delivery {
    Done,
    /// There are no events.
    Nothing,
}
