//! A subset of the query language of Elasticsearch: validated as strictly as by the server, evaluated over documents.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::elastic_analysis::{FieldTypes, analyze};

/// The type and the reason of an error, as in the response of the server.
pub(crate) type QueryError = (&'static str, String);

/// Returns the error of an invalid query.
pub(crate) fn reject<T>(reason: String) -> Result<T, QueryError> {
    Err(("parsing_exception", reason))
}

/// Returns the score of a document; `None` if it does not match.
///
/// # Errors
/// If the query is invalid.
pub(crate) fn score(query: &Value, document: &Value, types: &FieldTypes) -> Result<Option<f64>, QueryError> {
    let (name, body) = only(query, "query")?;
    let Value::Object(body) = body else { return reject(format!("[{name}] query malformed")) };
    match name {
        "match_all" => {
            check_keys(name, body, &["boost"])?;
            Ok(Some(number(body, "boost", 1.0)))
        }
        "bool" => boolean(body, document, types),
        "match" => {
            let (field, options) = only_field(name, body, &["query", "operator", "zero_terms_query"])?;
            let words = analyze(types.get(field), text_of(name, &options, "query")?);
            let tokens = field_tokens(document, types, field);
            let count = |word: &String| tokens.iter().filter(|token| *token == word).count();
            let counts: Vec<usize> = words.iter().map(count).filter(|count| *count > 0).collect();
            let min_words = match options.get("operator").and_then(Value::as_str) {
                Some("AND" | "and") => words.len(),
                _ => 1,
            };
            let matches = !words.is_empty() && counts.len() >= min_words;
            // Words in shorter fields have higher scores, as in BM25.
            let length = 1.0 + tokens.len() as f64 / 50.0;
            Ok(matches.then(|| counts.iter().map(|count| *count as f64 / length).sum()))
        }
        "match_phrase" => {
            let (field, options) =
                only_field(name, body, &["query", "slop", "zero_terms_query", "analyzer"])?;
            let words = analyze(types.get(field), text_of(name, &options, "query")?);
            let tokens = field_tokens(document, types, field);
            let slop = options.get("slop").and_then(Value::as_u64).unwrap_or_default() as usize;
            let is_near = |window: &[String]| words.iter().all(|word| window.contains(word));
            let length = (words.len() + slop).min(tokens.len());
            let matches = match slop {
                _ if words.is_empty() || length < words.len() => false,
                0 => tokens.windows(length).any(|window| window == words),
                _ => tokens.windows(length).any(is_near),
            };
            Ok(matches.then_some(1.0))
        }
        "term" => {
            let (field, options) = only_field(name, body, &["value", "boost", "case_insensitive"])?;
            let value = text_of(name, &options, "value")?;
            Ok(values(document, field).any(|stored| stored == value).then_some(1.0))
        }
        "terms" => {
            let (field, terms) = only(&Value::Object(body.clone()), name).map(to_owned)?;
            let Value::Array(terms) = terms else {
                return reject(format!("[terms] query requires an array for [{field}]"));
            };
            let matches = values(document, &field).any(|value| terms.iter().any(|term| term == value));
            Ok(matches.then_some(1.0))
        }
        "ids" => {
            check_keys(name, body, &["values"])?;
            let ids = body.get("values").and_then(Value::as_array);
            let matches = ids.into_iter().flatten().any(|id| Some(id) == document.get("_id"));
            Ok(matches.then_some(1.0))
        }
        "range" => range(body, document),
        "distance_feature" => {
            check_keys(name, body, &["field", "origin", "pivot", "boost"])?;
            distance_feature(body, document)
        }
        "exists" => {
            check_keys(name, body, &["field", "boost"])?;
            let field = text_of(name, body, "field")?;
            Ok(values(document, field).next().map(|_| 1.0))
        }
        _ => reject(format!("unknown query [{name}]")),
    }
}

fn to_owned((name, value): (&str, &Value)) -> (String, Value) {
    (name.to_owned(), value.clone())
}

fn boolean(
    body: &Map<String, Value>,
    document: &Value,
    types: &FieldTypes,
) -> Result<Option<f64>, QueryError> {
    check_keys("bool", body, &["must", "filter", "should", "must_not", "minimum_should_match", "boost"])?;
    let mut scores = BTreeMap::new();
    for part in ["must", "filter", "should", "must_not"] {
        let queries = match body.get(part) {
            Some(Value::Array(queries)) => queries.clone(),
            Some(query @ Value::Object(_)) => vec![query.clone()],
            None => Vec::new(),
            Some(_) => return reject(format!("[bool] malformed query, unexpected value in [{part}]")),
        };
        // All queries are evaluated, because an invalid one is an error whether or not the others match.
        let part_scores: Result<Vec<_>, _> =
            queries.iter().map(|query| score(query, document, types)).collect();
        scores.insert(part, part_scores?);
    }
    let required = scores["must"].len() + scores["filter"].len();
    let min_should = body.get("minimum_should_match").and_then(Value::as_u64);
    let min_should = min_should.unwrap_or(u64::from(required == 0 && !scores["should"].is_empty()));
    let should: Vec<f64> = scores["should"].iter().flatten().copied().collect();
    let matches = scores["must"].iter().chain(&scores["filter"]).all(Option::is_some)
        && scores["must_not"].iter().all(Option::is_none)
        && should.len() as u64 >= min_should;
    let sum: f64 = scores["must"].iter().flatten().chain(&should).sum();
    Ok(matches.then(|| sum * number(body, "boost", 1.0)))
}

fn range(body: &Map<String, Value>, document: &Value) -> Result<Option<f64>, QueryError> {
    let (field, options) = only_field("range", body, &["gt", "gte", "lt", "lte", "boost", "format"])?;
    let bound = |name: &str| options.get(name).and_then(Value::as_str);
    // Timestamps in one format are compared as texts.
    let is_in_range = |value: &str| {
        bound("gte").is_none_or(|min| value >= min)
            && bound("gt").is_none_or(|min| value > min)
            && bound("lte").is_none_or(|max| value <= max)
            && bound("lt").is_none_or(|max| value < max)
    };
    Ok(values(document, field).any(is_in_range).then_some(1.0))
}

/// Returns the score of a date: the boost if it equals the origin, and half of it at the distance of the pivot.
fn distance_feature(body: &Map<String, Value>, document: &Value) -> Result<Option<f64>, QueryError> {
    let text = |name: &str| text_of("distance_feature", body, name);
    let seconds = |text: &str| text.parse::<Timestamp>().map(Timestamp::as_second);
    let (Ok(origin), Some(Ok(days))) =
        (seconds(text("origin")?), text("pivot")?.strip_suffix('d').map(str::parse::<f64>))
    else {
        return reject("[distance_feature] requires a date in [origin] and days in [pivot]".to_owned());
    };
    let pivot = days * 86_400.0;
    let dates = values(document, text("field")?).filter_map(|date| seconds(date).ok());
    let score = |date: i64| number(body, "boost", 1.0) * pivot / (pivot + (origin - date).abs() as f64);
    Ok(dates.map(score).reduce(f64::max))
}

/// Returns the words that `match` and `match_phrase` of a query search in a field, for highlighting.
fn query_words(query: &Value, field: &str, types: &FieldTypes) -> Vec<String> {
    let mut words = Vec::new();
    match query {
        Value::Object(object) => {
            for (name, inner) in object {
                if name == "must_not" {
                    continue;
                }
                if matches!(name.as_str(), "match" | "match_phrase") {
                    let text = inner.get(field).and_then(|inner| inner["query"].as_str());
                    words.extend(text.map(|text| analyze(types.get(field), text)).unwrap_or_default());
                } else {
                    words.extend(query_words(inner, field, types));
                }
            }
        }
        Value::Array(list) => words.extend(list.iter().flat_map(|inner| query_words(inner, field, types))),
        _ => {}
    }
    words
}

/// Returns the first sentence of a field with a word of the query.
pub(crate) fn passage(document: &Value, field: &str, query: &Value, types: &FieldTypes) -> Option<String> {
    let words = query_words(query, field, types);
    let mut sentences = values(document, field).flat_map(|text| text.split_inclusive(['.', '\n']));
    let has_word =
        |sentence: &&str| analyze(types.get(field), sentence).iter().any(|token| words.contains(token));
    sentences.find(has_word).map(|sentence| sentence.trim().to_owned())
}

/// Returns the tokens of a field. An unmapped field has none, as on the real servers.
pub(crate) fn field_tokens(document: &Value, types: &FieldTypes, field: &str) -> Vec<String> {
    let kind = types.get(field);
    match kind {
        None => Vec::new(),
        Some(name) if name.starts_with("text") => {
            values(document, field).flat_map(|text| analyze(kind, text)).collect()
        }
        Some(_) => values(document, field).map(str::to_owned).collect(),
    }
}

/// Returns the texts of a field. The name of a subfield has a point.
fn values<'a>(document: &'a Value, field: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let list = match document.pointer(&format!("/{}", field.replace('.', "/"))) {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(value) => vec![value],
        None => Vec::new(),
    };
    list.into_iter().filter_map(Value::as_str)
}

