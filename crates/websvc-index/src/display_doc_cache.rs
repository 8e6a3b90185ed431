//! The cards that searches looked at lately, in memory.
//!
//! Bytes stored before the display document.

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tantivy::DocAddress;
use tantivy::directory::OwnedBytes;

use crate::display_doc;

/// At most so many bytes of cards are kept for each generation of the index.
const MAX_BYTES: u64 = 16 << 20;

/// About how large a card is, for the first size of the table.
const USUAL_CARD_BYTES: u64 = 8 << 10;

/// Cards by the place of their documents in one generation of the index.
pub(crate) struct DisplayDocCache(Cache<DocAddress, OwnedBytes, ByteWeighter>);

impl Default for DisplayDocCache {
    fn default() -> Self {
        let cards = usize::try_from(MAX_BYTES / USUAL_CARD_BYTES).unwrap_or(usize::MAX);
        Self(Cache::with_weighter(cards, MAX_BYTES, ByteWeighter))
    }
}

impl DisplayDocCache {
    /// Returns the bytes of a card; `read` gives those of the document, which end with it.
    pub(crate) fn find(
        &self,
        address: DocAddress,
        read: impl FnOnce() -> tantivy::Result<OwnedBytes>,
    ) -> tantivy::Result<OwnedBytes> {
        if let Some(bytes) = self.0.get(&address) {
            return Ok(bytes);
        }
        let stored = read()?;
        // A copy: a part of the document's bytes would keep all of them.
        let bytes = OwnedBytes::new(display_doc::part(&stored).to_vec());
        self.0.insert(address, bytes.clone());
        Ok(bytes)
    }
}

/// Weighs a card by its bytes, and what it takes to keep them.
#[derive(Clone)]
struct ByteWeighter;

impl Weighter<DocAddress, OwnedBytes> for ByteWeighter {
    fn weight(&self, _address: &DocAddress, bytes: &OwnedBytes) -> u64 {
        const KEEPING: usize = 64;
        (KEEPING + bytes.len()) as u64
    }
}
