//! The limits of reading a document.

use std::fmt;

/// The limits of reading a document.
///
/// A document that exceeds [`max_pages`](Self::max_pages) or [`max_output_bytes`](Self::max_output_bytes) is cut off,
/// with a warning. One that exceeds [`max_inflated_bytes`](Self::max_inflated_bytes) is an error.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The maximum number of pages of a PDF, slides or sheets that are read.
    pub max_pages: u32,
    /// The maximum size of the HTML in bytes.
    pub max_output_bytes: usize,
    /// The maximum size of all decompressed parts of a file together, in bytes.
    pub max_inflated_bytes: u64,
    /// Called between pages and at intervals within them. `true` stops the reader, which returns the content so far.
    pub stop: &'a dyn Fn() -> bool,
}

/// A [`Limits::stop`] that always returns `false`.
pub const NEVER_STOP: &dyn Fn() -> bool = &|| false;

impl Default for Limits<'_> {
    fn default() -> Self {
        Self {
            max_pages: 10_000,
            max_output_bytes: 16 * 1024 * 1024,
            max_inflated_bytes: 256 * 1024 * 1024,
            stop: NEVER_STOP,
        }
    }
}

impl fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits")
            .field("max_pages", &self.max_pages)
            .field("max_output_bytes", &self.max_output_bytes)
            .field("max_inflated_bytes", &self.max_inflated_bytes)
            .finish_non_exhaustive()
    }
}
