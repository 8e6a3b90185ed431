//! The fields of a stored document, and the index mapping for them.
//!
//! A page is one document that contains its images, so that writing a page again replaces all of it. Only types that
//! Elasticsearch, OpenSearch and Quickwit share are used: text, exact text and date. Images are stored as JSON in
//! texts, because not all three support nested documents. Elasticsearch and OpenSearch have [stems](super::stems), too.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use url::Url;
use websvc_index::{Document, DocumentTerms, Image, ImageUrlTerms, one_extension, searchable_images};

use super::server::IndexLayout;
use super::sketch::Sketch;
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

/// The label of pages with images, in addition to the labels of [`DocumentTerms::labels`].
pub(super) const WITH_IMAGES: &str = "images";

/// The fields that a search returns. The others may be long.
pub(super) const RETURNED_FIELDS: [&str; 7] =
    ["url", "title", "description", "date", "picture", "images", "sketch"];

/// The length of the beginning of the text that is used for a missing description.
const DESCRIPTION_CHARS: usize = 300;

/// A page as it is stored.
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
    /// The date that the page declares, for the ranking. The time of the fetch says little about the age of a page.
    pub(super) published: Option<String>,
    /// See [`Sketch`].
    pub(super) sketch: String,
    /// The image of a news page.
    #[serde(rename = "picture")]
    pub(super) news_image: Option<String>,
    pub(super) image_words: Vec<String>,
    pub(super) image_sizes: Vec<String>,
    /// File extensions.
    pub(super) image_types: Vec<String>,
    /// Each is an [`ImageRecord`] as JSON.
    pub(super) images: Vec<String>,
    pub(super) image_url_words: Vec<String>,
    /// The hosts that the page links to, and their parent domains.
    pub(super) links: Vec<String>,
    /// The hosts that the page links to.
    pub(super) linked_hosts: Vec<String>,
}

/// An image in [`Record::images`].
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
    /// Converts a page to a record; `None` if its URL has no host.
    pub(super) fn from_document(document: Document) -> Option<Self> {
        let DocumentTerms { sites, url_words, extensions, mut labels, date, linked_hosts, links, language } =
            DocumentTerms::from_document(&document)?;
        let images: Vec<ImageRecord> =
            searchable_images(&document).into_iter().cloned().map(ImageRecord::from_image).collect();
        let image_words = images.iter().map(|image| image.text(&document.title)).collect();
        let Document {
            url,
            title,
            headings,
            body,
            description,
            language: _,
            published,
            modified,
            seen: _,
            content_type: _,
            country: _,
            explicit: _,
            images: _,
            links: _,
            news,
        } = document;
        let description = description.filter(|text| !text.trim().is_empty());
        let description = description.unwrap_or_else(|| body.chars().take(DESCRIPTION_CHARS).collect());
        if !images.is_empty() {
            labels.push(WITH_IMAGES.to_owned());
        }
        let to_text =
            |time: Timestamp| Timestamp::from_second(time.as_second()).ok().map(|at| at.to_string());
        Some(Self {
            sketch: Sketch::from_text(&body).map(|sketch| sketch.to_string()).unwrap_or_default(),
            url,
            title,
            headings,
            body,
            description,
            language,
            url_words,
            sites,
            extensions,
            labels,
            date: date.and_then(to_text),
            published: published.or(modified).and_then(to_text),
            news_image: news.and_then(|news| news.image_url),
            image_words,
            image_url_words: images
                .iter()
                .map(|image| ImageUrlTerms::from_url(&image.url).url_words)
                .collect(),
            image_sizes: images.iter().filter_map(ImageRecord::size).collect(),
            image_types: images.iter().filter_map(ImageRecord::extension).collect(),
            images: images.iter().filter_map(|image| serde_json::to_string(image).ok()).collect(),
            links,
            linked_hosts,
        })
    }
}

impl ImageRecord {
    fn from_image(image: Image) -> Self {
        let Image { url, alt, caption, context, width, height } = image;
        Self { url, alt, caption, context, width, height }
    }

    /// Returns the searchable text. The title of the page and the name of the file describe the image, too.
    pub(super) fn text(&self, page_title: &str) -> String {
        let name = ImageUrlTerms::from_url(&self.url).name_words;
        [&self.alt, &self.caption, &self.context, page_title, &name].join("\n")
    }

    /// Returns the title: the alternative text or the caption, otherwise the title of the page.
    pub(super) fn title<'a>(&'a self, page_title: &'a str) -> &'a str {
        let own_title = [&self.alt, &self.caption].into_iter().find(|text| !text.trim().is_empty());
        own_title.map_or(page_title, String::as_str)
    }

    /// Returns the file extension in its canonical form, such as one for `jpg` and `jpeg`.
    pub(super) fn extension(&self) -> Option<String> {
        let url = Url::parse(&self.url).ok()?;
        let (_, extension) = url.path_segments()?.next_back()?.rsplit_once('.')?;
        let extension = extension.to_ascii_lowercase();
        let is_valid =
            (1..=6).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_valid.then(|| one_extension(&extension).to_owned())
    }

    fn size(&self) -> Option<String> {
        Some(format!("{}x{}", self.width?, self.height?))
    }
}

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

/// All fields of [`Record`], with their types and whether they have several values.
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

    #[test]
    fn missing_description_is_the_beginning_of_the_text() {
        let document =
            Document { url: "http://a.test/".to_owned(), body: "x".repeat(400), ..Document::default() };
        let record = Record::from_document(document).unwrap();
        assert_eq!(record.description, "x".repeat(300));
        assert_eq!(record.sites, ["a.test", "test"]);
    }
}
