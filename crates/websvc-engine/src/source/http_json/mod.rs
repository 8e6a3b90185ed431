//! A source for any search API that responds with JSON or Atom, as defined in the configuration.

mod atom;
mod body;
mod declaration;
mod field;
mod template;
mod variables;

use std::time::Instant;

use http::HeaderValue;
use http::header::{ACCEPT, CONTENT_TYPE};
use serde_json::Value;
use url::Url;
use websvc_transport::{Client, FetchRequest, FetchResponse};
use websvc_validate::SourceKind;

pub use declaration::{ApiDefinition, ResultKind};
pub use variables::DeclarationError;
pub(super) use variables::expand_variables;

use super::endpoint::{Endpoint, EndpointConfig, check_status, content_type, read_json};
use super::hit_collector::{HitCollector, UndatedPolicy};
use super::{
    FailureKind, FilterSupport, SearchSource, SourceFit, SourceFuture, SourceHealth, SourceRequest,
    SourceResponse, query_text, region,
};
use crate::error::SourceError;
use declaration::{CheckedDefinition, Format, QuerySyntax};
use template::{Placeholder, Values};

/// The maximum number of pages of results that are requested.
const MAX_PAGES: usize = 10;

/// A validated API definition with its secrets.
pub struct HttpJsonConfig {
    /// The name of the source in warnings.
    name: String,
    definition: CheckedDefinition,
    endpoint: EndpointConfig,
}

impl HttpJsonConfig {
    /// Validates a definition. `variable` returns the values of environment variables.
    ///
    /// # Errors
    /// [`DeclarationError`] with the invalid key.
    pub fn new(
        name: String,
        definition: &ApiDefinition,
        endpoint: EndpointConfig,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, DeclarationError> {
        Ok(Self { name, definition: definition.check(variable)?, endpoint })
    }

    /// Returns the URLs of the API without path and query, one for each host, which the address guard of the client must
    /// allow.
    #[must_use]
    pub fn origins(&self) -> &[Url] {
        &self.definition.origins
    }
}

/// A search source for a configured API.
pub struct HttpJson {
    definition: CheckedDefinition,
    endpoint: Endpoint,
}

impl HttpJson {
    /// Creates a source. `client` must be allowed to connect to [`HttpJsonConfig::origins`].
    pub fn new(config: HttpJsonConfig, client: Client) -> Self {
        let HttpJsonConfig { name, definition, endpoint } = config;
        Self { definition, endpoint: Endpoint::new(name, client, endpoint) }
    }

    async fn fetch_page(
        &self,
        values: &Values<'_>,
        deadline: Option<Instant>,
    ) -> Result<Vec<Value>, SourceError> {
        let url = self.definition.url.expand(values);
        let url = Url::parse(&url)
            .map_err(|error| SourceError::Unreachable { text: format!("invalid URL: {error}") })?;
        let body = self.definition.body.as_ref().and_then(|body| body.expand(values));
        let mut http_request = body.as_ref().map_or_else(
            || FetchRequest::get(url.clone()),
            |body| FetchRequest::post(url.clone(), body.to_string()),
        );
        http_request.headers.clone_from(&self.definition.headers);
        if body.is_some() {
            http_request.headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        }
        let format = self.definition.format;
        if format == Some(Format::Atom) {
            http_request.headers.entry(ACCEPT).or_insert(HeaderValue::from_static("application/atom+xml"));
        }
        let mut value =
            self.endpoint.exchange(http_request, deadline, |response| read(format, response)).await?;
        match value.pointer_mut(&self.definition.results).map(Value::take) {
            Some(Value::Array(mut results)) => {
                self.definition.fields.sort_by_rank(&mut results);
                Ok(results)
            }
            None | Some(Value::Null) if self.definition.results_may_be_absent => Ok(Vec::new()),
            _ => {
                let what = format!("no list at {:?}", self.definition.results);
                Err(SourceError::Unreadable { what })
            }
        }
    }

