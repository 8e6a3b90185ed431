//! The states of connections, as Linux numbers them.

/// The number of Linux for a connection that both ends use; all others may belong to a socket that nobody holds any
/// more, which counts as root's.
pub(super) const ESTABLISHED: u8 = 1;
