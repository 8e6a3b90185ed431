//! A subset of the query language of Elasticsearch: validated as strictly as by the server, evaluated over documents.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The type and the reason of an error, as in the response of the server.
pub(crate) type QueryError = (&'static str, String);

/// The types of the fields by name: `text`, `keyword`, `date`.
pub(crate) type FieldTypes = BTreeMap<String, String>;

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
            let words = tokens(text_of(name, &options, "query")?);
            let tokens = field_tokens(document, types, field)?;
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
            let words = tokens(text_of(name, &options, "query")?);
            let tokens = field_tokens(document, types, field)?;
            let matches = !words.is_empty() && tokens.windows(words.len()).any(|window| window == words);
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

/// Returns the words that `match` and `match_phrase` of a query search in a field, for highlighting.
pub(crate) fn query_words(query: &Value, field: &str) -> Vec<String> {
    let mut words = Vec::new();
    match query {
        Value::Object(object) => {
            for (name, inner) in object {
                if name == "must_not" {
                    continue;
                }
                if matches!(name.as_str(), "match" | "match_phrase") {
                    let text = inner.pointer(&format!("/{field}/query")).and_then(Value::as_str);
                    words.extend(text.map(tokens).unwrap_or_default());
                } else {
                    words.extend(query_words(inner, field));
                }
            }
        }
        Value::Array(list) => words.extend(list.iter().flat_map(|inner| query_words(inner, field))),
        _ => {}
    }
    words
}

/// Returns the tokens of a text, as those of a simple analyzer.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

pub(crate) fn field_tokens(
    document: &Value,
    types: &FieldTypes,
    field: &str,
) -> Result<Vec<String>, QueryError> {
    match types.get(field).map(String::as_str) {
        // An unmapped field matches nothing, as on the real servers.
        None => Ok(Vec::new()),
        Some("text") => Ok(values(document, field).flat_map(tokens).collect()),
        Some(_) => Ok(values(document, field).map(str::to_owned).collect()),
    }
}

fn values<'a>(document: &'a Value, field: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let list = match document.get(field) {
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
