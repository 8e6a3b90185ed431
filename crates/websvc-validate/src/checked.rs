//! What a successful check returns.

/// A plan, and what the caller should be told about the request.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<T> {
    /// What will be done.
    pub plan: T,
    /// What was ignored or read differently than it was written, a sentence each, fit for the caller.
    pub warnings: Vec<String>,
}
