//! Compares two versions of a page.
//!
//! - [`is_same_markdown`] decides whether a page changed at all, without regard to whitespace.
//! - [`LineDiff`] lists the lines that were added and removed, as a unified diff and as a structure.
//! - [`changed_paths`] and [`changed_fields`] compare JSON values.
//!
//! The crate does no IO, reads no clock and uses no async runtime. The content of pages is hostile, so the time and the
//! memory of every function grow about linearly with the input; callers limit the input.
//!
//! ```
//! use websvc_diff::{DiffLimits, LineDiff, is_same_markdown};
//!
//! let (previous, current) = ("# Tea\n\n5 EUR\n", "# Tea\n\n6 EUR\n");
//! assert!(!is_same_markdown(previous, current));
//! let diff = LineDiff::new(previous, current, DiffLimits { max_lines: 100, max_bytes: 10_000 });
//! assert_eq!(
//!     diff.unified_text("previous.md", "current.md"),
//!     "--- previous.md\n+++ current.md\n@@ -1,3 +1,3 @@\n # Tea\n \n-5 EUR\n+6 EUR\n"
//! );
//! ```

#![deny(missing_docs)]

mod changed_range;
mod hunk;
mod line_diff;
mod text;
mod value;

pub use hunk::{DiffHunk, DiffLimits, DiffLine, LineKind};
pub use line_diff::LineDiff;
pub use text::is_same_markdown;
pub use value::{ValueChange, changed_fields, changed_paths};
