//! A cache of display documents that searches read recently.
//!
//! The cache of tantivy has whole blocks, limited by number and not by size, and reading from it copies the whole
//! document. A search reads the display documents of a few dozen candidates, and popular ones recur.

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tantivy::DocAddress;
use tantivy::directory::OwnedBytes;

use crate::display_doc;

/// Maximum bytes of the cache of one searcher generation.
const MAX_BYTES: u64 = 16 << 20;

/// Typical size of a display document, for the initial capacity.
const TYPICAL_BYTES: u64 = 8 << 10;

/// Display documents by the address of their documents in one searcher generation.
pub(crate) struct DisplayDocCache(Cache<DocAddress, OwnedBytes, ByteWeighter>);

impl Default for DisplayDocCache {
    fn default() -> Self {
        let items = usize::try_from(MAX_BYTES / TYPICAL_BYTES).unwrap_or(usize::MAX);
        Self(Cache::with_weighter(items, MAX_BYTES, ByteWeighter))
    }
}

impl DisplayDocCache {
    /// Returns the bytes of a display document. On a miss, `read` returns the stored bytes of the document, which end
    /// with it.
    pub(crate) fn find(
        &self,
        address: DocAddress,
        read: impl FnOnce() -> tantivy::Result<OwnedBytes>,
    ) -> tantivy::Result<OwnedBytes> {
        if let Some(bytes) = self.0.get(&address) {
            return Ok(bytes);
        }
        let stored = read()?;
        // A copy, because a slice would keep all bytes of the document in memory.
        let bytes = OwnedBytes::new(display_doc::without_record(&stored).to_vec());
        self.0.insert(address, bytes.clone());
        Ok(bytes)
    }
}

/// Weighs a display document by its bytes plus the overhead of an entry.
#[derive(Clone)]
struct ByteWeighter;

impl Weighter<DocAddress, OwnedBytes> for ByteWeighter {
    fn weight(&self, _address: &DocAddress, bytes: &OwnedBytes) -> u64 {
        const OVERHEAD: usize = 64;
        (OVERHEAD + bytes.len()) as u64
    }
}
