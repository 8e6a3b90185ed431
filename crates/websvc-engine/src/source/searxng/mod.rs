//! SearXNG as a source, by its JSON API.
//!
//! One request per vertical, because a mixed answer gives every URL to one category only; page after page until
//! enough hits pass the filters, because an instance answers ten per engine and tells no total.

mod answer;

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

/// At most so many pages are asked for: engines have no more.
const MAX_PAGES: usize = 10;

/// What an instance of SearXNG needs to be asked.
#[derive(Debug, Clone)]
pub struct SearxngConfig {
    /// Where the instance is, without `/search`.
    pub url: Url,
    /// What it is called in warnings.
    pub name: String,
    /// Time, pace and breaker.
    pub endpoint: EndpointConfig,
}

/// An instance of SearXNG.
#[derive(Debug)]
pub struct Searxng {
    search: Url,
    endpoint: Endpoint,
}

impl Searxng {
    /// Makes a source of an instance; `client` has to be allowed to reach it.
    pub fn new(config: SearxngConfig, client: Client) -> Self {
        let SearxngConfig { mut url, name, endpoint } = config;
        let path = format!("{}/search", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url.set_query(None);
        url.set_fragment(None);
        Self { search: url, endpoint: Endpoint::new(name, client, endpoint) }
    }

    fn page_url(&self, ask: &SourceRequest<'_>, query: &str, page: usize) -> Url {
        let mut url = self.search.clone();
        let mut pairs = url.query_pairs_mut();
        pairs.append_pair("q", query).append_pair("format", "json");
        pairs.append_pair("categories", category(ask.kind)).append_pair("pageno", &page.to_string());
        pairs.append_pair("safesearch", if ask.safe { "2" } else { "0" });
        if let Some(language) = ask.country.and_then(region::language) {
            pairs.append_pair("language", &language);
        }
        if let Some((range, _)) = time_range(ask) {
            pairs.append_pair("time_range", range);
        }
        drop(pairs);
        url
    }

    async fn page(&self, ask: &SourceRequest<'_>, query: &str, page: usize) -> Result<Value, SourceError> {
        // The first page has the time of a request; further ones end with the time for pages.
        let until = (page > 1).then_some(ask.deadline);
        let answer = self.endpoint.json(self.page_url(ask, query, page), HeaderMap::new(), until).await;
        answer.map_err(|error| match error {
            SourceError::Status { status: 403, .. } => SourceError::JsonDisabled,
            other => other,
        })
    }

    async fn ask(&self, ask: &SourceRequest<'_>) -> SourceResponse {
        let query = without_commands(&query_text::with_operators(ask.query, ask.domains));
        if query.is_empty() {
            return unavailable(FailureKind::Unsuited, "nothing in the query is for engines of the web");
        }
        let (mut gathered, mut silent) = (HitCollector::default(), Vec::new());
        let undated = if is_exact(ask) { UndatedPolicy::Kept } else { UndatedPolicy::LeftOut };
        for page in 1..=MAX_PAGES {
            let value = match self.page(ask, &query, page).await {
                Ok(value) => value,
                Err(error) if page == 1 => return SourceResponse::from(error),
                Err(error) => {
                    gathered.warn(format!("the results end after page {}: {error}", page - 1));
                    break;
                }
            };
            let Some(results) = value.get("results").and_then(Value::as_array) else {
                let what = "it has no list `results`".to_owned();
                return SourceResponse::from(SourceError::Unreadable { what });
            };
            for engine in answer::silent_engines(&value) {
                if !silent.contains(&engine) {
                    silent.push(engine);
                }
            }
            let hits = results.iter().filter_map(|result| answer::hit(ask.kind, result, ask.now));
            let fresh = gathered.take(ask, hits, undated);
            if fresh == 0 || gathered.is_enough(ask) || Instant::now() >= ask.deadline {
                break;
            }
        }
        finish(gathered, &silent, ask)
    }
}

impl SearchSource for Searxng {
    fn name(&self) -> &str {
        self.endpoint.name()
    }

