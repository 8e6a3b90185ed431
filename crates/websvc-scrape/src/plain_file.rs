//! Files that are no pages: images, sitemaps, feeds.

use std::time::Instant;

use url::Url;
use websvc_transport::FetchRequest;

use crate::error::ScrapeError;
use crate::fetcher::remaining;
use crate::raw::{FileAnswer, RawPage};
use crate::request;
use crate::scraper::Scraper;

impl Scraper {
    /// Gets a file of at most `max_bytes` that is no page.
    ///
    /// # Errors
    /// [`ScrapeError`]
    pub async fn file(
        &self,
        url: &Url,
        max_bytes: u64,
        deadline: Instant,
    ) -> Result<FileAnswer, ScrapeError> {
        let request = request::plain(url, remaining(deadline)?, max_bytes);
        let page = self.fetch_plain(request, deadline).await?;
        Ok(FileAnswer { status: page.status, body: page.body })
    }

    /// Fetches what is no page; what the host answers is the answer.
    pub(crate) async fn fetch_plain(
        &self,
        request: FetchRequest,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        self.inner.fetcher.plain(request, deadline).await
    }
}
