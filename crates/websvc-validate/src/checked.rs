//! Result of a successful validation.

/// Plan of a valid request, with warnings for the caller.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<T> {
    /// Validated plan.
    pub plan: T,
    /// Warnings about ignored or reinterpreted values, one sentence each.
    pub warnings: Vec<String>,
}
