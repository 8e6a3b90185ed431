//! Error type of selectors.

/// Error of [`Selector::parse`](crate::Selector::parse). The messages can follow a colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectorError {
    /// The text is not a valid selector, or the dialect does not support it.
    #[error("it is not a supported CSS selector")]
    Syntax,
    /// The text is longer than [`MAX_BYTES`](crate::MAX_BYTES).
    #[error("it is longer than {} bytes", crate::MAX_BYTES)]
    TooLong,
    /// The text has more than [`MAX_BRACKETS`](crate::MAX_BRACKETS) opening brackets.
    #[error("it has more than {} opening brackets", crate::MAX_BRACKETS)]
    TooNested,
}
