//! One tantivy index with its reader: pages are in one sub-index, their images in another.
//!
//! Both have the same fields, so that the same code searches and ranks pages and images. They are separate because
//! ranking depends on word frequencies, and captions have other frequencies than pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tantivy::directory::{MmapDirectory, OwnedBytes};
use tantivy::error::DataCorruption;
use tantivy::schema::IndexRecordOption;
use tantivy::store::{Compressor, StoreReader};
use tantivy::{
    DocAddress, DocSet, IndexReader, IndexSettings, ReloadPolicy, Searcher, TERMINATED, TantivyError, Term,
};

use crate::address::{Address, site_term};
use crate::display_doc::DisplayDoc;
use crate::display_doc_cache::DisplayDocCache;
use crate::document::Document;
use crate::error::IndexError;
use crate::packed_tokens::{PackedTokenizer, TOKENIZER};
use crate::schema::{FORMAT, Fields};
use crate::segment_dates::SegmentDates;
use crate::stored_record;
use crate::vocabulary::Vocabulary;

/// Number of cached blocks of stored documents of each segment; a block has at least one document.
const CACHED_BLOCKS: usize = 16;

/// One tantivy index.
pub(crate) struct SubIndex {
    pub(crate) dir: PathBuf,
    pub(crate) fields: Fields,
    pub(crate) index: tantivy::Index,
    reader: IndexReader,
    /// Data of the newest searcher generation that was used.
    generation: Mutex<Option<Arc<SearcherGeneration>>>,
}

/// Data that is read once for each generation of the searcher.
pub(crate) struct SearcherGeneration {
    id: u64,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) stores: Vec<StoreReader>,
    pub(crate) dates: Vec<SegmentDates>,
    display_docs: DisplayDocCache,
}

/// A searcher of one commit of a sub-index.
#[derive(Clone)]
pub(crate) struct SubIndexSearcher {
    pub(crate) fields: Fields,
    pub(crate) searcher: Searcher,
    pub(crate) generation: Arc<SearcherGeneration>,
}

impl SubIndexSearcher {
    /// Returns the hash of the anchors with which a page was encoded.
    pub(crate) fn anchors(&self, address: DocAddress) -> tantivy::Result<u64> {
        let columns = self.searcher.segment_reader(address.segment_ord).fast_fields();
        Ok(columns.u64("anchors")?.first(address.doc_id).unwrap_or_default())
    }

    /// Returns the time at which a page was first seen, in Unix seconds.
    pub(crate) fn first_seen(&self, address: DocAddress) -> Option<i64> {
        self.generation.dates[address.segment_ord as usize].first_seen(address.doc_id)
    }

    /// Returns a page as it was added.
    pub(crate) fn document(&self, address: DocAddress) -> tantivy::Result<Document> {
        document(&self.stored(address)?)
    }

    /// Returns the bytes of a display document, see [`DisplayDoc::decode`].
    pub(crate) fn display_doc(&self, address: DocAddress) -> tantivy::Result<OwnedBytes> {
        self.generation.display_docs.find(address, || self.stored(address))
    }

    /// Returns the stored bytes of a document, which end with its display document.
    pub(crate) fn stored(&self, address: DocAddress) -> tantivy::Result<OwnedBytes> {
        self.generation.stores[address.segment_ord as usize].get_document_bytes(address.doc_id)
    }
}

