//! The seam to whatever finds results: the embedded index, SearXNG, servers that speak as Elasticsearch does, and
//! whatever answers in JSON or Atom.

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
use websvc_validate::{DomainFilter, SourceKind};

pub use elasticsearch::{
    BulkReport, Elasticsearch, ElasticsearchConfig, ElasticsearchDeclaration, ElasticsearchWriter,
};
pub use endpoint::EndpointConfig;
pub use failure::FailureKind;
pub use http_json::{ApiDefinition, DeclarationError, HttpJson, HttpJsonConfig};
pub use index::IndexSource;
pub(crate) use instrumented::InstrumentedSource;
pub use instrumented::{LATENCY_BOUNDS_MS, SourceMetrics};
pub use searxng::{Searxng, SearxngConfig};
pub use websvc_transport::BreakerHealth as SourceHealth;

/// What a source is asked.
#[derive(Debug, Clone)]
pub struct SourceRequest<'a> {
    /// The vertical.
    pub kind: SourceKind,
    /// The query, categories folded in.
    pub query: &'a Query,
    /// At most this many hits.
    pub limit: usize,
    /// The hosts results may come from.
    pub domains: &'a DomainFilter,
    /// Bounds on the date, and the order.
    pub tbs: Option<&'a websvc_query::Tbs>,
    /// The country of the searcher, ISO 3166-1 alpha-2 in upper case; `None` when the request names none.
    pub country: Option<&'a str>,
    /// The place of the searcher, as the request writes it.
    pub location: Option<&'a str>,
    /// Whether explicit results are left out.
    pub safe: bool,
    /// Whether descriptions show the query's words in context.
    pub highlights: bool,
    /// The clock of the request.
    pub now: Timestamp,
    /// When a source that asks in pages stops asking and returns what it has.
    pub deadline: Instant,
}

/// What a source answers. That nothing was found and that nothing could be asked are different things.
#[derive(Debug)]
pub enum SourceResponse {
    /// The hits, best first; there may be none.
    Results {
        /// The hits, best first.
        hits: Vec<Hit>,
        /// What the caller should be told.
        warnings: Vec<String>,
    },
    /// The source cannot answer this kind of question; `reason` says why, for the caller.
    Unavailable {
        /// Why, in few kinds: for counting.
        failure: FailureKind,
        /// Why, in words for the caller.
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
    /// The passage that answers, or the page's own description.
    pub description: String,
    /// When the page was published or last changed, when known.
    pub date: Option<Timestamp>,
    /// For images and news: the picture.
    pub image: Option<HitImage>,
}

/// The picture of a result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HitImage {
    /// The absolute URL of the picture.
    pub url: String,
    /// Width in pixels, when known.
    pub width: Option<u32>,
    /// Height in pixels, when known.
    pub height: Option<u32>,
}

/// A future that a source returns.
pub type SourceFuture<'a> = BoxFuture<'a, SourceResponse>;

/// How far a source applies the filters of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterSupport {
    /// All of them, or it says which not: it sees the whole pages and is not second-guessed.
    Complete,
    /// As far as it can: its hits are checked again by what they tell of themselves.
    Partial,
}

/// Something that finds results.
pub trait SearchSource: Send + Sync + std::fmt::Debug {
    /// Returns the name by which warnings call it.
    fn name(&self) -> &str;

    /// Answers a question. Dropping the future gives the question up.
    fn search<'a>(&'a self, ask: &'a SourceRequest<'a>) -> SourceFuture<'a>;

    /// Tells whether it has results of this kind at all; one that has not is not asked.
    fn supports(&self, kind: SourceKind) -> bool {
        match kind {
            SourceKind::Web | SourceKind::Images | SourceKind::News => true,
        }
    }

    /// Tells whether it answers by computing here, and waits for nobody elsewhere.
    fn is_local(&self) -> bool {
        false
    }

    /// Tells whether it holds no pages at all, so that no question can have an answer.
    fn is_empty(&self) -> bool {
        false
    }

    /// Returns how far it applies the filters of a question.
    fn filters(&self) -> FilterSupport {
        FilterSupport::Complete
    }

    /// Returns whether it is asked at present.
    fn condition(&self) -> SourceHealth {
        SourceHealth::Ok
    }
}
