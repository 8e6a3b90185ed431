//! Errors between a page's bytes and its content.

use websvc_selector::SelectorError;

/// Why a page or a selector could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The bytes are of a kind that holds no text this crate can read.
    #[error("content of kind {kind} is not supported")]
    Unsupported {
        /// The kind that was found, such as `pdf`, `png` or `zip`.
        kind: String,
    },
    /// An entry of `includeTags` or `excludeTags` is neither a tag name nor a CSS selector.
    #[error("invalid selector {selector:?}")]
    Selector {
        /// The entry as it was given.
        selector: String,
        /// Why it is none.
        source: SelectorError,
    },
}
