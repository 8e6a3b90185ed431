//! Times of the last use of keys, which a thread of the store writes to the database once a minute.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::params;
use crate::store::{Shared, Store};

const FLUSH_INTERVAL: Duration = Duration::from_secs(60);

impl Store {
    /// Writes the times of last use that are still in memory. The store does so every minute, and when its last handle
    /// is dropped.
    ///
    /// # Errors
    /// Failures of the database; then the times stay in memory for the next attempt.
    pub fn flush_key_uses(&self) -> Result<(), StoreError> {
        self.shared().flush_key_uses()
    }
}

impl Shared {
    pub(crate) fn flush_key_uses(&self) -> Result<(), StoreError> {
        let uses = self.access.drain_key_uses();
        if uses.is_empty() {
            return Ok(());
        }
        let written = self.database.write(Durability::Process, |transaction| {
            let sql = "UPDATE keys SET last_used_at = ?2 WHERE id = ?1 AND coalesce(last_used_at, 0) < ?2";
            for key_use in &uses {
                transaction.execute(sql, params![key_use.key.as_str(), key_use.at_ms])?;
            }
            Ok(())
        });
        if written.is_err() {
            self.access.restore_key_uses(uses);
        }
        written
    }
}

/// The thread that writes the times. Dropping this stops and joins the thread.
#[derive(Debug)]
pub(crate) struct KeyUseFlusher {
    stop: Option<Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl KeyUseFlusher {
    pub(crate) fn start(shared: Arc<Shared>) -> io::Result<Self> {
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new()
            .name("websvc-store".to_owned())
            .spawn(move || flush_until_stopped(&shared, &stopped))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for KeyUseFlusher {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic of the thread.
            let _ = thread.join();
        }
    }
}

fn flush_until_stopped(shared: &Shared, stopped: &Receiver<Infallible>) {
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(FLUSH_INTERVAL) {
        // After a failure the times stay in memory, and the next flush tries again.
        let _ = shared.flush_key_uses();
    }
    // If this fails, the stored times are at most a minute too old.
    let _ = shared.flush_key_uses();
}
