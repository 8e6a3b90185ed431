//! The term suggester of the fake Elasticsearch, and its query for similar texts.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::elastic_analysis::{FieldTypes, tokens};
use crate::elastic_query::{QueryError, check_keys, field_tokens, reject, text_of};

/// Returns the suggestions for a request: for each word of the text that no document has, the most similar words.
///
/// # Errors
/// If the request is invalid.
pub(crate) fn suggest(
    request: &Value,
    documents: &BTreeMap<String, Value>,
    types: &FieldTypes,
) -> Result<Value, QueryError> {
    let Value::Object(request) = request else { return reject("[suggest] malformed".to_owned()) };
    let text = text_of("suggest", request, "text")?;
    let mut suggestions = Map::new();
    for (name, suggester) in request.iter().filter(|(name, _)| *name != "text") {
        let Some(term) = suggester.get("term").and_then(Value::as_object) else {
            return reject(format!("no suggester for [{name}]"));
        };
        check_keys("term", term, &["field", "suggest_mode", "size", "sort", "min_word_length", "max_edits"])?;
        let field = text_of("term", term, "field")?;
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for document in documents.values() {
            for token in field_tokens(document, types, field) {
                *counts.entry(token).or_default() += 1;
            }
        }
        let min_chars = term.get("min_word_length").and_then(Value::as_u64).unwrap_or(4) as usize;
        let mut offset = 0;
        let entries: Vec<Value> = tokens(text)
            .into_iter()
            .map(|word| {
                let is_corrected = !counts.contains_key(&word) && word.chars().count() >= min_chars;
                let best = is_corrected.then(|| most_similar(&word, &counts)).flatten();
                let options: Vec<Value> = best.into_iter().map(|text| json!({ "text": text })).collect();
                let entry = json!({"text": word, "offset": offset, "length": word.len(), "options": options});
                offset += word.len() + 1;
                entry
            })
            .collect();
        suggestions.insert(name.clone(), entries.into());
    }
    Ok(suggestions.into())
}

/// Returns the word with the fewest edits, at most two, and the same first letter.
fn most_similar(word: &str, counts: &BTreeMap<String, usize>) -> Option<String> {
    let same_start = counts.iter().filter(|(other, _)| other.chars().next() == word.chars().next());
    let near = same_start.map(|(other, count)| (edits(word, other), std::cmp::Reverse(*count), other));
    near.filter(|(edits, ..)| *edits <= 2).min().map(|(.., other)| other.clone())
}

/// Returns the Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, c) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for column in 1..=b.len() {
            let substitution = diagonal + usize::from(b[column - 1] != c);
            diagonal = row[column];
            row[column] = substitution.min(row[column] + 1).min(row[column - 1] + 1);
        }
    }
    row[b.len()]
}

/// Returns the terms that `more_like_this` searches a field for: those of its text that are frequent there and rare in
/// the documents.
///
/// # Errors
/// If the query is invalid.
pub(crate) fn similar_terms<'a>(
    body: &Map<String, Value>,
    documents: impl Iterator<Item = &'a Value>,
    types: &FieldTypes,
) -> Result<Value, QueryError> {
    let keys = ["fields", "like", "min_term_freq", "min_doc_freq", "max_query_terms", "minimum_should_match"];
    check_keys("more_like_this", body, &keys)?;
    let Some(field) = body.get("fields").and_then(|fields| fields.get(0)).and_then(Value::as_str) else {
        return reject("[more_like_this] requires 'fields' to be non-empty".to_owned());
    };
    let number = |name: &str, default| body.get(name).and_then(Value::as_u64).unwrap_or(default) as usize;
    let mut frequencies: BTreeMap<String, usize> = BTreeMap::new();
    for word in tokens(text_of("more_like_this", body, "like")?) {
        *frequencies.entry(word).or_default() += 1;
    }
    let mut containing: BTreeMap<String, usize> = BTreeMap::new();
    let mut total = 0;
    for document in documents {
        total += 1;
        let found = field_tokens(document, types, field);
        for word in frequencies.keys().filter(|word| found.contains(word)) {
            *containing.entry(word.clone()).or_default() += 1;
        }
    }
    let weight = |frequency: usize, documents: usize| {
        frequency as f64 * (1.0 + (total as f64 / (documents as f64 + 1.0)).ln())
    };
    let mut terms: Vec<(f64, &String)> = frequencies
        .iter()
        .filter(|(_, frequency)| **frequency >= number("min_term_freq", 2))
        .filter_map(|(word, frequency)| Some((*frequency, *containing.get(word)?, word)))
        .filter(|(_, documents, _)| *documents >= number("min_doc_freq", 5))
        .map(|(frequency, documents, word)| (weight(frequency, documents), word))
        .collect();
    terms.sort_by(|a, b| b.0.total_cmp(&a.0));
    terms.truncate(number("max_query_terms", 25));
    let required = match body.get("minimum_should_match") {
        Some(Value::String(rule)) => required_clauses(rule, terms.len()),
        _ => terms.len() * 3 / 10,
    };
    let clauses: Vec<Value> =
        terms.iter().map(|(_, word)| json!({"match": {field: {"query": word}}})).collect();
    Ok(json!({"bool": {"should": clauses, "minimum_should_match": required.max(1)}}))
}

/// Evaluates a rule such as `0<2 6<34%`: the part of the last bound below the number of clauses.
fn required_clauses(rule: &str, clauses: usize) -> usize {
    let mut required = clauses;
    for part in rule.split(' ') {
        let (bound, value) = part.split_once('<').unwrap_or(("0", part));
        if clauses <= bound.parse().expect("a number before <") {
            break;
        }
        required = match value.strip_suffix('%') {
            Some(percent) => clauses * percent.parse::<usize>().expect("a percentage") / 100,
            None => value.parse().expect("a number of clauses"),
        };
    }
    required
}
