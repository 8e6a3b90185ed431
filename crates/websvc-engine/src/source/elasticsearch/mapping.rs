//! The index mapping for the fields of a [`Record`](super::record::Record).
//!
//! A page is one document that contains its images, so that writing a page again replaces all of it. Only types that
//! Elasticsearch, OpenSearch and Quickwit share are used: text, exact text and date. Images are stored as JSON in
//! texts, because not all three support nested documents. Elasticsearch and OpenSearch have [stems](super::stems), too.

use serde_json::{Map, Value, json};

use super::stems::{STEMS, Stems};

/// The names of the fields that queries use.
pub(super) mod field {
    pub(crate) const TITLE: &str = "title";
    pub(crate) const HEADINGS: &str = "headings";
    pub(crate) const BODY: &str = "body";
    pub(crate) const URL_WORDS: &str = "url_words";
    pub(crate) const IMAGE_WORDS: &str = "image_words";
    pub(crate) const IMAGE_SIZES: &str = "image_sizes";
    pub(crate) const IMAGE_TYPES: &str = "image_types";
    pub(crate) const SITES: &str = "sites";
    pub(crate) const EXTENSIONS: &str = "extensions";
    pub(crate) const LABELS: &str = "labels";
    pub(crate) const DATE: &str = "date";
    pub(crate) const PUBLISHED: &str = "published";
    pub(crate) const LINKS: &str = "links";
    pub(crate) const IMAGE_URL_WORDS: &str = "image_url_words";
}

/// The fields that a search returns. The others may be long.
pub(super) const RETURNED_FIELDS: [&str; 7] =
    ["url", "title", "description", "date", "picture", "images", "sketch"];

/// The type of a field.
#[derive(Clone, Copy)]
enum Kind {
    /// Words with their positions.
    Words,
    /// Exact text, possibly several values.
    Exact,
    Date,
    /// Stored, but not searchable.
    Stored,
}

/// All fields of [`Record`](super::record::Record), with their types and whether they have several values.
const FIELDS: [(&str, Kind, bool); 21] = [
    ("url", Kind::Exact, false),
    (field::TITLE, Kind::Words, false),
    (field::HEADINGS, Kind::Words, true),
    (field::BODY, Kind::Words, false),
    ("description", Kind::Stored, false),
    ("language", Kind::Exact, false),
    (field::URL_WORDS, Kind::Words, false),
    (field::SITES, Kind::Exact, true),
    (field::EXTENSIONS, Kind::Exact, true),
    (field::LABELS, Kind::Exact, true),
    (field::DATE, Kind::Date, false),
    (field::PUBLISHED, Kind::Date, false),
    ("sketch", Kind::Stored, false),
    ("picture", Kind::Stored, false),
    (field::IMAGE_WORDS, Kind::Words, true),
    (field::IMAGE_SIZES, Kind::Exact, true),
    (field::IMAGE_TYPES, Kind::Exact, true),
    ("images", Kind::Stored, true),
    (field::LINKS, Kind::Exact, true),
    ("linked_hosts", Kind::Stored, true),
    (field::IMAGE_URL_WORDS, Kind::Words, true),
];

/// The fields that websvc adds to an existing index, because earlier versions did not create them.
pub(super) const ADDED_FIELDS: [&str; 6] =
    [field::LINKS, "linked_hosts", field::IMAGE_URL_WORDS, field::PUBLISHED, "sketch", STEMS];

/// The distribution of an index over the nodes of its cluster. It applies to an index that websvc creates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct IndexLayout {
    pub(super) shards: Option<u32>,
    pub(super) replicas: Option<u32>,
}

/// Returns the request body that creates an index in Elasticsearch or OpenSearch.
pub(super) fn elasticsearch_index(layout: IndexLayout, stems: &Stems) -> Value {
    let mut index = json!({"refresh_interval": "1s"});
    let IndexLayout { shards, replicas } = layout;
    for (name, count) in [("number_of_shards", shards), ("number_of_replicas", replicas)] {
        if let Some(count) = count {
            index[name] = count.into();
        }
    }
    json!({
        "settings": {
            "index": index,
            "analysis": {"analyzer": {"websvc": {
                "type": "custom",
                "tokenizer": "standard",
                "filter": ["cjk_width", "lowercase", "asciifolding", "cjk_bigram"],
            }}},
        },
        "mappings": {"dynamic": false, "properties": elasticsearch_fields(stems)},
    })
}

/// Returns the mapping of all fields for Elasticsearch and OpenSearch.
pub(super) fn elasticsearch_fields(stems: &Stems) -> Map<String, Value> {
    let mapping = |kind: &Kind| match kind {
        // With offsets, long texts are highlighted without analyzing them again.
        Kind::Words => json!({"type": "text", "analyzer": "websvc", "index_options": "offsets"}),
        Kind::Exact => json!({"type": "keyword", "ignore_above": 8191}),
        Kind::Date => json!({"type": "date"}),
        Kind::Stored => json!({"type": "keyword", "index": false, "doc_values": false}),
    };
    let fields = FIELDS.iter().map(|(name, kind, _)| ((*name).to_owned(), mapping(kind)));
    fields.chain([(STEMS.to_owned(), stems.mapping())]).collect()
}

