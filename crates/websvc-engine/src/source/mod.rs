//! Search sources: the embedded index, SearXNG, servers with the API of Elasticsearch, and APIs that respond with JSON
//! or Atom.

mod city_names;
mod coverage;
mod date;
mod elasticsearch;
mod endpoint;
mod failure;
mod hit_collector;
mod http_json;
mod index;
mod instrumented;
mod location;
mod plain_text;
mod query_text;
mod region;
mod searxng;
mod token_bucket;

use std::time::Instant;

use jiff::Timestamp;
use websvc_query::Query;
use websvc_transport::BoxFuture;
use websvc_types::Category;
use websvc_validate::{DomainFilter, SourceKind};

pub use coverage::{SourceFit, Topic};
pub use elasticsearch::{
    BulkReport, DeletionOutcome, Elasticsearch, ElasticsearchConfig, ElasticsearchDeclaration,
    ElasticsearchWriter, IndexServerError, ListedPage, OutboxLimits, PageSelection, ServerIndexStats,
};
pub(crate) use elasticsearch::{
    Delivery, MAX_BATCH_BYTES, MAX_BATCH_DOCUMENTS, RETRIES, now_ms, owner_of, to_outbox_page,
};
pub use endpoint::EndpointConfig;
pub use failure::FailureKind;
pub use http_json::{ApiDefinition, DeclarationError, HttpJson, HttpJsonConfig, ResultKind};
pub use index::IndexSource;
pub(crate) use instrumented::InstrumentedSource;
pub use instrumented::SourceMetrics;
pub use searxng::{Searxng, SearxngConfig};
pub use websvc_index::HitImage;
pub use websvc_transport::BreakerHealth as SourceHealth;

/// The name of a team's own index as a search source, embedded or on a server.
pub(crate) const TEAM_SOURCE: &str = "team-index";

/// A search request to a source.
#[derive(Debug, Clone)]
pub struct SourceRequest<'a> {
    /// The kind of results.
    pub kind: SourceKind,
    /// The query, including the restriction to categories.
    pub query: &'a Query,
    /// The categories that it is restricted to; may be empty.
    pub categories: &'a [Category],
    /// The maximum number of hits.
    pub limit: usize,
    /// The filter of hosts.
    pub domains: &'a DomainFilter,
    /// The time range and the sort order.
    pub tbs: Option<&'a websvc_query::Tbs>,
    /// The country of the user, ISO 3166-1 alpha-2 in upper case; `None` if the request has none.
    pub country: Option<&'a str>,
    /// The location of the user, as in the request.
    pub location: Option<&'a str>,
    /// Explicit results are excluded.
    pub safe: bool,
    /// Descriptions are snippets with the words of the query.
    pub highlights: bool,
    /// The time of the request.
    pub now: Timestamp,
    /// The time after which a source requests no further page of results.
    pub deadline: Instant,
}

impl<'a> SourceRequest<'a> {
    /// Returns a request for ten hits without filters and options.
    #[must_use]
    pub fn new(kind: SourceKind, query: &'a Query, now: Timestamp, deadline: Instant) -> Self {
        Self {
            kind,
            query,
            categories: &[],
            limit: 10,
            domains: &DomainFilter::Any,
            tbs: None,
            country: None,
            location: None,
            safe: false,
            highlights: false,
            now,
            deadline,
        }
    }
}

/// The response of a source. An empty list and a failure are different.
#[derive(Debug)]
pub enum SourceResponse {
    /// The source has responded.
    Results {
        /// The hits, the best first; may be empty.
        hits: Vec<Hit>,
        /// Warnings for the caller.
        warnings: Vec<String>,
    },
    /// The request failed, or the source does not support it.
    Unavailable {
        /// The kind of the failure, for metrics.
        failure: FailureKind,
        /// The reason, for the caller.
        reason: String,
    },
}

/// One result of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hit {
    /// The URL of the page.
    pub url: String,
    /// Its title.
    pub title: String,
    /// A snippet that matches the query, or the description of the page.
    pub description: String,
    /// The date of publication or of the last change, if known.
    pub date: Option<Timestamp>,
    /// The image of an image result, or the thumbnail of a news result.
    pub image: Option<HitImage>,
}

/// A future that a source returns.
pub type SourceFuture<'a> = BoxFuture<'a, SourceResponse>;

/// The degree to which a source applies the filters of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterSupport {
    /// It applies all filters, or warns about others. It knows the whole pages, so its hits are not filtered again.
    Complete,
    /// It applies some filters. Its hits are filtered again by their fields.
    Partial,
}

/// Something that provides hits.
pub trait SearchSource: Send + Sync + std::fmt::Debug {
    /// Returns the name of the source in warnings.
    fn name(&self) -> &str;

    /// Searches. Dropping the future cancels the request.
    fn search<'a>(&'a self, request: &'a SourceRequest<'a>) -> SourceFuture<'a>;

    /// Returns whether it provides results of this kind. If not, it is not queried.
    fn supports(&self, kind: SourceKind) -> bool {
        match kind {
            SourceKind::Web | SourceKind::Images | SourceKind::News => true,
        }
    }

    /// Returns the degree to which it fits a request of a kind that it [supports](Self::supports).
    fn fit(&self, request: &SourceRequest<'_>) -> SourceFit {
        let _ = request;
        SourceFit::Fits
    }

    /// Returns whether it searches in this process, without network requests.
    fn is_local(&self) -> bool {
        false
    }

    /// Returns whether it contains no pages at all.
    fn is_empty(&self) -> bool {
        false
    }

    /// Returns the degree to which it applies filters.
    fn filters(&self) -> FilterSupport {
        FilterSupport::Complete
    }

    /// Returns the state of its circuit breaker.
    fn health(&self) -> SourceHealth {
        SourceHealth::Ok
    }
}
