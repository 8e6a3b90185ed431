//! The index as its users see it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tantivy::directory::MmapDirectory;
use tantivy::schema::IndexRecordOption;
use tantivy::store::{Compressor, StoreReader};
use tantivy::{
    DocAddress, DocSet, IndexReader, IndexSettings, ReloadPolicy, Searcher, TERMINATED, TantivyError, Term,
};
use websvc_query::Query;

use crate::address::{Address, site_term};
use crate::document::Document;
use crate::error::IndexError;
use crate::schema::{FORMAT, Fields};
use crate::search::{SearchOptions, SearchOutcome, Snapshot};
use crate::vocabulary::Vocabulary;
use crate::writer::{Command, Writer};

/// How the index writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexConfig {
    /// Memory in bytes that new documents may take before they are written out; at least 15 MB.
    pub writer_heap: usize,
    /// How long a document may wait before it becomes searchable.
    pub commit_after: Duration,
    /// How long the writer and its memory are kept after the last write.
    pub writer_idle: Duration,
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self {
            writer_heap: 32_000_000,
            commit_after: Duration::from_secs(1),
            writer_idle: Duration::from_secs(10),
        }
    }
}

/// What an index holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Searchable documents.
    pub documents: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// Parts that every search visits; merged in the background.
    pub segments: usize,
    /// When documents last became searchable.
    pub last_commit: Option<Timestamp>,
}

/// An embedded index in one directory.
///
/// Searching and adding take `&self` from any thread. Only one process may write to a directory at a time. Dropping
/// the index commits what was added; [`Index::close`] does the same and reports errors.
#[derive(Debug)]
pub struct Index {
    shared: Arc<Shared>,
    writer: Writer,
}

/// What searching threads and the writing thread share.
pub(crate) struct Shared {
    pub(crate) dir: PathBuf,
    pub(crate) fields: Fields,
    pub(crate) index: tantivy::Index,
    pub(crate) config: IndexConfig,
    reader: IndexReader,
    /// What belongs to the generation of the searcher that was used last.
    generation: Mutex<Option<Arc<Generation>>>,
}

/// What is read once for each generation of the searcher.
struct Generation {
    id: u64,
    vocabulary: Vocabulary,
    stores: Vec<StoreReader>,
}

