//! The one thread that writes.
//!
//! The engine's writer costs threads and memory, so it lives only while there is something to write: it is made on
//! the first write and dropped after a while without one. A bounded channel leads to the thread that owns it.
//!
//! Images are committed before their pages, and searches show no image whose page is not there: whenever the process
//! ends, a page that is there has its images.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tantivy::{TantivyDocument, TantivyError};

use crate::desk::{Desk, MIN_HEAP, is_locked};
use crate::document::Document;
use crate::encode::{Encoded, encode};
use crate::error::IndexError;
use crate::index::Shared;

/// How many documents may wait for the writing thread.
const QUEUE: usize = 32;

/// An index of at most this many documents is merged into one part when writing pauses.
const SMALL_INDEX: u64 = 100_000;

type Reply = SyncSender<Result<(), IndexError>>;

/// What the writing thread is told.
pub(crate) enum Command {
    Add(Box<Document>),
    Remove(String),
    /// Make the engine's writer, to find out whether writing is possible.
    Start(Reply),
    Flush(Reply),
    Optimize(Reply),
}

/// The handle of the writing thread, which is started by the first command.
#[derive(Debug)]
pub(crate) struct Writer {
    shared: Arc<Shared>,
    thread: Mutex<Option<Thread>>,
    /// Whether the engine's writer exists, so that commands need not ask first.
    live: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Thread {
    commands: SyncSender<Command>,
    handle: JoinHandle<Result<(), IndexError>>,
}

impl Writer {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, thread: Mutex::new(None), live: Arc::new(AtomicBool::new(false)) }
    }

    /// Sends a command after making sure that writing is possible.
    pub(crate) fn send(&self, command: Command) -> Result<(), IndexError> {
        let commands = self.commands()?;
        if !self.live.load(Ordering::Acquire) {
            self.ask(&commands, Command::Start)?;
        }
        commands.send(command).map_err(|_| self.closed())
    }

    pub(crate) fn flush(&self) -> Result<(), IndexError> {
        let started = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(commands) = started.as_ref().map(|thread| thread.commands.clone()) else {
            return Ok(());
        };
        drop(started);
        self.ask(&commands, Command::Flush)
    }

    pub(crate) fn optimize(&self) -> Result<(), IndexError> {
        let commands = self.commands()?;
        self.ask(&commands, Command::Optimize)
    }

    /// Ends the thread after it has committed everything.
    pub(crate) fn close(&self) -> Result<(), IndexError> {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Thread { commands, handle }) = thread else {
            return Ok(());
        };
        drop(commands);
        handle.join().unwrap_or_else(|_| Err(self.closed()))
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
        let owner = Owner {
            shared: Arc::clone(&self.shared),
            live: Arc::clone(&self.live),
            pages: Desk::default(),
            images: Desk::default(),
            dirty_since: None,
            failure: None,
        };
        let handle = std::thread::Builder::new()
            .name("index-writer".to_owned())
            .spawn(move || owner.run(&received))
            .map_err(|source| IndexError::Directory { dir: self.shared.dir.clone(), source })?;
        *thread = Some(Thread { commands: commands.clone(), handle });
        Ok(commands)
    }

    fn closed(&self) -> IndexError {
        IndexError::Closed { dir: self.shared.dir.clone() }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Nobody is left to hear of an error; callers who care call `close`.
        let _ = self.close();
    }
}

/// The state of the writing thread.
struct Owner {
    shared: Arc<Shared>,
    live: Arc<AtomicBool>,
    pages: Desk,
    images: Desk,
    /// When the first document came that is not committed yet.
    dirty_since: Option<Instant>,
    /// The first failure that nobody has been told of yet.
    failure: Option<IndexError>,
}

