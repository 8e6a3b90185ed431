//! Relevance judgments made from feedback, in the format of TREC.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;
use websvc_store::{FeedbackRating, FeedbackRecord};

/// Number of hexadecimal digits in the ID of a query.
const ID_DIGITS: usize = 16;

/// The grade of a valuable source of a search that was what the client needed.
const RELEVANT: u8 = 2;

/// The grade of a valuable source of a search that was not, or only in part.
const PARTLY_RELEVANT: u8 = 1;

/// Judged queries, each with the grades of its sources.
#[derive(Debug, Default)]
pub(super) struct Judgments {
    queries: BTreeMap<String, BTreeMap<String, u8>>,
}

impl Judgments {
    /// Adds feedback. Only feedback on searches with valuable sources contains judgments. If a source of a query was judged
    /// several times, its highest grade counts.
    pub(super) fn add(&mut self, feedback: &FeedbackRecord) {
        let Some(query) = feedback.target.as_deref().filter(|_| feedback.operation == "search") else {
            return;
        };
        let grade = match feedback.rating {
            FeedbackRating::Good => RELEVANT,
            FeedbackRating::Partial | FeedbackRating::Bad => PARTLY_RELEVANT,
        };
        let content: Value = serde_json::from_str(&feedback.content).unwrap_or_default();
        let sources = content["valuableSources"].as_array();
        let urls =
            sources.into_iter().flatten().filter_map(|source| source["url"].as_str()).filter_map(normalized);
        for url in urls {
            let known = self.queries.entry(query.trim().to_owned()).or_default().entry(url).or_default();
            *known = grade.max(*known);
        }
    }

    /// Returns one line per judgment: ID of the query, iteration (always 0), URL, grade.
    pub(super) fn qrels(&self) -> String {
        let line = |(query, sources): (&String, &BTreeMap<String, u8>)| {
            let id = id(query);
            sources.iter().map(|(url, grade)| format!("{id} 0 {url} {grade}\n")).collect::<String>()
        };
        self.queries.iter().map(line).collect()
    }

    /// Returns one line of JSON per query, with its ID and its text.
    pub(super) fn queries(&self) -> String {
        self.queries.keys().map(|query| format!("{}\n", json!({ "_id": id(query), "text": query }))).collect()
    }

    /// Returns the number of queries and of judgments.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.queries.len(), self.queries.values().map(BTreeMap::len).sum())
    }
}

/// Returns the ID of a query, which is the same in every export.
fn id(query: &str) -> String {
    let digest = Sha256::digest(query.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hex[..ID_DIGITS].to_owned()
}

/// Returns a URL in its normal form, which contains no white space.
fn normalized(url: &str) -> Option<String> {
    let url = url.trim();
    let parsed = match url.contains("://") {
        true => Url::parse(url),
        false => Url::parse(&format!("http://{url}")),
    };
    parsed.ok().map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feedback(
        operation: &str,
        query: Option<&str>,
        rating: FeedbackRating,
        urls: &[&str],
    ) -> FeedbackRecord {
        let sources: Vec<Value> = urls.iter().map(|url| json!({ "url": url })).collect();
        FeedbackRecord {
            number: 1,
            id: "f".to_owned(),
            team: "tea".to_owned(),
            key: None,
            operation: operation.to_owned(),
            target: query.map(str::to_owned),
            rating,
            content: json!({ "valuableSources": sources }).to_string(),
            created_at_ms: 0,
        }
    }

    #[test]
    fn valuable_sources_of_searches_are_judgments_with_their_highest_grade() {
        let mut judgments = Judgments::default();
        let (good, partial) = (FeedbackRating::Good, FeedbackRating::Partial);
        judgments.add(&feedback(
            "search",
            Some("green tea"),
            partial,
            &["http://a.test", "b.test/x y", "http://"],
        ));
        judgments.add(&feedback("search", Some("green tea "), good, &["http://a.test/"]));
        judgments.add(&feedback("search", Some("a \"b\""), good, &["https://c.test/"]));
        judgments.add(&feedback("search", Some("unjudged"), FeedbackRating::Bad, &[]));
        judgments.add(&feedback("search", None, good, &["http://private.test/"]));
        judgments.add(&feedback("scrape", Some("http://a.test/"), good, &["http://a.test/"]));
        assert_eq!(judgments.counts(), (2, 3));
        let (first, second) = (id("a \"b\""), id("green tea"));
        let qrels = format!(
            "{first} 0 https://c.test/ 2\n{second} 0 http://a.test/ 2\n{second} 0 http://b.test/x%20y 1\n"
        );
        assert_eq!(judgments.qrels(), qrels);
        assert_eq!((first.len(), first == second), (16, false));
        let queries = format!(
            "{{\"_id\":\"{first}\",\"text\":\"a \\\"b\\\"\"}}\n{{\"_id\":\"{second}\",\"text\":\"green tea\"}}\n"
        );
        assert_eq!(judgments.queries(), queries);
    }
}
