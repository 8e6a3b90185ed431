//! Errors of this crate.

use websvc_selector::SelectorError;

/// Error of a page or a selector that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The bytes are of a kind that has no text which this crate can read.
    #[error("content of kind {kind} is not supported")]
    Unsupported {
        /// The detected kind, such as `pdf`, `png` or `zip`.
        kind: String,
    },
    /// An entry of `includeTags` or `excludeTags`, or a selector of the format `attributes`, is neither a tag name nor a CSS
    /// selector.
    #[error("invalid selector {selector:?}")]
    Selector {
        /// The entry as the caller wrote it.
        selector: String,
        /// The reason.
        source: SelectorError,
    },
}
