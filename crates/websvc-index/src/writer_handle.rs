//! The handle of the writer thread: a bounded channel of commands and the join handle.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;

use parking_lot::Mutex;

use crate::error::IndexError;
use crate::index_shared::IndexShared;
use crate::journal::Change;
use crate::writer_thread::{Command, Reply, WriterThread};

/// Capacity of the queue of the writer thread.
const QUEUE_CAPACITY: usize = 32;

/// The handle of the writer thread, which is spawned by the first command.
#[derive(Debug)]
pub(crate) struct WriterHandle {
    shared: Arc<IndexShared>,
    thread: Mutex<Option<WriterJoinHandle>>,
    /// True if the tantivy writers exist, so that writing is known to be possible.
    live: Arc<AtomicBool>,
}

#[derive(Debug)]
struct WriterJoinHandle {
    commands: SyncSender<Command>,
    handle: JoinHandle<Result<(), IndexError>>,
}

impl WriterHandle {
    pub(crate) fn new(shared: Arc<IndexShared>) -> Self {
        Self { shared, thread: Mutex::new(None), live: Arc::new(AtomicBool::new(false)) }
    }

    /// Sends a change to the writer thread, after making sure that writing is possible. The change is in the journal
    /// when this returns.
    pub(crate) fn change(&self, change: Change) -> Result<(), IndexError> {
        let commands = self.commands()?;
        if !self.live.load(Ordering::Acquire) {
            self.send(&commands, Command::Start)?;
        }
        let send = |change, number| commands.send(Command::Change(change, number)).map_err(|_| self.closed());
        self.shared.journal.append(change, |source| self.shared.io(source), send)
    }

    /// Makes sure that writing is possible, which applies the changes in the journal.
    pub(crate) fn start(&self) -> Result<(), IndexError> {
        let commands = self.commands()?;
        self.send(&commands, Command::Start)
    }

    pub(crate) fn flush(&self) -> Result<(), IndexError> {
        self.send_if_started(Command::Flush)
    }

    pub(crate) fn apply_anchors(&self) -> Result<(), IndexError> {
        self.send_if_started(Command::ApplyAnchors)
    }

    pub(crate) fn optimize(&self) -> Result<(), IndexError> {
        let commands = self.commands()?;
        self.send(&commands, Command::Optimize)
    }

    /// Stops the thread after it committed everything.
    pub(crate) fn close(&self) -> Result<(), IndexError> {
        let thread = self.thread.lock().take();
        let Some(WriterJoinHandle { commands, handle }) = thread else {
            return Ok(());
        };
        drop(commands);
        handle.join().unwrap_or_else(|_| Err(self.closed()))
    }

    /// Sends a command and waits for its result. Without a thread, nothing was written, and there is nothing to do.
    fn send_if_started(&self, command: fn(Reply) -> Command) -> Result<(), IndexError> {
        let thread = self.thread.lock();
        let Some(commands) = thread.as_ref().map(|thread| thread.commands.clone()) else {
            return Ok(());
        };
        drop(thread);
        self.send(&commands, command)
    }

    /// Sends a command and waits for its result.
    fn send(&self, commands: &SyncSender<Command>, command: fn(Reply) -> Command) -> Result<(), IndexError> {
        let (reply, result) = mpsc::sync_channel(1);
        commands.send(command(reply)).map_err(|_| self.closed())?;
        result.recv().map_err(|_| self.closed())?
    }

    /// Returns the command channel of the thread, and spawns the thread if there is none.
    fn commands(&self) -> Result<SyncSender<Command>, IndexError> {
        let mut thread = self.thread.lock();
        if let Some(thread) = &*thread {
            return Ok(thread.commands.clone());
        }
        let (commands, receiver) = mpsc::sync_channel(QUEUE_CAPACITY);
        let writer = WriterThread::new(Arc::clone(&self.shared), Arc::clone(&self.live));
        let handle = std::thread::Builder::new()
            .name("index-writer".to_owned())
            .spawn(move || writer.run(&receiver))
            .map_err(|source| IndexError::Directory { dir: self.shared.dir.clone(), source })?;
        *thread = Some(WriterJoinHandle { commands: commands.clone(), handle });
        Ok(commands)
    }

    fn closed(&self) -> IndexError {
        IndexError::Closed { dir: self.shared.dir.clone() }
    }
}

impl Drop for WriterHandle {
    fn drop(&mut self) {
        // Drop cannot return the error; `Index::close` does.
        let _ = self.close();
    }
}
