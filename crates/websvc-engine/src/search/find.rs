//! Stage 7, find: the plan to hits, by vertical.

use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use websvc_query::Query;
use websvc_validate::{SearchPlan, SourceKind, SourcePlan};

use super::category;
use crate::error::EngineError;
use crate::source::{Answer, Ask, Hit, SearchSource};

/// The hits of every vertical that was asked for and could be asked, in the order of the plan.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) verticals: Vec<Vertical>,
    pub(crate) warnings: Vec<String>,
}

/// The hits of one vertical.
#[derive(Debug)]
pub(crate) struct Vertical {
    pub(crate) kind: SourceKind,
    pub(crate) hits: Vec<Hit>,
}

impl Found {
    /// Returns how many hits there are in all.
    pub(crate) fn total(&self) -> usize {
        self.verticals.iter().map(|vertical| vertical.hits.len()).sum()
    }
}

/// Asks the sources for every vertical of the plan.
///
/// # Errors
/// Timeout, or that no source could answer any of the verticals.
pub(crate) async fn find(
    sources: &[Arc<dyn SearchSource>],
    plan: &SearchPlan,
    deadline: Instant,
    now: Timestamp,
) -> Result<Found, EngineError> {
    let query = restricted(plan);
    let asking = async {
        let mut found = Found::default();
        let mut reasons = Vec::new();
        for source_plan in plan.sources() {
            let ask = ask(plan, source_plan, &query, now);
            ask_all(sources, &ask, &mut found, &mut reasons).await;
        }
        if plan.ignore_invalid_urls() {
            found
                .verticals
                .iter_mut()
                .for_each(|vertical| vertical.hits.retain(|hit| can_be_fetched(&hit.url)));
        }
        (found, reasons)
    };
    let Ok((mut found, reasons)) = tokio::time::timeout_at(deadline.into(), asking).await else {
        return Err(EngineError::Timeout { timeout_ms: millis(plan.timeout()) });
    };
    if found.verticals.is_empty() && !reasons.is_empty() {
        return Err(EngineError::NoSource { reasons });
    }
    found.warnings.extend(reasons);
    Ok(found)
}

fn restricted(plan: &SearchPlan) -> Query {
    plan.query().clone().and(category::restriction(plan.categories()))
}

fn ask<'a>(plan: &'a SearchPlan, source: &'a SourcePlan, query: &'a Query, now: Timestamp) -> Ask<'a> {
    Ask {
        kind: source.kind(),
        query,
        limit: plan.limit(),
        domains: plan.domains(),
        tbs: source.tbs(),
        country: plan.country_given().then(|| plan.country()),
        location: source.location(),
        safe: plan.safe(),
        highlights: plan.highlights(),
        now,
    }
}

/// Asks one source after the other; the results of a later one follow those of an earlier one, each page and each
/// image once.
async fn ask_all(
    sources: &[Arc<dyn SearchSource>],
    ask: &Ask<'_>,
    found: &mut Found,
    reasons: &mut Vec<String>,
) {
    let mut merged: Option<Vec<Hit>> = None;
    for source in sources {
        match source.search(ask).await {
            Answer::Results { hits, warnings } => {
                found.warnings.extend(warnings);
                let merged = merged.get_or_insert_default();
                for hit in hits {
                    if !merged.iter().any(|known| are_same(ask.kind, known, &hit)) {
                        merged.push(hit);
                    }
                }
            }
            Answer::Unavailable { reason } => reasons.push(format!("source {}: {reason}", source.name())),
        }
    }
    if let Some(mut hits) = merged {
        hits.truncate(ask.limit);
        found.verticals.push(Vertical { kind: ask.kind, hits });
    }
}

/// A page may show several images.
fn are_same(kind: SourceKind, a: &Hit, b: &Hit) -> bool {
    match kind {
        SourceKind::Web | SourceKind::News => a.url == b.url,
        SourceKind::Images => {
            a.image.as_ref().map(|image| &image.url) == b.image.as_ref().map(|image| &image.url)
        }
    }
}

/// Returns whether the other operations would take a URL: imported files may have others.
fn can_be_fetched(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
