//! A mirror of the embedded index: a server with the API of Elasticsearch that new pages are written to as well.
//!
//! Pages wait for the server in an outbox in the database, which they enter before they are acknowledged. So neither a
//! killed process nor a server that is away loses pages, and no response waits for another server. A caller with many
//! pages waits until they are written, and only those that the server does not take enter the outbox.

mod administration;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;
use websvc_stage::in_current_span;
use websvc_store::{Durability, OutboxPage, OutboxSize, PageOwner, Store, StoreError, WorkKind};
use websvc_transport::spawn_blocking;
use websvc_types::counted;
use websvc_types::index::IndexDocument;

use crate::error::SourceError;
use crate::ingest::{IndexCopy, IndexingFailure, IndexingOutcome, to_index_document};
use crate::source::{
    BulkReport, Delivery, ElasticsearchWriter, MAX_BATCH_BYTES, MAX_BATCH_DOCUMENTS, OutboxLimits, RETRIES,
    SearchSource, now_ms, to_outbox_page,
};

/// The interval of looking for pages that other processes have added. It costs a query of the database.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// The maximum age of the known size of the outbox while pages are written.
const MAX_SIZE_AGE: Duration = Duration::from_secs(1);

/// The time after which a page is sent again that the server did not take although it took others.
const POSTPONED_MS: u64 = 30_000;

/// Delays before pages are added to the outbox again after a failure of the database.
const ADD_RETRY_DELAYS: [Duration; 4] = [
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
    Duration::from_millis(800),
];

/// The pages that were written to a mirror since it was opened, and those that wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirrorMetrics {
    /// The name of its source.
    pub name: String,
    /// Pages that are in its index.
    pub written: u64,
    /// Pages that the server rejected.
    pub refused: u64,
    /// Pages that are neither in its index nor in the outbox, because the outbox was full or the database failed.
    pub lost: u64,
    /// Pages that wait in the outbox, if this process has added some.
    pub waiting: u64,
    /// The first failure.
    pub first_failure: Option<String>,
    /// The pages that wait, of all processes.
    pub outbox: OutboxStatus,
}

/// The pages that wait for a server, as known since a few seconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutboxStatus {
    /// The state of the outbox.
    pub state: OutboxState,
    /// The number of pages.
    pub pages: u64,
    /// Their size before compression.
    pub bytes: u64,
    /// The time for which the oldest one waits; zero if none waits.
    pub lag: Duration,
    /// The reason why the last attempt to write pages failed.
    pub failure: Option<String>,
}

/// The state of an outbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutboxState {
    /// Pages are written soon after they were added.
    #[default]
    Ok,
    /// The oldest page waits longer than the configured time.
    Late,
    /// No more pages are accepted.
    Full,
}

/// A server that new pages are written to, with an outbox.
#[derive(Debug)]
pub struct Mirror {
    writer: ElasticsearchWriter,
    store: Store,
    totals: Mutex<BulkReport>,
    outbox: Mutex<Outbox>,
    /// Wakes [`run`](Self::run) when pages are added.
    added: Notify,
}

/// The outbox as far as this process knows it.
#[derive(Debug, Default)]
struct Outbox {
    size: OutboxSize,
    measured_at: Option<Instant>,
    /// The pages and bytes that this process has added since its start.
    added: (u64, u64),
    /// The number of failed attempts since pages were written.
    failures: u32,
    failure: Option<String>,
    /// This process has added pages.
    has_added: bool,
}

/// The reason why the outbox could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum OutboxError {
    /// It accepts no more pages.
    #[error("its outbox is full")]
    Full,
    /// The database failed.
    #[error("the database of the outbox failed")]
    Store(#[from] StoreError),
    /// The service is stopping.
    #[error("the service is stopping")]
    Stopping,
}

/// The result of an attempt to write pages of the outbox.
enum Progress {
    Written,
    /// No page is due.
    Idle,
    /// The next attempt should follow after this time.
    Failed(Duration),
}

impl Mirror {
    /// Creates a mirror. Pages in its outbox are written while [`run`](Self::run) or [`close`](Self::close) is polled.
    pub fn new(writer: ElasticsearchWriter, store: Store) -> Self {
        Self { writer, store, totals: Mutex::default(), outbox: Mutex::default(), added: Notify::new() }
    }

    /// Returns the name of its source.
    pub fn name(&self) -> &str {
        self.writer.name()
    }

