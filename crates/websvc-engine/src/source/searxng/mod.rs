//! A source for SearXNG, using its JSON API.
//!
//! It sends one request per vertical, because a mixed response assigns every URL to only one category. It requests page
//! after page until enough hits match the filters, because an instance returns ten results per engine and no total.

mod response;

use std::time::Instant;

use http::HeaderMap;
use serde_json::Value;
use url::Url;
use websvc_query::{Tbs, TbsRange, TbsUnit};
use websvc_transport::Client;
use websvc_validate::SourceKind;

use super::endpoint::{Endpoint, EndpointConfig};
use super::hit_collector::{HitCollector, UndatedPolicy};
use super::{
    FailureKind, FilterSupport, SearchSource, SourceFuture, SourceHealth, SourceRequest, SourceResponse,
};
use super::{query_text, region};
use crate::error::SourceError;

/// The maximum number of pages of results that are requested. Engines have no more.
const MAX_PAGES: usize = 10;

/// The configuration of a SearXNG instance.
#[derive(Debug, Clone)]
pub struct SearxngConfig {
    /// The URL of the instance, without `/search`.
    pub url: Url,
    /// The name of the source in warnings.
    pub name: String,
    /// The timeout, the rate limit and the circuit breaker.
    pub endpoint: EndpointConfig,
}

/// A search source for a SearXNG instance.
#[derive(Debug)]
pub struct Searxng {
    search: Url,
    endpoint: Endpoint,
}

impl Searxng {
    /// Creates a source. `client` must be allowed to connect to the instance.
    pub fn new(config: SearxngConfig, client: Client) -> Self {
        let SearxngConfig { mut url, name, endpoint } = config;
        let path = format!("{}/search", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url.set_query(None);
        url.set_fragment(None);
        Self { search: url, endpoint: Endpoint::new(name, client, endpoint) }
    }

    fn page_url(&self, request: &SourceRequest<'_>, query: &str, page: usize) -> Url {
        let mut url = self.search.clone();
        let mut pairs = url.query_pairs_mut();
        pairs.append_pair("q", query).append_pair("format", "json");
        pairs.append_pair("categories", category(request.kind)).append_pair("pageno", &page.to_string());
        pairs.append_pair("safesearch", if request.safe { "2" } else { "0" });
        if let Some(language) = request.country.and_then(region::region) {
            pairs.append_pair("language", &language);
        }
        if let Some((range, _)) = time_range(request) {
            pairs.append_pair("time_range", range);
        }
        drop(pairs);
        url
    }

    async fn fetch_page(
        &self,
        request: &SourceRequest<'_>,
        query: &str,
        page: usize,
    ) -> Result<Value, SourceError> {
        // The first page has the timeout of a request. Further pages also end at the deadline for paging.
        let deadline = (page > 1).then_some(request.deadline);
        let response =
            self.endpoint.json(self.page_url(request, query, page), HeaderMap::new(), deadline).await;
        response.map_err(|error| match error {
            SourceError::Status { status: 403, .. } => SourceError::JsonDisabled,
            other => other,
        })
    }

    async fn fetch_hits(&self, request: &SourceRequest<'_>) -> SourceResponse {
        let query = without_commands(&query_text::with_operators(request.query, request.domains));
        if query.is_empty() {
            return unavailable(
                FailureKind::Unsuited,
                "the query has nothing that web search engines support",
            );
        }
        let (mut collector, mut unresponsive) = (HitCollector::default(), Vec::new());
        let undated = if is_exact(request) { UndatedPolicy::Keep } else { UndatedPolicy::Remove };
        for page in 1..=MAX_PAGES {
            let value = match self.fetch_page(request, &query, page).await {
                Ok(value) => value,
                Err(error) if page == 1 => return SourceResponse::from(error),
                Err(error) => {
                    collector.warn(format!("the results end after page {}: {error}", page - 1));
                    break;
                }
            };
            let Some(results) = value.get("results").and_then(Value::as_array) else {
                let what = "the list `results` is missing".to_owned();
                return SourceResponse::from(SourceError::Unreadable { what });
            };
            for engine in response::unresponsive_engines(&value) {
                if !unresponsive.contains(&engine) {
                    unresponsive.push(engine);
                }
            }
            let hits = results.iter().filter_map(|result| response::hit(request.kind, result, request.now));
            let new_count = collector.add(request, hits, undated);
            if new_count == 0 || collector.is_enough(request) || Instant::now() >= request.deadline {
                break;
            }
        }
        finish(collector, &unresponsive, request)
    }
}

impl SearchSource for Searxng {
    fn name(&self) -> &str {
        self.endpoint.name()
    }

