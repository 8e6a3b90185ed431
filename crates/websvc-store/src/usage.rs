//! When keys were last used, written to the database by a thread of the store, once a minute.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::params;

use crate::database::Durability;
use crate::error::StoreError;
use crate::store::{Shared, Store};

const INTERVAL: Duration = Duration::from_secs(60);

impl Store {
    /// Writes the times of last use that are still in memory. The store does so by itself every minute and when its
    /// last handle is dropped.
    ///
    /// # Errors
    /// Failures of the database; the times are then kept for the next attempt.
    pub fn flush_usage(&self) -> Result<(), StoreError> {
        self.shared().flush_usage()
    }
}

impl Shared {
    pub(crate) fn flush_usage(&self) -> Result<(), StoreError> {
        let uses = self.access.drain_key_uses();
        if uses.is_empty() {
            return Ok(());
        }
        let written = self.database.write(Durability::Process, |transaction| {
            let mut statement = transaction.prepare_cached(
                "UPDATE keys SET last_used_at = ?2 WHERE id = ?1 AND ifnull(last_used_at, 0) < ?2",
            )?;
            for used in &uses {
                statement.execute(params![used.key.as_str(), used.at_ms])?;
            }
            Ok(())
        });
        if written.is_err() {
            self.access.return_uses(uses);
        }
        written
    }
}

/// The thread that writes; dropping it stops and joins the thread.
#[derive(Debug)]
pub(crate) struct UsageWriter {
    stop: Option<Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl UsageWriter {
    pub(crate) fn start(shared: Arc<Shared>) -> io::Result<Self> {
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new()
            .name("websvc-store".to_owned())
            .spawn(move || write_until_stopped(&shared, &stopped))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for UsageWriter {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already reported by the panic hook.
            let _ = thread.join();
        }
    }
}

fn write_until_stopped(shared: &Shared, stopped: &Receiver<Infallible>) {
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(INTERVAL) {
        // A failure keeps the times in memory, and the next round tries again.
        let _ = shared.flush_usage();
    }
    // The last chance: at worst a time of use is a minute older than the truth.
    let _ = shared.flush_usage();
}
