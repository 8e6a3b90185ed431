//! The one thread that writes.
//!
//! The engine's writer costs threads and memory, so it lives only while there is something to write: it is made on
//! the first write and dropped after a while without one.
//!
//! Changes are in the [journal](crate::journal) until they are committed; whoever makes the engine's writer applies what is
//! left there first.
//!
//! Images are committed before their pages, and searches show no image whose page is not there: whenever the process
//! ends, a page that is there has its images. Anchors are applied (see [`crate::apply_anchors_batch`]) when nobody writes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use tantivy::{TantivyDocument, TantivyError};

use crate::analysis::FormCache;
use crate::anchors::{Anchors, gather};
use crate::backlog::{AnchorBacklog, PENDING};
use crate::display_doc::DisplayDoc;
use crate::document::Document;
use crate::encode::{EncodedPage, encode};
use crate::error::IndexError;
use crate::image_fields::encode_images;
use crate::index::IndexShared;
use crate::journal::{Change, Changes};
use crate::lazy_writer::{LazyIndexWriter, MIN_HEAP, is_locked};
use crate::stored_record::{self, Links};
use crate::sub_index::{SubIndexSearcher, find};
use crate::writer_handle::Command;

/// An index of at most this many documents is merged into one part when writing pauses.
const SMALL_INDEX: u64 = 100_000;

/// How many pages are encoded anew between two looks at what else there is to do, ...
const SETTLED_AT_ONCE: usize = 64;
/// ... and with each commit while pages keep coming, ...
const SETTLED_BESIDE: usize = 32;
/// ... once they have done so for this long. Most crawls end before, and what is settled early is settled again.
const BESIDE_AFTER: Duration = Duration::from_secs(30);

