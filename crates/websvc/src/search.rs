//! Builder of a search request.

use std::time::Duration;

use websvc_types::format::Markdown;
use websvc_types::limits::{COUNTRY_DEFAULT, LIMIT_DEFAULT, SEARCH_TIMEOUT_DEFAULT_MS};
use websvc_types::{
    Category, Format, RetentionOption, ScrapeOptions, SearchRequest, SearchResponse, Source, SourceKind,
    ThreatProtection,
};

use crate::client::Client;
use crate::error::ClientError;

/// Builder of a search, created by [`Client::search`]. [`send`](Self::send) sends it.
///
/// The methods set the fields of a [`SearchRequest`] (specification, section 2.1). The service checks the values. Fields
/// that are not set, or have the value of the documented default, are not sent. To send a request as it is, use
/// [`Client::execute_search`].
///
/// # Examples
///
/// ```no_run
/// use websvc::types::{Category, SourceKind};
///
/// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
/// let response = client
///     .search("asyncio gather")
///     .limit(5)
///     .sources([SourceKind::Web, SourceKind::News])
///     .categories([Category::Github])
///     .tbs("qdr:y") // the last year
///     .markdown() // scrape the results
///     .send()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a search does nothing until it is sent"]
pub struct SearchBuilder {
    client: Client,
    request: SearchRequest,
}

impl Client {
    /// Starts building a search. [`SearchBuilder::send`] sends it.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// let response = client.search("asyncio gather").limit(5).markdown().send().await?;
    /// for page in response.data.web.unwrap_or_default() {
    ///     println!("{}\n{}", page.url, page.content.markdown.unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn search(&self, query: impl Into<String>) -> SearchBuilder {
        SearchBuilder::new(self.clone(), query.into())
    }
}

impl SearchBuilder {
    pub(crate) fn new(client: Client, query: String) -> Self {
        Self { client, request: SearchRequest::new(query) }
    }

    /// Sets the maximum number of results per source, 1 to 100. Default: 10.
    pub fn limit(mut self, limit: u32) -> Self {
        self.request.limit = (limit != LIMIT_DEFAULT).then_some(limit);
        self
    }

    /// Searches these sources; the response has one list for each. Default: web.
    pub fn sources(self, kinds: impl IntoIterator<Item = SourceKind>) -> Self {
        self.filtered_sources(kinds.into_iter().map(Source::new))
    }

