//! The query language of Elasticsearch as far as the stand-in speaks it: checked as strictly, evaluated over documents.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A refusal: its type and reason, as the error of the server has them.
pub(crate) type Refusal = (&'static str, String);

/// The documents' fields: their types by name (`text`, `keyword`, `date`).
pub(crate) type Types = BTreeMap<String, String>;

fn refuse<T>(reason: String) -> Result<T, Refusal> {
    Err(("parsing_exception", reason))
}

/// Returns the score of a document, or `None` when it does not match.
///
/// # Errors
/// A query that the server would refuse.
pub(crate) fn score(query: &Value, document: &Value, types: &Types) -> Result<Option<f64>, Refusal> {
    let (name, body) = only(query, "query")?;
    let Value::Object(body) = body else { return refuse(format!("[{name}] query malformed")) };
    match name {
        "match_all" => {
            known(name, body, &["boost"])?;
            Ok(Some(number(body, "boost", 1.0)))
        }
        "bool" => boolean(body, document, types),
        "match" => {
            let (field, options) = only_field(name, body, &["query", "operator", "zero_terms_query"])?;
            let wanted = tokens(text_of(name, &options, "query")?);
            let have = field_tokens(document, types, field)?;
            let count = |word: &String| have.iter().filter(|token| *token == word).count();
            let found: Vec<usize> = wanted.iter().map(count).filter(|count| *count > 0).collect();
            let needed = match options.get("operator").and_then(Value::as_str) {
                Some("AND" | "and") => wanted.len(),
                _ => 1,
            };
            let matches = !wanted.is_empty() && found.len() >= needed;
            // Shorter fields count more, as in BM25.
            let length = 1.0 + have.len() as f64 / 50.0;
            Ok(matches.then(|| found.iter().map(|count| *count as f64 / length).sum()))
        }
        "match_phrase" => {
            let (field, options) =
                only_field(name, body, &["query", "slop", "zero_terms_query", "analyzer"])?;
            let wanted = tokens(text_of(name, &options, "query")?);
            let have = field_tokens(document, types, field)?;
            let found = !wanted.is_empty() && have.windows(wanted.len()).any(|window| window == wanted);
            Ok(found.then_some(1.0))
        }
        "term" => {
            let (field, options) = only_field(name, body, &["value", "boost", "case_insensitive"])?;
            let value = text_of(name, &options, "value")?;
            Ok(values(document, field).any(|have| have == value).then_some(1.0))
        }
        "terms" => {
            let (field, wanted) = only(&Value::Object(body.clone()), name).map(own)?;
            let Value::Array(wanted) = wanted else {
                return refuse(format!("[terms] query requires an array for [{field}]"));
            };
            Ok(values(document, &field).any(|have| wanted.iter().any(|value| value == have)).then_some(1.0))
        }
        "range" => range(body, document),
        "exists" => {
            known(name, body, &["field", "boost"])?;
            let field = text_of(name, body, "field")?;
            Ok(values(document, field).next().map(|_| 1.0))
        }
        _ => refuse(format!("unknown query [{name}]")),
    }
}

fn own((name, value): (&str, &Value)) -> (String, Value) {
    (name.to_owned(), value.clone())
}

fn boolean(body: &Map<String, Value>, document: &Value, types: &Types) -> Result<Option<f64>, Refusal> {
    known("bool", body, &["must", "filter", "should", "must_not", "minimum_should_match", "boost"])?;
    let mut scores = BTreeMap::new();
    for part in ["must", "filter", "should", "must_not"] {
        let queries = match body.get(part) {
            Some(Value::Array(queries)) => queries.clone(),
            Some(query @ Value::Object(_)) => vec![query.clone()],
            None => Vec::new(),
            Some(_) => return refuse(format!("[bool] malformed query, unexpected value in [{part}]")),
        };
        // All are evaluated, because a mistake anywhere is refused whatever matches.
        let found: Result<Vec<_>, _> = queries.iter().map(|query| score(query, document, types)).collect();
        scores.insert(part, found?);
    }
    let required = scores["must"].len() + scores["filter"].len();
    let least = body.get("minimum_should_match").and_then(Value::as_u64);
    let least = least.unwrap_or(u64::from(required == 0 && !scores["should"].is_empty()));
    let should: Vec<f64> = scores["should"].iter().flatten().copied().collect();
    let matches = scores["must"].iter().chain(&scores["filter"]).all(Option::is_some)
        && scores["must_not"].iter().all(Option::is_none)
        && should.len() as u64 >= least;
    let sum: f64 = scores["must"].iter().flatten().chain(&should).sum();
    Ok(matches.then(|| sum * number(body, "boost", 1.0)))
}

fn range(body: &Map<String, Value>, document: &Value) -> Result<Option<f64>, Refusal> {
    let (field, options) = only_field("range", body, &["gt", "gte", "lt", "lte", "boost", "format"])?;
    let bound = |name: &str| options.get(name).and_then(Value::as_str);
    // Moments in one notation are in the order of their texts.
    let inside = |have: &str| {
        bound("gte").is_none_or(|least| have >= least)
            && bound("gt").is_none_or(|least| have > least)
            && bound("lte").is_none_or(|most| have <= most)
            && bound("lt").is_none_or(|most| have < most)
    };
    Ok(values(document, field).any(inside).then_some(1.0))
}

/// Returns the words that a query looks for in a field with `match` and `match_phrase`, for highlighting.
pub(crate) fn words(query: &Value, field: &str) -> Vec<String> {
    let mut found = Vec::new();
    match query {
        Value::Object(object) => {
            for (name, inner) in object {
                if name == "must_not" {
                    continue;
                }
                if matches!(name.as_str(), "match" | "match_phrase") {
                    let text = inner.pointer(&format!("/{field}/query")).and_then(Value::as_str);
                    found.extend(text.map(tokens).unwrap_or_default());
                } else {
                    found.extend(words(inner, field));
                }
            }
        }
        Value::Array(list) => found.extend(list.iter().flat_map(|inner| words(inner, field))),
        _ => {}
    }
    found
}

/// Returns the words of a text as a simple analyzer has them.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn field_tokens(document: &Value, types: &Types, field: &str) -> Result<Vec<String>, Refusal> {
    match types.get(field).map(String::as_str) {
        // A field that is not mapped matches nothing, as on the real servers.
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

fn only<'a>(value: &'a Value, what: &str) -> Result<(&'a str, &'a Value), Refusal> {
    match value.as_object().map(|object| (object.len(), object.iter().next())) {
        Some((1, Some((name, inner)))) => Ok((name, inner)),
        _ => refuse(format!("[{what}] malformed, expected one name")),
    }
}

fn only_field<'a>(
    query: &str,
    body: &'a Map<String, Value>,
    options: &[&str],
) -> Result<(&'a str, Map<String, Value>), Refusal> {
    match (body.len(), body.iter().next()) {
        (1, Some((field, Value::Object(inner)))) => {
            known(query, inner, options)?;
            Ok((field, inner.clone()))
        }
        _ => refuse(format!("[{query}] query malformed, expected one field")),
    }
}

fn known(query: &str, body: &Map<String, Value>, options: &[&str]) -> Result<(), Refusal> {
    match body.keys().find(|name| !options.contains(&name.as_str())) {
        Some(name) => refuse(format!("[{query}] query does not support [{name}]")),
        None => Ok(()),
    }
}

fn text_of<'a>(query: &str, body: &'a Map<String, Value>, name: &str) -> Result<&'a str, Refusal> {
    match body.get(name).and_then(Value::as_str) {
        Some(text) => Ok(text),
        None => refuse(format!("[{query}] requires a text in [{name}]")),
    }
}

fn number(body: &Map<String, Value>, name: &str, default: f64) -> f64 {
    body.get(name).and_then(Value::as_f64).unwrap_or(default)
}
