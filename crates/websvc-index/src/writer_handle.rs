//! The way to the one thread that writes: a bounded channel, and the handle that ends it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::error::IndexError;
use crate::index::IndexShared;
use crate::journal::Change;
use crate::writer_thread::WriterThread;

/// How many documents may wait for the writing thread.
const QUEUE: usize = 32;

type Reply = SyncSender<Result<(), IndexError>>;

/// Commands for the writing thread.
pub(crate) enum Command {
    /// Change something; the number is that of the journal.
    Change(Change, u64),
    /// Make the engine's writer, to find out whether writing is possible.
    Start(Reply),
    Flush(Reply),
    ApplyAnchors(Reply),
    Optimize(Reply),
}

/// The handle of the writing thread, which is started by the first command.
#[derive(Debug)]
pub(crate) struct WriterHandle {
    shared: Arc<IndexShared>,
    thread: Mutex<Option<WriterJoinHandle>>,
    /// True if tantivy's writer exists, so that commands need not check first.
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

    /// Passes a change on after making sure that writing is possible; it is in the journal when this returns.
    pub(crate) fn change(&self, change: Change) -> Result<(), IndexError> {
        let commands = self.commands()?;
        if !self.live.load(Ordering::Acquire) {
            self.ask(&commands, Command::Start)?;
        }
        let send = |change, number| commands.send(Command::Change(change, number)).map_err(|_| self.closed());
        self.shared.journal.append(change, |source| self.shared.io(source), send)
    }

    /// Makes sure that writing is possible, which applies what is left in the journal.
    pub(crate) fn start(&self) -> Result<(), IndexError> {
        let commands = self.commands()?;
        self.ask(&commands, Command::Start)
    }

    pub(crate) fn flush(&self) -> Result<(), IndexError> {
        self.ask_if_started(Command::Flush)
    }

    pub(crate) fn apply_anchors(&self) -> Result<(), IndexError> {
        self.ask_if_started(Command::ApplyAnchors)
    }

    pub(crate) fn optimize(&self) -> Result<(), IndexError> {
        let commands = self.commands()?;
        self.ask(&commands, Command::Optimize)
    }

    /// Ends the thread after it has committed everything.
    pub(crate) fn close(&self) -> Result<(), IndexError> {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(WriterJoinHandle { commands, handle }) = thread else {
            return Ok(());
        };
        drop(commands);
        handle.join().unwrap_or_else(|_| Err(self.closed()))
    }

    /// Asks the thread; where nothing was written there is none, and nothing to do.
    fn ask_if_started(&self, command: fn(Reply) -> Command) -> Result<(), IndexError> {
        let started = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(commands) = started.as_ref().map(|thread| thread.commands.clone()) else {
            return Ok(());
        };
        drop(started);
        self.ask(&commands, command)
    }

    fn ask(&self, commands: &SyncSender<Command>, command: fn(Reply) -> Command) -> Result<(), IndexError> {
        let (reply, answer) = mpsc::sync_channel(1);
        commands.send(command(reply)).map_err(|_| self.closed())?;
        answer.recv().map_err(|_| self.closed())?
    }

    fn commands(&self) -> Result<SyncSender<Command>, IndexError> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = &*thread {
            return Ok(thread.commands.clone());
        }
        let (commands, received) = mpsc::sync_channel(QUEUE);
        let owner = WriterThread::new(Arc::clone(&self.shared), Arc::clone(&self.live));
        let handle = std::thread::Builder::new()
            .name("index-writer".to_owned())
            .spawn(move || owner.run(&received))
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
        // Nobody is left to hear of an error; callers who care call `close`.
        let _ = self.close();
    }
}
