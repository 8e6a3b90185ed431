//! The analyzers of the fake Elasticsearch: words, and in fields of a language their stems without stop words.
//!
//! The stemmers only remove frequent endings, which suffices to show which field a search uses.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The types of the fields by name: `text`, `text/english` for an analyzer, `keyword`, `date`. The names of subfields have
/// a point.
pub(crate) type FieldTypes = BTreeMap<String, String>;

/// Analyzers with their stop words, and the endings that they remove one after the other.
const ANALYZERS: [(&str, &[&str], &[&str]); 4] = [
    ("english", &["a", "and", "in", "is", "of", "the", "to"], &["s", "ing", "e"]),
    ("german", &["das", "der", "die", "ein", "und"], &["n", "e", "r"]),
    ("french", &["de", "des", "la", "le", "les"], &["s", "e"]),
    ("spanish", &["de", "el", "la", "las", "los"], &["s", "e", "o", "a"]),
];

/// The minimum length of a stem.
const MIN_STEM_CHARS: usize = 3;

/// Returns the types of the fields of a mapping.
pub(crate) fn types_of(properties: &Map<String, Value>) -> FieldTypes {
    let mut types = FieldTypes::new();
    add_types("", properties, &mut types);
    types
}

fn add_types(prefix: &str, properties: &Map<String, Value>, types: &mut FieldTypes) {
    for (name, field) in properties {
        let name = format!("{prefix}{name}");
        if let Some(subfields) = field.get("properties").and_then(Value::as_object) {
            add_types(&format!("{name}."), subfields, types);
            continue;
        }
        let kind = field["type"].as_str().unwrap_or_default();
        let analyzer =
            field["analyzer"].as_str().filter(|name| ANALYZERS.iter().any(|(known, ..)| known == name));
        types.insert(name, analyzer.map_or_else(|| kind.to_owned(), |analyzer| format!("{kind}/{analyzer}")));
    }
}

/// Adds the properties of a mapping to those of another one.
pub(crate) fn merge_properties(known: &mut Map<String, Value>, added: &Map<String, Value>) {
    for (name, field) in added {
        let known_field = known.entry(name.clone()).or_insert_with(|| field.clone());
        let subfields = known_field.get_mut("properties").and_then(Value::as_object_mut);
        if let (Some(known), Some(added)) = (subfields, field["properties"].as_object()) {
            merge_properties(known, added);
        }
    }
}

/// Returns the tokens of a text in a field of this type.
pub(crate) fn analyze(kind: Option<&String>, text: &str) -> Vec<String> {
    let analyzer = kind.and_then(|kind| kind.strip_prefix("text/"));
    let analyzer = analyzer.and_then(|name| ANALYZERS.iter().find(|(known, ..)| *known == name));
    let Some((_, stop_words, endings)) = analyzer else { return tokens(text) };
    let words = tokens(text).into_iter().filter(|word| !stop_words.contains(&word.as_str()));
    words.map(|word| stem(&word, endings)).collect()
}

/// Returns the tokens of a text, as those of a simple analyzer.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn stem(word: &str, endings: &[&str]) -> String {
    let without = |word, ending: &&str| {
        str::strip_suffix(word, ending).filter(|stem| stem.chars().count() >= MIN_STEM_CHARS).unwrap_or(word)
    };
    endings.iter().fold(word, without).to_owned()
}
