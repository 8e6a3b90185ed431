//! A server that speaks the API of Elasticsearch as a source: Elasticsearch, OpenSearch, Quickwit.
//!
//! It holds whole pages as [`mapping`] writes them and applies every filter itself, so its hits are not second-guessed.
//! What such a server cannot do is told in a warning.

mod answer;
mod bulk;
mod mapping;
mod query;
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
use super::location::{country_meant, unknown_place};
use super::{
    FailureKind, SearchSource, SourceFuture, SourceHealth, SourceRequest, SourceResponse, query_text,
};
use crate::error::SourceError;
use answer::HitPage;
use server::Server;

/// At most so many pages are asked for.
const MAX_PAGES: usize = 10;

/// So many documents more than are wanted are asked for: some are the same page.
const SPARE: usize = 10;

/// The most documents of one page; they come without their texts.
const MAX_SIZE: usize = 100;

/// A server that speaks the API of Elasticsearch.
#[derive(Debug)]
pub struct Elasticsearch {
    server: Server,
    endpoint: Endpoint,
}

impl Elasticsearch {
    /// Makes a source; `client` has to be allowed to reach [`ElasticsearchConfig::origin`].
    pub fn new(config: ElasticsearchConfig, client: Client) -> Self {
        let ElasticsearchConfig { name, server, endpoint } = config;
        Self { server, endpoint: Endpoint::new(name, client, endpoint) }
    }

    async fn ask(&self, ask: &SourceRequest<'_>) -> SourceResponse {
        let mut gathered = HitCollector::default();
        let size = (ask.limit + SPARE).min(MAX_SIZE);
        let mut incomplete = None;
        for at in 0..MAX_PAGES {
            let Some(body) = query::body(ask, country_meant(ask), at * size, size) else { break };
            // The first page has the time of a request; further ones end with the time for pages.
            let until = (at > 0).then_some(ask.deadline);
            let request = self.server.search(&body, self.endpoint.timeout());
            let found = self.endpoint.exchange(request, until, read_json).await;
            let found = found.and_then(|value| answer::read(ask, &value));
            let HitPage { documents, hits, incomplete: why } = match found {
                Ok(batch) => batch,
                Err(error) if at == 0 => return SourceResponse::from(self.server.explain(error)),
                Err(error) => {
                    gathered.warn(format!("the results end after page {at}: {error}"));
                    break;
                }
            };
            incomplete = incomplete.or(why);
            gathered.take_filtered(ask.kind, hits.into_iter());
            if documents < size || gathered.is_enough(ask) || Instant::now() >= ask.deadline {
                break;
            }
        }
        self.finish(ask, gathered, incomplete)
    }

    /// Makes the answer, with a word on what was not applied.
    fn finish(
        &self,
        ask: &SourceRequest<'_>,
        mut gathered: HitCollector,
        incomplete: Option<String>,
    ) -> SourceResponse {
        if let Some(why) = incomplete {
            if gathered.saw_nothing() {
                // That nothing exists would be a claim too far.
                let reason = format!("it found nothing, and {why}");
                return SourceResponse::Unavailable { failure: FailureKind::Incomplete, reason };
            }
            gathered.warn(format!("results may be missing: {why}"));
        }
        if query_text::has_related(ask.query) {
            gathered.warn("it cannot apply related:, which was left out");
        }
        if ask.kind != SourceKind::Images && has_sizes(ask.query) {
            gathered.warn("imagesize: and larger: apply to images only and were ignored");
        }
        if let Some(warning) = unknown_place(ask) {
            gathered.warn(warning);
        }
        let (hits, warnings) = gathered.into_parts(ask);
        let name = self.endpoint.name();
        let warnings = warnings.into_iter().map(|warning| format!("source {name}: {warning}")).collect();
        SourceResponse::Results { hits, warnings }
    }
}

impl SearchSource for Elasticsearch {
    fn name(&self) -> &str {
        self.endpoint.name()
    }

    fn search<'a>(&'a self, ask: &'a SourceRequest<'a>) -> SourceFuture<'a> {
        Box::pin(self.ask(ask))
    }

    fn condition(&self) -> SourceHealth {
        self.endpoint.condition()
    }
}

fn has_sizes(query: &Query) -> bool {
    query_text::any(query, |node| {
        matches!(node, Node::Operator(Operator::ImageSize(_) | Operator::Larger(_)))
    })
}

impl Server {
    /// Says of an error what the operator can do about it, without what the server says of its users.
    fn explain(&self, error: SourceError) -> SourceError {
        match error {
            SourceError::Status { status: status @ (401 | 403), .. } => SourceError::Status {
                status,
                message: "its username and password or its api_key do not open it".to_owned(),
            },
            SourceError::Status { status: 404, .. } => {
                SourceError::Status { status: 404, message: format!("it has no index {:?}", self.index()) }
            }
            other => other,
        }
    }
}
