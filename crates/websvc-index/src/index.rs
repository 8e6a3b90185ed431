//! The public interface of the index: opening, writing, searching and statistics.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use websvc_query::{Query, Sort};

use crate::address::Address;
use crate::creation::{self, IMAGES, META};
use crate::document::Document;
use crate::error::IndexError;
use crate::index_shared::{IndexConfig, IndexShared};
use crate::journal::{Change, Journal};
use crate::search::IndexSearcher;
use crate::search_options::{SearchOptions, SearchOutcome};
use crate::semantic::{Embedder, EmbeddingProgress, Semantic, SemanticStats, StopFlag};
use crate::sub_index::{SubIndex, find};
use crate::writer_handle::WriterHandle;

/// Statistics of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Searchable pages.
    pub documents: u64,
    /// Searchable images of the pages; an image counts once for each page that contains it.
    pub images: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// Segments that every search of pages visits; merged in the background.
    pub segments: usize,
    /// Time of the last commit.
    pub last_commit: Option<Timestamp>,
}

/// An embedded index in one directory.
///
/// Searching and adding take `&self` and may happen on any thread. Only one process may write to a directory at a time.
/// Dropping the index commits what was added; [`Index::close`] does the same and reports errors.
#[derive(Debug)]
pub struct Index {
    shared: Arc<IndexShared>,
    writer: WriterHandle,
    stop_embedding: StopFlag,
}

impl Index {
    /// Opens the index in `dir`, which is created when it does not exist.
    ///
    /// The first write takes the lock of the writer and starts its thread. While another process creates the index, this
    /// waits until it is complete.
    ///
    /// # Errors
    /// Fails when the directory cannot be used, or holds an index of another format.
    pub fn open(dir: &Path, config: IndexConfig) -> Result<Self, IndexError> {
        let _creation = creation::prepare(dir)?;
        let (pages, images) = (SubIndex::open(dir)?, SubIndex::open(&dir.join(IMAGES))?);
        let journal = Journal::new(dir);
        let semantic = config.semantic.clone().map(|config| Semantic::new(dir, config));
        let shared = IndexShared { dir: dir.to_owned(), pages, images, config, journal, semantic };
        let shared = Arc::new(shared);
        let stop_embedding = StopFlag::default();
        Embedder::spawn(&shared, &stop_embedding).map_err(|source| shared.io(source))?;
        Ok(Self { writer: WriterHandle::new(Arc::clone(&shared)), shared, stop_embedding })
    }

    /// Applies the changes that a killed process left in the journal, waits until they are searchable and returns their
    /// number. Without such changes, this only lists the directory.
    ///
    /// # Errors
    /// Fails when another process writes to the index, or the changes cannot be written. They stay in the journal.
    pub fn recover(&self) -> Result<u64, IndexError> {
        let journal = &self.shared.journal;
        if !journal.has_changes().map_err(|source| self.shared.io(source))? {
            return Ok(0);
        }
        let before = journal.recovered();
        self.writer.start()?;
        self.writer.flush()?;
        Ok(journal.recovered() - before)
    }

    /// Adds a document with its images, or replaces the document with the same URL.
    ///
    /// The document is searchable within about a second. The call blocks while the queue of the writer thread is full.
    /// After it returned, the document survives the end of this process.
    ///
    /// # Errors
    /// Fails when the URL is not usable, when another process writes to the index, or when an earlier write failed.
    pub fn add(&self, document: Document) -> Result<(), IndexError> {
        if Address::parse(&document.url).is_none() {
            return Err(IndexError::InvalidUrl { url: document.url });
        }
        self.writer.change(Change::Add(Box::new(document)))
    }

    /// Removes the document with this URL and its images, if it exists.
    ///
    /// # Errors
    /// As for [`Index::add`].
    pub fn remove(&self, url: &str) -> Result<(), IndexError> {
        self.writer.change(Change::Remove(url.to_owned()))
    }

    /// Waits until everything that was added survives a power failure; it may not be searchable yet. Concurrent calls
    /// share one flush of the disk.
    ///
    /// # Errors
    /// Fails when the disk cannot be written to.
    pub fn sync(&self) -> Result<(), IndexError> {
        self.shared.journal.sync().map_err(|source| self.shared.io(source))
    }

    /// Waits until everything that was added is on disk and searchable.
    ///
    /// # Errors
    /// Fails when something could not be written since the last call.
    pub fn flush(&self) -> Result<(), IndexError> {
        self.writer.flush()
    }

    /// Waits until everything that was added is on disk and searchable, and the texts of its links are indexed as
    /// anchors of the pages they lead to. Without this call, anchors are applied when no writes happen for a while.
    ///
    /// # Errors
    /// As for [`Index::flush`].
    pub fn apply_anchors(&self) -> Result<(), IndexError> {
        self.writer.apply_anchors()
    }

    /// Applies the anchors and merges the index into one segment, which makes searches fastest; waits until that is
    /// done.
    ///
    /// # Errors
    /// As for [`Index::flush`].
    pub fn optimize(&self) -> Result<(), IndexError> {
        self.writer.optimize()
    }

    /// Commits what was added and stops the writer thread.
    ///
    /// # Errors
    /// As for [`Index::flush`].
    pub fn close(self) -> Result<(), IndexError> {
        self.stop_embedding.stop();
        self.writer.close()
    }

