//! The embedded index as a search source.

use std::sync::Arc;

use websvc_index::{Index, IndexError, Safe, SearchOptions, SnippetMode, Vertical};
use websvc_stage::in_current_span;
use websvc_validate::{DomainFilter, SourceKind};

use super::location::{country_meant, places_of, unknown_location_warning};
use super::{FailureKind, Hit, SearchSource, SourceFuture, SourceRequest, SourceResponse};

/// The source that searches an embedded index.
#[derive(Debug, Clone)]
pub struct IndexSource {
    name: &'static str,
    index: Arc<Index>,
}

impl IndexSource {
    /// Creates a source named `index`.
    pub fn new(index: Arc<Index>) -> Self {
        Self::named("index", index)
    }

    /// Creates a source with another name.
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

    fn search<'a>(&'a self, request: &'a SourceRequest<'a>) -> SourceFuture<'a> {
        Box::pin(async move {
            let options = options(request);
            // Never on this thread: requests that arrive meanwhile would wait in the buffers of the system, where they
            // can be neither counted nor ordered fairly.
            let (index, query) = (Arc::clone(&self.index), request.query.clone());
            let search = in_current_span(move || index.search(&query, &options));
            let Ok(outcome) = websvc_transport::spawn_blocking(search).await else {
                return unavailable("the service is stopping");
            };
            to_response(outcome, unknown_location_warning(request))
        })
    }
}

fn options(request: &SourceRequest<'_>) -> SearchOptions {
    SearchOptions {
        vertical: match request.kind {
            SourceKind::Web => Vertical::Web,
            SourceKind::Images => Vertical::Images,
            SourceKind::News => Vertical::News,
        },
        limit: request.limit,
        domains: match request.domains {
            DomainFilter::Any => websvc_index::DomainFilter::Any,
            DomainFilter::Include(hosts) => websvc_index::DomainFilter::Include(hosts.clone()),
            DomainFilter::Exclude(hosts) => websvc_index::DomainFilter::Exclude(hosts.clone()),
        },
        time: request.tbs.and_then(|tbs| tbs.range),
        now: request.now,
        sort: request.tbs.map(|tbs| tbs.sort).unwrap_or_default(),
        highlights: if request.highlights { SnippetMode::Passages } else { SnippetMode::PageDescription },
        safe: if request.safe { Safe::On } else { Safe::Off },
        country: country_meant(request).map(str::to_owned),
        places: request.location.map(places_of).unwrap_or_default(),
        deadline: Some(request.deadline),
    }
}

fn to_response(
    outcome: Result<websvc_index::SearchOutcome, IndexError>,
    warning: Option<String>,
) -> SourceResponse {
    match outcome {
        Ok(websvc_index::SearchOutcome { hits, mut warnings }) => {
            warnings.extend(warning);
            SourceResponse::Results { hits: hits.into_iter().map(hit).collect(), warnings }
        }
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "the query of the index failed");
            unavailable("the query of the index failed")
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