/// How many blocks of stored documents are kept in memory for each segment; a block holds at least one document.
const CACHED_BLOCKS: usize = 64;

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl Index {
    /// Opens the index in `dir`, which is created when it does not exist.
    ///
    /// This takes no lock and starts no thread; both wait for the first write.
    ///
    /// # Errors
    /// When the directory cannot be used, or holds an index of another format.
    pub fn open(dir: &Path, config: IndexConfig) -> Result<Self, IndexError> {
        let in_directory = |source| IndexError::Directory { dir: dir.to_owned(), source };
        fs::create_dir_all(dir).map_err(in_directory)?;
        check_format(dir)?;
        let engine = |source| IndexError::Engine { dir: dir.to_owned(), source };
        let (schema, fields) = Fields::build();
        let settings = IndexSettings {
            // Cards are compressed block by block already.
            docstore_compression: Compressor::None,
            docstore_compress_dedicated_thread: false,
            docstore_blocksize: 4_096,
            ..IndexSettings::default()
        };
        let directory = MmapDirectory::open(dir).map_err(|error| engine(error.into()))?;
        let builder = tantivy::Index::builder().schema(schema).settings(settings);
        let index = builder.open_or_create(directory).map_err(|error| match error {
            TantivyError::SchemaError(_) => incompatible(dir, "of other fields".to_owned()),
            other => engine(other),
        })?;
        // Stored documents are read by readers of our own, see `Generation`.
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).doc_store_cache_num_blocks(0);
        let reader = reader.try_into().map_err(engine)?;
        let shared =
            Shared { dir: dir.to_owned(), fields, index, config, reader, generation: Mutex::new(None) };
        let shared = Arc::new(shared);
        Ok(Self { writer: Writer::new(Arc::clone(&shared)), shared })
    }

    /// Adds a document, or replaces the one with the same URL. It is searchable within about a second; when many
    /// documents are waiting, this call waits for room.
    ///
    /// # Errors
    /// When the URL is unusable, when another process writes to the index, or when an earlier write failed.
    pub fn add(&self, document: Document) -> Result<(), IndexError> {
        if Address::parse(&document.url).is_none() {
            return Err(IndexError::InvalidUrl { url: document.url });
        }
        self.writer.send(Command::Add(Box::new(document)))
    }

    /// Removes the document with this URL, if there is one.
    ///
    /// # Errors
    /// As for [`Index::add`].
    pub fn remove(&self, url: &str) -> Result<(), IndexError> {
        self.writer.send(Command::Remove(url.to_owned()))
    }

    /// Waits until everything that was added is on disk and searchable.
    ///
    /// # Errors
    /// When something could not be written since the last call.
    pub fn flush(&self) -> Result<(), IndexError> {
        self.writer.flush()
    }

    /// Merges the index into one part, which makes searches fastest; waits until it is done.
    ///
    /// # Errors
    /// As for [`Index::flush`].
    pub fn optimize(&self) -> Result<(), IndexError> {
        self.writer.optimize()
    }

    /// Commits what was added and ends writing.
    ///
    /// # Errors
    /// As for [`Index::flush`].
    pub fn close(self) -> Result<(), IndexError> {
        self.writer.close()
    }

    /// Searches the committed documents. Takes CPU time only, usually well below a millisecond.
    ///
    /// # Errors
    /// When the files of the index cannot be read.
    pub fn search(&self, query: &Query, options: &SearchOptions) -> Result<SearchOutcome, IndexError> {
        let searcher = self.shared.reader.searcher();
        let generation = self.shared.generation(&searcher).map_err(|source| self.shared.engine(source))?;
        let Generation { id: _, vocabulary, stores } = &*generation;
        let snapshot = Snapshot { searcher: &searcher, fields: &self.shared.fields, vocabulary, stores };
        snapshot.search(query, options).map_err(|source| self.shared.engine(source))
    }

    /// Makes documents visible that another process committed.
    ///
    /// # Errors
    /// When the files of the index cannot be read.
    pub fn reload(&self) -> Result<(), IndexError> {
        self.shared.reload()
    }

    /// Returns the hash of the content that is committed for `url` (see [`Document::fingerprint`]), or `None` for
    /// an unknown URL.
    ///
    /// # Errors
    /// When the files of the index cannot be read.
    pub fn fingerprint(&self, url: &str) -> Result<Option<u64>, IndexError> {
        let searcher = self.shared.reader.searcher();
        let found = self.shared.find(&searcher, url).map_err(|source| self.shared.engine(source))?;
        let Some(address) = found else {
            return Ok(None);
        };
        let columns = searcher.segment_reader(address.segment_ord).fast_fields();
        let column = columns.u64("fingerprint").map_err(|source| self.shared.engine(source))?;
        Ok(column.first(address.doc_id))
    }

    /// Tells whether `url` is committed.
    ///
    /// # Errors
    /// When the files of the index cannot be read.
    pub fn contains(&self, url: &str) -> Result<bool, IndexError> {
        let searcher = self.shared.reader.searcher();
        let found = self.shared.find(&searcher, url);
        found.map(|found| found.is_some()).map_err(|source| self.shared.engine(source))
    }

    /// Returns at most `limit` committed URLs in alphabetical order within each part of the index; with a host, only
    /// those of the host and its subdomains.
    ///
    /// # Errors
    /// When the files of the index cannot be read.
    pub fn urls(&self, host: Option<&str>, limit: usize) -> Result<Vec<String>, IndexError> {
        let searcher = self.shared.reader.searcher();
        self.shared.urls(&searcher, host, limit).map_err(|source| self.shared.engine(source))
    }

    /// Returns how many documents can be found; costs next to nothing.
    #[must_use]
    pub fn document_count(&self) -> u64 {
        self.shared.reader.searcher().num_docs()
    }

    /// Returns what the index holds.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn stats(&self) -> Result<Stats, IndexError> {
        let searcher = self.shared.reader.searcher();
        let in_directory = |source| IndexError::Directory { dir: self.shared.dir.clone(), source };
        let mut bytes = 0;
        for entry in fs::read_dir(&self.shared.dir).map_err(in_directory)? {
            // Merging may remove a file while we look.
            bytes += entry.and_then(|entry| entry.metadata()).map_or(0, |metadata| metadata.len());
        }
        let committed =
            fs::metadata(self.shared.dir.join("meta.json")).and_then(|metadata| metadata.modified());
        Ok(Stats {
            documents: searcher.num_docs(),
            bytes,
            segments: searcher.segment_readers().len(),
            last_commit: committed.ok().and_then(|time| Timestamp::try_from(time).ok()),
        })
    }
}

