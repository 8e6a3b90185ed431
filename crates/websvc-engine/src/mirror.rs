//! A place beside the embedded index that pages are written to: a server that speaks the API of Elasticsearch.
//!
//! Whoever has many pages waits until they are written; a scraped page goes into a bounded queue, because no answer
//! waits for another server.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use websvc_index::Document;
use websvc_types::index::IndexDocument;

use crate::ingest::to_index_document;
use crate::source::{BulkReport, ElasticsearchWriter};

/// So many pages may wait in the queue.
const QUEUE: usize = 1_000;

/// So many KiB of text may wait in the queue.
const QUEUE_KIB: u32 = 64 * 1024;

/// So many pages of the queue are written at once.
const BATCH: usize = 100;

/// A page in the queue, with its share of the memory.
type Queued = (Document, OwnedSemaphorePermit);

/// What was written to a mirror since it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirrorMetrics {
    /// The name of its source.
    pub name: String,
    /// Pages that are in its index.
    pub written: u64,
    /// Pages that it will not take.
    pub refused: u64,
    /// Pages that did not reach it.
    pub lost: u64,
    /// The first failure, in words.
    pub first_failure: Option<String>,
}

/// A place that pages are written to, with a queue.
#[derive(Debug)]
pub struct Mirror {
    writer: Arc<ElasticsearchWriter>,
    sum: Arc<Mutex<BulkReport>>,
    room: Arc<Semaphore>,
    queue: Mutex<Option<mpsc::Sender<Queued>>>,
    /// Pages that were handed over and have no fate yet.
    waiting: Arc<AtomicU64>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

impl Mirror {
    /// Opens the queue. It has to be called in a runtime; [`close`](Self::close) empties it.
    pub fn new(writer: ElasticsearchWriter) -> Self {
        let writer = Arc::new(writer);
        let sum = Arc::new(Mutex::new(BulkReport::default()));
        let (sender, queue) = mpsc::channel(QUEUE);
        let waiting = Arc::new(AtomicU64::default());
        let worker = tokio::spawn(work(Arc::clone(&writer), Arc::clone(&sum), Arc::clone(&waiting), queue));
        Self {
            writer,
            sum,
            room: Arc::new(Semaphore::new(QUEUE_KIB as usize)),
            queue: Mutex::new(Some(sender)),
            waiting,
            worker: Mutex::new(Some(worker)),
        }
    }

    /// Returns the name of its source.
    pub fn name(&self) -> &str {
        self.writer.name()
    }

    /// Writes pages and waits for it. What is not written is in the answer and in the report.
    pub async fn write(&self, documents: &[IndexDocument]) -> BulkReport {
        let written = self.writer.write(converted(documents)).await;
        lock(&self.sum).add(written.clone());
        tell(self.writer.name(), &written);
        written
    }

    /// Hands pages to the queue, and returns how many had no room in it.
    pub fn enqueue(&self, documents: &[IndexDocument]) -> usize {
        let sender = lock(&self.queue).clone();
        let left_out = converted(documents).into_iter().filter(|document| {
            let kib = u32::try_from(document.body.len() / 1024 + 1).unwrap_or(u32::MAX);
            let (Ok(room), Some(sender)) =
                (Arc::clone(&self.room).try_acquire_many_owned(kib), sender.as_ref())
            else {
                return true;
            };
            self.waiting.fetch_add(1, Ordering::Relaxed);
            let is_full = sender.try_send((document.clone(), room)).is_err();
            if is_full {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
            }
            is_full
        });
        let left_out = left_out.count();
        if left_out > 0 {
            let why = "the queue of pages to be written was full".to_owned();
            let lost =
                BulkReport { lost: left_out as u64, first_failure: Some(why), ..BulkReport::default() };
            tell(self.writer.name(), &lost);
            lock(&self.sum).add(lost);
        }
        left_out
    }

    /// Waits until the queue is empty, at most for `patience`, and tells what was written. What is left then is lost, and
    /// nothing can be handed over afterwards.
    pub async fn close(&self, patience: Duration) -> MirrorMetrics {
        drop(lock(&self.queue).take());
        let worker = lock(&self.worker).take();
        if let Some(mut worker) = worker {
            let why = match tokio::time::timeout(patience, &mut worker).await {
                Ok(Ok(())) => return self.report(),
                Ok(Err(error)) => format!("the writing ended early: {error}"),
                Err(_elapsed) => {
                    worker.abort();
                    format!("they were not written within {} s of the end", patience.as_secs())
                }
            };
            let lost = self.waiting.swap(0, Ordering::Relaxed);
            let lost = BulkReport { lost, first_failure: Some(why), ..BulkReport::default() };
            tell(self.writer.name(), &lost);
            lock(&self.sum).add(lost);
        }
        self.report()
    }

    /// Tells what was written so far.
    pub fn report(&self) -> MirrorMetrics {
        let BulkReport { written, refused, lost, first_failure } = lock(&self.sum).clone();
        MirrorMetrics { name: self.writer.name().to_owned(), written, refused, lost, first_failure }
    }
}

/// Hands pages to every mirror, and returns what the caller should be told.
pub(crate) fn enqueue(mirrors: &[Arc<Mirror>], documents: &[IndexDocument]) -> Vec<String> {
    let mut warnings = Vec::new();
    for mirror in mirrors {
        let left_out = mirror.enqueue(documents);
        if left_out > 0 {
            let name = mirror.writer.name();
            warnings.push(format!("{left_out} pages could not be written to {name}: its queue is full"));
        }
    }
    warnings
}

async fn work(
    writer: Arc<ElasticsearchWriter>,
    sum: Arc<Mutex<BulkReport>>,
    waiting: Arc<AtomicU64>,
    mut queue: mpsc::Receiver<Queued>,
) {
    let mut batch = Vec::with_capacity(BATCH);
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        // The room of the pages is given back when they are written.
        let (documents, _room): (Vec<Document>, Vec<OwnedSemaphorePermit>) = batch.drain(..).unzip();
        let count = documents.len() as u64;
        let written = writer.write(documents).await;
        waiting.fetch_sub(count, Ordering::Relaxed);
        tell(writer.name(), &written);
        lock(&sum).add(written);
    }
}

fn converted(documents: &[IndexDocument]) -> Vec<Document> {
    let now = Timestamp::now();
    documents.iter().map(|document| to_index_document(document.clone(), now)).collect()
}

fn tell(source: &str, written: &BulkReport) {
    let BulkReport { written: _, refused, lost, first_failure } = written;
    if refused + lost > 0 {
        let why = first_failure.as_deref().unwrap_or_default();
        tracing::error!(source, refused, lost, why, "pages were not written");
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