    fn search<'a>(&'a self, ask: &'a SourceRequest<'a>) -> SourceFuture<'a> {
        Box::pin(self.ask(ask))
    }

    fn filters(&self) -> FilterSupport {
        FilterSupport::Partial
    }

    fn condition(&self) -> SourceHealth {
        self.endpoint.condition()
    }
}

/// Adds what is special to SearXNG to what the pages brought.
fn finish(mut gathered: HitCollector, silent: &[String], ask: &SourceRequest<'_>) -> SourceResponse {
    let silent = silent.join(", ");
    if gathered.saw_nothing() && !silent.is_empty() {
        // Nothing from those who answered, if any did: that nothing exists would be a claim too far.
        let reason = format!("it has no results, and engines did not answer: {silent}");
        return unavailable(FailureKind::Incomplete, &reason);
    }
    if !silent.is_empty() {
        gathered.warn(format!("engines did not answer: {silent}"));
    }
    if let Some(country) = ask.country.filter(|country| region::language(country).is_none()) {
        gathered.warn(format!("it has no region for the country {country}"));
    }
    gathered.finish(ask)
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

/// Takes the signs off words that SearXNG would read as commands: `!engine`, `!!external`, `:language`, `<timeout`,
/// `?suggestions`. It splits at spaces, whatever is in quotes.
fn without_commands(query: &str) -> String {
    let words = query.split(' ').map(|word| word.trim_start_matches(['!', ':', '<', '?']));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns the narrowest `time_range` that holds the range asked for, and whether it is the same.
fn time_range(ask: &SourceRequest<'_>) -> Option<(&'static str, bool)> {
    const RANGES: [(&str, i64); 4] = [("day", 1), ("week", 7), ("month", 31), ("year", 366)];
    let Some(Tbs { range: Some(range), .. }) = ask.tbs else { return None };
    match range {
        TbsRange::Last { unit: TbsUnit::Day, count: 1 } => return Some(("day", true)),
        TbsRange::Last { unit: TbsUnit::Week, count: 1 } => return Some(("week", true)),
        TbsRange::Last { unit: TbsUnit::Month, count: 1 } => return Some(("month", true)),
        TbsRange::Last { unit: TbsUnit::Year, count: 1 } => return Some(("year", true)),
        TbsRange::Last { .. } | TbsRange::Between { .. } => {}
    }
    let (first, _) = range.seconds(ask.now);
    let seconds = ask.now.as_second().checked_sub(first?)?;
    let (range, _) = RANGES.into_iter().find(|(_, days)| seconds <= days * 86_400)?;
    Some((range, false))
}

/// Tells whether the instance applies the time range itself, so that a hit without a date is in it.
fn is_exact(ask: &SourceRequest<'_>) -> bool {
    time_range(ask).is_some_and(|(_, is_exact)| is_exact)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use websvc_query::{Query, parse_tbs};
    use websvc_validate::DomainFilter;

    use super::*;

    #[test]
    fn words_that_would_be_commands_lose_their_sign() {
        assert_eq!(
            without_commands("!g tea :fr <3 !!ddg ?x \"a !b c\" -!d a:b"),
            "g tea fr 3 ddg x \"a b c\" -!d a:b"
        );
        assert_eq!(without_commands("! ::"), "");
    }

    #[test]
    fn time_filters_become_the_narrowest_range() {
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
            let ask = SourceRequest {
                kind: SourceKind::Web,
                query: &query,
                limit: 10,
                domains: &DomainFilter::Any,
                tbs: tbs.as_ref(),
                country: None,
                location: None,
                safe: false,
                highlights: true,
                now: "2024-05-10T12:00:00Z".parse::<Timestamp>().unwrap(),
                deadline: Instant::now(),
            };
            assert_eq!(time_range(&ask), expected, "{tbs:?}");
        }
    }
}
