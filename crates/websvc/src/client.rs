//! Client of a running service.

use std::sync::Arc;
use std::time::Duration;

use url::Url;
use websvc_types::index::{
    CrawlProgressRequest, CrawlProgressResponse, IndexStats, IndexUploadRequest, IndexUploadResponse,
};
use websvc_types::limits::{SCRAPE_TIMEOUT_DEFAULT_MS, SEARCH_TIMEOUT_DEFAULT_MS};
use websvc_types::team::{SiemTestRequest, SiemTestResponse};
use websvc_types::{
    MapRequest, MapResponse, ScrapeOptions, ScrapeRequest, ScrapeResponse, SearchRequest, SearchResponse,
};

use crate::call::{ApiCall, HttpTransport, Idempotency};
use crate::error::ClientError;
use crate::health::{Health, Readiness};

/// Time that a call may take in addition to the timeout of its request, so that a 408 of the service arrives.
pub(crate) const TIMEOUT_MARGIN: Duration = Duration::from_secs(5);

/// Time limit of calls whose request has no timeout.
const DEFAULT_TIMEOUT: Duration = Duration::from_millis(SEARCH_TIMEOUT_DEFAULT_MS);

/// Client of a running websvc service.
///
/// A client is cheap to clone, and clones share their connections. Create one per service and reuse it.
///
/// If the future of a call is dropped, the call is cancelled: its connection or HTTP/2 stream is closed, which the
/// service notices.
///
/// # Examples
///
/// ```no_run
/// use websvc::Client;
/// use websvc::types::ScrapeRequest;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new("http://127.0.0.1:3002".parse()?, "fc-...")?;
/// let page = client.scrape(&ScrapeRequest::new("https://docs.example")).await?;
/// println!("{}", page.data.markdown.unwrap_or_default());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) transport: Arc<HttpTransport>,
    pub(crate) timeout: Option<Duration>,
}

