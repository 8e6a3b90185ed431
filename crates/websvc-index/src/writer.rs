//! The one thread that writes.
//!
//! The engine's writer costs threads and memory, so it lives only while there is something to write: it is made on
//! the first write and dropped after a while without one. A bounded channel leads to the thread that owns it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tantivy::directory::error::LockError;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{IndexWriter, TantivyError, Term};

use crate::document::Document;
use crate::encode::encode;
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
            writer: None,
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
    writer: Option<IndexWriter>,
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
        let wait = match (self.dirty_since, &self.writer) {
            (Some(since), _) => config.commit_after.saturating_sub(since.elapsed()),
            (None, Some(_)) => config.writer_idle,
            (None, None) => return commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        commands.recv_timeout(wait.max(Duration::from_millis(1)))
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Add(document) => self.note(|owner| owner.add(&document)),
            Command::Remove(url) => self.note(|owner| owner.remove(&url)),
            Command::Start(reply) => {
                let started = self.writer().map(|_| ());
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
            self.writer = None;
        }
    }

    fn writer(&mut self) -> Result<&mut IndexWriter, IndexError> {
        if self.writer.is_none() {
            let options = IndexWriterOptions::builder()
                .num_worker_threads(1)
                .num_merge_threads(1)
                .memory_budget_per_thread(self.shared.config.writer_heap.max(15_000_000))
                .build();
            let writer: IndexWriter =
                self.shared.index.writer_with_options(options).map_err(|error| self.cannot_start(error))?;
            let mut policy = LogMergePolicy::default();
            policy.set_min_num_segments(5);
            policy.set_min_layer_size(2_000);
            writer.set_merge_policy(Box::new(policy));
            // What a killed process left half-written.
            writer.garbage_collect_files().wait().map_err(|error| self.failed(&error))?;
            self.live.store(true, Ordering::Release);
            self.writer = Some(writer);
        }
        Ok(self.writer.as_mut().expect("set above"))
    }

    fn add(&mut self, document: &Document) -> Result<(), IndexError> {
        let shared = Arc::clone(&self.shared);
        let first_seen = shared.first_seen(&document.url).map_err(|error| self.failed(&error))?;
        let Some(encoded) = encode(&shared.fields, document, first_seen) else {
            return Ok(()); // `Index::add` has refused such URLs.
        };
        let writer = self.writer()?;
        writer.delete_term(Term::from_field_text(shared.fields.url, &document.url));
        let added = writer.add_document(encoded).map(|_| ());
        self.changed(added)
    }

    fn remove(&mut self, url: &str) -> Result<(), IndexError> {
        let term = Term::from_field_text(self.shared.fields.url, url);
        self.writer()?.delete_term(term);
        self.changed(Ok(()))
    }

    fn changed(&mut self, outcome: tantivy::Result<()>) -> Result<(), IndexError> {
        outcome.map_err(|error| self.failed(&error))?;
        self.dirty_since.get_or_insert_with(Instant::now);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), IndexError> {
        if self.dirty_since.take().is_none() {
            return Ok(());
        }
        if let Some(writer) = &mut self.writer {
            let committed = writer.commit();
            committed.map_err(|error| self.failed(&error))?;
        }
        self.shared.reload()
    }

    fn merge(&mut self) -> Result<(), IndexError> {
        let segments = self.shared.index.searchable_segment_ids().map_err(|error| self.failed(&error))?;
        if segments.len() > 1 {
            let merged = self.writer()?.merge(&segments).wait();
            // A merge in the background may have taken some of the segments first; that is as good.
            match merged {
                Ok(_) | Err(TantivyError::InvalidArgument(_)) => {}
                Err(error) => return Err(self.failed(&error)),
            }
        }
        self.shared.reload()
    }

    /// Tidies up and lets go of the engine's writer when there was nothing to write for a while.
    fn rest(&mut self) -> Result<(), IndexError> {
        let metas = self.shared.index.load_metas().map_err(|error| self.failed(&error))?;
        let documents: u64 = metas.segments.iter().map(|segment| u64::from(segment.num_docs())).sum();
        // The files of a part are not removed from the disk while a description of it lives.
        drop(metas);
        if documents <= SMALL_INDEX {
            self.merge()?;
        }
        self.release()
    }

    fn release(&mut self) -> Result<(), IndexError> {
        self.live.store(false, Ordering::Release);
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        let _ = writer.garbage_collect_files().wait();
        writer.wait_merging_threads().map_err(|error| self.failed(&error))?;
        self.shared.reload()
    }

    fn cannot_start(&self, error: TantivyError) -> IndexError {
        match error {
            TantivyError::LockFailure(LockError::LockBusy, _) => {
                IndexError::Locked { dir: self.shared.dir.clone() }
            }
            other => self.failed(&other),
        }
    }

    fn failed(&self, error: &TantivyError) -> IndexError {
        IndexError::Write { dir: self.shared.dir.clone(), reason: error.to_string() }
    }
}
