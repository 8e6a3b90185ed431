//! The typed client of a running service.

use std::sync::Arc;
use std::time::Duration;

use url::Url;
use websvc_types::index::{
    CrawlProgressRequest, CrawlProgressResponse, IndexStats, IndexUploadRequest, IndexUploadResponse,
};
use websvc_types::limits::{SCRAPE_TIMEOUT_DEFAULT_MS, SEARCH_TIMEOUT_DEFAULT_MS};
use websvc_types::{
    MapRequest, MapResponse, ScrapeOptions, ScrapeRequest, ScrapeResponse, SearchRequest, SearchResponse,
};

use crate::builder::ClientBuilder;
use crate::call::{ApiCall, HttpTransport, Idempotency};
use crate::error::ClientError;
use crate::health::{Health, Readiness};
use crate::search::SearchBuilder;

/// Time that the client waits beyond the request's own timeout, so that the service's 408 arrives.
const GRACE: Duration = Duration::from_secs(5);

/// How long a request without a time of its own may take.
const TIMEOUT: Duration = Duration::from_millis(SEARCH_TIMEOUT_DEFAULT_MS);

/// Asks a running service. Cheap to clone; clones share their connections.
///
/// A call whose future is dropped is given up: its connection or HTTP/2 stream is closed, which tells the service.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) line: Arc<HttpTransport>,
    pub(crate) timeout: Option<Duration>,
}