    /// Searches these sources, each with its own time filter and location.
    ///
    /// ```
    /// # let client = websvc::Client::new("http://127.0.0.1:3002".parse()?, "fc-...")?;
    /// use websvc::types::{Source, SourceKind};
    ///
    /// let recent_news = Source { tbs: Some("qdr:d".to_owned()), ..Source::new(SourceKind::News) };
    /// let search = client.search("asyncio gather").filtered_sources([recent_news]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn filtered_sources(mut self, sources: impl IntoIterator<Item = Source>) -> Self {
        let sources: Vec<_> = sources.into_iter().collect();
        self.request.sources = (sources != [Source::new(SourceKind::Web)]).then_some(sources);
        self
    }

    /// Returns only pages of any of these categories. Default: all pages.
    pub fn categories(mut self, categories: impl IntoIterator<Item = Category>) -> Self {
        self.request.categories = non_empty(categories);
        self
    }

    /// Returns only results of these hosts and their subdomains. Cannot be combined with
    /// [`exclude_domains`](Self::exclude_domains).
    pub fn include_domains<D: Into<String>>(mut self, hosts: impl IntoIterator<Item = D>) -> Self {
        self.request.include_domains = non_empty(hosts.into_iter().map(Into::into));
        self
    }

    /// Excludes results of these hosts and their subdomains. Cannot be combined with
    /// [`include_domains`](Self::include_domains).
    pub fn exclude_domains<D: Into<String>>(mut self, hosts: impl IntoIterator<Item = D>) -> Self {
        self.request.exclude_domains = non_empty(hosts.into_iter().map(Into::into));
        self
    }

    /// Sets a time filter: `qdr:w` (last week), `cdr:1,cd_min:12/31/2025` (since a day), `sbd:1` (newest first), combined by
    /// commas (specification, section 2.4).
    pub fn tbs(mut self, tbs: impl Into<String>) -> Self {
        self.request.tbs = Some(tbs.into()).filter(|tbs| !tbs.is_empty());
        self
    }

    /// Sets the location of the user, such as `Berlin,Germany`.
    pub fn location(mut self, location: impl Into<String>) -> Self {
        self.request.location = Some(location.into()).filter(|location| !location.is_empty());
        self
    }

    /// Sets the country of the user, an ISO 3166-1 alpha-2 code. Default: US.
    pub fn country(mut self, country: impl Into<String>) -> Self {
        self.request.country = Some(country.into()).filter(|country| country != COUNTRY_DEFAULT);
        self
    }

    /// Removes explicit content. Default: no filter.
    pub fn safe(mut self) -> Self {
        self.request.safe = Some(true);
        self
    }

    /// Sets the time limit of the search in the service, in whole milliseconds. Default: 60 seconds.
    ///
    /// The client waits five seconds longer, unless [`ClientBuilder::timeout`](crate::ClientBuilder::timeout) is set.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        let ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self.request.timeout = (ms != SEARCH_TIMEOUT_DEFAULT_MS).then_some(ms);
        self
    }

    /// Removes results whose URL cannot be scraped, that is all but http and https. Default: they stay.
    pub fn ignore_invalid_urls(mut self) -> Self {
        self.request.ignore_invalid_urls = Some(true);
        self
    }

    /// Sets the description of the results: true for the passage that matches the query, false for the description that
    /// the page gives of itself. Default: true.
    pub fn highlights(mut self, enabled: bool) -> Self {
        self.request.highlights = (!enabled).then_some(false);
        self
    }

    /// Requests another data retention, which must be enabled for the team. Default: the ordinary retention.
    pub fn enterprise(mut self, kinds: impl IntoIterator<Item = RetentionOption>) -> Self {
        self.request.enterprise = non_empty(kinds);
        self
    }

    /// Scrapes the results into these formats. Other scrape options stay as they are.
    pub fn formats(mut self, formats: impl IntoIterator<Item = Format>) -> Self {
        let mut options = self.request.scrape_options.take().unwrap_or_default();
        options.formats = non_empty(formats);
        self.scrape_options(options)
    }

    /// Scrapes the results into markdown only.
    pub fn markdown(self) -> Self {
        self.formats([Format::Markdown(Markdown::default())])
    }

    /// Scrapes the results with these options, which are sent as they are. They replace formats that were set before.
    pub fn scrape_options(mut self, options: ScrapeOptions) -> Self {
        self.request.scrape_options = Some(options).filter(|options| *options != ScrapeOptions::default());
        self
    }

    /// Changes the threat protection of the team for this search.
    pub fn threat_protection(mut self, protection: ThreatProtection) -> Self {
        self.request.threat_protection = Some(protection);
        self
    }

    /// Sets the name of the client. websvc does not use it.
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.request.origin = Some(origin.into());
        self
    }

    /// Sets the name of the integration. websvc does not use it.
    pub fn integration(mut self, integration: impl Into<String>) -> Self {
        self.request.integration = Some(integration.into());
        self
    }

    /// Returns the request as it would be sent.
    ///
    /// ```
    /// # let client = websvc::Client::new("http://127.0.0.1:3002".parse()?, "fc-...")?;
    /// let search = client.search("asyncio gather").limit(5);
    /// assert_eq!(search.request().limit, Some(5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn request(&self) -> &SearchRequest {
        &self.request
    }

    /// Sends the search, as [`Client::execute_search`] does.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn send(self) -> Result<SearchResponse, ClientError> {
        self.client.execute_search(&self.request).await
    }
}

/// Returns the items, or `None` for an empty list, which has the same meaning.
fn non_empty<T>(items: impl IntoIterator<Item = T>) -> Option<Vec<T>> {
    Some(items.into_iter().collect()).filter(|items: &Vec<T>| !items.is_empty())
}
