//! A search in the making: what the caller does not say, and what says no more than the default, is not sent.

use std::time::Duration;

use websvc_types::format::Markdown;
use websvc_types::limits::{COUNTRY_DEFAULT, LIMIT_DEFAULT, SEARCH_TIMEOUT_DEFAULT_MS};
use websvc_types::{
    Category, Format, RetentionOption, ScrapeOptions, SearchRequest, SearchResponse, Source, SourceKind,
    ThreatProtection,
};

use crate::client::Client;
use crate::error::ClientError;

/// A search in the making, by [`Client::search`]; the fields are those of [`SearchRequest`] (specification,
/// section 2.1). Values are checked by the service.
///
/// Options that are not set are not sent, nor are values equal to their documented default. To send a request as
/// it is, use [`Client::execute_search`].
///
/// ```
/// # fn example(client: websvc::Client) {
/// use websvc::types::SourceKind;
///
/// let search = client.search("asyncio gather").limit(5).sources([SourceKind::Web, SourceKind::News]);
/// assert_eq!(search.request().limit, Some(5));
/// assert_eq!(search.limit(10).request().limit, None);
/// # }
/// # example(websvc::Client::new("http://127.0.0.1:3002".parse().unwrap(), None).unwrap());
/// ```
#[derive(Debug, Clone)]
#[must_use = "a search does nothing until it is sent"]
pub struct SearchBuilder {
    client: Client,
    request: SearchRequest,
}

impl SearchBuilder {
    pub(crate) fn new(client: Client, query: String) -> Self {
        Self { client, request: SearchRequest { query, ..SearchRequest::default() } }
    }

    /// Asks for at most so many results of each source, 1 to 100. Default: 10.
    pub fn limit(mut self, limit: u32) -> Self {
        self.request.limit = (limit != LIMIT_DEFAULT).then_some(limit);
        self
    }

    /// Searches these sources; the answer has one list for each. Default: web.
    pub fn sources(self, kinds: impl IntoIterator<Item = SourceKind>) -> Self {
        self.filtered_sources(kinds.into_iter().map(Source::new))
    }

    /// Searches these sources, each with time and place of its own where it has them.
    pub fn filtered_sources(mut self, sources: impl IntoIterator<Item = Source>) -> Self {
        let sources: Vec<_> = sources.into_iter().collect();
        self.request.sources = (sources != [Source::new(SourceKind::Web)]).then_some(sources);
        self
    }

    /// Keeps only these kinds of pages. Default: all.
    pub fn categories(mut self, categories: impl IntoIterator<Item = Category>) -> Self {
        self.request.categories = filled(categories);
        self
    }

    /// Keeps only results of these hosts. Not together with [`exclude_domains`](Self::exclude_domains).
    pub fn include_domains<D: Into<String>>(mut self, hosts: impl IntoIterator<Item = D>) -> Self {
        self.request.include_domains = filled(hosts.into_iter().map(Into::into));
        self
    }

    /// Leaves out results of these hosts. Not together with [`include_domains`](Self::include_domains).
    pub fn exclude_domains<D: Into<String>>(mut self, hosts: impl IntoIterator<Item = D>) -> Self {
        self.request.exclude_domains = filled(hosts.into_iter().map(Into::into));
        self
    }

    /// Filters by time: `qdr:w`, `cdr:1,cd_min:12/31/2025`, `sbd:1`, combined by commas (specification, section
    /// 2.4).
    pub fn tbs(mut self, tbs: impl Into<String>) -> Self {
        self.request.tbs = Some(tbs.into()).filter(|tbs| !tbs.is_empty());
        self
    }

    /// Searches from a place, such as `Berlin,Germany`.
    pub fn location(mut self, location: impl Into<String>) -> Self {
        self.request.location = Some(location.into()).filter(|location| !location.is_empty());
        self
    }

    /// Searches from a country, by its ISO code. Default: US.
    pub fn country(mut self, country: impl Into<String>) -> Self {
        self.request.country = Some(country.into()).filter(|country| country != COUNTRY_DEFAULT);
        self
    }

    /// Filters explicit content.
    pub fn safe(mut self) -> Self {
        self.request.safe = Some(true);
        self
    }

    /// Gives the service so much time for the whole search, in whole milliseconds. Default: 60 seconds. The client
    /// waits five seconds longer, unless [`ClientBuilder::timeout`](crate::ClientBuilder::timeout) says otherwise.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        let ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self.request.timeout = (ms != SEARCH_TIMEOUT_DEFAULT_MS).then_some(ms);
        self
    }

    /// Leaves out results whose URL the other operations would refuse.
    pub fn ignore_invalid_urls(mut self) -> Self {
        self.request.ignore_invalid_urls = Some(true);
        self
    }

    /// Describes each result by the source's own description, not by its passage about the query.
    pub fn highlights(mut self) -> Self {
        self.request.highlights = Some(false);
        self
    }

    /// Asks for less retention of data; the team must be allowed to.
    pub fn enterprise(mut self, kinds: impl IntoIterator<Item = RetentionOption>) -> Self {
        self.request.enterprise = filled(kinds);
        self
    }

    /// Scrapes the results into these formats. Other options of the scrape stay as they are.
    pub fn formats(mut self, formats: impl IntoIterator<Item = Format>) -> Self {
        let mut options = self.request.scrape_options.take().unwrap_or_default();
        options.formats = filled(formats);
        self.scrape_options(options)
    }

    /// Scrapes the results into markdown, and nothing else.
    pub fn markdown(self) -> Self {
        self.formats([Format::Markdown(Markdown::default())])
    }

    /// Scrapes the results by these options, which are sent as they are; they replace the formats given before.
    pub fn scrape_options(mut self, options: ScrapeOptions) -> Self {
        self.request.scrape_options = Some(options).filter(|options| *options != ScrapeOptions::default());
        self
    }

    /// Overrides the organization's threat protection.
    pub fn threat_protection(mut self, protection: ThreatProtection) -> Self {
        self.request.threat_protection = Some(protection);
        self
    }

    /// Names the program that asks, for the service's log.
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.request.origin = Some(origin.into());
        self
    }

    /// Names the integration that asks, for the service's log.
    pub fn integration(mut self, integration: impl Into<String>) -> Self {
        self.request.integration = Some(integration.into());
        self
    }

    /// Returns what would be sent.
    #[must_use]
    pub fn request(&self) -> &SearchRequest {
        &self.request
    }

    /// Sends the search, as [`Client::execute_search`] does.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn send(self) -> Result<SearchResponse, ClientError> {
        self.client.execute_search(&self.request).await
    }
}

/// An empty list says as much as none.
fn filled<T>(items: impl IntoIterator<Item = T>) -> Option<Vec<T>> {
    Some(items.into_iter().collect()).filter(|items: &Vec<T>| !items.is_empty())
}
