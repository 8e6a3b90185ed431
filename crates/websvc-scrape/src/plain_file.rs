//! Files that are no pages: images, sitemaps, feeds.

use std::time::Instant;

use url::Url;
use websvc_transport::{ExcessPolicy, FetchRequest, TlsPolicy};
use websvc_validate::ScrapePlan;

use crate::browse::Source;
use crate::error::ScrapeError;
use crate::fetcher::{Route, remaining};
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
        tls: TlsPolicy,
        deadline: Instant,
    ) -> Result<FileAnswer, ScrapeError> {
        let mut request = request::plain(url, remaining(deadline)?, max_bytes);
        request.tls = tls;
        let page = self.fetch_plain(request, deadline).await?;
        Ok(FileAnswer { url: page.url, status: page.status, body: page.body })
    }

    /// Gets a file that lists pages as `plan` says: with its headers, by its ways to the host, and never from the cache.
    /// Of what has more than `max_bytes` on the wire the beginning is returned. Where it leads on to is checked, the URL
    /// itself is not.
    ///
    /// # Errors
    /// [`ScrapeError`]
    pub async fn listing(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        max_bytes: u64,
        deadline: Instant,
    ) -> Result<FileAnswer, ScrapeError> {
        let source =
            Source { fetcher: &self.inner.fetcher, max_bytes, rule: self.rule(), stages: self.stages() };
        let mut request = source.request(url, plan, deadline)?;
        request.excess = ExcessPolicy::Cut;
        let page = self.inner.fetcher.file(request, Route::of(plan), deadline).await?;
        Ok(FileAnswer { url: page.url, status: page.status, body: page.body })
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
