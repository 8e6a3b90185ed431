//! The writer thread, the only thread that writes to an index.
//!
//! Tantivy writers cost threads and memory, so they exist only while there is something to write: they are created on
//! the first write and dropped after a time without writes.
//!
//! ChangeReader are in the [journal](crate::journal) until they are committed. Creating the writers first applies the
//! changes that remain there.
//!
//! Images are committed before their pages, and searches return no image whose page is missing. So whenever the process
//! ends, each committed page has its images. Anchors are applied (see [`crate::anchor_update`]) between writes.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError};
use std::time::{Duration, Instant};

use tantivy::directory::error::OpenWriteError;
use tantivy::{TantivyDocument, TantivyError};

use crate::analysis::FormCache;
use crate::anchors::{Anchors, gather};
use crate::backlog::{AnchorBacklog, PENDING};
use crate::display_doc::DisplayDoc;
use crate::document::Document;
use crate::encode::{EncodedPage, encode};
use crate::error::IndexError;
use crate::image_fields::encode_images;
use crate::index_shared::IndexShared;
use crate::journal::{Change, ChangeReader};
use crate::lazy_writer::{LazyIndexWriter, MIN_HEAP, is_locked};
use crate::stored_record::{self, Links};
use crate::sub_index::{SubIndexSearcher, find};

/// Maximum documents of an index that is merged into one segment when it is idle.
const MAX_IDLE_MERGE_DOCUMENTS: u64 = 100_000;

/// Maximum pages that get their anchors in one step while no writes happen; commands are handled between two steps.
const IDLE_ANCHOR_BATCH: usize = 64;
/// Maximum pages that get their anchors with each commit during a long run of writes.
const BUSY_ANCHOR_BATCH: usize = 32;
/// Duration of a run of writes after which anchors are applied during it. Most crawls end earlier, and a page that gets
/// its anchors early often has to be encoded again.
const BUSY_ANCHORS_AFTER: Duration = Duration::from_secs(30);

/// The channel for the result of a command.
pub(crate) type Reply = SyncSender<Result<(), IndexError>>;

/// Commands for the writer thread.
pub(crate) enum Command {
    /// Applies a change, with its number in the journal.
    Change(Change, u64),
    /// Creates the tantivy writers, which checks that writing is possible and applies the journal.
    Start(Reply),
    Flush(Reply),
    ApplyAnchors(Reply),
    Optimize(Reply),
}

/// The state of the writer thread.
pub(crate) struct WriterThread {
    pub(crate) shared: Arc<IndexShared>,
    live: Arc<AtomicBool>,
    pub(crate) pages: LazyIndexWriter,
    images: LazyIndexWriter,
    pub(crate) forms: FormCache,
    /// Time of the first uncommitted write.
    pub(crate) dirty_since: Option<Instant>,
    /// The pages whose anchors have to be applied.
    pub(crate) backlog: AnchorBacklog,
    /// The number of the last change that was taken from the queue.
    applied: u64,
    /// True if the payload of the last commit is [`PENDING`].
    pub(crate) anchors_pending: bool,
    /// Start of the current run of writes; `None` while idle, when anchors are applied as fast as possible.
    busy_since: Option<Instant>,
    /// The first failure that was not returned to a caller yet.
    failure: Option<IndexError>,
}

impl WriterThread {
    pub(crate) fn new(shared: Arc<IndexShared>, live: Arc<AtomicBool>) -> Self {
        Self {
            shared,
            live,
            pages: LazyIndexWriter::default(),
            images: LazyIndexWriter::default(),
            forms: FormCache::default(),
            dirty_since: None,
            backlog: AnchorBacklog::default(),
            applied: 0,
            anchors_pending: false,
            busy_since: None,
            failure: None,
        }
    }