    fn search<'a>(&'a self, request: &'a SourceRequest<'a>) -> SourceFuture<'a> {
        Box::pin(self.fetch_hits(request))
    }

    fn filters(&self) -> FilterSupport {
        FilterSupport::Partial
    }

    fn health(&self) -> SourceHealth {
        self.endpoint.health()
    }
}

/// Creates the response, with warnings about engines and regions.
fn finish(
    mut collector: HitCollector,
    unresponsive: &[String],
    request: &SourceRequest<'_>,
) -> SourceResponse {
    let unresponsive = unresponsive.join(", ");
    if collector.is_empty() && !unresponsive.is_empty() {
        // An empty list would claim that nothing exists.
        let reason = format!("no results, and some engines did not respond: {unresponsive}");
        return unavailable(FailureKind::Incomplete, &reason);
    }
    if !unresponsive.is_empty() {
        collector.warn(format!("some engines did not respond: {unresponsive}"));
    }
    if let Some(country) = request.country.filter(|country| region::region(country).is_none()) {
        collector.warn(format!("the country {country} is not supported and was ignored"));
    }
    collector.finish(request)
}

fn unavailable(failure: FailureKind, reason: &str) -> SourceResponse {
    SourceResponse::Unavailable { failure, reason: reason.to_owned() }
}

fn category(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Web => "general",
        SourceKind::Images => "images",
        SourceKind::News => "news",
    }
}

/// Removes the characters that make SearXNG interpret a word as a command: `!engine`, `!!external`, `:language`,
/// `<timeout`, `?suggestions`. SearXNG splits a query at spaces, also within quotes.
fn without_commands(query: &str) -> String {
    let words = query.split(' ').map(|word| word.trim_start_matches(['!', ':', '<', '?']));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns the narrowest `time_range` that contains the requested range, and whether they are equal.
fn time_range(request: &SourceRequest<'_>) -> Option<(&'static str, bool)> {
    const RANGES: [(&str, i64); 4] = [("day", 1), ("week", 7), ("month", 31), ("year", 366)];
    let Some(Tbs { range: Some(range), .. }) = request.tbs else { return None };
    match range {
        TbsRange::Last { unit: TbsUnit::Day, count: 1 } => return Some(("day", true)),
        TbsRange::Last { unit: TbsUnit::Week, count: 1 } => return Some(("week", true)),
        TbsRange::Last { unit: TbsUnit::Month, count: 1 } => return Some(("month", true)),
        TbsRange::Last { unit: TbsUnit::Year, count: 1 } => return Some(("year", true)),
        TbsRange::Last { .. } | TbsRange::Between { .. } => {}
    }
    let (first, _) = range.seconds(request.now);
    let seconds = request.now.as_second().checked_sub(first?)?;
    let (range, _) = RANGES.into_iter().find(|(_, days)| seconds <= days * 86_400)?;
    Some((range, false))
}

/// Returns whether the instance applies the time range exactly. Then hits without a date are in it, too.
fn is_exact(request: &SourceRequest<'_>) -> bool {
    time_range(request).is_some_and(|(_, is_exact)| is_exact)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use websvc_query::{Query, parse_tbs};

    use super::*;

    #[test]
    fn command_characters_are_removed_from_words() {
        assert_eq!(
            without_commands("!g tea :fr <3 !!ddg ?x \"a !b c\" -!d a:b"),
            "g tea fr 3 ddg x \"a b c\" -!d a:b"
        );
        assert_eq!(without_commands("! ::"), "");
    }

    #[test]
    fn time_filters_become_the_narrowest_containing_range() {
        let query = Query::default();
        for (tbs, expected) in [
            ("qdr:h", Some(("day", false))),
            ("qdr:d", Some(("day", true))),
            ("qdr:d3", Some(("week", false))),
            ("qdr:w", Some(("week", true))),
            ("qdr:m", Some(("month", true))),
            ("qdr:m2", Some(("year", false))),
            ("qdr:y", Some(("year", true))),
            ("qdr:y2", None),
            ("cdr:1,cd_min:05/08/2024", Some(("week", false))),
            ("cdr:1,cd_min:05/08/2014", None),
            ("cdr:1,cd_max:05/08/2024", None),
            ("sbd:1", None),
        ] {
            let tbs = parse_tbs(tbs).unwrap();
            let now = "2024-05-10T12:00:00Z".parse::<Timestamp>().unwrap();
            let new = SourceRequest::new(SourceKind::Web, &query, now, Instant::now());
            let request = SourceRequest { tbs: tbs.as_ref(), ..new };
            assert_eq!(time_range(&request), expected, "{tbs:?}");
        }
    }
}