    /// Writes pages of a team, or of all teams, and waits for the result, at most for `patience`. Pages that the server
    /// does not take wait in the outbox, even after a power failure.
    pub async fn write(
        &self,
        documents: Vec<IndexDocument>,
        owner: Option<PageOwner>,
        patience: Duration,
    ) -> BulkReport {
        let fetched_at_ms = now_ms();
        let copies = documents.into_iter().map(|document| IndexCopy { document, fetched_at_ms, owner });
        let (mut report, pages) = to_pages(copies.collect()).await;
        let failure = self.outbox.lock().failure.clone();
        let (unsent, reason) = match failure {
            // Every request would wait for a server that is away.
            Some(reason) => (pages, reason),
            None => self.write_directly(pages, patience, &mut report).await,
        };
        if !unsent.is_empty() {
            let count = unsent.len();
            match self.add(unsent, Durability::Power).await {
                Ok(()) => report.add_waiting(count, reason),
                Err(error) => report.add_lost(count, format!("{error}: {reason}")),
            }
        }
        self.record(report.clone());
        report
    }

    /// Writes pages without the outbox. Returns those that were not written, with the reason.
    async fn write_directly(
        &self,
        pages: Vec<OutboxPage>,
        patience: Duration,
        report: &mut BulkReport,
    ) -> (Vec<OutboxPage>, String) {
        let delivering = self.writer.deliver(pages.clone(), RETRIES);
        match tokio::time::timeout(patience, delivering).await {
            Ok(Delivery { report: delivered, unsent, interruption }) => {
                report.add(delivered);
                let reason = interruption.map_or_else(
                    || report.first_failure.clone().unwrap_or_default(),
                    |error| self.fail(&error).1,
                );
                (unsent, reason)
            }
            // Some may have been written. Writing them again changes nothing.
            Err(_elapsed) => {
                let error = SourceError::Timeout { after: patience };
                (pages, self.fail(&error).1)
            }
        }
    }

    /// Adds pages to the outbox.
    pub async fn enqueue(&self, copies: Vec<IndexCopy>) -> IndexingOutcome {
        let (mut report, pages) = to_pages(copies).await;
        let count = pages.len();
        let mut failure = None;
        if let Err(error) = self.add(pages, Durability::Process).await {
            failure = Some(match error {
                OutboxError::Full => IndexingFailure::Refused,
                OutboxError::Store(_) | OutboxError::Stopping => IndexingFailure::Database,
            });
            report.add_lost(count, error.to_string());
            let error = &error as &dyn std::error::Error;
            tracing::error!(source = self.name(), error, "pages could not be added to the outbox");
        }
        let lost = (report.lost > 0).then(|| {
            let pages = counted(report.lost, "page", "pages");
            let reason = report.first_failure.as_deref().unwrap_or_default();
            format!("{pages} could not be written to {}: {reason}", self.name())
        });
        self.record(report);
        IndexingOutcome { warnings: lost.into_iter().chain(self.lag_warning()).collect(), failure }
    }

    /// Tries to write pages of the outbox, if the last attempt has failed, so that a command without
    /// [`run`](Self::run) does not fill the outbox.
    pub async fn catch_up(&self) {
        if self.outbox.lock().failure.is_some() {
            self.write_next().await;
        }
    }

    /// Adds pages. Tries again for a moment while the database fails, because its connection may have been closed while
    /// this process was suspended, or by a restart: the pages are acknowledged afterwards.
    async fn add(&self, pages: Vec<OutboxPage>, durability: Durability) -> Result<(), OutboxError> {
        if pages.is_empty() {
            return Ok(());
        }
        let pages: Arc<[OutboxPage]> = pages.into();
        for delay in ADD_RETRY_DELAYS {
            let result = self.try_add(&pages, durability).await;
            let Err(OutboxError::Store(error)) = &result else { return result };
            tracing::warn!(
                source = self.name(),
                error = error as &dyn std::error::Error,
                "pages could not be added to the outbox; retrying"
            );
            tokio::time::sleep(delay).await;
        }
        self.try_add(&pages, durability).await
    }

    async fn try_add(&self, pages: &Arc<[OutboxPage]>, durability: Durability) -> Result<(), OutboxError> {
        self.measure(POLL_INTERVAL).await?;
        if self.status().state == OutboxState::Full {
            return Err(OutboxError::Full);
        }
        let (count, bytes) = (pages.len(), pages.iter().map(|page| page.record.len()).sum::<usize>());
        let (now_ms, pages) = (now_ms(), Arc::clone(pages));
        self.with_store(move |store, source| store.put_in_outbox(source, &pages, durability, now_ms)).await?;
        let mut outbox = self.outbox.lock();
        outbox.added = (outbox.added.0 + count as u64, outbox.added.1 + bytes as u64);
        outbox.size.pages += count as u64;
        outbox.size.bytes += bytes as u64;
        outbox.size.oldest_ms.get_or_insert(now_ms);
        outbox.has_added = true;
        drop(outbox);
        self.added.notify_one();
        Ok(())
    }

