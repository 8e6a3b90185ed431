//! The bounds of memory, and what became of a page that was above one.

/// The most memory that there may be, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Of one process.
    pub(crate) page: u64,
    /// Of all processes together.
    pub(crate) total: u64,
}

/// The bound that a page was ended for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Excess {
    pub(crate) limit_bytes: u64,
    /// The bound is that of the whole browser, and the page seemed to have the largest part.
    pub(crate) is_shared: bool,
}
