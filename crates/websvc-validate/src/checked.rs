//! Result of a successful validation.

/// A plan, and what the caller should be told about the request.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<T> {
    /// Validated plan.
    pub plan: T,
    /// Values that were ignored or reinterpreted, one sentence each, for the caller.
    pub warnings: Vec<String>,
}