    /// Searches the committed documents. This is CPU-bound and usually takes well below a millisecond.
    ///
    /// # Errors
    /// Fails when the files of the index cannot be read.
    pub fn search(&self, query: &Query, options: &SearchOptions) -> Result<SearchOutcome, IndexError> {
        let IndexShared { dir: _, pages, images, config, journal: _, semantic } = &*self.shared;
        let search = || -> tantivy::Result<_> {
            let (pages, images) = (pages.view()?, images.view()?);
            let searcher = IndexSearcher { pages: &pages, images: &images, stages: &config.stages };
            match semantic {
                Some(semantic) if options.sort == Sort::Relevance => {
                    semantic.search(&searcher, query, options)
                }
                _ => searcher.search(query, options, None),
            }
        };
        search().map_err(|source| self.shared.engine(source))
    }

    /// Encodes all committed pages that have no vectors yet, in this thread, and calls `progress` after each batch. Returns
    /// `None` if another thread or process is encoding the pages of this index.
    ///
    /// # Errors
    /// Fails when the encoder fails, or the files of the index cannot be read or written.
    pub fn embed(
        &self,
        progress: impl FnMut(EmbeddingProgress),
    ) -> Result<Option<EmbeddingProgress>, IndexError> {
        Embedder::new(Arc::clone(&self.shared), self.stop_embedding.clone()).encode_now(progress)
    }

    /// Returns the statistics of the search by meaning; `None` without an encoder.
    #[must_use]
    pub fn semantic_stats(&self) -> Option<SemanticStats> {
        self.shared.semantic.as_ref().map(Semantic::stats)
    }

    /// Makes documents visible that another process committed.
    ///
    /// # Errors
    /// Fails when the files of the index cannot be read.
    pub fn reload(&self) -> Result<(), IndexError> {
        self.shared.reload()
    }

    /// Returns the hash of the committed document of `url` (see [`Document::fingerprint`]), or `None` when the index
    /// has no such document.
    ///
    /// # Errors
    /// Fails when the files of the index cannot be read.
    pub fn fingerprint(&self, url: &str) -> Result<Option<u64>, IndexError> {
        let pages = &self.shared.pages;
        let searcher = pages.searcher();
        let found = find(&searcher, &pages.fields, url).map_err(|source| pages.engine(source))?;
        let Some(address) = found else {
            return Ok(None);
        };
        let columns = searcher.segment_reader(address.segment_ord).fast_fields();
        let column = columns.u64("fingerprint").map_err(|source| pages.engine(source))?;
        Ok(column.first(address.doc_id))
    }

    /// Returns the committed document of `url` as it was added, or `None` when the index has no such document.
    ///
    /// # Errors
    /// Fails when the files of the index cannot be read.
    pub fn document(&self, url: &str) -> Result<Option<Document>, IndexError> {
        let pages = &self.shared.pages;
        let read = || {
            let view = pages.view()?;
            let found = find(&view.searcher, &view.fields, url)?;
            found.map(|address| view.document(address)).transpose()
        };
        read().map_err(|source| pages.engine(source))
    }

    /// Returns true if the document of `url` is committed.
    ///
    /// # Errors
    /// Fails when the files of the index cannot be read.
    pub fn contains(&self, url: &str) -> Result<bool, IndexError> {
        let pages = &self.shared.pages;
        let found = find(&pages.searcher(), &pages.fields, url);
        found.map(|found| found.is_some()).map_err(|source| pages.engine(source))
    }

    /// Returns at most `limit` committed URLs, in alphabetical order within each segment of the index. With a host,
    /// returns only URLs of the host and its subdomains.
    ///
    /// # Errors
    /// Fails when the files of the index cannot be read.
    pub fn urls(&self, host: Option<&str>, limit: usize) -> Result<Vec<String>, IndexError> {
        let pages = &self.shared.pages;
        pages.urls(host, limit).map_err(|source| pages.engine(source))
    }

    /// Returns the number of searchable documents; cheap, since it reads no file.
    #[must_use]
    pub fn document_count(&self) -> u64 {
        self.shared.pages.document_count()
    }

    /// Returns the statistics of the index.
    ///
    /// # Errors
    /// Fails when the directory cannot be read.
    pub fn stats(&self) -> Result<Stats, IndexError> {
        let IndexShared { dir, pages, images, config: _, journal: _, semantic: _ } = &*self.shared;
        let bytes = |index: &SubIndex| {
            index.bytes().map_err(|source| IndexError::Directory { dir: index.dir.clone(), source })
        };
        let committed = fs::metadata(dir.join(META)).and_then(|metadata| metadata.modified());
        Ok(Stats {
            documents: pages.document_count(),
            images: images.document_count(),
            bytes: bytes(pages)? + bytes(images)?,
            segments: pages.searcher().segment_readers().len(),
            last_commit: committed.ok().and_then(|time| Timestamp::try_from(time).ok()),
        })
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        self.stop_embedding.stop();
    }
}

impl Index {
    /// Returns the sub-index of the pages.
    pub(crate) fn pages(&self) -> &SubIndex {
        &self.shared.pages
    }

    /// Returns the sub-index of the images.
    pub(crate) fn images(&self) -> &SubIndex {
        &self.shared.images
    }
}