/// Returns the only name and value of an object.
fn only<'a>(value: &'a Value, what: &str) -> Result<(&'a str, &'a Value), QueryError> {
    match value.as_object().map(|object| (object.len(), object.iter().next())) {
        Some((1, Some((name, inner)))) => Ok((name, inner)),
        _ => reject(format!("[{what}] malformed, expected one name")),
    }
}

/// Returns the only field of a query, and its options.
fn only_field<'a>(
    query: &str,
    body: &'a Map<String, Value>,
    options: &[&str],
) -> Result<(&'a str, Map<String, Value>), QueryError> {
    match (body.len(), body.iter().next()) {
        (1, Some((field, Value::Object(inner)))) => {
            check_keys(query, inner, options)?;
            Ok((field, inner.clone()))
        }
        _ => reject(format!("[{query}] query malformed, expected one field")),
    }
}

/// Checks that a part of a query has only these keys.
pub(crate) fn check_keys(query: &str, body: &Map<String, Value>, options: &[&str]) -> Result<(), QueryError> {
    match body.keys().find(|name| !options.contains(&name.as_str())) {
        Some(name) => reject(format!("[{query}] query does not support [{name}]")),
        None => Ok(()),
    }
}

pub(crate) fn text_of<'a>(
    query: &str,
    body: &'a Map<String, Value>,
    name: &str,
) -> Result<&'a str, QueryError> {
    match body.get(name).and_then(Value::as_str) {
        Some(text) => Ok(text),
        None => reject(format!("[{query}] requires a text in [{name}]")),
    }
}

fn number(body: &Map<String, Value>, name: &str, default: f64) -> f64 {
    body.get(name).and_then(Value::as_f64).unwrap_or(default)
}