impl Owner {
    fn run(mut self, commands: &Receiver<Command>) -> Result<(), IndexError> {
        loop {
            match self.next(commands) {
                Ok(command) => self.obey(command),
                Err(RecvTimeoutError::Timeout) if self.dirty_since.is_some() => self.note(Self::commit),
                Err(RecvTimeoutError::Timeout) => self.note(Self::rest),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.dirty_since.is_some_and(|since| since.elapsed() >= self.shared.config.commit_after) {
                self.note(Self::commit);
            }
        }
        self.note(Self::commit);
        self.note(Self::release);
        self.failure.map_or(Ok(()), Err)
    }

    /// Waits for a command, at most until there is something to do without one.
    fn next(&self, commands: &Receiver<Command>) -> Result<Command, RecvTimeoutError> {
        let config = &self.shared.config;
        let wait = match (self.dirty_since, self.pages.is_live()) {
            (Some(since), _) => config.commit_after.saturating_sub(since.elapsed()),
            (None, true) => config.writer_idle,
            (None, false) => return commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        commands.recv_timeout(wait.max(Duration::from_millis(1)))
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Add(document) => self.note(|owner| owner.add(&document)),
            Command::Remove(url) => self.note(|owner| owner.remove(&url)),
            Command::Start(reply) => {
                let started = self.start();
                let _ = reply.send(self.failure.take().map_or(started, Err));
            }
            Command::Flush(reply) => {
                self.note(Self::commit);
                let _ = reply.send(self.failure.take().map_or(Ok(()), Err));
            }
            Command::Optimize(reply) => {
                self.note(Self::commit);
                self.note(Self::merge);
                let _ = reply.send(self.failure.take().map_or(Ok(()), Err));
            }
        }
    }

    /// Does a step; a failure is kept for the next caller who can be told, and the engine's writer is given up,
    /// since it refuses everything after a failure.
    fn note(&mut self, step: impl FnOnce(&mut Self) -> Result<(), IndexError>) {
        if let Err(error) = step(self) {
            self.failure.get_or_insert(error);
            self.dirty_since = None;
            self.live.store(false, Ordering::Release);
            self.images.abandon();
            self.pages.abandon();
        }
    }

    /// Makes sure that pages can be written. Their lock stands for that of the images too.
    fn start(&mut self) -> Result<(), IndexError> {
        let heap = self.shared.config.writer_heap;
        if let Err(error) = self.pages.start(&self.shared.pages, heap).map(|_| ()) {
            return Err(if is_locked(&error) {
                IndexError::Locked { dir: self.shared.dir.clone() }
            } else {
                self.failed(&error)
            });
        }
        self.live.store(true, Ordering::Release);
        Ok(())
    }

    fn add(&mut self, document: &Document) -> Result<(), IndexError> {
        let shared = Arc::clone(&self.shared);
        let first_seen = shared.pages.first_seen(&document.url).map_err(|error| self.failed(&error))?;
        let Some(Encoded { page, images }) = encode(&shared.pages.fields, document, first_seen) else {
            return Ok(()); // `Index::add` has refused such URLs.
        };
        self.replace(&document.url, Some(page), images)
    }

    fn remove(&mut self, url: &str) -> Result<(), IndexError> {
        self.replace(url, None, Vec::new())
    }

    fn replace(
        &mut self,
        url: &str,
        page: Option<TantivyDocument>,
        images: Vec<TantivyDocument>,
    ) -> Result<(), IndexError> {
        self.start()?;
        let shared = Arc::clone(&self.shared);
        let mut replaced = self.pages.replace(&shared.pages, shared.config.writer_heap, url, page);
        // Where there never was an image none need be removed.
        let no_images = images.is_empty() && !self.images.is_live() && shared.images.document_count() == 0;
        if replaced.is_ok() && !no_images {
            replaced = self.images.replace(&shared.images, MIN_HEAP, url, images);
        }
        replaced.map_err(|error| self.failed(&error))?;
        self.dirty_since.get_or_insert_with(Instant::now);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), IndexError> {
        if self.dirty_since.take().is_none() {
            return Ok(());
        }
        let committed = self.images.commit().and_then(|()| self.pages.commit());
        committed.map_err(|error| self.failed(&error))?;
        self.shared.reload()
    }

    fn merge(&mut self) -> Result<(), IndexError> {
        self.start()?;
        let shared = Arc::clone(&self.shared);
        let merged = self.images.merge(&shared.images, MIN_HEAP);
        let merged = merged.and_then(|()| self.pages.merge(&shared.pages, shared.config.writer_heap));
        merged.map_err(|error| self.failed(&error))?;
        self.shared.reload()
    }

    /// Tidies up and lets go of the engine's writer when there was nothing to write for a while.
    fn rest(&mut self) -> Result<(), IndexError> {
        if self.shared.pages.document_count() <= SMALL_INDEX {
            self.merge()?;
        }
        self.release()
    }

    fn release(&mut self) -> Result<(), IndexError> {
        self.live.store(false, Ordering::Release);
        let released = self.images.release().and_then(|()| self.pages.release());
        released.map_err(|error| self.failed(&error))?;
        self.shared.reload()
    }

    fn failed(&self, error: &TantivyError) -> IndexError {
        IndexError::Write { dir: self.shared.dir.clone(), reason: error.to_string() }
    }
}