impl Client {
    /// Creates a client of the service at the URL `base`, with an API key and default settings. An empty key is not sent.
    ///
    /// Requests go to paths below that of `base`: with `https://search.example/websvc`, a search goes to
    /// `https://search.example/websvc/v2/search`. Use [`Client::builder`] for other settings, or without a key.
    ///
    /// # Errors
    /// [`ClientError::Config`] if the base URL is invalid, or the key cannot be sent in a header.
    ///
    /// # Examples
    ///
    /// ```
    /// let client = websvc::Client::new("http://127.0.0.1:3002".parse()?, "fc-...")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(base: Url, key: impl Into<String>) -> Result<Self, ClientError> {
        Self::builder(base).key(key).build()
    }

    /// Sends a search request as it is: `POST /v2/search` (specification, section 2).
    ///
    /// A search has no effect in the service, so it is also repeated if the service may have processed it; it may then be
    /// charged twice. A search with browser actions is repeated only if the service certainly did not process it.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::types::SearchRequest;
    ///
    /// let request = SearchRequest { limit: Some(5), ..SearchRequest::new("asyncio gather") };
    /// let response = client.execute_search(&request).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn execute_search(&self, request: &SearchRequest) -> Result<SearchResponse, ClientError> {
        let timeout = self.timeout.unwrap_or_else(|| timeout_for(request.timeout));
        let mut call = ApiCall::post("v2/search", request, timeout)?;
        if request.scrape_options.as_ref().is_some_and(has_actions) {
            call.idempotency = Idempotency::NotIdempotent;
        }
        self.transport.call(&call).await
    }

    /// Scrapes one page: `POST /v2/scrape`. The request is sent as it is, and repeated as a search is.
    ///
    /// A page with status 400 or above is a result: see `status_code` of its metadata.
    ///
    /// # Errors
    /// Any [`ClientError`]. A host that is not found is a [`ClientError::Api`] with status 200.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::types::{Format, ScrapeOptions, ScrapeRequest};
    ///
    /// let request = ScrapeRequest {
    ///     options: ScrapeOptions {
    ///         formats: Some(vec![Format::markdown(), Format::links()]),
    ///         ..ScrapeOptions::default()
    ///     },
    ///     ..ScrapeRequest::new("https://docs.example/asyncio")
    /// };
    /// let page = client.scrape(&request).await?.data;
    /// println!("{}\n{:?}", page.markdown.unwrap_or_default(), page.links.unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn scrape(&self, request: &ScrapeRequest) -> Result<ScrapeResponse, ClientError> {
        let page_timeout =
            Duration::from_millis(request.options.timeout.unwrap_or(SCRAPE_TIMEOUT_DEFAULT_MS));
        let timeout = self.timeout.unwrap_or(page_timeout.saturating_add(TIMEOUT_MARGIN));
        let mut call = ApiCall::post("v2/scrape", request, timeout)?;
        if has_actions(&request.options) {
            call.idempotency = Idempotency::NotIdempotent;
        }
        self.transport.call(&call).await
    }

    /// Lists the URLs of a site: `POST /v2/map`. The request is sent as it is, and repeated as a search is.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::types::MapRequest;
    ///
    /// let request = MapRequest { limit: Some(100), ..MapRequest::new("https://docs.example") };
    /// for link in client.map(&request).await?.links {
    ///     println!("{}", link.url);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn map(&self, request: &MapRequest) -> Result<MapResponse, ClientError> {
        let timeout = self.timeout.unwrap_or_else(|| timeout_for(request.timeout));
        self.transport.call(&ApiCall::post("v2/map", request, timeout)?).await
    }

    /// Adds documents to the index of the service: `POST /v2/index/documents`. They are searchable within two seconds.
    ///
    /// A document replaces the indexed document with the same URL, so an upload is repeated as a search is. If two
    /// concurrent uploads have the same URL, either may win.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::types::index::{IndexDocument, IndexUploadRequest};
    ///
    /// let document = IndexDocument {
    ///     url: "https://docs.example/asyncio".to_owned(),
    ///     title: "asyncio".to_owned(),
    ///     body: "gather runs awaitables concurrently".to_owned(),
    ///     ..IndexDocument::default()
    /// };
    /// let response = client.add_documents(&IndexUploadRequest { documents: vec![document] }).await?;
    /// assert_eq!(response.accepted, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn add_documents(
        &self,
        upload: &IndexUploadRequest,
    ) -> Result<IndexUploadResponse, ClientError> {
        self.transport.call(&ApiCall::post("v2/index/documents", upload, self.timeout())?).await
    }

    /// Reports the progress of a crawl that this program runs for the index of the service: `POST /v2/index/progress`.
    /// The dashboard shows it.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn report_crawl_progress(
        &self,
        progress: &CrawlProgressRequest,
    ) -> Result<CrawlProgressResponse, ClientError> {
        self.transport.call(&ApiCall::post("v2/index/progress", progress, self.timeout())?).await
    }

    /// Returns statistics of the index of the service: `GET /v2/index/stats`.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// println!("{} searchable documents", client.index_stats().await?.documents);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn index_stats(&self) -> Result<IndexStats, ClientError> {
        self.transport.call(&ApiCall::get("v2/index/stats", self.timeout())).await
    }

    /// Sends a test event to the receivers of audit events: `POST /v2/team/siem/test`. Needs an admin key.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// for receiver in client.test_siem(&websvc::types::team::SiemTestRequest::default()).await?.data.receivers {
    ///     println!("{}: {}", receiver.name, receiver.error.as_deref().unwrap_or("received"));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn test_siem(&self, request: &SiemTestRequest) -> Result<SiemTestResponse, ClientError> {
        self.transport.call(&ApiCall::post("v2/team/siem/test", request, self.timeout())?).await
    }

    /// Checks that the service runs: `GET /health`. No key is needed.
    ///
    /// The request is sent once, whatever the [`RetryPolicy`](crate::RetryPolicy), so that the result is current.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// println!("websvc {} runs", client.health().await?.version);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn health(&self) -> Result<Health, ClientError> {
        self.transport.call_once(&ApiCall::get("health", self.timeout())).await
    }

    /// Checks whether the service accepts requests: `GET /ready`. No key is needed.
    ///
    /// A service that is not ready is a result, not an error. The request is sent once, whatever the
    /// [`RetryPolicy`](crate::RetryPolicy).
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// let readiness = client.readiness().await?;
    /// if !readiness.is_ready() {
    ///     println!("the service is {}: {:?}", readiness.status, readiness.checks);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn readiness(&self) -> Result<Readiness, ClientError> {
        self.transport.call_once(&ApiCall::get("ready", self.timeout())).await
    }

    /// Returns the time limit of calls whose request has no timeout.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }
}

/// Returns whether the options have actions, which may have another effect when they are repeated.
fn has_actions(options: &ScrapeOptions) -> bool {
    options.actions.as_ref().is_some_and(|actions| !actions.is_empty())
}

/// Returns the time limit of a call whose request has this timeout.
fn timeout_for(timeout_ms: Option<u64>) -> Duration {
    timeout_ms.map_or(DEFAULT_TIMEOUT, Duration::from_millis).saturating_add(TIMEOUT_MARGIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_timeout_is_request_timeout_and_a_margin() {
        let check = |timeout, expected| {
            assert_eq!(timeout_for(timeout), Duration::from_millis(expected));
        };
        check(None, 65_000);
        check(Some(1), 5_001);
        check(Some(300_000), 305_000);
    }
}
