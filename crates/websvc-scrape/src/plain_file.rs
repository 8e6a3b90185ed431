//! Files that are no pages: images, sitemaps, feeds.

use std::time::Instant;

use url::Url;
use websvc_transport::{FetchRequest, OversizePolicy, TlsPolicy};
use websvc_validate::ScrapePlan;

use crate::browse::FetchContext;
use crate::error::ScrapeError;
use crate::fetcher::{ProxyRoute, remaining};
use crate::raw::{FileResponse, RawPage};
use crate::request;
use crate::scraper::Scraper;

/// What is cut to its beginning may be packed: it is unpacked up to so many times what is wanted of it.
const UNPACKED: u64 = 8;

/// No more than this is unpacked for a smaller beginning.
const UNPACKED_MAX_BYTES: u64 = 8 * 1024 * 1024;

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
    ) -> Result<FileResponse, ScrapeError> {
        let page = self.fetch_plain(asking(url, max_bytes, tls, deadline)?, deadline).await?;
        Ok(FileResponse { url: page.url, status: page.status, body: page.body })
    }

    /// Gets the beginning of a file that is no page: its first `max_bytes`, or all of it when it is shorter. A packed one
    /// fails when it unpacks to more than eight times as much, as a bomb does.
    ///
    /// # Errors
    /// [`ScrapeError`]
    pub async fn beginning(
        &self,
        url: &Url,
        max_bytes: u64,
        tls: TlsPolicy,
        deadline: Instant,
    ) -> Result<FileResponse, ScrapeError> {
        let request = cut(asking(url, max_bytes, tls, deadline)?, max_bytes);
        let page = self.fetch_plain(request, deadline).await?;
        Ok(first(page, max_bytes))
    }

    /// Gets a file that lists pages as `plan` says: with its headers, by its ways to the host, and never from the cache.
    /// Of what has more than `max_bytes` the beginning is returned, as by [`Scraper::beginning`]. Where it leads on to is
    /// checked, the URL itself is not.
    ///
    /// # Errors
    /// [`ScrapeError`]
    pub async fn listing(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        max_bytes: u64,
        deadline: Instant,
    ) -> Result<FileResponse, ScrapeError> {
        let source = FetchContext {
            fetcher: &self.inner.fetcher,
            max_bytes,
            rule: self.rule(),
            stages: self.stages(),
        };
        let request = cut(source.request(url, plan, deadline)?, max_bytes);
        let page = self.inner.fetcher.file(request, ProxyRoute::of(plan), deadline).await?;
        Ok(first(page, max_bytes))
    }

    /// Fetches what is no page; what the host answers is the answer.
    pub(crate) async fn fetch_plain(
        &self,
        request: FetchRequest,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        self.inner.fetcher.fetch_plain_file(request, deadline).await
    }
}

fn asking(url: &Url, max_bytes: u64, tls: TlsPolicy, deadline: Instant) -> Result<FetchRequest, ScrapeError> {
    let mut request = request::plain(url, remaining(deadline)?, max_bytes);
    request.tls = tls;
    Ok(request)
}

/// Makes a request for a file one for its beginning.
fn cut(mut request: FetchRequest, max_bytes: u64) -> FetchRequest {
    request.excess = OversizePolicy::Cut;
    let unpacked = max_bytes.saturating_mul(UNPACKED).min(UNPACKED_MAX_BYTES);
    request.max_decoded_bytes = unpacked.max(max_bytes);
    request
}

/// Returns the beginning of what was fetched.
fn first(page: RawPage, max_bytes: u64) -> FileResponse {
    let RawPage { url, status, mut body, .. } = page;
    body.truncate(usize::try_from(max_bytes).unwrap_or(usize::MAX));
    FileResponse { url, status, body }
}
