//! The embedded index as a source.

use std::sync::Arc;

use websvc_index::{Index, IndexError, Safe, SearchOptions, SnippetMode, Vertical};
use websvc_stage::in_current_span;
use websvc_validate::{DomainFilter, SourceKind};

use super::location::{country_meant, unknown_place};
use super::{FailureKind, Hit, SearchSource, SourceFuture, SourceRequest, SourceResponse};

/// The embedded index.
#[derive(Debug, Clone)]
pub struct IndexSource {
    name: &'static str,
    index: Arc<Index>,
}

impl IndexSource {
    /// Makes a source of an index.
    pub fn new(index: Arc<Index>) -> Self {
        Self::named("index", index)
    }

    /// Makes a source of an index that warnings call by another name.
    pub(crate) fn named(name: &'static str, index: Arc<Index>) -> Self {
        Self { name, index }
    }
}

impl SearchSource for IndexSource {
    fn name(&self) -> &str {
        self.name
    }

    fn is_local(&self) -> bool {
        true
    }

    fn is_empty(&self) -> bool {
        self.index.document_count() == 0
    }

    fn search<'a>(&'a self, ask: &'a SourceRequest<'a>) -> SourceFuture<'a> {
        Box::pin(async move {
            let options = options(ask);
            // Never on this thread: whatever arrives meanwhile would wait in the system's buffers, where nobody can say how
            // much there is and whose turn it is.
            let (index, query) = (Arc::clone(&self.index), ask.query.clone());
            let searching = in_current_span(move || index.search(&query, &options));
            let Ok(outcome) = tokio::task::spawn_blocking(searching).await else {
                return unavailable("the service is stopping");
            };
            answer(outcome, unknown_place(ask))
        })
    }
}

fn options(ask: &SourceRequest<'_>) -> SearchOptions {
    SearchOptions {
        vertical: match ask.kind {
            SourceKind::Web => Vertical::Web,
            SourceKind::Images => Vertical::Images,
            SourceKind::News => Vertical::News,
        },
        limit: ask.limit,
        domains: match ask.domains {
            DomainFilter::Any => websvc_index::DomainFilter::Any,
            DomainFilter::Include(hosts) => websvc_index::DomainFilter::Include(hosts.clone()),
            DomainFilter::Exclude(hosts) => websvc_index::DomainFilter::Exclude(hosts.clone()),
        },
        time: ask.tbs.and_then(|tbs| tbs.range),
        now: ask.now,
        sort: ask.tbs.map(|tbs| tbs.sort).unwrap_or_default(),
        highlights: if ask.highlights { SnippetMode::Passages } else { SnippetMode::PageDescription },
        safe: if ask.safe { Safe::On } else { Safe::Off },
        country: country_meant(ask).map(str::to_owned),
    }
}

fn answer(
    outcome: Result<websvc_index::SearchOutcome, IndexError>,
    warning: Option<String>,
) -> SourceResponse {
    match outcome {
        Ok(websvc_index::SearchOutcome { hits, mut warnings }) => {
            warnings.extend(warning);
            SourceResponse::Results { hits: hits.into_iter().map(hit).collect(), warnings }
        }
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "the index failed");
            unavailable("the index failed")
        }
    }
}

fn hit(found: websvc_index::Hit) -> Hit {
    let websvc_index::Hit { url, title, description, score: _, language: _, published: _, date, image } =
        found;
    Hit { url, title, description, date, image }
}

fn unavailable(reason: &str) -> SourceResponse {
    SourceResponse::Unavailable { failure: FailureKind::Internal, reason: reason.to_owned() }
}
