//! Why a text is no selector.

/// Why a text is no selector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectorError {
    /// It does not keep to the grammar, or asks for what cannot be matched.
    #[error("it is no CSS selector that can be matched here")]
    Syntax,
    /// It is longer than [`MAX_BYTES`](crate::MAX_BYTES).
    #[error("it is longer than {} bytes", crate::MAX_BYTES)]
    TooLong,
    /// It has more brackets than [`MAX_BRACKETS`](crate::MAX_BRACKETS).
    #[error("it has more than {} opening brackets", crate::MAX_BRACKETS)]
    TooNested,
}
