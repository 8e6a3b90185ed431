//! Fetches of files that are not pages: robots.txt, sitemaps, feeds, images.

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

/// The maximum ratio of decompressed bytes to wanted bytes of a file that is cut.
const DECODED_RATIO: u64 = 8;

/// The maximum decompressed size of a file that is cut, in bytes, unless more bytes are wanted.
const DECODED_MAX_BYTES: u64 = 8 * 1024 * 1024;

impl Scraper {
    /// Fetches a file of at most `max_bytes` that is not a page.
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
        let page = self.fetch_plain(file_request(url, max_bytes, tls, deadline)?, deadline).await?;
        Ok(FileResponse { url: page.url, status: page.status, body: page.body })
    }

    /// Fetches the first `max_bytes` of a file that is not a page, or all of a shorter one. A compressed file fails if
    /// it decompresses to more than eight times as much, as a decompression bomb does.
    ///
    /// # Errors
    /// [`ScrapeError`]
    pub async fn file_prefix(
        &self,
        url: &Url,
        max_bytes: u64,
        tls: TlsPolicy,
        deadline: Instant,
    ) -> Result<FileResponse, ScrapeError> {
        let request = into_prefix_request(file_request(url, max_bytes, tls, deadline)?, max_bytes);
        let page = self.fetch_plain(request, deadline).await?;
        Ok(take_prefix(page, max_bytes))
    }

    /// Fetches a file that lists pages by the options of `plan`: with its headers and proxies, and never from the
    /// cache. A file larger than `max_bytes` is cut as by [`Scraper::file_prefix`]. Its redirects are checked; the URL
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
    ) -> Result<FileResponse, ScrapeError> {
        let context = FetchContext {
            fetcher: self.fetcher(),
            max_bytes,
            rule: self.rule(),
            boundary: None,
            stages: self.stages(),
        };
        let request = into_prefix_request(context.request(url, plan, deadline)?, max_bytes);
        let page = self.fetcher().file(request, ProxyRoute::from_plan(plan), deadline).await?;
        Ok(take_prefix(page, max_bytes))
    }

    /// Fetches a file that is not a page; refreshes and challenges in the response are ignored.
    pub(crate) async fn fetch_plain(
        &self,
        request: FetchRequest,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        self.fetcher().fetch_plain_file(request, deadline).await
    }
}

fn file_request(
    url: &Url,
    max_bytes: u64,
    tls: TlsPolicy,
    deadline: Instant,
) -> Result<FetchRequest, ScrapeError> {
    let mut request = request::plain(url, remaining(deadline)?, max_bytes);
    request.tls = tls;
    Ok(request)
}

/// Turns a request for a file into one for its first `max_bytes`.
fn into_prefix_request(mut request: FetchRequest, max_bytes: u64) -> FetchRequest {
    request.oversize = OversizePolicy::Truncate;
    let max_decoded = max_bytes.saturating_mul(DECODED_RATIO).min(DECODED_MAX_BYTES);
    request.max_decoded_bytes = max_decoded.max(max_bytes);
    request
}

/// Returns the first `max_bytes` of a fetched file.
fn take_prefix(page: RawPage, max_bytes: u64) -> FileResponse {
    let RawPage { url, status, mut body, .. } = page;
    body.truncate(usize::try_from(max_bytes).unwrap_or(usize::MAX));
    FileResponse { url, status, body }
}
