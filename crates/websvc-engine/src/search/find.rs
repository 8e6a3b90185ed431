//! Stage 7, find: the plan to hits, by vertical.
//!
//! Every source is asked for every vertical at once. A slow one does not hold the answer: half of the request's time is
//! for it, and after that, what the others have is the answer and a warning names the slow one. Only while a vertical
//! has no answer at all is it waited for until the end.

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

/// Tenths of the request's time that slow sources have, and those after which none asks for another page.
const WAITING_TENTHS: u32 = 5;
const PAGING_TENTHS: u32 = 4;

/// The warning of a search that cannot find anything: there is no page to search, and nobody else to ask.
pub const NO_PAGES: &str = "the index is empty and no other source is configured, so no search can find anything: \
     scrape or crawl pages, run `websvc index crawl URL`, or configure a source under [search]";

/// The hits of every vertical that was asked for and could be asked, in the order of the plan.
#[derive(Debug, Default)]
pub(crate) struct SearchHits {
    pub(crate) verticals: Vec<VerticalHits>,
    pub(crate) warnings: Vec<String>,
    /// Unique URLs that threat protection had scanned, those of pages included.
    pub(crate) scanned: u64,
}

/// The hits of one vertical.
#[derive(Debug)]
pub(crate) struct VerticalHits {
    pub(crate) kind: SourceKind,
    pub(crate) hits: Vec<Hit>,
}

impl SearchHits {
    /// Returns how many hits there are in all.
    pub(crate) fn total(&self) -> usize {
        self.verticals.iter().map(|vertical| vertical.hits.len()).sum()
    }

    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

/// Asks the sources for every vertical of the plan.
///
/// # Errors
/// Timeout, or that no source could answer any of the verticals.
pub(crate) async fn query_sources(
    sources: &[Arc<dyn SearchSource>],
    plan: &SearchPlan,
    deadline: Instant,
    now: Timestamp,
    stages: &StageTimes,
) -> Result<SearchHits, EngineError> {
    let query = with_domain_filter(plan);
    let left_after = |tenths: u32| deadline - plan.timeout() * (10 - tenths) / 10;
    let paging_ends = left_after(PAGING_TENTHS);
    let asks: Vec<SourceRequest<'_>> =
        plan.sources().iter().map(|source| ask(plan, source, &query, now, paging_ends)).collect();
    let mut replies = SourceReplies::new(sources, &asks);
    replies.collect(left_after(WAITING_TENTHS), deadline).await;
    let mut found = stages.time(Stage::Merge, || replies.join(plan))?;
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

fn ask<'a>(
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

/// What the sources say to the questions, as far as they have said it.
struct SourceReplies<'a> {
    sources: &'a [Arc<dyn SearchSource>],
    asks: &'a [SourceRequest<'a>],
    /// By question, then by source.
    slots: Vec<Vec<Slot>>,
}

enum Slot {
    /// It has no results of this kind and is not asked.
    NotOffered,
    Waiting,
    Answered(SourceResponse),
}

impl<'a> SourceReplies<'a> {
    fn new(sources: &'a [Arc<dyn SearchSource>], asks: &'a [SourceRequest<'a>]) -> Self {
        let slot = |ask: &SourceRequest<'_>, source: &Arc<dyn SearchSource>| {
            if source.supports(ask.kind) { Slot::Waiting } else { Slot::NotOffered }
        };
        let slots = asks.iter().map(|ask| sources.iter().map(|source| slot(ask, source)).collect());
        Self { sources, asks, slots: slots.collect() }
    }

    /// Waits for all until `soft`, and for questions without any answer until `hard`.
    async fn collect(&mut self, soft: Instant, hard: Instant) {
        let mut asking = FuturesUnordered::new();
        for (at, (ask, slots)) in self.asks.iter().zip(&self.slots).enumerate() {
            for (by, (source, slot)) in self.sources.iter().zip(slots).enumerate() {
                if matches!(slot, Slot::Waiting) {
                    asking.push(async move { (at, by, source.search(ask).await) });
                }
            }
        }
        loop {
            let cut = if self.slots.iter().all(|slots| is_answered(slots)) { soft } else { hard };
            tokio::select! {
                biased;
                next = asking.next() => match next {
                    Some((at, by, answer)) => self.slots[at][by] = Slot::Answered(answer),
                    None => return,
                },
                () = tokio::time::sleep_until(cut.into()) => return,
            }
        }
    }

    /// Makes one list of each question's answers.
    fn join(self, plan: &SearchPlan) -> Result<SearchHits, EngineError> {
        let mut found = SearchHits::default();
        let (mut reasons, mut is_late) = (FailureReasons::default(), false);
        for (ask, slots) in self.asks.iter().zip(self.slots) {
            let nobody_offers = slots.iter().all(|slot| matches!(slot, Slot::NotOffered));
            let mut lists = Vec::new();
            for (source, slot) in self.sources.iter().zip(slots) {
                let name = source.name();
                match slot {
                    Slot::NotOffered if nobody_offers => {
                        reasons.add(format!("source {name}: it has no {}", plural(ask.kind)));
                    }
                    Slot::NotOffered => {}
                    Slot::Waiting => {
                        is_late = true;
                        reasons.add(format!("source {name}: it was too slow and was not waited for"));
                    }
                    Slot::Answered(SourceResponse::Unavailable { failure: _, reason }) => {
                        reasons.add(format!("source {name}: {reason}"));
                    }
                    Slot::Answered(SourceResponse::Results { hits, warnings }) => {
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
                found.verticals.push(VerticalHits { kind: ask.kind, hits: merge(ask, lists) });
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

/// Why sources did not answer, each reason once: several kinds of results often fail for one.
#[derive(Default)]
struct FailureReasons(Vec<String>);

impl FailureReasons {
    fn add(&mut self, reason: String) {
        if !self.0.contains(&reason) {
            self.0.push(reason);
        }
    }
}

/// Tells whether there is something to answer a question with, or nobody left to wait for.
fn is_answered(slots: &[Slot]) -> bool {
    slots.iter().any(|slot| matches!(slot, Slot::Answered(SourceResponse::Results { .. })))
        || !slots.iter().any(|slot| matches!(slot, Slot::Waiting))
}

fn plural(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Web => "web pages",
        SourceKind::Images => "images",
        SourceKind::News => "news",
    }
}

/// Returns whether the other operations would take a URL: imported files may have others.
fn is_fetchable(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}
