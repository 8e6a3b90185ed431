//! The one place of the names of fields: what a document is there, and how an index for them is made.
//!
//! A page is one document with its images in it, so that writing it again replaces all of it. There are only types
//! that Elasticsearch, OpenSearch and Quickwit share: text, exact text, and a date. Images are kept as JSON in texts,
//! because nested documents are not known to all three.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;
use websvc_index::{Document, DocumentTerms, Image, one_extension};

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
}

/// The label of pages that have images, beside those of [`Outline::labels`].
pub(super) const WITH_IMAGES: &str = "images";

/// What a search needs back; the rest of a document may be long.
pub(super) const SHOWN: [&str; 6] = ["url", "title", "description", "date", "picture", "images"];

/// A description of a page that has none is the beginning of its text, so long.
const DESCRIPTION_CHARS: usize = 300;

/// The fields of a page as they are written and read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    pub(super) url: String,
    pub(super) title: String,
    pub(super) headings: Vec<String>,
    pub(super) body: String,
    pub(super) description: String,
    pub(super) language: String,
    pub(super) url_words: String,
    pub(super) sites: Vec<String>,
    pub(super) extensions: Vec<String>,
    pub(super) labels: Vec<String>,
    /// RFC 3339, in whole seconds.
    pub(super) date: Option<String>,
    pub(super) picture: Option<String>,
    pub(super) image_words: Vec<String>,
    pub(super) image_sizes: Vec<String>,
    /// File extensions.
    pub(super) image_types: Vec<String>,
    /// Each is an [`ImageRecord`] as JSON.
    pub(super) images: Vec<String>,
}

/// An image of a page, as [`Record::images`] has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ImageRecord {
    pub(super) url: String,
    pub(super) alt: String,
    pub(super) caption: String,
    pub(super) context: String,
    pub(super) width: Option<u32>,
    pub(super) height: Option<u32>,
}

impl Record {
    /// Returns the record of a page; `None` when its URL has no host.
    pub(super) fn of(document: Document) -> Option<Self> {
        let DocumentTerms { sites, url_words, extensions, mut labels, date } = DocumentTerms::of(&document)?;
        let Document {
            url,
            title,
            headings,
            body,
            description,
            language,
            published: _,
            modified: _,
            seen: _,
            content_type: _,
            country: _,
            explicit: _,
            images,
            links: _,
            news,
        } = document;
        let description = description.filter(|text| !text.trim().is_empty());
        let description = description.unwrap_or_else(|| body.chars().take(DESCRIPTION_CHARS).collect());
        let pictures: Vec<ImageRecord> = images.into_iter().map(ImageRecord::of).collect();
        if !pictures.is_empty() {
            labels.push(WITH_IMAGES.to_owned());
        }
        let date = date.and_then(|date| Timestamp::from_second(date.as_second()).ok());
        Some(Self {
            url,
            title,
            headings,
            body,
            description,
            language: language.unwrap_or_default(),
            url_words,
            sites,
            extensions,
            labels,
            date: date.map(|date| date.to_string()),
            picture: news.and_then(|news| news.image_url),
            image_words: pictures.iter().map(ImageRecord::text).collect(),
            image_sizes: pictures.iter().filter_map(ImageRecord::size).collect(),
            image_types: pictures.iter().filter_map(ImageRecord::extension).collect(),
            images: pictures.iter().filter_map(|picture| serde_json::to_string(picture).ok()).collect(),
        })
    }
}

impl ImageRecord {
    fn of(image: Image) -> Self {
        let Image { url, alt, caption, context, width, height } = image;
        Self { url, alt, caption, context, width, height }
    }

    /// Returns the words that it is found by.
    pub(super) fn text(&self) -> String {
        [&self.alt, &self.caption, &self.context].map(String::as_str).join("\n")
    }

    /// Returns the file extension; the one that stands for those that mean the same.
    pub(super) fn extension(&self) -> Option<String> {
        let url = Url::parse(&self.url).ok()?;
        let (_, extension) = url.path_segments()?.next_back()?.rsplit_once('.')?;
        let extension = extension.to_ascii_lowercase();
        let is_one =
            (1..=6).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_one.then(|| one_extension(&extension).to_owned())
    }

