//! A mirror of the embedded index: a server with the API of Elasticsearch that new pages are written to as well.
//!
//! A caller with many pages waits until they are written. Scraped pages go into a bounded queue, so that no response
//! waits for another server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use websvc_index::Document;
use websvc_types::counted;
use websvc_types::index::IndexDocument;

use crate::ingest::to_index_document;
use crate::source::{BulkReport, ElasticsearchWriter, IndexServerError, ListedPage, ServerIndexStats};

/// The maximum number of pages in the queue.
const MAX_QUEUED: usize = 1_000;

/// The maximum size of the text in the queue, in KiB.
const MAX_QUEUED_KIB: u32 = 64 * 1024;

/// The maximum number of queued pages that are written together.
const MAX_BATCH: usize = 100;

/// A queued page, with the permit for its size.
type Queued = (Document, OwnedSemaphorePermit);

/// The pages that were written to a mirror since it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirrorMetrics {
    /// The name of its source.
    pub name: String,
    /// Pages that are in its index.
    pub written: u64,
    /// Pages that the server rejected.
    pub refused: u64,
    /// Pages that did not reach the server.
    pub lost: u64,
    /// The first failure.
    pub first_failure: Option<String>,
}

/// A server that new pages are written to, with a queue.
#[derive(Debug)]
pub struct Mirror {
    writer: Arc<ElasticsearchWriter>,
    totals: Arc<Mutex<BulkReport>>,
    memory: Arc<Semaphore>,
    queue: Mutex<Option<mpsc::Sender<Queued>>>,
    /// Pages in the queue or in flight.
    pending: Arc<AtomicU64>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

impl Mirror {
    /// Creates a mirror and starts its worker. Must be called within a runtime. [`close`](Self::close) drains the
    /// queue.
    pub fn new(writer: ElasticsearchWriter) -> Self {
        let writer = Arc::new(writer);
        let totals = Arc::new(Mutex::new(BulkReport::default()));
        let (sender, queue) = mpsc::channel(MAX_QUEUED);
        let pending = Arc::new(AtomicU64::default());
        let worker =
            tokio::spawn(run_worker(Arc::clone(&writer), Arc::clone(&totals), Arc::clone(&pending), queue));
        Self {
            writer,
            totals,
            memory: Arc::new(Semaphore::new(MAX_QUEUED_KIB as usize)),
            queue: Mutex::new(Some(sender)),
            pending,
            worker: Mutex::new(Some(worker)),
        }
    }

    /// Returns the name of its source.
    pub fn name(&self) -> &str {
        self.writer.name()
    }

    /// Writes pages and waits for the result. Pages that were not written are in the returned report and in the
    /// metrics.
    pub async fn write(&self, documents: &[IndexDocument]) -> BulkReport {
        let written = self.writer.write(to_documents(documents)).await;
        self.totals.lock().add(written.clone());
        log_failures(self.writer.name(), &written);
        written
    }

    /// Adds pages to the queue, and returns the number of pages for which it had no capacity.
    pub fn enqueue(&self, documents: &[IndexDocument]) -> usize {
        let sender = self.queue.lock().clone();
        let left_out = to_documents(documents).into_iter().filter(|document| {
            let kib = u32::try_from(document.body.len() / 1024 + 1).unwrap_or(u32::MAX);
            let (Ok(permit), Some(sender)) =
                (Arc::clone(&self.memory).try_acquire_many_owned(kib), sender.as_ref())
            else {
                return true;
            };
            self.pending.fetch_add(1, Ordering::Relaxed);
            let is_full = sender.try_send((document.clone(), permit)).is_err();
            if is_full {
                self.pending.fetch_sub(1, Ordering::Relaxed);
            }
            is_full
        });
        let left_out = left_out.count();
        if left_out > 0 {
            let reason = "the queue of pages was full".to_owned();
            let lost =
                BulkReport { lost: left_out as u64, first_failure: Some(reason), ..BulkReport::default() };
            log_failures(self.writer.name(), &lost);
            self.totals.lock().add(lost);
        }
        left_out
    }

    /// Returns the size of the index on the server.
    ///
    /// # Errors
    /// [`IndexServerError`]
    pub async fn stats(&self) -> Result<ServerIndexStats, IndexServerError> {
        self.writer.stats().await
    }

    /// Returns pages of a host and its subdomains, at most `max` of them.
    ///
    /// # Errors
    /// [`IndexServerError`]
    pub async fn pages_of_site(&self, host: &str, max: usize) -> Result<Vec<ListedPage>, IndexServerError> {
        self.writer.pages_of_site(host, max).await
    }

    /// Waits until the queue is empty, at most for `timeout`, and returns the metrics. Pages that are left then are
    /// lost. No page can be added afterwards.
    pub async fn close(&self, timeout: Duration) -> MirrorMetrics {
        drop(self.queue.lock().take());
        let worker = self.worker.lock().take();
        if let Some(mut worker) = worker {
            let reason = match tokio::time::timeout(timeout, &mut worker).await {
                Ok(Ok(())) => return self.metrics(),
                Ok(Err(error)) => format!("the worker ended early: {error}"),
                Err(_elapsed) => {
                    worker.abort();
                    format!("they were not written within {} s of shutdown", timeout.as_secs())
                }
            };
            let lost = self.pending.swap(0, Ordering::Relaxed);
            let lost = BulkReport { lost, first_failure: Some(reason), ..BulkReport::default() };
            log_failures(self.writer.name(), &lost);
            self.totals.lock().add(lost);
        }
        self.metrics()
    }

    /// Returns the metrics so far.
    pub fn metrics(&self) -> MirrorMetrics {
        let BulkReport { written, refused, lost, first_failure } = self.totals.lock().clone();
        MirrorMetrics { name: self.writer.name().to_owned(), written, refused, lost, first_failure }
    }
}

/// Adds pages to the queues of all mirrors, and returns warnings for the caller.
pub(crate) fn enqueue(mirrors: &[Arc<Mirror>], documents: &[IndexDocument]) -> Vec<String> {
    let mut warnings = Vec::new();
    for mirror in mirrors {
        let left_out = mirror.enqueue(documents);
        if left_out > 0 {
            let name = mirror.writer.name();
            let pages = counted(left_out, "page", "pages");
            warnings.push(format!("{pages} could not be written to {name}: its queue is full"));
        }
    }
    warnings
}

async fn run_worker(
    writer: Arc<ElasticsearchWriter>,
    totals: Arc<Mutex<BulkReport>>,
    pending: Arc<AtomicU64>,
    mut queue: mpsc::Receiver<Queued>,
) {
    let mut batch = Vec::with_capacity(MAX_BATCH);
    while queue.recv_many(&mut batch, MAX_BATCH).await > 0 {
        // The permits are released when the pages are written.
        let (documents, _permits): (Vec<Document>, Vec<OwnedSemaphorePermit>) = batch.drain(..).unzip();
        let count = documents.len() as u64;
        let written = writer.write(documents).await;
        pending.fetch_sub(count, Ordering::Relaxed);
        log_failures(writer.name(), &written);
        totals.lock().add(written);
    }
}

fn to_documents(documents: &[IndexDocument]) -> Vec<Document> {
    let now = Timestamp::now();
    documents.iter().map(|document| to_index_document(document.clone(), now)).collect()
}

fn log_failures(source: &str, report: &BulkReport) {
    let BulkReport { written: _, refused, lost, first_failure } = report;
    if refused + lost > 0 {
        let reason = first_failure.as_deref().unwrap_or_default();
        tracing::error!(source, refused, lost, reason, "pages could not be written to a mirror");
    }
}
