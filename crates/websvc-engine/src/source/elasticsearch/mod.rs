//! A source for servers with the API of Elasticsearch: Elasticsearch, OpenSearch and Quickwit.
//!
//! The server stores whole pages as [`mapping`] defines them and applies all filters itself, so its hits are not
//! filtered again. Features that the server does not support are reported in a warning.
//!
//! A search is one request for each page of results. `related:` needs another one for each domain, a list that is
//! crowded by one host another one for the other hosts, and a search without results another one for other spellings.

mod admin;
mod bulk;
mod clauses;
mod diversity;
mod found;
mod mapping;
mod query;
mod record;
mod related;
mod response;
mod selection;
mod server;
mod sketch;
mod stems;
mod suggest;
mod words;
mod writer;

use std::time::Instant;

use serde_json::Value;
use websvc_query::{Node, Operator, Query};
use websvc_transport::Client;
use websvc_validate::SourceKind;

pub use admin::{DeletionOutcome, IndexServerError, ListedPage, ServerIndexStats};
pub(crate) use bulk::{MAX_BATCH_BYTES, MAX_BATCH_DOCUMENTS, owner_of, to_outbox_page};
pub use selection::PageSelection;
pub use server::{ElasticsearchConfig, ElasticsearchDeclaration, OutboxLimits};
pub use writer::{BulkReport, ElasticsearchWriter};
pub(crate) use writer::{Delivery, RETRIES, now_ms};

use super::endpoint::{Endpoint, read_json};
use super::location::{country_meant, unknown_location_warning};
use super::{
    FailureKind, SearchSource, SourceFuture, SourceHealth, SourceRequest, SourceResponse, query_text,
};
use crate::error::SourceError;
use found::FoundHits;
use query::QueryContext;
use related::RelatedQueries;
use response::HitPage;
use server::{Dialect, Server};

/// The maximum number of pages of results that are requested.
const MAX_PAGES: usize = 10;

/// The number of documents that are requested in addition to the limit, because some are the same page.
const SPARE: usize = 10;

/// The maximum number of documents per page of results. They are returned without their texts.
const MAX_SIZE: usize = 100;

/// A search source with the API of Elasticsearch.
#[derive(Debug)]
pub struct Elasticsearch {
    server: Server,
    endpoint: Endpoint,
}

impl Elasticsearch {
    /// Creates a source. `client` must be allowed to connect to [`ElasticsearchConfig::origin`].
    pub fn new(config: ElasticsearchConfig, client: Client) -> Self {
        let ElasticsearchConfig { name, server, endpoint, outbox_limits: _ } = config;
        Self { server, endpoint: Endpoint::new(name, client, endpoint) }
    }

    async fn respond(&self, request: &SourceRequest<'_>) -> SourceResponse {
        match self.find(request).await {
            Ok(found) => self.finish(request, found).await,
            Err(error) => SourceResponse::from(self.server.with_operator_message(error)),
        }
    }

    async fn find(&self, request: &SourceRequest<'_>) -> Result<FoundHits, SourceError> {
        let related = self.related_queries(request).await?;
        let context = QueryContext {
            request,
            country: country_meant(request),
            related: &related,
            excluded_hosts: &[],
            stems: self.server.stems.as_ref(),
        };
        let mut found = FoundHits::from_request(request);
        let size = (request.limit + SPARE).min(MAX_SIZE);
        for index in 0..MAX_PAGES {
            let Some(body) = query::body(&context, index * size, size) else { break };
            // The first page has the timeout of a request. Further pages also end at the deadline for paging.
            let deadline = (index > 0).then_some(request.deadline);
            let page = match self.search(request, &body, deadline).await {
                Ok(page) => page,
                Err(error) if index == 0 => return Err(error),
                Err(error) => {
                    found.warn(format!("the results end after page {index}: {error}"));
                    break;
                }
            };
            found.has_all = page.documents < size;
            found.add(page);
            if found.has_all || found.len() >= request.limit || Instant::now() >= request.deadline {
                break;
            }
        }
        if diversity::applies_to(request) {
            self.diversify(&context, &mut found, size).await;
        }
        Ok(found)
    }

    async fn search(
        &self,
        request: &SourceRequest<'_>,
        body: &Value,
        deadline: Option<Instant>,
    ) -> Result<HitPage, SourceError> {
        let http_request = self.server.search(body, self.endpoint.timeout());
        let response = self.endpoint.exchange(http_request, deadline, read_json).await?;
        response::parse(request, &response)
    }

