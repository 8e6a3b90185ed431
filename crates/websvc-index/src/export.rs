//! Iteration over all documents in the order of their URLs.

use tantivy::schema::IndexRecordOption;
use tantivy::store::StoreReader;
use tantivy::termdict::TermStreamer;
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED};

use crate::address::{Address, site_term};
use crate::document::Document;
use crate::error::IndexError;
use crate::index::Index;
use crate::sub_index::{SubIndex, document};

/// Number of cached blocks of each segment. More would not help: neighbours in URL order are rarely in the same block.
const CACHED_BLOCKS: usize = 1;

impl Index {
    /// Calls `visit` for every document of the current commit, in the order of the URLs; later writes change nothing.
    /// With a host, visits only the documents of the host and its subdomains. One document is in memory at a time.
    ///
    /// # Errors
    /// Fails when the files of the index cannot be read. Returns the first error of `visit`.
    pub fn each_document<E: From<IndexError>>(
        &self,
        host: Option<&str>,
        mut visit: impl FnMut(Document) -> Result<(), E>,
    ) -> Result<(), E> {
        let pages = self.pages();
        let searcher = pages.searcher();
        let failed = |source| E::from(pages.engine(source));
        let site = host.map(|host| site_term(host).unwrap_or_default());
        let segments = searcher.segment_readers().iter();
        let indexes = segments.map(|segment| segment.inverted_index(pages.fields.url));
        let indexes: Vec<_> = indexes.collect::<Result<_, _>>().map_err(failed)?;
        let mut cursors = Vec::with_capacity(indexes.len());
        for (segment, index) in searcher.segment_readers().iter().zip(&indexes) {
            let store = segment.get_store_reader(CACHED_BLOCKS).map_err(|error| failed(error.into()))?;
            let urls = index.terms().stream().map_err(|error| failed(error.into()))?;
            let mut cursor = SegmentCursor { segment, store, urls, next: None };
            cursor.advance(pages, site.as_deref()).map_err(failed)?;
            cursors.push(cursor);
        }
        // Only one segment has a live document of a URL, so no two cursors have equal URLs.
        while let Some(first) =
            cursors.iter_mut().filter(|cursor| cursor.next.is_some()).min_by(|a, b| a.url().cmp(b.url()))
        {
            if let Some(id) = first.next {
                let bytes = first.store.get_document_bytes(id).map_err(failed)?;
                visit(document(&bytes).map_err(failed)?)?;
            }
            first.advance(pages, site.as_deref()).map_err(failed)?;
        }
        Ok(())
    }
}

/// A position in the sorted URLs of a segment.
struct SegmentCursor<'a> {
    segment: &'a SegmentReader,
    store: StoreReader,
    urls: TermStreamer<'a>,
    /// The document of the current URL of the stream; `None` at the end.
    next: Option<DocId>,
}

impl SegmentCursor<'_> {
    fn url(&self) -> &[u8] {
        self.urls.key()
    }

    /// Moves to the next URL of the site that has a document.
    fn advance(&mut self, pages: &SubIndex, site: Option<&str>) -> tantivy::Result<()> {
        self.next = None;
        let index = self.segment.inverted_index(pages.fields.url)?;
        while self.next.is_none() && self.urls.advance() {
            if site.is_some_and(|site| !belongs_to(self.urls.key(), site)) {
                continue;
            }
            let mut postings =
                index.read_postings_from_terminfo(self.urls.value(), IndexRecordOption::Basic)?;
            while postings.doc() != TERMINATED && self.segment.is_deleted(postings.doc()) {
                postings.advance();
            }
            self.next = Some(postings.doc()).filter(|&id| id != TERMINATED);
        }
        Ok(())
    }
}

fn belongs_to(url: &[u8], site: &str) -> bool {
    let address = std::str::from_utf8(url).ok().and_then(Address::parse);
    address.is_some_and(|address| address.sites.iter().any(|entry| entry == site))
}