    /// Writes the pages of the outbox, as long as the future is polled. Never returns.
    pub async fn run(&self) -> Infallible {
        loop {
            match self.write_next().await {
                Progress::Written => {}
                // Pages that other processes have added, or that are sent again, are found by polling.
                Progress::Idle => tokio::select! {
                    () = self.added.notified() => {}
                    () = self.store.poll_for_work(WorkKind::IndexOutbox, POLL_INTERVAL) => {}
                },
                Progress::Failed(delay) => tokio::time::sleep(delay).await,
            }
        }
    }

    /// Writes the next pages of the outbox.
    async fn write_next(&self) -> Progress {
        match self.try_write_next().await {
            Ok(progress) => progress,
            Err(error) => {
                let (delay, _reason) = self.fail(&error);
                Progress::Failed(delay)
            }
        }
    }

    async fn try_write_next(&self) -> Result<Progress, OutboxError> {
        let is_empty = self.outbox.lock().size.pages == 0;
        // Other processes add pages, too.
        if self.measure(if is_empty { Duration::ZERO } else { MAX_SIZE_AGE }).await?.pages == 0 {
            return Ok(Progress::Idle);
        }
        // Before pages are taken, so that none is taken while the server is away at the start.
        if let Err(error) = self.writer.prepare(0).await {
            return Ok(Progress::Failed(self.fail(&error).0));
        }
        let now_ms = now_ms();
        let claiming = self.with_store(move |store, source| {
            store.claim_from_outbox(source, MAX_BATCH_DOCUMENTS, MAX_BATCH_BYTES, now_ms)
        });
        let mut claim = claiming.await?;
        let pages = std::mem::take(&mut claim.pages);
        if pages.is_empty() && claim.damaged.is_empty() {
            self.measure(Duration::ZERO).await?;
            return Ok(Progress::Idle);
        }
        let Delivery { mut report, unsent, interruption } = self.writer.deliver(pages, 0).await;
        claim.damaged.iter().for_each(|url| report.reject(url, "its row in the outbox is damaged"));
        let due_ms = if interruption.is_some() { 0 } else { now_ms + POSTPONED_MS };
        let kept: Vec<String> = unsent.into_iter().map(|page| page.id).collect();
        self.with_store(move |store, _source| store.settle_outbox_claim(&claim, &kept, due_ms)).await?;
        let removed = report.written + report.refused;
        self.record(report);
        self.remove(removed);
        if let Some(error) = interruption {
            return Ok(Progress::Failed(self.fail(&error).0));
        }
        if self.outbox.lock().failure.take().is_some() {
            tracing::info!(source = self.name(), "pages are written to the mirror again");
        }
        Ok(Progress::Written)
    }

    /// Records that pages of the outbox were written or rejected.
    fn remove(&self, pages: u64) {
        let mut outbox = self.outbox.lock();
        outbox.size.pages = outbox.size.pages.saturating_sub(pages);
        if pages > 0 {
            outbox.failures = 0;
        }
    }

    /// Records a failed attempt. Returns how long to wait before the next one, and the reason.
    fn fail(&self, error: &(dyn std::error::Error + 'static)) -> (Duration, String) {
        let busy = SourceError::Limited { retry_after: None };
        let mut outbox = self.outbox.lock();
        let delay = self.writer.backoff(outbox.failures, error.downcast_ref().unwrap_or(&busy));
        outbox.failures = outbox.failures.saturating_add(1);
        let reason = error.to_string();
        // Once for each outage.
        if outbox.failure.replace(reason.clone()).is_none() {
            tracing::error!(
                source = self.name(),
                error,
                "pages cannot be written to a mirror: they wait in the outbox"
            );
        }
        (delay, reason)
    }

    /// Reads the size of the outbox, if it is not known since `max_age`.
    async fn measure(&self, max_age: Duration) -> Result<OutboxSize, OutboxError> {
        let (known, added) = {
            let outbox = self.outbox.lock();
            let is_recent = outbox.measured_at.is_some_and(|at| at.elapsed() < max_age);
            (is_recent.then_some(outbox.size), outbox.added)
        };
        if let Some(size) = known {
            return Ok(size);
        }
        let mut size = self.with_store(Store::outbox_size).await?;
        let mut outbox = self.outbox.lock();
        // The size may have been read before these pages were added. If it was not, it is too large until the next time.
        size.pages += outbox.added.0 - added.0;
        size.bytes += outbox.added.1 - added.1;
        (outbox.size, outbox.measured_at) = (size, Some(Instant::now()));
        Ok(size)
    }

    async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store, &str) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, OutboxError> {
        let (store, source) = (self.store.clone(), self.name().to_owned());
        let task = spawn_blocking(in_current_span(move || work(&store, &source)));
        Ok(task.await.map_err(|_shutdown| OutboxError::Stopping)??)
    }