impl Client {
    /// Makes a client of the service at `base`, such as `http://127.0.0.1:3002`; a path in it is kept. The
    /// settings are the defaults of [`ClientBuilder`].
    ///
    /// # Errors
    /// [`ClientError::Config`] when the base address is not usable, or the key cannot be sent in a header.
    ///
    /// ```
    /// let client = websvc::Client::new("http://127.0.0.1:3002".parse()?, Some("fc-...".to_owned()))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(base: Url, key: Option<String>) -> Result<Self, ClientError> {
        let builder = Self::builder(base);
        match key {
            Some(key) => builder.key(key).build(),
            None => builder.build(),
        }
    }

    /// Starts a client of the service at `base`, such as `https://search.example/websvc`; a path in it is kept.
    ///
    /// ```
    /// let client = websvc::Client::builder("https://search.example".parse()?).key("fc-...").build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(base: Url) -> ClientBuilder {
        ClientBuilder::new(base)
    }

    /// Starts a search for what a query asks. Nothing is sent before [`SearchBuilder::send`].
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// let found = client.search("asyncio gather").limit(5).markdown().send().await?;
    /// for page in found.data.web.unwrap_or_default() {
    ///     println!("{}\n{}", page.url, page.content.markdown.unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn search(&self, query: impl Into<String>) -> SearchBuilder {
        SearchBuilder::new(self.clone(), query.into())
    }

    /// Starts a search, under its old name.
    #[deprecated(note = "renamed to `search`; to send a `SearchRequest`, use `execute_search`")]
    pub fn search_for(&self, query: impl Into<String>) -> SearchBuilder {
        self.search(query)
    }

    /// Searches: `POST /v2/search` (specification, section 2). The request is sent as it is.
    ///
    /// A search changes nothing in the service, so it is repeated even when the service may have worked on it; that
    /// work may be charged. Only a search with browser actions is repeated just when it certainly was not worked on.
    ///
    /// # Errors
    /// [`ClientError`]
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::types::SearchRequest;
    ///
    /// let request = SearchRequest { query: "asyncio gather".to_owned(), limit: Some(5), ..Default::default() };
    /// let found = client.execute_search(&request).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn execute_search(&self, request: &SearchRequest) -> Result<SearchResponse, ClientError> {
        let time = self.timeout.unwrap_or_else(|| timeout_for(request.timeout));
        let mut call = ApiCall::post("v2/search", request, time)?;
        if request.scrape_options.as_ref().is_some_and(has_actions) {
            call.repetition = Idempotency::NotIdempotent;
        }
        self.line.call(&call).await
    }

    /// Gets one page: `POST /v2/scrape`. The request is sent as it is, and repeated like a search.
    ///
    /// A page that answers 400 and above is an answer: see the status in its metadata.
    ///
    /// # Errors
    /// [`ClientError`]; a host that was not found is [`ClientError::Api`] with status 200.
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::types::ScrapeRequest;
    ///
    /// let request = ScrapeRequest { url: "https://docs.example/asyncio".to_owned(), ..Default::default() };
    /// let page = client.scrape(&request).await?;
    /// println!("{}", page.data.markdown.unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn scrape(&self, request: &ScrapeRequest) -> Result<ScrapeResponse, ClientError> {
        let own = request.options.timeout.unwrap_or(SCRAPE_TIMEOUT_DEFAULT_MS);
        let time = self.timeout.unwrap_or(Duration::from_millis(own).saturating_add(GRACE));
        let mut call = ApiCall::post("v2/scrape", request, time)?;
        if has_actions(&request.options) {
            call.repetition = Idempotency::NotIdempotent;
        }
        self.line.call(&call).await
    }

    /// Lists the URLs of a site: `POST /v2/map`. The request is sent as it is, and repeated like a search.
    ///
    /// # Errors
    /// [`ClientError`]
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::types::MapRequest;
    ///
    /// let request = MapRequest { url: "https://docs.example".to_owned(), ..Default::default() };
    /// for link in client.map(&request).await?.links {
    ///     println!("{}", link.url);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn map(&self, request: &MapRequest) -> Result<MapResponse, ClientError> {
        let time = self.timeout.unwrap_or_else(|| timeout_for(request.timeout));
        self.line.call(&ApiCall::post("v2/map", request, time)?).await
    }

    /// Adds documents to the service's index: `POST /v2/index/documents`. They can be found within two seconds.
    ///
    /// Each document replaces the older one of its URL, so an upload is repeated like a search. Of two uploads of one
    /// URL at the same time, either may win.
    ///
    /// # Errors
    /// [`ClientError`]
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::types::index::{IndexDocument, IndexUpload};
    ///
    /// let document = IndexDocument {
    ///     url: "https://docs.example/asyncio".to_owned(),
    ///     title: "asyncio".to_owned(),
    ///     body: "gather runs awaitables concurrently".to_owned(),
    ///     ..Default::default()
    /// };
    /// let reply = client.add_documents(&IndexUpload { documents: vec![document] }).await?;
    /// assert_eq!(reply.accepted, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn add_documents(
        &self,
        upload: &IndexUploadRequest,
    ) -> Result<IndexUploadResponse, ClientError> {
        self.line.call(&ApiCall::post("v2/index/documents", upload, self.time())?).await
    }

    /// Tells how far a crawl is whose pages go to the service: `POST /v2/index/progress`. Its dashboard shows it.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn crawl_progress(
        &self,
        progress: &CrawlProgressRequest,
    ) -> Result<CrawlProgressResponse, ClientError> {
        self.line.call(&ApiCall::post("v2/index/progress", progress, self.time())?).await
    }

    /// Returns the figures of the service's index: `GET /v2/index/stats`.
    ///
    /// # Errors
    /// [`ClientError`]
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// println!("{} documents can be found", client.index_stats().await?.documents);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn index_stats(&self) -> Result<IndexStats, ClientError> {
        self.line.call(&ApiCall::get("v2/index/stats", self.time())).await
    }

    /// Asks whether the service runs: `GET /health`. Sent once whatever the policy, so that the answer is of now; no
    /// key is needed.
    ///
    /// # Errors
    /// [`ClientError`]
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// println!("websvc {} runs", client.health().await?.version);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn health(&self) -> Result<Health, ClientError> {
        self.line.call_once(&ApiCall::get("health", self.time())).await
    }

    /// Asks whether the service takes work: `GET /ready`. Sent once whatever the policy; no key is needed. A service
    /// that is not ready is an answer, not an error.
    ///
    /// # Errors
    /// [`ClientError`]
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
        self.line.call_once(&ApiCall::get("ready", self.time())).await
    }

    pub(crate) fn time(&self) -> Duration {
        self.timeout.unwrap_or(TIMEOUT)
    }
}

/// Returns whether something is done on the pages, which done twice may do harm.
fn has_actions(options: &ScrapeOptions) -> bool {
    options.actions.as_ref().is_some_and(|actions| !actions.is_empty())
}

/// Returns how long a search or a map may take: as long as the service may, and the way.
fn timeout_for(timeout_ms: Option<u64>) -> Duration {
    timeout_ms.map_or(TIMEOUT, Duration::from_millis).saturating_add(GRACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_has_its_own_time_and_that_for_the_way() {
        let check = |timeout, expected| {
            assert_eq!(timeout_for(timeout), Duration::from_millis(expected));
        };
        check(None, 65_000);
        check(Some(1), 5_001);
        check(Some(300_000), 305_000);
    }
}
