//! A source for servers with the API of Elasticsearch: Elasticsearch, OpenSearch and Quickwit.
//!
//! The server stores whole pages as [`mapping`] defines them and applies all filters itself, so its hits are not
//! filtered again. Features that the server does not support are reported in a warning.

mod bulk;
mod mapping;
mod query;
mod response;
mod server;
mod writer;

use std::time::Instant;

use websvc_query::{Node, Operator, Query};
use websvc_transport::Client;
use websvc_validate::SourceKind;

pub use server::{ElasticsearchConfig, ElasticsearchDeclaration};
pub use writer::{BulkReport, ElasticsearchWriter};

use super::endpoint::{Endpoint, read_json};
use super::hit_collector::HitCollector;
use super::location::{country_meant, unknown_location_warning};
use super::{
    FailureKind, SearchSource, SourceFuture, SourceHealth, SourceRequest, SourceResponse, query_text,
};
use crate::error::SourceError;
use response::HitPage;
use server::Server;

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
        let ElasticsearchConfig { name, server, endpoint } = config;
        Self { server, endpoint: Endpoint::new(name, client, endpoint) }
    }

    async fn fetch_hits(&self, request: &SourceRequest<'_>) -> SourceResponse {
        let mut collector = HitCollector::default();
        let size = (request.limit + SPARE).min(MAX_SIZE);
        let mut incomplete = None;
        for index in 0..MAX_PAGES {
            let Some(body) = query::body(request, country_meant(request), index * size, size) else { break };
            // The first page has the timeout of a request. Further pages also end at the deadline for paging.
            let deadline = (index > 0).then_some(request.deadline);
            let http_request = self.server.search(&body, self.endpoint.timeout());
            let found = self.endpoint.exchange(http_request, deadline, read_json).await;
            let found = found.and_then(|value| response::parse(request, &value));
            let HitPage { documents, hits, incomplete: reason } = match found {
                Ok(page) => page,
                Err(error) if index == 0 => {
                    return SourceResponse::from(self.server.with_operator_message(error));
                }
                Err(error) => {
                    collector.warn(format!("the results end after page {index}: {error}"));
                    break;
                }
            };
            incomplete = incomplete.or(reason);
            collector.add_filtered(request.kind, hits.into_iter());
            if documents < size || collector.is_enough(request) || Instant::now() >= request.deadline {
                break;
            }
        }
        self.finish(request, collector, incomplete)
    }

    /// Creates the response, with warnings about unsupported features.
    fn finish(
        &self,
        request: &SourceRequest<'_>,
        mut collector: HitCollector,
        incomplete: Option<String>,
    ) -> SourceResponse {
        if let Some(reason) = incomplete {
            if collector.is_empty() {
                // An empty list would claim that nothing exists.
                let reason = format!("no results, and {reason}");
                return SourceResponse::Unavailable { failure: FailureKind::Incomplete, reason };
            }
            collector.warn(format!("results may be missing: {reason}"));
        }
        if query_text::has_related(request.query) {
            collector.warn("related: is not supported and was ignored");
        }
        if request.kind != SourceKind::Images && has_sizes(request.query) {
            collector.warn("imagesize: and larger: apply to images only and were ignored");
        }
        if let Some(warning) = unknown_location_warning(request) {
            collector.warn(warning);
        }
        let (hits, warnings) = collector.into_parts(request);
        let name = self.endpoint.name();
        let warnings = warnings.into_iter().map(|warning| format!("source {name}: {warning}")).collect();
        SourceResponse::Results { hits, warnings }
    }
}

impl SearchSource for Elasticsearch {
    fn name(&self) -> &str {
        self.endpoint.name()
    }

    fn search<'a>(&'a self, request: &'a SourceRequest<'a>) -> SourceFuture<'a> {
        Box::pin(self.fetch_hits(request))
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
                message: format!("the index {:?} does not exist", self.index()),
            },
            other => other,
        }
    }
}
