//! Stage 7, find: queries the sources of a plan and returns the hits by vertical.
//!
//! Every source is queried for every vertical at the same time. A slow source does not delay the response: it has half
//! of the timeout. After that the hits of the other sources are used, and a warning names the slow one. Only if a
//! vertical has no response at all, its sources are waited for until the deadline.

use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use jiff::Timestamp;
use websvc_query::Query;
use websvc_stage::{Stage, StageTimes};
use websvc_validate::{SearchPlan, SourceKind, SourcePlan};

use super::category;
use super::merge::{RankedList, merge};
use crate::error::EngineError;
use crate::source::{FilterSupport, Hit, SearchSource, SourceRequest, SourceResponse};

/// The tenths of the timeout after which slow sources are not waited for, and after which no source fetches another
/// page.
const WAITING_TENTHS: u32 = 5;
const PAGING_TENTHS: u32 = 4;

/// The warning of a search that cannot find anything, because there are no pages and no other sources.
pub const NO_PAGES: &str = "the index is empty and no other source is configured, so no search can find anything: \
     scrape or crawl pages, run `websvc index crawl URL`, or configure a source under [search]";

/// The hits of the requested verticals that a source responded to, in the order of the plan.
#[derive(Debug, Default)]
pub(crate) struct SearchHits {
    pub(crate) verticals: Vec<VerticalHits>,
    pub(crate) warnings: Vec<String>,
    /// The number of unique URLs that threat protection scanned, including those of pages.
    pub(crate) scanned: u64,
}

/// The hits of one vertical.
#[derive(Debug)]
pub(crate) struct VerticalHits {
    pub(crate) kind: SourceKind,
    pub(crate) hits: Vec<Hit>,
}

impl SearchHits {
    /// Returns the number of hits in all verticals.
    pub(crate) fn total(&self) -> usize {
        self.verticals.iter().map(|vertical| vertical.hits.len()).sum()
    }

    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

/// Queries the sources for every vertical of the plan.
///
/// # Errors
/// [`EngineError::Timeout`], or [`EngineError::NoSource`] if all sources failed for all verticals.
pub(crate) async fn query_sources(
    sources: &[Arc<dyn SearchSource>],
    plan: &SearchPlan,
    deadline: Instant,
    now: Timestamp,
    stages: &StageTimes,
) -> Result<SearchHits, EngineError> {
    let query = with_domain_filter(plan);
    let deadline_after = |tenths: u32| deadline - plan.timeout() * (10 - tenths) / 10;
    let paging_deadline = deadline_after(PAGING_TENTHS);
    let requests: Vec<SourceRequest<'_>> =
        plan.sources().iter().map(|source| request(plan, source, &query, now, paging_deadline)).collect();
    let mut responses = SourceReplies::new(sources, &requests);
    responses.wait(deadline_after(WAITING_TENTHS), deadline).await;
    let mut found = stages.time(Stage::Merge, || responses.merge_lists(plan))?;
    if !sources.is_empty() && sources.iter().all(|source| source.is_empty()) {
        found.warn(NO_PAGES.to_owned());
    }
    if plan.ignore_invalid_urls() {
        found.verticals.iter_mut().for_each(|vertical| vertical.hits.retain(|hit| is_fetchable(&hit.url)));
    }
    Ok(found)
}

fn with_domain_filter(plan: &SearchPlan) -> Query {
    plan.query().clone().and(category::restriction(plan.categories()))
}

fn request<'a>(
    plan: &'a SearchPlan,
    source: &'a SourcePlan,
    query: &'a Query,
    now: Timestamp,
    deadline: Instant,
) -> SourceRequest<'a> {
    SourceRequest {
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
        deadline,
    }
}

/// The responses of the sources that have arrived.
struct SourceReplies<'a> {
    sources: &'a [Arc<dyn SearchSource>],
    requests: &'a [SourceRequest<'a>],
    /// The state by request, then by source.
    slots: Vec<Vec<Slot>>,
}

enum Slot {
    /// The source does not provide results of this kind, and is not queried.
    NotSupported,
    Pending,
    Done(SourceResponse),
}

