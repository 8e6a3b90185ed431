//! The background work: encodes the pages without vectors, and removes the vectors of pages that are gone.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tantivy::DocAddress;

use super::encoder::EncodeError;
use super::passages::passages;
use super::query::Semantic;
use super::store::{EncodedPassages, StoreLock};
use crate::error::IndexError;
use crate::index_shared::IndexShared;
use crate::sub_index::SubIndexSearcher;

/// Time between two looks for new pages.
const INTERVAL: Duration = Duration::from_secs(1);

/// Pages that are encoded at once.
const BATCH_PAGES: usize = 8;

/// Maximum time between two attempts after failures.
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// The request to stop, which the thread follows after its current batch.
#[derive(Debug, Clone, Default)]
pub(crate) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    pub(crate) fn stop(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Waits unless it is set meanwhile.
    fn wait(&self, time: Duration) {
        let end = Instant::now() + time;
        while !self.is_set() && Instant::now() < end {
            thread::sleep(end.saturating_duration_since(Instant::now()).min(Duration::from_millis(100)));
        }
    }
}

/// The progress of encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddingProgress {
    /// Pages that were encoded.
    pub pages: u64,
    /// Pages that had no vectors at the start.
    pub total: u64,
}

/// The work on the vectors of one index.
pub(crate) struct Embedder {
    shared: Arc<IndexShared>,
    stop: StopFlag,
    /// Pages without anything to encode.
    without_text: HashSet<u64>,
}

/// A page with its content hash.
type Page = (u64, DocAddress);

/// The failure of a step.
enum Failure {
    Encoder(EncodeError),
    Index(IndexError),
}

impl Embedder {
    pub(crate) fn new(shared: Arc<IndexShared>, stop: StopFlag) -> Self {
        Self { shared, stop, without_text: HashSet::new() }
    }

    /// Starts the thread, if the index has an encoder and this process may encode.
    pub(crate) fn spawn(shared: &Arc<IndexShared>, stop: &StopFlag) -> io::Result<()> {
        if shared.semantic.as_ref().is_none_or(|semantic| !semantic.config.encodes) {
            return Ok(());
        }
        let embedder = Self::new(Arc::clone(shared), stop.clone());
        thread::Builder::new().name("index-vectors".to_owned()).spawn(move || embedder.run())?;
        Ok(())
    }

    fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let Some(semantic) = &shared.semantic else { return };
        let (mut seen, mut failures) = (None, 0u32);
        while !self.stop.is_set() {
            let generation = shared.pages.searcher().generation().generation_id();
            if seen != Some(generation) {
                match self.encode_all(semantic, |_| ()) {
                    Ok(Some(_)) => (seen, failures) = (Some(generation), 0),
                    // Another process has the right to write.
                    Ok(None) => {}
                    Err(failure) => {
                        failures += 1;
                        failure.log(semantic);
                    }
                }
            }
            let pause = INTERVAL.saturating_mul(1 << failures.min(9));
            self.stop.wait(pause.min(MAX_PAUSE));
        }
    }

    /// Encodes all pages without vectors. Returns `None` if another thread or process is doing this.
    pub(crate) fn encode_now(
        mut self,
        progress: impl FnMut(EmbeddingProgress),
    ) -> Result<Option<EmbeddingProgress>, IndexError> {
        let shared = Arc::clone(&self.shared);
        let Some(semantic) = &shared.semantic else {
            return Ok(Some(EmbeddingProgress { pages: 0, total: 0 }));
        };
        self.encode_all(semantic, progress).map_err(|failure| match failure {
            Failure::Encoder(source) => IndexError::Encoder { source },
            Failure::Index(error) => error,
        })
    }

    fn encode_all(
        &mut self,
        semantic: &Semantic,
        progress: impl FnMut(EmbeddingProgress),
    ) -> Result<Option<EmbeddingProgress>, Failure> {
        let shared = Arc::clone(&self.shared);
        let Some(lock) = semantic.store.lock().map_err(|error| shared.io(error))? else { return Ok(None) };
        let done = self.encode_with(&lock, semantic, progress);
        semantic.store.unlock(lock);
        done.map(Some)
    }

    fn encode_with(
        &mut self,
        lock: &StoreLock,
        semantic: &Semantic,
        mut progress: impl FnMut(EmbeddingProgress),
    ) -> Result<EmbeddingProgress, Failure> {
        let shared = Arc::clone(&self.shared);
        let view = shared.pages.view().map_err(|error| shared.engine(error))?;
        let model = semantic.config.encoder.identity().map_err(Failure::Encoder)?;
        semantic.store.open_for_writing(lock, &model).map_err(|error| shared.io(error))?;
        let (missing, live) = self.compare(semantic, &view).map_err(|error| shared.engine(error))?;
        semantic.store.retain(lock, &live).map_err(|error| shared.io(error))?;
        let mut done = EmbeddingProgress { pages: 0, total: missing.len() as u64 };
        semantic.waiting.store(done.total, Ordering::Relaxed);
        for batch in missing.chunks(BATCH_PAGES) {
            if self.stop.is_set() {
                break;
            }
            let turn = semantic.config.turn.lock();
            let started = Instant::now();
            let pages = self.encode(semantic, &view, batch)?;
            semantic.store.append(lock, &model, &pages).map_err(|error| shared.io(error))?;
            done.pages += batch.len() as u64;
            semantic.waiting.store(done.total - done.pages, Ordering::Relaxed);
            progress(done);
            self.stop.wait(pause_after(started.elapsed(), semantic.config.cpu_percent));
            drop(turn);
        }
        Ok(done)
    }

    /// Returns the committed pages without vectors, each content once, and the content hashes of all pages.
    fn compare(
        &self,
        semantic: &Semantic,
        view: &SubIndexSearcher,
    ) -> tantivy::Result<(Vec<Page>, HashSet<u64>)> {
        let rows = semantic.store.read();
        let has_vectors = |key| rows.as_ref().is_some_and(|rows| rows.spans.contains_key(&key));
        let (mut missing, mut live) = (Vec::new(), HashSet::new());
        for (segment_ord, segment) in (0..).zip(view.searcher.segment_readers()) {
            let keys = segment.fast_fields().u64("fingerprint")?;
            for doc_id in segment.doc_ids_alive() {
                // Zero marks an empty row.
                let Some(key) = keys.first(doc_id).filter(|key| *key != 0) else { continue };
                if live.insert(key) && !has_vectors(key) && !self.without_text.contains(&key) {
                    missing.push((key, DocAddress { segment_ord, doc_id }));
                }
            }
        }
        Ok((missing, live))
    }

    /// Encodes the passages of pages.
    fn encode(
        &mut self,
        semantic: &Semantic,
        view: &SubIndexSearcher,
        batch: &[Page],
    ) -> Result<Vec<EncodedPassages>, Failure> {
        let (mut keys, mut texts) = (Vec::new(), Vec::new());
        for (key, address) in batch {
            let document = view.document(*address).map_err(|error| self.shared.engine(error))?;
            let found = passages(&document, semantic.config.max_passages);
            if found.is_empty() {
                self.without_text.insert(*key);
            }
            keys.push((*key, found.len()));
            texts.extend(found);
        }
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let vectors = semantic.config.encoder.encode_passages(&texts);
        let vectors = vectors.inspect_err(|_| {
            semantic.failures.fetch_add(1, Ordering::Relaxed);
        });
        let mut vectors = vectors.map_err(Failure::Encoder)?.into_iter();
        let mut pages = Vec::new();
        for (key, count) in keys {
            let found: Vec<Vec<f32>> = vectors.by_ref().take(count).collect();
            // Without a direction, the model knows no word of the page.
            if found.iter().flatten().all(|value| *value == 0.0) {
                self.without_text.insert(key);
            }
            pages.push((key, found));
        }
        Ok(pages)
    }
}

impl From<IndexError> for Failure {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

impl Failure {
    fn log(&self, semantic: &Semantic) {
        let error: &(dyn std::error::Error + 'static) = match self {
            Self::Encoder(error) => error,
            Self::Index(error) => error,
        };
        semantic.log_once(
            error,
            "pages could not be encoded for the search by meaning; they are found by their words",
        );
    }
}

/// Returns the pause after some work that leaves a share of the time to others.
fn pause_after(worked: Duration, percent: u32) -> Duration {
    let percent = percent.clamp(1, 100);
    worked * (100 - percent) / percent
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::pause_after;

    #[test]
    fn pause_leaves_the_configured_share_of_time() {
        let second = Duration::from_secs(1);
        assert_eq!(pause_after(second, 100), Duration::ZERO);
        assert_eq!(pause_after(second, 50), second);
        assert_eq!(pause_after(second, 25), 3 * second);
    }
}