    fn size(&self) -> Option<String> {
        Some(format!("{}x{}", self.width?, self.height?))
    }
}

/// How a field is indexed.
#[derive(Clone, Copy)]
enum Kind {
    /// Words with their places.
    Words,
    /// As it is; several in one document.
    Exact,
    Date,
    /// Kept, not searched.
    Kept,
}

/// Every field of [`Record`] with how it is indexed and whether there may be several.
const FIELDS: [(&str, Kind, bool); 16] = [
    ("url", Kind::Exact, false),
    (field::TITLE, Kind::Words, false),
    (field::HEADINGS, Kind::Words, true),
    (field::BODY, Kind::Words, false),
    ("description", Kind::Kept, false),
    ("language", Kind::Exact, false),
    (field::URL_WORDS, Kind::Words, false),
    (field::SITES, Kind::Exact, true),
    (field::EXTENSIONS, Kind::Exact, true),
    (field::LABELS, Kind::Exact, true),
    (field::DATE, Kind::Date, false),
    ("picture", Kind::Kept, false),
    (field::IMAGE_WORDS, Kind::Words, true),
    (field::IMAGE_SIZES, Kind::Exact, true),
    (field::IMAGE_TYPES, Kind::Exact, true),
    ("images", Kind::Kept, true),
];

/// Returns the body that makes an index in Elasticsearch or OpenSearch.
pub(super) fn elasticsearch_index() -> Value {
    let properties: serde_json::Map<String, Value> = FIELDS
        .iter()
        .map(|(name, kind, _)| {
            let mapped = match kind {
                // Offsets let long texts be highlighted without analysing them again.
                Kind::Words => json!({"type": "text", "analyzer": "websvc", "index_options": "offsets"}),
                Kind::Exact => json!({"type": "keyword", "ignore_above": 8191}),
                Kind::Date => json!({"type": "date"}),
                Kind::Kept => json!({"type": "keyword", "index": false, "doc_values": false}),
            };
            ((*name).to_owned(), mapped)
        })
        .collect();
    json!({
        "settings": {
            "index": {"refresh_interval": "1s"},
            "analysis": {"analyzer": {"websvc": {
                "type": "custom",
                "tokenizer": "standard",
                "filter": ["cjk_width", "lowercase", "asciifolding", "cjk_bigram"],
            }}},
        },
        "mappings": {"dynamic": false, "properties": properties},
    })
}

/// Returns the body that makes an index in Quickwit.
pub(super) fn quickwit_index(name: &str) -> Value {
    let mappings: Vec<Value> = FIELDS
        .iter()
        .map(|(name, kind, is_several)| {
            let text = if *is_several { "array<text>" } else { "text" };
            match kind {
                Kind::Words => json!({"name": name, "type": text, "tokenizer": "default",
                    "record": "position", "fieldnorms": true}),
                Kind::Exact => json!({"name": name, "type": text, "tokenizer": "raw"}),
                Kind::Date => json!({"name": name, "type": "datetime", "input_formats": ["rfc3339"],
                    "fast": true}),
                Kind::Kept => json!({"name": name, "type": text, "indexed": false}),
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
    use super::*;

    #[test]
    fn every_field_of_a_record_is_mapped() {
        let Value::Object(record) = serde_json::to_value(Record::default()).unwrap() else { panic!() };
        let mut written: Vec<&str> = record.keys().map(String::as_str).collect();
        let mut mapped: Vec<&str> = FIELDS.iter().map(|(name, ..)| *name).collect();
        written.sort_unstable();
        mapped.sort_unstable();
        assert_eq!(written, mapped);
        for (name, _, is_several) in FIELDS {
            assert_eq!(record[name].is_array(), is_several, "{name}");
        }
        assert!(SHOWN.iter().all(|name| record.contains_key(*name)));
    }

    #[test]
    fn a_page_without_description_is_described_by_its_beginning() {
        let document =
            Document { url: "http://a.test/".to_owned(), body: "x".repeat(400), ..Document::default() };
        let record = Record::of(document).unwrap();
        assert_eq!(record.description, "x".repeat(300));
        assert_eq!(record.sites, ["a.test", "test"]);
    }
}