    fn record(&self, report: BulkReport) {
        let BulkReport { written: _, waiting: _, refused, lost, first_failure } = &report;
        if refused + lost > 0 {
            let reason = first_failure.as_deref().unwrap_or_default();
            tracing::error!(
                source = self.name(),
                refused,
                lost,
                reason,
                "pages could not be written to a mirror"
            );
        }
        self.totals.lock().add(report);
    }

    /// Writes the pages of the outbox if this process has added some, at most for `timeout` and until an attempt fails,
    /// and returns the metrics. The other pages are written by the next process that [runs](Self::run) the mirror.
    pub async fn close(&self, timeout: Duration) -> MirrorMetrics {
        let has_added = self.outbox.lock().has_added;
        if has_added && !timeout.is_zero() {
            let writing = async { while matches!(self.write_next().await, Progress::Written) {} };
            if tokio::time::timeout(timeout, writing).await.is_err() {
                tracing::info!(source = self.name(), "pages stay in the outbox until the next start");
            }
        }
        self.metrics()
    }

    /// Returns the metrics so far.
    pub fn metrics(&self) -> MirrorMetrics {
        let BulkReport { written, refused, waiting: _, lost, first_failure } = self.totals.lock().clone();
        let (name, outbox) = (self.name().to_owned(), self.status());
        let waiting = if self.outbox.lock().has_added { outbox.pages } else { 0 };
        MirrorMetrics { name, written, refused, lost, waiting, first_failure, outbox }
    }

    /// Returns the state of the outbox.
    pub fn status(&self) -> OutboxStatus {
        let OutboxLimits { max_pages, max_bytes, max_lag } = self.writer.outbox_limits();
        let outbox = self.outbox.lock();
        let OutboxSize { pages, bytes, oldest_ms } = outbox.size;
        let oldest_ms = oldest_ms.filter(|_| pages > 0);
        let lag = oldest_ms.map_or(Duration::ZERO, |at| Duration::from_millis(now_ms().saturating_sub(at)));
        let state = if pages >= max_pages || bytes >= max_bytes {
            OutboxState::Full
        } else if lag > max_lag {
            OutboxState::Late
        } else {
            OutboxState::Ok
        };
        OutboxStatus { state, pages, bytes, lag, failure: outbox.failure.clone() }
    }

    /// Returns a warning if searches of the server miss pages for longer than the configured time.
    fn lag_warning(&self) -> Option<String> {
        let OutboxStatus { state, pages, lag, .. } = self.status();
        (state != OutboxState::Ok).then(|| {
            let pages = counted(pages, "page waits", "pages wait");
            format!("source {}: {pages} to be written to it, the oldest for {} s", self.name(), lag.as_secs())
        })
    }
}

/// Adds pages to the outboxes of all mirrors.
pub(crate) async fn enqueue(mirrors: &[Arc<Mirror>], copies: &[IndexCopy]) -> IndexingOutcome {
    let mut outcome = IndexingOutcome::default();
    for mirror in mirrors {
        outcome.add(mirror.enqueue(copies.to_vec()).await);
    }
    outcome
}

/// Returns warnings for a search of `sources` that misses pages which wait for longer than the configured time.
pub(crate) fn lag_warnings(mirrors: &[Arc<Mirror>], sources: &[Arc<dyn SearchSource>]) -> Vec<String> {
    let is_searched = |mirror: &&Arc<Mirror>| sources.iter().any(|source| source.name() == mirror.name());
    mirrors.iter().filter(is_searched).filter_map(|mirror| mirror.lag_warning()).collect()
}

/// Converts pages on a blocking thread to those that the server stores, and counts the others.
async fn to_pages(copies: Vec<IndexCopy>) -> (BulkReport, Vec<OutboxPage>) {
    let count = copies.len();
    let convert = move || {
        let mut report = BulkReport::default();
        let now = jiff::Timestamp::now();
        let mut pages = Vec::with_capacity(copies.len());
        for IndexCopy { document, fetched_at_ms, owner } in copies {
            let url = document.url.clone();
            match to_outbox_page(to_index_document(document, now), fetched_at_ms, owner) {
                Ok(page) => pages.push(page),
                Err(reason) => report.reject(&url, &reason),
            }
        }
        (report, pages)
    };
    spawn_blocking(in_current_span(convert)).await.unwrap_or_else(|error| {
        let mut report = BulkReport::default();
        report.add_lost(count, format!("the conversion failed: {error}"));
        (report, Vec::new())
    })
}
