//! "Did you mean": other spellings of words that the index does not have, by the term suggester of the server.

use serde_json::{Value, json};
use websvc_index::folded_words;
use websvc_query::Query;

use super::mapping::field;

/// The minimum length of a word that is corrected. Shorter words have too many similar words.
const MIN_WORD_CHARS: usize = 4;

/// The maximum number of unknown words of a query that is corrected. With more, the query is probably not misspelled.
const MAX_UNKNOWN: usize = 4;

/// The fields whose words are suggested, in order of preference.
const FIELDS: [&str; 2] = [field::BODY, field::TITLE];

/// Returns the body of a request for other spellings; `None` if the query has no words.
pub(super) fn body(query: &Query) -> Option<Value> {
    let text =
        query.words().map(folded_words).filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return None;
    }
    let mut suggest = json!({ "text": text });
    for name in FIELDS {
        // The most similar word, and of several such words the most frequent one.
        suggest[name] = json!({"term": {"field": name, "suggest_mode": "missing", "size": 1, "sort": "score",
            "min_word_length": MIN_WORD_CHARS, "max_edits": 2}});
    }
    Some(json!({"size": 0, "suggest": suggest}))
}

/// Returns the warning with another spelling of the query; `None` if there is none.
pub(super) fn warning(response: &Value) -> Option<String> {
    let entries = |name: &str| response.pointer(&format!("/suggest/{name}")).and_then(Value::as_array);
    let (words, titles) = (entries(FIELDS[0])?, entries(FIELDS[1]));
    let mut corrected = 0;
    let mut suggestion: Vec<&str> = Vec::new();
    let mut end = 0;
    for (at, entry) in words.iter().enumerate() {
        let offset = entry.get("offset").and_then(Value::as_u64)?;
        if offset < end {
            // Overlapping pairs of characters cannot be put together again.
            return None;
        }
        end = offset + entry.get("length").and_then(Value::as_u64)?;
        let in_title = titles.and_then(|titles| titles.get(at));
        let option = best_option(entry).or_else(|| in_title.and_then(best_option));
        corrected += usize::from(option.is_some());
        suggestion.push(option.or_else(|| entry.get("text")?.as_str())?);
    }
    let is_misspelled = (1..=MAX_UNKNOWN).contains(&corrected);
    is_misspelled.then(|| format!("no results were found; did you mean \"{}\"?", suggestion.join(" ")))
}

fn best_option(entry: &Value) -> Option<&str> {
    let word = entry.pointer("/options/0/text")?.as_str()?;
    // A number is not another spelling of a word.
    (!word.bytes().any(|byte| byte.is_ascii_digit())).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &Value, title: &Value, expected: Option<&str>) {
        let response = json!({"suggest": {"body": body, "title": title}});
        assert_eq!(warning(&response).as_deref(), expected, "{response}");
    }

    fn entry(text: &str, offset: usize, options: &[&str]) -> Value {
        let options: Vec<Value> = options.iter().map(|text| json!({ "text": text })).collect();
        json!({"text": text, "offset": offset, "length": text.len(), "options": options})
    }

    #[test]
    fn unknown_words_are_replaced_and_known_words_stay() {
        check(
            &json!([entry("gren", 0, &["green"]), entry("tea", 5, &[])]),
            &json!([entry("gren", 0, &[]), entry("tea", 5, &[])]),
            Some("no results were found; did you mean \"green tea\"?"),
        );
        check(
            &json!([entry("gren", 0, &[])]),
            &json!([entry("gren", 0, &["green"])]),
            Some("no results were found; did you mean \"green\"?"),
        );
        check(&json!([entry("tea", 0, &[])]), &json!([]), None);
        check(&json!([entry("python", 0, &["python3"])]), &json!([]), None);
        check(&json!([entry("ab", 0, &["ac"]), entry("bc", 1, &[])]), &json!([]), None);
    }
}