    async fn fetch_hits(&self, request: &SourceRequest<'_>) -> SourceResponse {
        let query = match self.definition.query {
            QuerySyntax::Operators => query_text::with_operators(request.query, request.domains),
            QuerySyntax::Words => query_text::words_only(request.query),
        };
        if query.is_empty() {
            let reason = "the query has no words".to_owned();
            return SourceResponse::Unavailable { failure: FailureKind::Unsuited, reason };
        }
        let limit = request.limit.min(self.definition.page_size);
        let is_paged = [Placeholder::Page, Placeholder::Offset, Placeholder::Start]
            .iter()
            .any(|part| self.definition.has(*part));
        let mut collector = HitCollector::default();
        for index in 0..if is_paged { MAX_PAGES } else { 1 } {
            let values = Values {
                query: &query,
                limit,
                offset: index * limit,
                page: self.definition.first_page + index,
                language: self.language(request),
                country: request.country.unwrap_or_default(),
                safe: &self.definition.safe[usize::from(request.safe)],
            };
            let results = match self.fetch_page(&values, (index > 0).then_some(request.deadline)).await {
                Ok(results) => results,
                Err(error) if index == 0 => return SourceResponse::from(error),
                Err(error) => {
                    collector.warn(format!("the results end after page {index}: {error}"));
                    break;
                }
            };
            let hits = results
                .iter()
                .filter_map(|result| self.definition.fields.hit(request, values.language, result));
            let new_count = collector.add(request, hits, UndatedPolicy::Remove);
            let is_last = results.len() < limit || new_count == 0;
            if is_last || collector.is_enough(request) || Instant::now() >= request.deadline {
                break;
            }
        }
        self.warn_of_filters(request, &mut collector);
        collector.finish(request)
    }

    /// Returns the value of `{language}` for a request.
    fn language<'a>(&'a self, request: &SourceRequest<'_>) -> &'a str {
        let covered = self.definition.coverage.language(request);
        covered
            .or_else(|| request.country.and_then(region::main_language))
            .unwrap_or(&self.definition.language)
    }

    /// Adds warnings about options of the request that the URL has no placeholder for.
    fn warn_of_filters(&self, request: &SourceRequest<'_>, collector: &mut HitCollector) {
        let has = |placeholder| self.definition.has(placeholder);
        if request.safe && !has(Placeholder::Safe) {
            collector.warn("safe is not supported: explicit results may be included");
        }
        let is_local = !self.definition.coverage.languages.is_empty();
        if request.country.is_some() && !is_local && !has(Placeholder::Country) && !has(Placeholder::Language)
        {
            collector.warn("country is not supported and was ignored");
        }
        if self.definition.query == QuerySyntax::Words && query_text::needs_text(request.query) {
            collector.warn(
                "operators are not supported: phrases and excluded words were only checked in titles and descriptions",
            );
        }
    }
}

/// Parses a response in the configured format, or else by its content type.
fn read(format: Option<Format>, response: &FetchResponse) -> Result<Value, SourceError> {
    let is_atom = || content_type(response).to_ascii_lowercase().contains("atom+xml");
    match format {
        Some(Format::Json) => read_json(response),
        None if !is_atom() => read_json(response),
        Some(Format::Atom) | None => {
            check_status(response)?;
            atom::read(&response.body)
        }
    }
}

impl SearchSource for HttpJson {
    fn name(&self) -> &str {
        self.endpoint.name()
    }

    fn search<'a>(&'a self, request: &'a SourceRequest<'a>) -> SourceFuture<'a> {
        Box::pin(self.fetch_hits(request))
    }

    fn supports(&self, kind: SourceKind) -> bool {
        self.definition.offers.contains(&kind)
    }

    fn fit(&self, request: &SourceRequest<'_>) -> SourceFit {
        self.definition.coverage.fit(request)
    }

    fn filters(&self) -> FilterSupport {
        FilterSupport::Partial
    }

    fn health(&self) -> SourceHealth {
        self.endpoint.health()
    }
}

/// Omits URL and headers, which may contain secrets.
impl std::fmt::Debug for HttpJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpJson").field("name", &self.endpoint.name()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for HttpJsonConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpJsonConfig").field("name", &self.name).finish_non_exhaustive()
    }
}
