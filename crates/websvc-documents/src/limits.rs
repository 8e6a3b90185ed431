//! How much a document may cost.

use std::fmt;

/// How much a document may cost. What is beyond the first two is cut off with a warning; what is beyond the others
/// is an error.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// At most so many pages of a PDF, slides or sheets are read.
    pub max_pages: u32,
    /// At most so many bytes of HTML are written.
    pub max_output_bytes: usize,
    /// At most so many bytes come out of the compressed parts of a file, together.
    pub max_inflated_bytes: u64,
    /// Asked between pages and now and then within them: `true` ends the reading with what there is.
    pub stop: &'a dyn Fn() -> bool,
}

/// A [`Limits::stop`] that never does.
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
