//! The embedded index as a source.

use std::sync::Arc;

use websvc_index::{Highlights, Index, IndexError, SearchOptions};
use websvc_validate::{DomainFilter, SourceKind};

use super::{Answer, AnswerFuture, Ask, Hit, SearchSource};

/// Up to this many documents a query is answered on the calling thread: it takes far less than the 500 us an
/// async thread may be held, and handing it over would cost more than the query.
const INLINE_DOCUMENTS: u64 = 20_000;

/// The embedded index.
#[derive(Debug, Clone)]
pub struct IndexSource {
    index: Arc<Index>,
}

impl IndexSource {
    /// Makes a source of an index.
    pub fn new(index: Arc<Index>) -> Self {
        Self { index }
    }
}

impl SearchSource for IndexSource {
    fn name(&self) -> &'static str {
        "index"
    }

    fn search<'a>(&'a self, ask: &'a Ask<'a>) -> AnswerFuture<'a> {
        Box::pin(async move {
            match ask.kind {
                SourceKind::Web => {}
                SourceKind::Images => return unavailable("images are not indexed by this version"),
                SourceKind::News => return unavailable("news are not indexed by this version"),
            }
            let options = options(ask);
            let outcome = if self.index.document_count() <= INLINE_DOCUMENTS {
                self.index.search(ask.query, &options)
            } else {
                let (index, query) = (Arc::clone(&self.index), ask.query.clone());
                match tokio::task::spawn_blocking(move || index.search(&query, &options)).await {
                    Ok(outcome) => outcome,
                    Err(_stopping) => return unavailable("the service is stopping"),
                }
            };
            answer(outcome)
        })
    }
}

fn options(ask: &Ask<'_>) -> SearchOptions {
    SearchOptions {
        limit: ask.limit,
        domains: match ask.domains {
            DomainFilter::Any => websvc_index::DomainFilter::Any,
            DomainFilter::Include(hosts) => websvc_index::DomainFilter::Include(hosts.clone()),
            DomainFilter::Exclude(hosts) => websvc_index::DomainFilter::Exclude(hosts.clone()),
        },
        time: ask.tbs.and_then(|tbs| tbs.range),
        now: ask.now,
        sort: ask.tbs.map(|tbs| tbs.sort).unwrap_or_default(),
        highlights: if ask.highlights { Highlights::Passages } else { Highlights::PageDescription },
    }
}

fn answer(outcome: Result<websvc_index::SearchOutcome, IndexError>) -> Answer {
    match outcome {
        Ok(outcome) => Answer::Results {
            hits: outcome
                .hits
                .into_iter()
                .map(|hit| Hit {
                    url: hit.url,
                    title: hit.title,
                    description: hit.description,
                    ..Hit::default()
                })
                .collect(),
            warnings: outcome.warnings,
        },
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "the index failed");
            unavailable("the index failed")
        }
    }
}

fn unavailable(reason: &str) -> Answer {
    Answer::Unavailable { reason: reason.to_owned() }
}