/// The state of the writing thread.
pub(crate) struct WriterThread {
    pub(crate) shared: Arc<IndexShared>,
    live: Arc<AtomicBool>,
    pub(crate) pages: LazyIndexWriter,
    images: LazyIndexWriter,
    pub(crate) forms: FormCache,
    /// When the first document came that is not committed yet.
    pub(crate) dirty_since: Option<Instant>,
    /// The pages whose anchors are to be applied.
    pub(crate) backlog: AnchorBacklog,
    /// The number of the last change that was taken from the queue.
    applied: u64,
    /// True if the last commit's message says that anchors are waiting.
    pub(crate) noted: bool,
    /// Since when somebody writes. When nobody has for a while, anchors are applied as quickly as possible.
    busy_since: Option<Instant>,
    /// The first failure that nobody has been told of yet.
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
            noted: false,
            busy_since: None,
            failure: None,
        }
    }

    pub(crate) fn run(mut self, commands: &Receiver<Command>) -> Result<(), IndexError> {
        loop {
            match self.next(commands) {
                Ok(command) => {
                    self.busy_since.get_or_insert_with(Instant::now);
                    self.handle_command(command);
                }
                Err(RecvTimeoutError::Timeout) => self.run_step(Self::idle),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.dirty_since.is_some_and(|since| since.elapsed() >= self.shared.config.commit_after) {
                self.run_step(Self::commit);
                if self.busy_since.is_some_and(|since| since.elapsed() >= BESIDE_AFTER) {
                    self.run_step(|owner| owner.apply_anchors_batch(SETTLED_BESIDE));
                }
            }
        }
        self.run_step(Self::commit);
        self.run_step(Self::release);
        self.failure.map_or(Ok(()), Err)
    }

    /// Waits for a command, at most until there is something to do without one.
    fn next(&self, commands: &Receiver<Command>) -> Result<Command, RecvTimeoutError> {
        let config = &self.shared.config;
        if self.busy_since.is_none() && self.pages.is_live() && !self.backlog.is_empty() {
            return commands.try_recv().map_err(|error| match error {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            });
        }
        let wait = match (self.dirty_since, self.pages.is_live()) {
            (Some(since), _) => config.commit_after.saturating_sub(since.elapsed()),
            (None, true) if !self.backlog.is_empty() => config.commit_after,
            (None, true) => config.writer_idle,
            (None, false) => return commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        commands.recv_timeout(wait.max(Duration::from_millis(1)))
    }

    /// Does what there is to do when nobody asks for anything.
    fn idle(&mut self) -> Result<(), IndexError> {
        if self.dirty_since.is_some() && self.busy_since.is_some() {
            return self.commit();
        }
        self.busy_since = None;
        if !self.backlog.is_empty() {
            return self.apply_anchors_batch(SETTLED_AT_ONCE);
        }
        if self.dirty_since.is_some() {
            return self.commit();
        }
        self.shut_down_idle()
    }

    fn handle_command(&mut self, command: Command) {
        match command {
            Command::Change(change, number) => {
                self.run_step(|owner| owner.apply(&change));
                self.applied = number;
            }
            Command::Start(reply) => {
                let started = self.start();
                let _ = reply.send(self.failure.take().map_or(started, Err));
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

    /// Does a step; a failure is kept for the next caller who can be told, and the engine's writer is given up,
    /// since it refuses everything after a failure.
    fn run_step(&mut self, step: impl FnOnce(&mut Self) -> Result<(), IndexError>) {
        if let Err(error) = step(self) {
            self.failure.get_or_insert(error);
            // What was under way is in the journal; a sweep finds the anchors that were not applied.
            self.backlog.add_all();
            self.abandon();
        }
    }

    fn abandon(&mut self) {
        self.dirty_since = None;
        self.shared.journal.unapply();
        self.live.store(false, Ordering::Release);
        self.images.discard();
        self.pages.discard();
    }

    /// Makes sure that pages can be written. Their lock stands for that of the images too.
    pub(crate) fn start(&mut self) -> Result<(), IndexError> {
        if self.pages.is_live() {
            return Ok(());
        }
        let heap = self.shared.config.writer_heap;
        if let Err(error) = self.pages.start(&self.shared.pages, heap).map(|_| ()) {
            return Err(if is_locked(&error) {
                IndexError::Locked { dir: self.shared.dir.clone() }
            } else {
                self.failed(&error)
            });
        }
        // Another process may have written since this one did, and may have ended before it was done.
        let metas = self.shared.pages.index.load_metas().map_err(|error| self.failed(&error))?;
        self.noted = metas.payload.as_deref() == Some(PENDING);
        if self.noted {
            self.backlog.add_all();
        }
        self.shared.reload()?;
        if let Err(error) = self.replay() {
            self.abandon();
            return Err(error);
        }
        self.live.store(true, Ordering::Release);
        Ok(())
    }

    /// Applies what the journal has and no commit.
    fn replay(&mut self) -> Result<(), IndexError> {
        let shared = Arc::clone(&self.shared);
        let failed = |source| shared.io(source);
        let mut count = 0;
        for path in shared.journal.unapplied().map_err(failed)? {
            let mut changes = Changes::open(&path).map_err(failed)?;
            while let Some(change) = changes.next().map_err(failed)? {
                // A document that makes the encoding panic would do so at every start: it is left out.
                if let Ok(applied) = catch_unwind(AssertUnwindSafe(|| self.apply(&change))) {
                    applied?;
                }
                count += 1;
            }
        }
        shared.journal.applied(count);
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
        let reading = || -> tantivy::Result<_> {
            let view = shared.pages.view()?;
            let known = CommittedPage::find(&view, &document.url)?;
            // A sweep will come by; until then a new page can do without.
            let later = self.backlog.is_full_sweep() && known.is_none();
            let anchors = if later { Anchors::default() } else { gather(&view, &document.url)? };
            Ok((known.unwrap_or_default(), anchors))
        };
        let (known, anchors) = reading().map_err(|error| self.failed(&error))?;
        let forms = &mut self.forms;
        let Some(EncodedPage { page, facts }) = encode(fields, document, known.first_seen, &anchors, forms)
        else {
            return Ok(()); // `Index::add` has refused such URLs.
        };
        let images = encode_images(fields, document, &facts, forms);
        self.replace(&document.url, Some(page), images)?;
        self.backlog.add_changed(&document.url, &known.links, &document.links);
        Ok(())
    }

    fn remove(&mut self, url: &str) -> Result<(), IndexError> {
        self.start()?;
        let known = self.shared.pages.view().and_then(|view| CommittedPage::find(&view, url));
        let known = known.map_err(|error| self.failed(&error))?.unwrap_or_default();
        self.replace(url, None, Vec::new())?;
        self.backlog.add_changed(url, &known.links, &[]);
        Ok(())
    }

    fn replace(
        &mut self,
        url: &str,
        page: Option<TantivyDocument>,
        images: Vec<TantivyDocument>,
    ) -> Result<(), IndexError> {
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

    pub(crate) fn commit(&mut self) -> Result<(), IndexError> {
        if self.dirty_since.take().is_none() {
            return Ok(());
        }
        let waits = !self.backlog.is_empty();
        let committed = self.images.commit(None).and_then(|()| self.pages.commit(waits.then_some(PENDING)));
        committed.map_err(|error| self.failed(&error))?;
        self.noted = waits;
        let forgotten = self.shared.journal.committed(self.applied);
        forgotten.map_err(|source| self.shared.io(source))?;
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
    fn shut_down_idle(&mut self) -> Result<(), IndexError> {
        if self.shared.pages.document_count() <= SMALL_INDEX {
            self.merge()?;
        }
        self.release()
    }

    fn release(&mut self) -> Result<(), IndexError> {
        self.live.store(false, Ordering::Release);
        self.forms = FormCache::default();
        // While the lock is held: the next process is to find the files as they stay.
        self.shared.journal.release().map_err(|source| self.shared.io(source))?;
        let released = self.images.close().and_then(|()| self.pages.close());
        released.map_err(|error| self.failed(&error))?;
        self.shared.reload()
    }

    pub(crate) fn failed(&self, error: &TantivyError) -> IndexError {
        IndexError::Write { dir: self.shared.dir.clone(), reason: error.to_string() }
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
        let links = DisplayDoc::decode(&bytes).map(|card| stored_record::links(&card)).unwrap_or_default();
        Ok(Some(Self { first_seen: view.first_seen(address), links }))
    }
}