impl SubIndex {
    /// Opens the sub-index in `dir`, which is created when it does not exist.
    pub(crate) fn open(dir: &Path) -> Result<Self, IndexError> {
        fs::create_dir_all(dir).map_err(|source| IndexError::Directory { dir: dir.to_owned(), source })?;
        let engine = |source| IndexError::Engine { dir: dir.to_owned(), source };
        let (schema, fields) = Fields::build();
        let settings = IndexSettings {
            // Display documents compress their blocks themselves.
            docstore_compression: Compressor::None,
            docstore_compress_dedicated_thread: false,
            docstore_blocksize: 4_096,
            ..IndexSettings::default()
        };
        let directory = MmapDirectory::open(dir).map_err(|error| engine(error.into()))?;
        let builder = tantivy::Index::builder().schema(schema).settings(settings);
        let index = builder.open_or_create(directory).map_err(|error| match error {
            TantivyError::SchemaError(_) => IndexError::Incompatible {
                dir: dir.to_owned(),
                found: "of other fields".to_owned(),
                expected: FORMAT,
            },
            other => engine(other),
        })?;
        index.tokenizers().register(TOKENIZER, PackedTokenizer);
        // Stored documents are read with the store readers of `SearcherGeneration`, not with the searcher.
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).doc_store_cache_num_blocks(0);
        let reader = reader.try_into().map_err(engine)?;
        Ok(Self { dir: dir.to_owned(), fields, index, reader, generation: Mutex::new(None) })
    }

    pub(crate) fn engine(&self, source: TantivyError) -> IndexError {
        IndexError::Engine { dir: self.dir.clone(), source }
    }

    /// Makes the latest commit visible to new searches.
    pub(crate) fn reload(&self) -> Result<(), IndexError> {
        self.reader.reload().map_err(|source| self.engine(source))
    }

    pub(crate) fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    /// Returns the number of searchable documents.
    pub(crate) fn document_count(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    /// Returns the bytes of the files in the directory, without subdirectories.
    pub(crate) fn bytes(&self) -> std::io::Result<u64> {
        let mut bytes = 0;
        for entry in fs::read_dir(&self.dir)? {
            // A merge may have removed the file since it was listed.
            let metadata = entry.and_then(|entry| entry.metadata());
            bytes += metadata.map_or(0, |metadata| if metadata.is_file() { metadata.len() } else { 0 });
        }
        Ok(bytes)
    }

    /// Returns a searcher of the latest commit that was loaded.
    pub(crate) fn view(&self) -> tantivy::Result<SubIndexSearcher> {
        let searcher = self.reader.searcher();
        let generation = self.generation(&searcher)?;
        Ok(SubIndexSearcher { fields: self.fields, searcher, generation })
    }

    fn generation(&self, searcher: &Searcher) -> tantivy::Result<Arc<SearcherGeneration>> {
        let id = searcher.generation().generation_id();
        let mut cached = self.generation.lock();
        if let Some(generation) = cached.as_ref().filter(|generation| generation.id == id) {
            return Ok(Arc::clone(generation));
        }
        let segments = searcher.segment_readers().iter();
        let stores: Result<_, _> = segments.map(|segment| segment.get_store_reader(CACHED_BLOCKS)).collect();
        let dates: Result<_, _> = searcher.segment_readers().iter().map(SegmentDates::open).collect();
        let generation = Arc::new(SearcherGeneration {
            id,
            vocabulary: Vocabulary::read(searcher, &self.fields)?,
            stores: stores?,
            dates: dates?,
            display_docs: DisplayDocCache::default(),
        });
        *cached = Some(Arc::clone(&generation));
        Ok(generation)
    }

    /// Returns at most `limit` URLs; with a host, only URLs of the host and its subdomains.
    pub(crate) fn urls(&self, host: Option<&str>, limit: usize) -> tantivy::Result<Vec<String>> {
        let searcher = self.reader.searcher();
        let site = host.map(|host| site_term(host).unwrap_or_default());
        let mut urls = Vec::new();
        for segment in searcher.segment_readers() {
            let index = segment.inverted_index(self.fields.url)?;
            let mut terms = index.terms().stream()?;
            while urls.len() < limit && terms.advance() {
                let Ok(url) = std::str::from_utf8(terms.key()) else {
                    continue;
                };
                let matches = site.as_ref().is_none_or(|site| {
                    Address::parse(url).is_some_and(|address| address.sites.contains(site))
                });
                if !matches {
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

/// Reads a page from its stored bytes.
pub(crate) fn document(stored: &[u8]) -> tantivy::Result<Document> {
    let document = DisplayDoc::decode(stored).and_then(|doc| stored_record::document(&doc));
    let damaged = || DataCorruption::comment_only("a stored document is damaged");
    document.ok_or_else(|| TantivyError::DataCorruption(damaged()))
}

/// Returns the address of a document with this URL: the page, or one of the images of the page.
pub(crate) fn find(searcher: &Searcher, fields: &Fields, url: &str) -> tantivy::Result<Option<DocAddress>> {
    let term = Term::from_field_text(fields.url, url);
    for (segment_ord, segment) in (0..).zip(searcher.segment_readers()) {
        let postings = segment.inverted_index(fields.url)?.read_postings(&term, IndexRecordOption::Basic)?;
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
