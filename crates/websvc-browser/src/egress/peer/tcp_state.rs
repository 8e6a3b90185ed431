//! The TCP states of Linux.

/// `TCP_ESTABLISHED`. In other states, the socket may have been closed by its process; its user is then reported as root.
pub(super) const ESTABLISHED: u8 = 1;
