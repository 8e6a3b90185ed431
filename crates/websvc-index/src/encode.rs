//! Encoding of pages as fields of the index.

use std::collections::BTreeSet;

use jiff::Timestamp;
use tantivy::TantivyDocument;

use crate::address::{Address, extension_of_type};
use crate::analysis::{FormCache, Language, head};
use crate::anchors::{Anchor, Anchors, counted_links, target_key};
use crate::country::country_of;
use crate::display_doc::{self, DisplayDocHeader};
use crate::document::{Document, Link, News};
use crate::document_terms::{language_of, link_terms, linked_hosts};
use crate::document_tokens::{DocumentTokenizer, list, url_words};
use crate::explicit::is_explicit;
use crate::schema::{BODY_START, EXPLICIT, Fields, NEWS, country_label};
use crate::stored_record;

/// Weight of the words of the title; words of the body have weight one.
///
/// All sections are one field of the ranking, in which words are repeated by weight. This is BM25F, the variant of BM25
/// for structured text. Higher weights of the title gave worse results in the judged collections; ranking adds a
/// separate score for titles.
const TITLE_WEIGHT: usize = 1;
/// Weight of the words of headings.
const HEADING_WEIGHT: usize = 1;
/// Weight of the words of the description.
const DESCRIPTION_WEIGHT: usize = 1;
/// Weight of the words of the URL.
const URL_WEIGHT: usize = 1;

/// Maximum searchable bytes of a body, so that a single page cannot fill the index. The record stores the rest.
const MAX_BODY_BYTES: usize = 4 << 20;

/// A page encoded as fields.
pub(crate) struct EncodedPage {
    pub(crate) page: TantivyDocument,
    pub(crate) facts: PageFacts,
}

/// Properties of a page that its images inherit.
pub(crate) struct PageFacts {
    pub(crate) sites: Vec<String>,
    /// The URL of the page as readable text.
    pub(crate) url_text: String,
    pub(crate) language: String,
    /// In Unix seconds.
    pub(crate) date: Option<i64>,
    /// In Unix seconds.
    pub(crate) first_seen: Option<i64>,
    pub(crate) labels: Vec<String>,
    pub(crate) linked: Vec<String>,
}

impl PageFacts {
    /// Adds the fields that a page and its images share.
    pub(crate) fn add_to(&self, fields: &Fields, out: &mut TantivyDocument) {
        out.add_text(fields.site, list(self.sites.iter().cloned()));
        if !self.language.is_empty() {
            out.add_text(fields.language, &self.language);
        }
        if let Some(date) = self.date {
            out.add_i64(fields.date, date);
        }
        if let Some(first_seen) = self.first_seen {
            out.add_i64(fields.first_seen, first_seen);
        }
        out.add_text(fields.label, list(self.labels.iter().cloned()));
        out.add_text(fields.links, list(link_terms(&self.linked)));
    }
}

/// Encodes `document`; `None` if its URL has no host. `first_seen` is in Unix seconds.
pub(crate) fn encode(
    fields: &Fields,
    document: &Document,
    first_seen: Option<i64>,
    anchors: &Anchors,
    forms: &mut FormCache,
) -> Option<EncodedPage> {
    let Address { sites, text: url_text, topic, extension } = Address::parse(&document.url)?;
    let body = head(&document.body, MAX_BODY_BYTES);
    let description = document.description.as_deref().unwrap_or_default();
    let language = language_of(document, body);
    let published = document.published.map(Timestamp::as_second);
    let first_seen = first_seen.or_else(|| document.seen.map(Timestamp::as_second));
    let date = published.or_else(|| document.modified.map(Timestamp::as_second)).or(first_seen);
    let linked = linked_hosts(document, &sites);

    let mut words = DocumentTokenizer::new(Language::from_code(&language), forms);
    words.title(&document.title, TITLE_WEIGHT);
    let news_image = document.news.as_ref().and_then(|News { image_url }| image_url.as_deref());
    let header = DisplayDocHeader {
        url: &document.url,
        title: &document.title,
        description,
        language: &language,
        published,
        date,
        image: news_image.unwrap_or_default(),
        width: None,
        height: None,
        linked: &linked.join(" "),
    };
    words.position = BODY_START;
    // The stored bytes must end with the display document, which is the only part that searches read.
    let mut stored = stored_record::encode(document, body);
    stored.extend(display_doc::encode(&header, body, |passage| words.section(passage, 1)));
    for heading in &document.headings {
        words.gap();
        words.section(heading, HEADING_WEIGHT);
    }
    words.gap();
    words.section(description, DESCRIPTION_WEIGHT);
    words.gap();
    words.section(&topic, URL_WEIGHT);
    for Anchor { text, weight } in anchors.iter() {
        words.gap();
        words.anchor(text, *weight);
    }

    let labels = labels(document, &words);
    let facts = PageFacts { sites, url_text, language, date, first_seen, labels, linked };
    let mut out = TantivyDocument::new();
    out.add_text(fields.url, &document.url);
    out.add_text(fields.url_words, url_words(&facts.url_text));
    let by_type = document.content_type.as_deref().and_then(extension_of_type).map(str::to_owned);
    out.add_text(fields.extension, list(extension.into_iter().chain(by_type)));
    out.add_text(fields.label, list(words.reversed_words()));
    out.add_text(fields.title, words.titles.finish());
    out.add_text(fields.terms, words.terms.finish());
    out.add_text(fields.exact, words.exact.finish());
    facts.add_to(fields, &mut out);
    out.add_u64(fields.fingerprint, document.fingerprint());
    out.add_u64(fields.anchors, anchors.fingerprint());
    let links = document.links.iter().map(|Link { url, text }| (url.as_str(), text.as_str()));
    let targets: BTreeSet<u64> =
        counted_links(&document.url, links).iter().map(|(url, _)| target_key(url)).collect();
    targets.into_iter().for_each(|target| out.add_u64(fields.targets, target));
    out.add_bytes(fields.stored, &stored);
    Some(EncodedPage { page: out, facts })
}

fn labels(document: &Document, words: &DocumentTokenizer<'_>) -> Vec<String> {
    let mut labels = Vec::new();
    if document.news.is_some() {
        labels.push(NEWS.to_owned());
    }
    if document.explicit || is_explicit(&document.url, words.exact.texts()) {
        labels.push(EXPLICIT.to_owned());
    }
    labels.extend(country_of(document).map(|country| country_label(&country)));
    labels
}
