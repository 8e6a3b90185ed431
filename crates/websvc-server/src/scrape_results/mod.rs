//! The results of recent scrapes, for `GET /v2/scrape/{id}`.
//!
//! They are in memory, and if the database is on a server also there, for the other processes of the service. They are
//! stored for an hour, and their total size is bounded. They are compressed to about a third of their size, because few
//! are ever read again.

mod memory;
mod shared;
mod writer;

use std::time::Duration;

use bytes::Bytes;
use lz4_flex::block::{compress_prepend_size, decompress, uncompressed_size};
use uuid::Uuid;
use websvc_store::Store;
use websvc_types::limits::SCRAPE_RESULT_LIFETIME_S;

use self::memory::MemoryResults;
use self::shared::SharedResults;
pub(crate) use self::writer::ResultWriteMetrics;
use crate::response::ApiError;

/// The time for which a result is stored.
const RETENTION: Duration = Duration::from_secs(SCRAPE_RESULT_LIFETIME_S);

/// The maximum size of a result: a larger one would evict too many others.
const MAX_RESULT_BYTES: usize = 4 * 1024 * 1024;

/// The results, each for the team that requested it.
#[derive(Debug)]
pub(crate) struct ScrapeResultStore {
    memory: MemoryResults,
    /// The results of all processes; `None` if the database is a file, which only this process serves.
    shared: Option<SharedResults>,
}

impl ScrapeResultStore {
    /// Creates a store without results.
    pub(crate) fn new(store: &Store) -> Self {
        Self {
            memory: MemoryResults::default(),
            shared: store.is_shared().then(|| SharedResults::new(store.clone())),
        }
    }

    /// Stores a result of a team. Does not wait for the database.
    pub(crate) fn store(&self, id: Uuid, team: &str, json: &[u8]) {
        if json.len() > MAX_RESULT_BYTES {
            return;
        }
        let compressed = Bytes::from(compress_prepend_size(json).into_boxed_slice());
        if let Some(shared) = &self.shared {
            shared.store(id, team, compressed.clone());
        }
        self.memory.store(id, team, compressed);
    }

    /// Returns a result of a team, if it is still stored.
    ///
    /// # Errors
    /// 503 or 500 if the result is not in memory, and the database on a server cannot be read.
    pub(crate) async fn find(&self, id: Uuid, team: &str) -> Result<Option<Bytes>, ApiError> {
        let mut found = self.memory.find(id, team);
        if found.is_none()
            && let Some(shared) = &self.shared
        {
            found = shared.find(id, team).await?;
        }
        Ok(found.and_then(|compressed| decompress_result(&compressed)))
    }

    /// Returns the metrics of the writes for other processes; `None` if there are no such writes.
    pub(crate) fn write_metrics(&self) -> Option<&ResultWriteMetrics> {
        self.shared.as_ref().map(SharedResults::write_metrics)
    }
}

/// Decompresses a result; `None` if it is damaged, such as by a size that no result has.
fn decompress_result(compressed: &[u8]) -> Option<Bytes> {
    let (size, compressed) = uncompressed_size(compressed).ok()?;
    if size > MAX_RESULT_BYTES {
        return None;
    }
    decompress(compressed, size).ok().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_memory() -> ScrapeResultStore {
        ScrapeResultStore { memory: MemoryResults::default(), shared: None }
    }

    #[tokio::test]
    async fn stored_text_is_compressed() {
        let (results, id) = (in_memory(), Uuid::from_u128(1));
        let text = "{\"markdown\":\"one line and one more line\"}".repeat(100);
        results.store(id, "a", text.as_bytes());
        assert_eq!(results.find(id, "a").await.unwrap().as_deref(), Some(text.as_bytes()));
        assert!(results.memory.find(id, "a").unwrap().len() < text.len() / 3);
    }

    #[tokio::test]
    async fn too_large_result_is_not_stored() {
        let (results, id) = (in_memory(), Uuid::from_u128(1));
        results.store(id, "a", &vec![b' '; MAX_RESULT_BYTES + 1]);
        assert_eq!(results.find(id, "a").await.unwrap(), None);
        results.store(id, "a", &vec![b' '; MAX_RESULT_BYTES]);
        assert!(results.find(id, "a").await.unwrap().is_some());
    }

    #[test]
    fn damaged_result_is_not_decompressed() {
        let compressed = compress_prepend_size(b"{}");
        assert_eq!(decompress_result(&compressed).as_deref(), Some(&b"{}"[..]));
        let mut too_large = compressed.clone();
        too_large[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        for damaged in [&too_large[..], &compressed[..3], &compressed[..compressed.len() - 1], b""] {
            assert_eq!(decompress_result(damaged), None);
        }
    }
}
