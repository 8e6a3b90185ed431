//! Stage 7, find: queries the sources of a plan and returns the hits by vertical.
//!
//! Every source that fits the query is queried for every vertical at the same time. A slow source does not delay the response: it has half
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
use super::merge::{BLOCK, RankedList, merge};
use crate::error::EngineError;
use crate::source::{FilterSupport, Hit, SearchSource, SourceFit, SourceRequest, SourceResponse};

/// The tenths of the timeout after which slow sources are not waited for, and after which no source fetches another
/// page.
const WAITING_TENTHS: u32 = 5;
const PAGING_TENTHS: u32 = 4;

/// The warning of a search that cannot find anything, because there are no pages and no other sources.
pub const NO_PAGES: &str = "the index is empty and no other source is configured, so no search can find anything: \
     scrape or crawl pages, run `websvc index crawl URL`, start with `--sources open` to search public APIs, or configure a \
     source under [search]";

/// The warning of a search that fits no source.
const NO_COVERAGE: &str = "no configured source covers the hosts and the language of this search";

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
    let sources_empty = !sources.is_empty() && sources.iter().all(|source| source.is_empty());
    let search = Search { sources, plan, deadline, now, stages };
    let mut found = search.run(&plan.query, |_| true).await?;
    // A page can be added while the sources are queried.
    if sources_empty && found.total() == 0 {
        found.warn(NO_PAGES.to_owned());
    } else {
        search.relax_phrases(&mut found).await;
    }
    if plan.ignore_invalid_urls {
        found.verticals.iter_mut().for_each(|vertical| vertical.hits.retain(|hit| is_fetchable(&hit.url)));
    }
    Ok(found)
}

/// A search in several sources.
#[derive(Clone, Copy)]
struct Search<'a> {
    sources: &'a [Arc<dyn SearchSource>],
    plan: &'a SearchPlan,
    deadline: Instant,
    now: Timestamp,
    stages: &'a StageTimes,
}

impl Search<'_> {
    /// Queries the sources for those verticals of the plan for which `wants` returns true.
    async fn run(
        &self,
        query: &Query,
        wants: impl Fn(SourceKind) -> bool,
    ) -> Result<SearchHits, EngineError> {
        let Self { sources, plan, deadline, now, stages } = *self;
        let query = query.clone().and(category::restriction(&plan.categories));
        let paging_deadline = self.deadline_after(PAGING_TENTHS);
        let plans = plan.sources.iter().filter(|source| wants(source.kind));
        let (requests, slots): (Vec<SourceRequest<'_>>, Vec<Vec<Slot>>) = plans
            .map(|source| {
                let mut request = request(plan, source, &query, now, paging_deadline);
                let slots = queried_sources(sources, &request);
                // Lists are fused in blocks, which must be complete.
                if slots.iter().filter(|slot| matches!(slot, Slot::Pending)).count() > 1 {
                    request.limit = request.limit.next_multiple_of(BLOCK);
                }
                (request, slots)
            })
            .unzip();
        let mut responses = SourceReplies { sources, requests: &requests, slots };
        responses.wait(self.deadline_after(WAITING_TENTHS), deadline).await;
        stages.time(Stage::Merge, || responses.merge_lists(plan))
    }

    fn deadline_after(&self, tenths: u32) -> Instant {
        self.deadline - self.plan.timeout * (10 - tenths) / 10
    }

    /// If a vertical is empty, searches for the words of the phrases of the query in place of the phrases. A query with
    /// other operators keeps its phrases. A warning says so in both cases.
    async fn relax_phrases(&self, found: &mut SearchHits) {
        let query = &self.plan.query;
        let phrases: Vec<String> = query.phrases().map(|phrase| format!("\"{phrase}\"")).collect();
        let empty = found.verticals.iter().filter(|vertical| vertical.hits.is_empty());
        let empty: Vec<SourceKind> = empty.map(|vertical| vertical.kind).collect();
        if phrases.is_empty() || empty.is_empty() {
            return;
        }
        let phrases = phrases.join(" and ");
        let kinds = empty.iter().map(|kind| plural(*kind)).collect::<Vec<_>>().join(" and ");
        let nothing = format!("no {kinds} have the exact text {phrases}");
        let has_time = Instant::now() < self.deadline_after(WAITING_TENTHS);
        let Some(words) = query.without_quotes().filter(|_| has_time) else {
            found.warn(format!("{nothing}; without the quotes, its words are searched one by one"));
            return;
        };
        // The first search has succeeded, so an error of the second one only leaves its lists empty.
        let again = self.run(&words, |kind| empty.contains(&kind)).await.unwrap_or_default();
        let has_hits = again.total() > 0;
        if has_hits && empty.len() == found.verticals.len() {
            // Its suggestions were for the empty lists.
            found.warnings.clear();
        }
        found.warn(format!("{nothing}, so its words were searched without the quotes"));
        for VerticalHits { kind, hits } in again.verticals {
            if let Some(vertical) = found.verticals.iter_mut().find(|vertical| vertical.kind == kind) {
                vertical.hits = hits;
            }
        }
        again.warnings.into_iter().for_each(|warning| found.warn(warning));
    }
}

