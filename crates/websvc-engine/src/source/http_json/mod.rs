//! Any search API that answers in JSON or Atom, as the configuration declares it.

mod atom;
mod declaration;
mod field;
mod template;

use std::time::Instant;

use http::HeaderValue;
use http::header::ACCEPT;
use serde_json::Value;
use url::Url;
use websvc_transport::{Client, FetchRequest, FetchResponse};
use websvc_validate::SourceKind;

pub(super) use declaration::filled;
pub use declaration::{ApiDefinition, DeclarationError};

use super::endpoint::{Endpoint, EndpointConfig, check_status, content_type, read_json};
use super::hit_collector::{HitCollector, UndatedPolicy};
use super::{
    FailureKind, FilterSupport, SearchSource, SourceFuture, SourceHealth, SourceRequest, SourceResponse,
    query_text, region,
};
use crate::error::SourceError;
use declaration::{CheckedDefinition, Format, QuerySyntax};
use template::{Placeholder, Values};

/// At most so many pages are asked for.
const MAX_PAGES: usize = 10;

/// A declared API, checked, its secrets filled in.
pub struct HttpJsonConfig {
    /// What it is called in warnings.
    name: String,
    checked: CheckedDefinition,
    endpoint: EndpointConfig,
}

impl HttpJsonConfig {
    /// Checks a declaration. `variable` gives the values of `${NAME}`.
    ///
    /// # Errors
    /// [`DeclarationError`] names the key and what is wrong with it.
    pub fn new(
        name: String,
        declaration: &ApiDefinition,
        endpoint: EndpointConfig,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, DeclarationError> {
        Ok(Self { name, checked: declaration.check(variable)?, endpoint })
    }

    /// Returns the address of the API, without its query: for the guard of the client.
    #[must_use]
    pub fn origin(&self) -> &Url {
        &self.checked.origin
    }
}

/// A declared API as a source.
pub struct HttpJson {
    checked: CheckedDefinition,
    endpoint: Endpoint,
}

impl HttpJson {
    /// Makes a source; `client` has to be allowed to reach [`HttpJsonConfig::origin`].
    pub fn new(config: HttpJsonConfig, client: Client) -> Self {
        let HttpJsonConfig { name, checked, endpoint } = config;
        Self { checked, endpoint: Endpoint::new(name, client, endpoint) }
    }

    async fn page(&self, values: &Values<'_>, until: Option<Instant>) -> Result<Vec<Value>, SourceError> {
        let url = self.checked.url.expand(values);
        let url = Url::parse(&url).map_err(|error| SourceError::Unreachable {
            text: format!("its address cannot be built: {error}"),
        })?;
        let mut request = FetchRequest::get(url);
        request.headers.clone_from(&self.checked.headers);
        let format = self.checked.format;
        if format == Some(Format::Atom) {
            request.headers.entry(ACCEPT).or_insert(HeaderValue::from_static("application/atom+xml"));
        }
        let mut value = self.endpoint.exchange(request, until, |fetched| read(format, fetched)).await?;
        match value.pointer_mut(&self.checked.results).map(Value::take) {
            Some(Value::Array(results)) => Ok(results),
            None | Some(Value::Null) if self.checked.results_may_be_absent => Ok(Vec::new()),
            _ => {
                let what = format!("there is no list at {:?}", self.checked.results);
                Err(SourceError::Unreadable { what })
            }
        }
    }

    async fn ask(&self, ask: &SourceRequest<'_>) -> SourceResponse {
        let query = match self.checked.query {
            QuerySyntax::Operators => query_text::with_operators(ask.query, ask.domains),
            QuerySyntax::Words => query_text::words_only(ask.query),
        };
        if query.is_empty() {
            let reason = "the query has no words that it could be asked".to_owned();
            return SourceResponse::Unavailable { failure: FailureKind::Unsuited, reason };
        }
        let limit = ask.limit.min(self.checked.page_size);
        let is_paged = self.checked.url.has(Placeholder::Page) || self.checked.url.has(Placeholder::Offset);
        let mut gathered = HitCollector::default();
        for at in 0..if is_paged { MAX_PAGES } else { 1 } {
            let values = Values {
                query: &query,
                limit,
                offset: at * limit,
                page: self.checked.first_page + at,
                language: ask.country.and_then(region::main_language).unwrap_or(&self.checked.language),
                country: ask.country.unwrap_or_default(),
                safe: &self.checked.safe[usize::from(ask.safe)],
            };
            let results = match self.page(&values, (at > 0).then_some(ask.deadline)).await {
                Ok(results) => results,
                Err(error) if at == 0 => return SourceResponse::from(error),
                Err(error) => {
                    gathered.warn(format!("the results end after page {at}: {error}"));
                    break;
                }
            };
            let hits = results.iter().filter_map(|result| self.checked.fields.hit(ask, result));
            let fresh = gathered.take(ask, hits, UndatedPolicy::LeftOut);
            let is_last = results.len() < limit || fresh == 0;
            if is_last || gathered.is_enough(ask) || Instant::now() >= ask.deadline {
                break;
            }
        }
        self.warn_of_filters(ask, &mut gathered);
        gathered.finish(ask)
    }

    /// Names what the request asks for and the declared address cannot say.
    fn warn_of_filters(&self, ask: &SourceRequest<'_>, gathered: &mut HitCollector) {
        let url = &self.checked.url;
        if ask.safe && !url.has(Placeholder::Safe) {
            gathered.warn("it cannot leave out explicit content (safe)");
        }
        if ask.country.is_some() && !url.has(Placeholder::Country) && !url.has(Placeholder::Language) {
            gathered.warn("it cannot apply country");
        }
        if self.checked.query == QuerySyntax::Words && query_text::needs_text(ask.query) {
            gathered.warn(
                "it reads no operators: phrases and excluded words were checked in titles and descriptions only",
            );
        }
    }
}

/// Reads an answer in the declared format, else in the one that its type names.
fn read(format: Option<Format>, fetched: &FetchResponse) -> Result<Value, SourceError> {
    let is_atom = || content_type(fetched).to_ascii_lowercase().contains("atom+xml");
    match format {
        Some(Format::Json) => read_json(fetched),
        None if !is_atom() => read_json(fetched),
        Some(Format::Atom) | None => {
            check_status(fetched)?;
            atom::read(&fetched.body)
        }
    }
}

impl SearchSource for HttpJson {
    fn name(&self) -> &str {
        self.endpoint.name()
    }

    fn search<'a>(&'a self, ask: &'a SourceRequest<'a>) -> SourceFuture<'a> {
        Box::pin(self.ask(ask))
    }

    fn supports(&self, kind: SourceKind) -> bool {
        self.checked.offers.contains(&kind)
    }

    fn filters(&self) -> FilterSupport {
        FilterSupport::Partial
    }

    fn condition(&self) -> SourceHealth {
        self.endpoint.condition()
    }
}

/// Without address and headers: both may hold secrets.
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
