//! The memory limits of the browser, and the report of an exceeded limit.

/// The memory limits of the browser, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryLimits {
    /// Of one process.
    pub(crate) page: u64,
    /// Of all processes together.
    pub(crate) total: u64,
}

/// The limit for which a page was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoryLimitExceeded {
    pub(crate) limit_bytes: u64,
    /// True if the limit is that of all processes, of which the page used the largest part.
    pub(crate) is_shared: bool,
}
