//! The durability of transactions.

/// The failures that a committed transaction survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the process. A power failure may undo the last transactions, in order. For data that can be
    /// recreated.
    Process,
    /// A power failure too, at the cost of a disk flush. For data such as the revocation of a key.
    Power,
}