impl Shared {
    pub(crate) fn engine(&self, source: TantivyError) -> IndexError {
        IndexError::Engine { dir: self.dir.clone(), source }
    }

    /// Makes the latest commit visible to new searches.
    pub(crate) fn reload(&self) -> Result<(), IndexError> {
        self.reader.reload().map_err(|source| self.engine(source))
    }

    fn generation(&self, searcher: &Searcher) -> tantivy::Result<Arc<Generation>> {
        let id = searcher.generation().generation_id();
        let mut cached = self.generation.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(generation) = cached.as_ref().filter(|generation| generation.id == id) {
            return Ok(Arc::clone(generation));
        }
        let segments = searcher.segment_readers().iter();
        let stores: Result<_, _> = segments.map(|segment| segment.get_store_reader(CACHED_BLOCKS)).collect();
        let generation = Arc::new(Generation {
            id,
            vocabulary: Vocabulary::read(searcher, &self.fields)?,
            stores: stores?,
        });
        *cached = Some(Arc::clone(&generation));
        Ok(generation)
    }

    /// Returns when `url` was first seen, if it is committed.
    pub(crate) fn first_seen(&self, url: &str) -> tantivy::Result<Option<i64>> {
        let searcher = self.reader.searcher();
        let Some(address) = self.find(&searcher, url)? else {
            return Ok(None);
        };
        let column = searcher.segment_reader(address.segment_ord).fast_fields().i64("first_seen")?;
        Ok(column.first(address.doc_id))
    }

    fn find(&self, searcher: &Searcher, url: &str) -> tantivy::Result<Option<DocAddress>> {
        let term = Term::from_field_text(self.fields.url, url);
        for (segment_ord, segment) in (0..).zip(searcher.segment_readers()) {
            let postings =
                segment.inverted_index(self.fields.url)?.read_postings(&term, IndexRecordOption::Basic)?;
            let Some(mut postings) = postings else {
                continue;
            };
            while postings.doc() != TERMINATED {
                if !segment.is_deleted(postings.doc()) {
                    return Ok(Some(DocAddress { segment_ord, doc_id: postings.doc() }));
                }
                postings.advance();
            }
        }
        Ok(None)
    }

    fn urls(&self, searcher: &Searcher, host: Option<&str>, limit: usize) -> tantivy::Result<Vec<String>> {
        let site = host.map(|host| site_term(host).unwrap_or_default());
        let mut urls = Vec::new();
        for segment in searcher.segment_readers() {
            let index = segment.inverted_index(self.fields.url)?;
            let mut terms = index.terms().stream()?;
            while urls.len() < limit && terms.advance() {
                let Ok(url) = std::str::from_utf8(terms.key()) else {
                    continue;
                };
                let wanted = site.as_ref().is_none_or(|site| {
                    Address::parse(url).is_some_and(|address| address.sites.contains(site))
                });
                if !wanted {
                    continue;
                }
                let mut postings =
                    index.read_postings_from_terminfo(terms.value(), IndexRecordOption::Basic)?;
                while postings.doc() != TERMINATED {
                    if !segment.is_deleted(postings.doc()) {
                        urls.push(url.to_owned());
                        break;
                    }
                    postings.advance();
                }
            }
        }
        Ok(urls)
    }
}

/// Checks, or writes into a fresh directory, the file that names the format.
fn check_format(dir: &Path) -> Result<(), IndexError> {
    let in_directory = |source| IndexError::Directory { dir: dir.to_owned(), source };
    let path = dir.join("format");
    match fs::read(&path) {
        Ok(bytes) if bytes.trim_ascii() == FORMAT.as_bytes() => Ok(()),
        Ok(bytes) => {
            let found: String = String::from_utf8_lossy(&bytes).trim().chars().take(40).collect();
            Err(incompatible(dir, format!("\"{found}\"")))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if dir.join("meta.json").exists() {
                return Err(incompatible(dir, "without a name".to_owned()));
            }
            let draft = dir.join("format.new");
            fs::write(&draft, format!("{FORMAT}\n")).map_err(in_directory)?;
            fs::rename(&draft, &path).map_err(in_directory)
        }
        Err(error) => Err(in_directory(error)),
    }
}

fn incompatible(dir: &Path, found: String) -> IndexError {
    IndexError::Incompatible { dir: dir.to_owned(), found, expected: FORMAT }
}