    pub(crate) fn run(mut self, commands: &Receiver<Command>) -> Result<(), IndexError> {
        loop {
            match self.next_command(commands) {
                Ok(command) => {
                    self.busy_since.get_or_insert_with(Instant::now);
                    self.handle_command(command);
                }
                Err(RecvTimeoutError::Timeout) => self.run_step(Self::idle),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.dirty_since.is_some_and(|since| since.elapsed() >= self.shared.config.commit_after) {
                self.run_step(Self::commit);
                if self.busy_since.is_some_and(|since| since.elapsed() >= BUSY_ANCHORS_AFTER) {
                    self.run_step(|writer| writer.apply_anchors_batch(BUSY_ANCHOR_BATCH));
                }
            }
        }
        self.run_step(Self::commit);
        self.run_step(Self::release);
        self.failure.map_or(Ok(()), Err)
    }

    /// Waits for a command, and times out when there is other work to do.
    fn next_command(&self, commands: &Receiver<Command>) -> Result<Command, RecvTimeoutError> {
        let config = &self.shared.config;
        if self.busy_since.is_none() && self.pages.is_live() && !self.backlog.is_empty() {
            return commands.try_recv().map_err(|error| match error {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            });
        }
        let timeout = match (self.dirty_since, self.pages.is_live()) {
            (Some(since), _) => config.commit_after.saturating_sub(since.elapsed()),
            (None, true) if !self.backlog.is_empty() => config.commit_after,
            (None, true) => config.writer_idle,
            (None, false) => return commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        commands.recv_timeout(timeout.max(Duration::from_millis(1)))
    }

    /// Runs the next piece of work without a command: a commit, a batch of anchors or the shutdown of the writers.
    fn idle(&mut self) -> Result<(), IndexError> {
        if self.dirty_since.is_some() && self.busy_since.is_some() {
            return self.commit();
        }
        self.busy_since = None;
        if !self.backlog.is_empty() {
            return self.apply_anchors_batch(IDLE_ANCHOR_BATCH);
        }
        if self.dirty_since.is_some() {
            return self.commit();
        }
        self.shut_down_idle()
    }

    fn handle_command(&mut self, command: Command) {
        match command {
            Command::Change(change, number) => {
                self.run_step(|writer| writer.apply(&change));
                self.applied = number;
            }
            Command::Start(reply) => {
                let result = self.start();
                let _ = reply.send(self.failure.take().map_or(result, Err));
            }
            Command::Flush(reply) => {
                self.run_step(Self::commit);
                let _ = reply.send(self.failure.take().map_or(Ok(()), Err));
            }
            Command::ApplyAnchors(reply) => {
                self.run_step(Self::apply_all_anchors);
                let _ = reply.send(self.failure.take().map_or(Ok(()), Err));
            }
            Command::Optimize(reply) => {
                self.run_step(Self::apply_all_anchors);
                self.run_step(Self::merge);
                let _ = reply.send(self.failure.take().map_or(Ok(()), Err));
            }
        }
    }

    /// Runs a step. Stores a failure for the next command with a reply, and drops the tantivy writers, which reject
    /// everything after a failure.
    fn run_step(&mut self, step: impl FnOnce(&mut Self) -> Result<(), IndexError>) {
        if let Err(error) = step(self) {
            self.failure.get_or_insert(error);
            // The lost changes are in the journal; a sweep finds the anchors that were not applied.
            self.backlog.add_all();
            self.discard_writers();
        }
    }

    fn discard_writers(&mut self) {
        self.dirty_since = None;
        self.shared.journal.mark_unapplied();
        self.live.store(false, Ordering::Release);
        self.images.discard();
        self.pages.discard();
    }

    /// Makes sure that pages can be written. The lock of their sub-index protects the images too.
    pub(crate) fn start(&mut self) -> Result<(), IndexError> {
        if self.pages.is_live() {
            return Ok(());
        }
        let heap = self.shared.config.writer_heap;
        if let Err(error) = self.pages.start(&self.shared.pages, heap).map(|_| ()) {
            return Err(if is_locked(&error) {
                IndexError::Locked { dir: self.shared.dir.clone() }
            } else {
                self.write_error(&error)
            });
        }
        // Another process may have written meanwhile, and may have ended before it applied all anchors.
        let metas = self.shared.pages.index.load_metas().map_err(|error| self.write_error(&error))?;
        self.anchors_pending = metas.payload.as_deref() == Some(PENDING);
        if self.anchors_pending {
            self.backlog.add_all();
        }
        self.shared.reload()?;
        if let Err(error) = self.replay() {
            self.discard_writers();
            return Err(error);
        }
        self.live.store(true, Ordering::Release);
        Ok(())
    }

    /// Applies the changes of the journal that are in no commit.
    fn replay(&mut self) -> Result<(), IndexError> {
        let shared = Arc::clone(&self.shared);
        let to_error = |source| shared.io(source);
        let mut count = 0;
        for path in shared.journal.unapplied().map_err(to_error)? {
            let mut changes = ChangeReader::open(&path).map_err(to_error)?;
            while let Some(change) = changes.next().map_err(to_error)? {
                // A document that makes the encoder panic would do so at every start, so it is skipped.
                if let Ok(result) = catch_unwind(AssertUnwindSafe(|| self.apply(&change))) {
                    result?;
                }
                count += 1;
            }
        }
        shared.journal.mark_applied(count);
        if count > 0 {
            self.dirty_since.get_or_insert_with(Instant::now);
        }
        Ok(())
    }

    fn apply(&mut self, change: &Change) -> Result<(), IndexError> {
        match change {
            Change::Add(document) => self.add(document),
            Change::Remove(url) => self.remove(url),
        }
    }

    fn add(&mut self, document: &Document) -> Result<(), IndexError> {
        self.start()?;
        let shared = Arc::clone(&self.shared);
        let fields = &shared.pages.fields;
        let read = || -> tantivy::Result<_> {
            let view = shared.pages.view()?;
            let committed = CommittedPage::find(&view, &document.url)?;
            // A pending sweep will find the anchors of a new page.
            let skip = self.backlog.is_full_sweep() && committed.is_none();
            let anchors = if skip { Anchors::default() } else { gather(&view, &document.url)? };
            Ok((committed.unwrap_or_default(), anchors))
        };
        let (committed, anchors) = read().map_err(|error| self.write_error(&error))?;
        let forms = &mut self.forms;
        let encoded = encode(fields, document, committed.first_seen, &anchors, forms);
        let Some(EncodedPage { page, facts }) = encoded else {
            return Ok(()); // `Index::add` rejects such URLs.
        };
        let images = encode_images(fields, document, &facts, forms);
        self.replace(&document.url, Some(page), images)?;
        self.backlog.add_changed(&document.url, &committed.links, &document.links);
        Ok(())
    }

    fn remove(&mut self, url: &str) -> Result<(), IndexError> {
        self.start()?;
        let committed = self.shared.pages.view().and_then(|view| CommittedPage::find(&view, url));
        let committed = committed.map_err(|error| self.write_error(&error))?.unwrap_or_default();
        self.replace(url, None, Vec::new())?;
        self.backlog.add_changed(url, &committed.links, &[]);
        Ok(())
    }

    fn replace(
        &mut self,
        url: &str,
        page: Option<TantivyDocument>,
        images: Vec<TantivyDocument>,
    ) -> Result<(), IndexError> {
        let shared = Arc::clone(&self.shared);
        let mut result = self.pages.replace(&shared.pages, shared.config.writer_heap, url, page);
        // Without any images in the index, there are none to remove.
        let no_images = images.is_empty() && !self.images.is_live() && shared.images.document_count() == 0;
        if result.is_ok() && !no_images {
            result = self.images.replace(&shared.images, MIN_HEAP, url, images);
        }
        result.map_err(|error| self.write_error(&error))?;
        self.dirty_since.get_or_insert_with(Instant::now);
        Ok(())
    }

    pub(crate) fn commit(&mut self) -> Result<(), IndexError> {
        if self.dirty_since.take().is_none() {
            return Ok(());
        }
        let pending = !self.backlog.is_empty();
        let committed = self.images.commit(None).and_then(|()| self.pages.commit(pending.then_some(PENDING)));
        committed.map_err(|error| self.write_error(&error))?;
        self.anchors_pending = pending;
        let removed = self.shared.journal.remove_committed(self.applied);
        removed.map_err(|source| self.shared.io(source))?;
        self.shared.reload()
    }

    fn merge(&mut self) -> Result<(), IndexError> {
        self.start()?;
        let shared = Arc::clone(&self.shared);
        let merged = self.images.merge(&shared.images, MIN_HEAP);
        let merged = merged.and_then(|()| self.pages.merge(&shared.pages, shared.config.writer_heap));
        merged.map_err(|error| self.write_error(&error))?;
        self.shared.reload()
    }

    /// Merges a small index and closes the tantivy writers, after a time without writes.
    fn shut_down_idle(&mut self) -> Result<(), IndexError> {
        if self.shared.pages.document_count() <= MAX_IDLE_MERGE_DOCUMENTS {
            self.merge()?;
        }
        self.release()
    }

    fn release(&mut self) -> Result<(), IndexError> {
        self.live.store(false, Ordering::Release);
        self.forms = FormCache::default();
        // Before the lock is released, so that the next process finds the journal in its final state.
        self.shared.journal.release().map_err(|source| self.shared.io(source))?;
        let closed = self.images.close().and_then(|()| self.pages.close());
        closed.map_err(|error| self.write_error(&error))?;
        self.shared.reload()
    }

    pub(crate) fn write_error(&self, error: &TantivyError) -> IndexError {
        let dir = self.shared.dir.clone();
        let source = match error {
            TantivyError::IoError(source) => Some(source),
            TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => Some(io_error),
            _ => None,
        };
        match source.map(|source| source.kind()) {
            Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge) => {
                IndexError::Full { dir }
            }
            _ => IndexError::Write { dir, reason: error.to_string() },
        }
    }
}

/// Committed data of a page that is replaced or removed.
#[derive(Default)]
struct CommittedPage {
    first_seen: Option<i64>,
    links: Links,
}

impl CommittedPage {
    fn find(view: &SubIndexSearcher, url: &str) -> tantivy::Result<Option<Self>> {
        let Some(address) = find(&view.searcher, &view.fields, url)? else {
            return Ok(None);
        };
        let bytes = view.stored(address)?;
        let links = DisplayDoc::decode(&bytes).map(|doc| stored_record::links(&doc)).unwrap_or_default();
        Ok(Some(Self { first_seen: view.first_seen(address), links }))
    }
}