    /// Reads samples of the domains that the query names with `related:`, and returns the query for each domain.
    async fn related_queries(&self, request: &SourceRequest<'_>) -> Result<RelatedQueries, SourceError> {
        let mut queries = RelatedQueries::new();
        if self.server.dialect == Dialect::Quickwit {
            return Ok(queries);
        }
        for (at, domain) in related::domains(request.query).into_iter().enumerate() {
            let mut sample = None;
            if at < related::MAX_DOMAINS {
                let sample_request =
                    self.server.search(&related::sample_body(&domain), self.endpoint.timeout());
                sample = Some(self.endpoint.exchange(sample_request, None, read_json).await?);
            }
            let query = related::query(&domain, sample.as_ref());
            queries.insert(domain, query);
        }
        Ok(queries)
    }

    /// Puts hits of different hosts first. If a host fills the list, the pages of other hosts are requested too.
    async fn diversify(&self, context: &QueryContext<'_>, found: &mut FoundHits, size: usize) {
        let request = context.request;
        let crowding_hosts = found.diversify(request);
        if crowding_hosts.is_empty() || found.has_all || Instant::now() >= request.deadline {
            return;
        }
        let context = QueryContext { excluded_hosts: &crowding_hosts, ..*context };
        let Some(body) = query::body(&context, 0, size) else { return };
        match self.search(request, &body, Some(request.deadline)).await {
            Ok(others) => {
                found.add(others);
                found.diversify(request);
            }
            Err(error) => found.warn(format!("the first results may be of few hosts: {error}")),
        }
    }

    /// Creates the response, with warnings about unsupported features.
    async fn finish(&self, request: &SourceRequest<'_>, mut found: FoundHits) -> SourceResponse {
        if let Some(reason) = found.incomplete.take() {
            if found.len() == 0 {
                // An empty list would claim that nothing exists.
                let reason = format!("no results, and {reason}");
                return SourceResponse::Unavailable { failure: FailureKind::Incomplete, reason };
            }
            found.warn(format!("results may be missing: {reason}"));
        } else if found.len() == 0
            && let Some(suggestion) = self.suggestion(request).await
        {
            found.warn(suggestion);
        }
        if self.server.dialect == Dialect::Quickwit && query_text::has_related(request.query) {
            found.warn("related: is not supported by Quickwit and was ignored");
        }
        if request.kind != SourceKind::Images && has_sizes(request.query) {
            found.warn("imagesize: and larger: apply to images only and were ignored");
        }
        if let Some(warning) = unknown_location_warning(request) {
            found.warn(warning);
        }
        let (hits, warnings) = found.into_parts(request.limit);
        let name = self.endpoint.name();
        let warnings = warnings.into_iter().map(|warning| format!("source {name}: {warning}")).collect();
        SourceResponse::Results { hits, warnings }
    }

    /// Returns a warning with another spelling of a query without results.
    async fn suggestion(&self, request: &SourceRequest<'_>) -> Option<String> {
        if self.server.dialect == Dialect::Quickwit || request.kind == SourceKind::Images {
            return None;
        }
        let body = suggest::body(request.query)?;
        let http_request = self.server.search(&body, self.endpoint.timeout());
        // The search itself has succeeded. The endpoint logs a failure.
        let response = self.endpoint.exchange(http_request, Some(request.deadline), read_json).await.ok()?;
        suggest::warning(&response)
    }
}

impl SearchSource for Elasticsearch {
    fn name(&self) -> &str {
        self.endpoint.name()
    }

    fn search<'a>(&'a self, request: &'a SourceRequest<'a>) -> SourceFuture<'a> {
        Box::pin(self.respond(request))
    }

    fn health(&self) -> SourceHealth {
        self.endpoint.health()
    }
}

fn has_sizes(query: &Query) -> bool {
    query_text::any(query, |node| {
        matches!(node, Node::Operator(Operator::ImageSize(_) | Operator::Larger(_)))
    })
}

impl Server {
    /// Replaces the message of an error by one for the operator, without user names in the message of the server.
    fn with_operator_message(&self, error: SourceError) -> SourceError {
        match error {
            SourceError::Status { status: status @ (401 | 403), .. } => SourceError::Status {
                status,
                message: "the username and password or the api_key were rejected".to_owned(),
            },
            SourceError::Status { status: 404, .. } => SourceError::Status {
                status: 404,
                message: format!(
                    "the index {:?} does not exist; with `write = true`, the first page creates it",
                    self.index()
                ),
            },
            other => other,
        }
    }
}
