//! The outcomes of scraping the pages of hits.

use websvc_scrape::{Page, ScrapeError};

/// The outcome of scraping the page of one hit.
#[derive(Debug)]
pub(crate) enum PageResult {
    /// The plan has no formats.
    NotRequested,
    /// The scraped page.
    Page(Box<Page>),
    /// The page could not be scraped. The result stays, with the error.
    Failed(ScrapeError),
}

/// The page of each hit: one list per vertical, one entry per hit, in the same order.
pub(crate) type PageResults = Vec<Vec<PageResult>>;
