//! The clauses that queries are made of.

use serde_json::{Value, json};
use websvc_index::folded_words;

/// Returns whether a text has words to search for.
pub(super) fn has_words(text: &str) -> bool {
    !folded_words(text).is_empty()
}

pub(super) fn term(name: &str, value: &str) -> Value {
    json!({"term": {name: {"value": value}}})
}

pub(super) fn all_words(name: &str, text: &str) -> Value {
    json!({"match": {name: {"query": text, "operator": "AND"}}})
}

pub(super) fn phrase_match(name: &str, text: &str) -> Value {
    json!({"match_phrase": {name: {"query": text}}})
}

pub(super) fn boosted(query: &Value, boost: f64) -> Value {
    json!({"bool": {"must": [query], "boost": boost}})
}

/// Returns a query with the same score for all matches.
pub(super) fn constant_score(query: &Value, boost: f64) -> Value {
    json!({"bool": {"filter": [query], "must": [{"match_all": {"boost": boost}}]}})
}

pub(super) fn none_of(query: &Value) -> Value {
    json!({"bool": {"must": [{"match_all": {}}], "must_not": [query]}})
}

pub(super) fn either(queries: &[Value]) -> Value {
    // A query without required parts needs one match. Older versions of Quickwit reject `minimum_should_match`.
    json!({"bool": {"should": queries}})
}

pub(super) fn any_of(mut queries: Vec<Value>) -> Option<Value> {
    if queries.len() > 1 { Some(either(&queries)) } else { queries.pop() }
}

pub(super) fn all_of(mut queries: Vec<Value>) -> Option<Value> {
    if queries.len() > 1 { Some(json!({"bool": {"must": queries}})) } else { queries.pop() }
}