fn request<'a>(
    plan: &'a SearchPlan,
    source: &'a SourcePlan,
    query: &'a Query,
    now: Timestamp,
    deadline: Instant,
) -> SourceRequest<'a> {
    SourceRequest {
        kind: source.kind,
        query,
        categories: &plan.categories,
        limit: plan.limit,
        domains: &plan.domains,
        tbs: source.tbs.as_ref(),
        country: plan.country_given.then_some(plan.country),
        location: source.location.as_deref(),
        safe: plan.safe,
        highlights: plan.highlights,
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
    /// The source covers other topics, hosts or languages, and is not queried.
    Outside,
    Pending,
    Done(SourceResponse),
}

impl SourceReplies<'_> {
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
            if !is_unsupported && slots.iter().all(|slot| matches!(slot, Slot::NotSupported | Slot::Outside))
            {
                found.warn(NO_COVERAGE.to_owned());
                found.verticals.push(VerticalHits { kind: request.kind, hits: Vec::new() });
                continue;
            }
            let mut lists = Vec::new();
            for (source, slot) in self.sources.iter().zip(slots) {
                let name = source.name();
                match slot {
                    Slot::NotSupported if is_unsupported => {
                        reasons.add(format!("source {name}: it does not provide {}", plural(request.kind)));
                    }
                    Slot::NotSupported | Slot::Outside => {}
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
                found
                    .verticals
                    .push(VerticalHits { kind: request.kind, hits: merge(request, lists, plan.limit) });
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

/// Returns the initial states of the sources for a request. Sources of other topics are queried only if no source that is
/// not empty fits.
fn queried_sources(sources: &[Arc<dyn SearchSource>], request: &SourceRequest<'_>) -> Vec<Slot> {
    let fit = |source: &Arc<dyn SearchSource>| source.supports(request.kind).then(|| source.fit(request));
    let fits: Vec<Option<SourceFit>> = sources.iter().map(fit).collect();
    let has_fitting =
        sources.iter().zip(&fits).any(|(source, fit)| *fit == Some(SourceFit::Fits) && !source.is_empty());
    let slot = |fit| match fit {
        None => Slot::NotSupported,
        Some(SourceFit::Fits) => Slot::Pending,
        Some(SourceFit::OtherTopic) if !has_fitting => Slot::Pending,
        Some(SourceFit::OtherTopic | SourceFit::Outside) => Slot::Outside,
    };
    fits.into_iter().map(slot).collect()
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};
    use websvc_index::{Document, Image, Index, IndexConfig};
    use websvc_types::SearchRequest;
    use websvc_validate::{Policy, read_request};

    use super::*;
    use crate::source::IndexSource;

    /// Searches an index of a page of tea with an image and one of coffee. Returns the hits of each list, and the
    /// warnings.
    async fn search(body: Value) -> (Vec<Vec<String>>, Vec<String>) {
        let directory = tempfile::tempdir().unwrap();
        let index = Index::open(directory.path(), IndexConfig::default()).unwrap();
        let image =
            Image { url: "https://img.test/cup.png".to_owned(), alt: "cup".to_owned(), ..Image::default() };
        for (url, body, images) in [
            ("https://tea.test/", "Green tea is steeped for two minutes.", vec![image]),
            ("https://coffee.test/", "Coffee is brewed for four minutes, not \"steeped\".", vec![]),
        ] {
            let (url, body) = (url.to_owned(), body.to_owned());
            index.add(Document { url, body, images, ..Document::default() }).unwrap();
        }
        index.flush().unwrap();
        let plan =
            read_request::<SearchRequest>(body.to_string().as_bytes(), &Policy::default()).unwrap().plan;
        let sources: [Arc<dyn SearchSource>; 1] = [Arc::new(IndexSource::new(Arc::new(index)))];
        let deadline = Instant::now() + Duration::from_secs(60);
        let stages = StageTimes::default();
        let found = query_sources(&sources, &plan, deadline, Timestamp::UNIX_EPOCH, &stages).await.unwrap();
        let urls = |vertical: VerticalHits| vertical.hits.into_iter().map(|hit| hit.url).collect();
        (found.verticals.into_iter().map(urls).collect(), found.warnings)
    }

    /// A source that fits to a degree, and has a page.
    #[derive(Debug)]
    struct FakeSource {
        fit: SourceFit,
        is_empty: bool,
    }

    impl SearchSource for FakeSource {
        fn name(&self) -> &'static str {
            "fake"
        }

        fn search<'a>(&'a self, _: &'a SourceRequest<'a>) -> crate::source::SourceFuture<'a> {
            let hit = Hit { url: format!("https://{:?}.test/", self.fit), ..Hit::default() };
            Box::pin(async { SourceResponse::Results { hits: vec![hit], warnings: Vec::new() } })
        }

        fn fit(&self, _: &SourceRequest<'_>) -> SourceFit {
            self.fit
        }

        fn is_empty(&self) -> bool {
            self.is_empty
        }
    }

    #[tokio::test]
    async fn other_topics_are_searched_only_if_no_source_with_pages_fits() {
        use SourceFit::{Fits, OtherTopic, Outside};

        for (fits, expected) in [
            (&[(Fits, false), (OtherTopic, false), (Outside, false)][..], &["https://Fits.test/"][..]),
            (&[(OtherTopic, false), (Outside, false)], &["https://OtherTopic.test/"]),
            (&[(Fits, true), (OtherTopic, false)], &["https://Fits.test/", "https://OtherTopic.test/"]),
            (&[(Outside, false)], &[]),
        ] {
            let fake = |&(fit, is_empty)| Arc::new(FakeSource { fit, is_empty }) as Arc<dyn SearchSource>;
            let sources: Vec<_> = fits.iter().map(fake).collect();
            let plan =
                read_request::<SearchRequest>(br#"{"query": "tea"}"#, &Policy::default()).unwrap().plan;
            let deadline = Instant::now() + Duration::from_secs(60);
            let found =
                query_sources(&sources, &plan, deadline, Timestamp::UNIX_EPOCH, &StageTimes::default()).await;
            let found = found.unwrap();
            let urls: Vec<&str> = found.verticals[0].hits.iter().map(|hit| hit.url.as_str()).collect();
            assert_eq!(urls, expected, "{fits:?}");
            assert_eq!(found.warnings.iter().any(|warning| warning == NO_COVERAGE), expected.is_empty());
        }
    }

    #[tokio::test]
    async fn phrase_that_nothing_has_is_searched_without_its_quotes() {
        for query in ["how long is \"tea steeped\" usually", "\"steeped tea\""] {
            let (lists, warnings) = search(json!({ "query": query })).await;
            assert_eq!(lists[0].first().map(String::as_str), Some("https://tea.test/"), "{query}");
            let [warning] = &warnings[..] else { panic!("{query}: {warnings:?}") };
            assert!(warning.starts_with("no web pages have the exact text \""), "{warning}");
            assert!(warning.ends_with(", so its words were searched without the quotes"), "{warning}");
        }
        let (lists, warnings) = search(json!({ "query": "\"is steeped\" tea" })).await;
        assert_eq!((lists[0].len(), warnings.len()), (1, 0), "a page has the phrase");
    }

    #[tokio::test]
    async fn phrase_in_a_query_with_operators_stays_and_a_warning_says_so() {
        for query in ["\"steeped tea\" site:tea.test", "\"steeped tea\" -coffee", "\"steeped tea\" (a OR b)"]
        {
            let (lists, warnings) = search(json!({ "query": query })).await;
            assert_eq!(lists, [Vec::<String>::new()], "{query}");
            assert_eq!(
                warnings,
                [
                    "no web pages have the exact text \"steeped tea\"; without the quotes, its words are searched one by one"
                ],
                "{query}"
            );
        }
    }

    #[tokio::test]
    async fn only_empty_lists_are_searched_again() {
        let body = json!({ "query": "\"is steeped\" cup", "sources": ["web", "images"] });
        let (lists, warnings) = search(body).await;
        assert_eq!(lists, [vec!["https://tea.test/"], vec!["https://tea.test/"]]);
        assert_eq!(
            warnings,
            ["no images have the exact text \"is steeped\", so its words were searched without the quotes"]
        );
    }
}
