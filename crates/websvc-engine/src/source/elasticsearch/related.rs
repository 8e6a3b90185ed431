//! The operator `related:`, which needs two requests: a sample of the pages of the domain, and the search itself.
//!
//! As in the embedded index, a page of another host is related to a domain if it links to the domain, if the domain
//! links to its host, or if it has several of the salient words of the domain. The server selects the salient words,
//! because only it knows how rare a word is (`more_like_this`). Quickwit has no such query.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use websvc_index::topic_words;
use websvc_query::{Node, Operator, Query};

use super::mapping::field;
use super::record::Record;

/// The maximum number of pages of a domain that are read.
const MAX_SAMPLE: usize = 50;

/// The maximum number of domains of one query whose pages are read. For further domains, only links to them count.
pub(super) const MAX_DOMAINS: usize = 4;

/// The maximum number of linked hosts in a query, those with the most links first.
const MAX_HOSTS: usize = 50;

/// The maximum number of different words that the server selects from, the most frequent words of the sample first.
const MAX_WORDS: usize = 200;

/// The maximum number of times that a word is sent. The server weighs words by their number.
const MAX_REPETITIONS: u32 = 10;

/// The maximum number of salient words.
const SALIENT_WORDS: usize = 12;

/// The number of salient words that a related page has: two of up to six, otherwise about a third.
const MIN_SALIENT_WORDS: &str = "0<2 6<34%";

/// The score of a page for links, which is large relative to the score of its words.
const LINK_SCORE: f64 = 10.0;
const WORDS_BOOST: f64 = 0.1;

/// The queries for the domains of a search.
pub(super) type RelatedQueries = HashMap<String, Value>;

/// Returns the distinct domains that a query names with `related:`.
pub(super) fn domains(query: &Query) -> Vec<String> {
    let mut domains: Vec<String> = Vec::new();
    let mut nodes: Vec<&Node> = query.root().into_iter().collect();
    while let Some(node) = nodes.pop() {
        match node {
            Node::And(children) | Node::Or(children) => nodes.extend(children),
            Node::Not(child) => nodes.push(child),
            Node::Operator(Operator::Related(domain)) if !domains.contains(domain) => {
                domains.push(domain.clone());
            }
            Node::Operator(_) | Node::Word(_) | Node::Phrase(_) => {}
        }
    }
    domains
}

/// Returns the body of the search for a sample of the pages of a domain.
pub(super) fn sample_body(domain: &str) -> Value {
    json!({
        "query": {"bool": {"must": [{"match_all": {}}], "filter": [{"term": {field::SITES: {"value": domain}}}]}},
        "size": MAX_SAMPLE,
        "_source": [field::TITLE, field::HEADINGS, "description", "language", "linked_hosts"],
        "track_total_hits": false,
    })
}

/// Returns the query for the pages related to a domain, without those of the domain itself. `sample` is the response to
/// [`sample_body`].
pub(super) fn query(domain: &str, sample: Option<&Value>) -> Value {
    let found = sample.and_then(|sample| sample.pointer("/hits/hits")).and_then(Value::as_array);
    let records = found.into_iter().flatten().filter_map(|hit| Record::deserialize(hit.get("_source")?).ok());
    let (mut hosts, mut words) = (HashMap::new(), HashMap::new());
    for record in records {
        let Record { title, headings, description, language, linked_hosts, .. } = record;
        for host in linked_hosts {
            *hosts.entry(host).or_insert(0) += 1;
        }
        let texts: Vec<&str> =
            [&title, &description].into_iter().chain(&headings).map(String::as_str).collect();
        let language = Some(language.as_str()).filter(|language| !language.is_empty());
        for (word, count) in topic_words(&texts, language) {
            *words.entry(word).or_insert(0) += count;
        }
    }
    let mut alternatives = vec![by_links(&json!({"term": {field::LINKS: {"value": domain}}}))];
    let hosts: Vec<String> = most_frequent(hosts).into_iter().take(MAX_HOSTS).map(|(host, _)| host).collect();
    if !hosts.is_empty() {
        alternatives.push(by_links(&json!({"terms": {field::SITES: hosts}})));
    }
    if words.len() > 1 {
        alternatives.push(by_words(words));
    }
    json!({"bool": {
        "must": [{"bool": {"should": alternatives}}],
        "must_not": [{"term": {field::SITES: {"value": domain}}}],
    }})
}

fn by_links(query: &Value) -> Value {
    json!({"bool": {"filter": [query], "must": [{"match_all": {"boost": LINK_SCORE}}]}})
}

fn by_words(words: HashMap<String, u32>) -> Value {
    let repeated = |(word, count): (String, u32)| vec![word; count.min(MAX_REPETITIONS) as usize].join(" ");
    let text: Vec<String> = most_frequent(words).into_iter().take(MAX_WORDS).map(repeated).collect();
    let similar = json!({"more_like_this": {
        "fields": [field::BODY],
        "like": text.join(" "),
        "min_term_freq": 1,
        "min_doc_freq": 2,
        "max_query_terms": SALIENT_WORDS,
        "minimum_should_match": MIN_SALIENT_WORDS,
    }});
    json!({"bool": {"must": [similar], "boost": WORDS_BOOST}})
}

/// Returns the entries by descending count.
fn most_frequent(counts: HashMap<String, u32>) -> Vec<(String, u32)> {
    let mut sorted: Vec<(String, u32)> = counts.into_iter().collect();
    sorted.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sorted
}