/// Returns those of `fields` that an index lacks because an earlier version created it. `existing` are its fields.
///
/// # Errors
/// The name of a field that websvc did not create: it is missing or has another type or analyzer.
pub(super) fn missing_fields(
    fields: &Map<String, Value>,
    existing: Option<&Map<String, Value>>,
) -> Result<Map<String, Value>, String> {
    let mut missing = Map::new();
    for (name, field) in fields {
        let known = existing.and_then(|existing| existing.get(name));
        let Some(known) = known else {
            if !ADDED_FIELDS.contains(&name.as_str()) {
                return Err(name.clone());
            }
            missing.insert(name.clone(), field.clone());
            continue;
        };
        let lacking = missing_subfields(field, known).map_err(|inner| format!("{name}{inner}"))?;
        missing.extend(lacking.map(|lacking| (name.clone(), lacking)));
    }
    Ok(missing)
}

/// Returns the part of the mapping of a field that an existing field lacks. A subfield may be missing, because its
/// language was configured later.
///
/// # Errors
/// The rest of the name of a field with another type or analyzer.
fn missing_subfields(field: &Value, existing: &Value) -> Result<Option<Value>, String> {
    let Some(subfields) = field.get("properties").and_then(Value::as_object) else {
        let is_same = ["type", "analyzer"].into_iter().all(|key| field.get(key) == existing.get(key));
        return is_same.then_some(None).ok_or_else(String::new);
    };
    let mut missing = Map::new();
    for (name, subfield) in subfields {
        let lacking = match existing.get("properties").and_then(|existing| existing.get(name)) {
            None => Some(subfield.clone()),
            Some(known) => missing_subfields(subfield, known).map_err(|inner| format!(".{name}{inner}"))?,
        };
        missing.extend(lacking.map(|lacking| (name.clone(), lacking)));
    }
    Ok((!missing.is_empty()).then(|| json!({ "properties": missing })))
}

/// Returns the request body that creates an index in Quickwit.
pub(super) fn quickwit_index(name: &str) -> Value {
    let mappings: Vec<Value> = FIELDS
        .iter()
        .map(|(name, kind, is_array)| {
            let text = if *is_array { "array<text>" } else { "text" };
            match kind {
                Kind::Words => json!({"name": name, "type": text, "tokenizer": "default",
                    "record": "position", "fieldnorms": true}),
                Kind::Exact => json!({"name": name, "type": text, "tokenizer": "raw"}),
                Kind::Date => json!({"name": name, "type": "datetime", "input_formats": ["rfc3339"],
                    "fast": true}),
                Kind::Stored => json!({"name": name, "type": text, "indexed": false}),
            }
        })
        .collect();
    json!({
        "version": "0.8",
        "index_id": name,
        "doc_mapping": {"mode": "lenient", "field_mappings": mappings},
        "indexing_settings": {"commit_timeout_secs": 2},
    })
}

#[cfg(test)]
mod tests {
    use super::super::record::Record;
    use super::*;

    #[test]
    fn all_fields_of_a_record_are_mapped() {
        let Value::Object(record) = serde_json::to_value(Record::default()).unwrap() else { panic!() };
        let mut written: Vec<&str> = record.keys().map(String::as_str).collect();
        let mut mapping: Vec<&str> = FIELDS.iter().map(|(name, ..)| *name).collect();
        written.sort_unstable();
        mapping.sort_unstable();
        assert_eq!(written, mapping);
        for (name, _, is_array) in FIELDS {
            assert_eq!(record[name].is_array(), is_array, "{name}");
        }
        assert!(RETURNED_FIELDS.iter().all(|name| record.contains_key(*name)));
    }

    #[test]
    fn missing_fields_are_those_of_later_versions_and_languages() {
        let fields = elasticsearch_fields(&Stems::new(None).unwrap());
        let missing = |change: &dyn Fn(&mut Value)| {
            let mut existing = Value::Object(fields.clone());
            change(&mut existing);
            missing_fields(&fields, existing.as_object())
        };
        let remove = |pointer: &'static str, name: &'static str| {
            move |fields: &mut Value| {
                fields.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap().shift_remove(name);
            }
        };
        assert_eq!(missing(&|_| {}), Ok(Map::new()));
        let stems = missing(&remove("", STEMS)).unwrap();
        assert_eq!(stems.get(STEMS), fields.get(STEMS));
        let french = missing(&remove("/stems/properties", "fr")).unwrap();
        let french = french.get(STEMS).and_then(|stems| stems.get("properties")).unwrap();
        assert_eq!(french["fr"]["properties"]["text"]["analyzer"], "french");
        assert_eq!(french.as_object().unwrap().len(), 1);
        assert_eq!(missing(&remove("", "body")), Err("body".to_owned()));
        let other_analyzer = |fields: &mut Value| {
            fields["stems"]["properties"]["de"]["properties"]["text"]["analyzer"] = "english".into();
        };
        assert_eq!(missing(&other_analyzer), Err("stems.de.text".to_owned()));
        assert_eq!(missing_fields(&fields, None), Err("url".to_owned()), "another index has none of them");
    }
}
