//! Reading everything back, in the order of the URLs.

use tantivy::schema::IndexRecordOption;
use tantivy::store::StoreReader;
use tantivy::termdict::TermStreamer;
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED};

use crate::address::{Address, site_term};
use crate::document::Document;
use crate::error::IndexError;
use crate::index::Index;
use crate::sub_index::{SubIndex, document};

/// Neighbours in the order of URLs are seldom neighbours on the disk: more blocks in memory would not help.
const CACHED_BLOCKS: usize = 1;

impl Index {
    /// Calls `visit` with every document that is committed now, in the order of the URLs, whatever is written in the
    /// meantime; with a host, only with those of the host and its subdomains. Holds one document at a time.
    ///
    /// # Errors
    /// When the files of the index cannot be read, and the first error of `visit`.
    pub fn each_document<E: From<IndexError>>(
        &self,
        host: Option<&str>,
        mut visit: impl FnMut(Document) -> Result<(), E>,
    ) -> Result<(), E> {
        let pages = self.pages();
        let searcher = pages.searcher();
        let failed = |source| E::from(pages.engine(source));
        let site = host.map(|host| site_term(host).unwrap_or_default());
        let parts = searcher.segment_readers().iter();
        let indexes = parts.map(|segment| segment.inverted_index(pages.fields.url));
        let indexes: Vec<_> = indexes.collect::<Result<_, _>>().map_err(failed)?;
        let mut shelves = Vec::with_capacity(indexes.len());
        for (segment, index) in searcher.segment_readers().iter().zip(&indexes) {
            let store = segment.get_store_reader(CACHED_BLOCKS).map_err(|error| failed(error.into()))?;
            let urls = index.terms().stream().map_err(|error| failed(error.into()))?;
            let mut part = SegmentCursor { segment, store, urls, next: None };
            part.advance(pages, site.as_deref()).map_err(failed)?;
            shelves.push(part);
        }
        // A URL is alive in one part only, so that equal ones need no order.
        while let Some(first) =
            shelves.iter_mut().filter(|part| part.next.is_some()).min_by(|a, b| a.url().cmp(b.url()))
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

/// The rest of a part of the index.
struct SegmentCursor<'a> {
    segment: &'a SegmentReader,
    store: StoreReader,
    urls: TermStreamer<'a>,
    /// The document of the URL that the stream stands at.
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
            if site.is_some_and(|site| !is_of(self.urls.key(), site)) {
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

fn is_of(url: &[u8], site: &str) -> bool {
    let address = std::str::from_utf8(url).ok().and_then(Address::parse);
    address.is_some_and(|address| address.sites.iter().any(|known| known == site))
}