impl<'a> SourceReplies<'a> {
    fn new(sources: &'a [Arc<dyn SearchSource>], requests: &'a [SourceRequest<'a>]) -> Self {
        let slot = |request: &SourceRequest<'_>, source: &Arc<dyn SearchSource>| {
            if source.supports(request.kind) { Slot::Pending } else { Slot::NotSupported }
        };
        let slots =
            requests.iter().map(|request| sources.iter().map(|source| slot(request, source)).collect());
        Self { sources, requests, slots: slots.collect() }
    }

    /// Waits for all sources until `soft_deadline`, and for requests without a response until `hard_deadline`.
    async fn wait(&mut self, soft_deadline: Instant, hard_deadline: Instant) {
        let mut queries = FuturesUnordered::new();
        for (request_index, (request, slots)) in self.requests.iter().zip(&self.slots).enumerate() {
            for (source_index, (source, slot)) in self.sources.iter().zip(slots).enumerate() {
                if matches!(slot, Slot::Pending) {
                    queries.push(async move { (request_index, source_index, source.search(request).await) });
                }
            }
        }
        loop {
            let cut =
                if self.slots.iter().all(|slots| is_settled(slots)) { soft_deadline } else { hard_deadline };
            tokio::select! {
                biased;
                next = queries.next() => match next {
                    Some((request, source, response)) => self.slots[request][source] = Slot::Done(response),
                    None => return,
                },
                () = tokio::time::sleep_until(cut.into()) => return,
            }
        }
    }

    /// Merges the responses to each request into one list.
    fn merge_lists(self, plan: &SearchPlan) -> Result<SearchHits, EngineError> {
        let mut found = SearchHits::default();
        let (mut reasons, mut is_late) = (FailureReasons::default(), false);
        for (request, slots) in self.requests.iter().zip(self.slots) {
            let is_unsupported = slots.iter().all(|slot| matches!(slot, Slot::NotSupported));
            let mut lists = Vec::new();
            for (source, slot) in self.sources.iter().zip(slots) {
                let name = source.name();
                match slot {
                    Slot::NotSupported if is_unsupported => {
                        reasons.add(format!("source {name}: it does not provide {}", plural(request.kind)));
                    }
                    Slot::NotSupported => {}
                    Slot::Pending => {
                        is_late = true;
                        reasons.add(format!("source {name}: no response in time"));
                    }
                    Slot::Done(SourceResponse::Unavailable { failure: _, reason }) => {
                        reasons.add(format!("source {name}: {reason}"));
                    }
                    Slot::Done(SourceResponse::Results { hits, warnings }) => {
                        let filters = source.filters();
                        for warning in warnings {
                            found.warn(match filters {
                                FilterSupport::Complete => warning,
                                FilterSupport::Partial => format!("source {name}: {warning}"),
                            });
                        }
                        lists.push(RankedList { filters, hits });
                    }
                }
            }
            if !lists.is_empty() {
                found.verticals.push(VerticalHits { kind: request.kind, hits: merge(request, lists) });
            }
        }
        if found.verticals.is_empty() && is_late {
            return Err(EngineError::late(plan));
        }
        if found.verticals.is_empty() && !reasons.0.is_empty() {
            return Err(EngineError::NoSource { reasons: reasons.0 });
        }
        reasons.0.into_iter().for_each(|reason| found.warn(reason));
        Ok(found)
    }
}

/// The failures of sources. Each text occurs once, because several kinds of results often fail for the same reason.
#[derive(Default)]
struct FailureReasons(Vec<String>);

impl FailureReasons {
    fn add(&mut self, reason: String) {
        if !self.0.contains(&reason) {
            self.0.push(reason);
        }
    }
}

/// Returns whether a request has results, or none of its sources is pending.
fn is_settled(slots: &[Slot]) -> bool {
    slots.iter().any(|slot| matches!(slot, Slot::Done(SourceResponse::Results { .. })))
        || !slots.iter().any(|slot| matches!(slot, Slot::Pending))
}

fn plural(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Web => "web pages",
        SourceKind::Images => "images",
        SourceKind::News => "news",
    }
}

/// Returns whether other operations accept a URL. Imported files may have other URLs.
fn is_fetchable(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}
