//! JSON documents in the database, compressed.

use crate::database::Database;
use crate::error::StoreError;

/// Documents are written once and read once or twice: a few percent of size are not worth much time.
const COMPRESSION_LEVEL: i32 = 3;

/// Maximum size of a document, before compression: larger than any page in all its formats.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// A document as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CompressedDocument {
    /// Size before compression.
    pub(crate) bytes: u64,
    /// The document, compressed by zstd.
    pub(crate) content: Vec<u8>,
}

impl CompressedDocument {
    /// Compresses a document. This takes CPU time, so it is a step before the database is locked.
    pub(crate) fn new(json: &[u8]) -> Self {
        let content =
            zstd::bulk::compress(json, COMPRESSION_LEVEL).expect("compressing into memory cannot fail");
        Self { bytes: json.len() as u64, content }
    }

    /// Returns the document.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it cannot be decoded; the message contains `name`.
    pub(crate) fn decompress(&self, database: &Database, name: &str) -> Result<Vec<u8>, StoreError> {
        let damaged = |detail: String| database.corrupt(format!("{name}: {detail}"));
        if self.bytes > MAX_BYTES {
            return Err(damaged(format!("{} bytes", self.bytes)));
        }
        let capacity = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        let json =
            zstd::bulk::decompress(&self.content, capacity).map_err(|error| damaged(error.to_string()))?;
        if json.len() as u64 != self.bytes {
            return Err(damaged(format!("{} bytes instead of {}", json.len(), self.bytes)));
        }
        Ok(json)
    }
}
