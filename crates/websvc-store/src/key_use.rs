//! Times of the last use of keys, which a thread of the store writes to the database once a minute.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::background_thread::{BackgroundThread, StopSignal};
use crate::database::Durability;
use crate::error::StoreError;
use crate::shared::Shared;
use crate::sql::params;

const FLUSH_INTERVAL: Duration = Duration::from_secs(60);

impl Shared {
    pub(crate) fn flush_key_uses(&self) -> Result<(), StoreError> {
        let mut uses = self.access.drain_key_uses();
        if uses.is_empty() {
            return Ok(());
        }
        // Processes that update the same keys do so in the same order.
        uses.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        let written = self.database.write_shared(Durability::Process, |transaction| {
            let sql = "UPDATE keys SET last_used_at = ?2 WHERE id = ?1 AND coalesce(last_used_at, 0) < ?2";
            for key_use in &uses {
                transaction.enqueue(sql, params![key_use.key.as_str(), key_use.at_ms])?;
            }
            Ok(())
        });
        if written.is_err() {
            self.access.restore_key_uses(uses);
        }
        written
    }
}

/// The thread that writes the times.
#[derive(Debug)]
pub(crate) struct KeyUseFlusher(#[expect(dead_code, reason = "dropped, not read")] BackgroundThread);

impl KeyUseFlusher {
    pub(crate) fn start(shared: Arc<Shared>) -> io::Result<Self> {
        BackgroundThread::start("websvc-store", move |signal| flush_until_stopped(&shared, signal)).map(Self)
    }
}

fn flush_until_stopped(shared: &Shared, signal: &StopSignal) {
    while signal.wait(FLUSH_INTERVAL) {
        // After a failure the times stay in memory, and the next flush tries again.
        let _ = shared.flush_key_uses();
    }
    // If this fails, the stored times are at most a minute too old.
    let _ = shared.flush_key_uses();
}
