//! Slots for concurrent requests, of which replicas lease as many as they use.
//!
//! The slots of an account that all replicas have leased are never more than its limit. A database file needs none: its
//! one process counts in memory.

use std::time::Duration;

use crate::error::StoreError;
use crate::sql::params;
use crate::store::Store;

/// How long leased slots may be used without contact to the server. Others free them 8 seconds after the last beat, which
/// is at most one second older than the last contact.
const MAX_SILENCE: Duration = Duration::from_secs(6);

/// Slots that a replica has leased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotLease {
    /// Their number.
    pub slots: u32,
    /// Slots of the same account that other replicas have leased.
    pub others: u32,
    /// The number of the replica that has leased them.
    pub replica: i64,
}

impl Store {
    /// Sets the slots of an account, such as `team:red`, that this replica has leased to `wanted`, or to as many as the
    /// other replicas leave of `total`. With 0 it returns them. Returns `None` if the database is a file, or this process
    /// has not joined the replicas.
    ///
    /// # Errors
    /// Failures of the database, without waiting if the last attempt to reach its server failed.
    pub fn lease_slots(
        &self,
        account: &str,
        total: u32,
        wanted: u32,
    ) -> Result<Option<SlotLease>, StoreError> {
        let Some(replica) = self.reachable_replica()? else { return Ok(None) };
        // The statement writes, but its only lock is that of the account, and the commit does not wait for the disk.
        let lease = self.database().read(|connection| {
            connection.query_row(
                "SELECT granted, others FROM lease_slots(?1, ?2, ?3, ?4)",
                params![account, replica, total, wanted],
                |row| Ok(SlotLease { slots: row.get(0)?, others: row.get(1)?, replica }),
            )
        })?;
        Ok(Some(lease))
    }

    /// Returns all slots that this replica has leased.
    ///
    /// # Errors
    /// Failures of the database, without waiting if the last attempt to reach its server failed.
    pub fn return_slots(&self) -> Result<(), StoreError> {
        let Some(replica) = self.reachable_replica()? else { return Ok(()) };
        self.database().read(|connection| {
            connection.execute("DELETE FROM slot_leases WHERE replica = ?1", params![replica]).map(drop)
        })
    }

    /// Returns whether what this process has leased as the replica of this number is still its own. If not, others may
    /// have taken it: this process had no contact to the server for too long, or has joined again since.
    #[must_use]
    pub fn has_leases_of(&self, replica: i64) -> bool {
        let server = self.database().server_state();
        self.membership().id() == Some(replica)
            && server.is_none_or(|server| server.had_contact_within(MAX_SILENCE))
    }
}
