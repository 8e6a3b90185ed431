//! The fields of the index, and its format number.
//!
//! Pages and images have the same fields. Those of an image say of its page: `url`, `site`, `language`, `date`,
//! `first_seen`, `label`, `links`; the others are its own.

use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, STORED, STRING, Schema, SchemaBuilder, TextFieldIndexing,
    TextOptions,
};

use crate::packed_tokens::TOKENIZER;

/// The format of index directories. Raise it whenever fields, positions or stored bytes change their meaning.
pub(crate) const FORMAT: &str = "websvc-index 3";

/// First position of each section of a document in [`Fields::terms`] and [`Fields::exact`].
///
/// The title stands first in a region of fixed size so that a position alone tells title from body.
pub(crate) const BODY_AT: u32 = 64;

/// Titles are searched up to this many words.
pub(crate) const TITLE_WORDS: u32 = 48;

/// Positions between two sections, so that no phrase reaches across.
pub(crate) const SECTION_GAP: u32 = 32;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    /// The URL as one term.
    pub(crate) url: Field,
    /// The host, each parent domain, `host:port`, and each directory of the path.
    pub(crate) site: Field,
    /// The words of the URL.
    pub(crate) url_words: Field,
    /// File extensions, from the URL and from the media type.
    pub(crate) extension: Field,
    /// The words of the title as typed, for phrases, and their forms for `intitle:`, marked by [`STEM_MARK`].
    pub(crate) title: Field,
    /// Stems of everything, each as often as its section weighs: the field that ranks (BM25F). Only here are the words
    /// of the anchors, behind all sections of the page's own.
    pub(crate) terms: Field,
    /// Words as typed, stop words included: the field that matches phrases.
    pub(crate) exact: Field,
    /// The language code as one term.
    pub(crate) language: Field,
    /// When the page was published, else modified, else first seen; Unix seconds.
    pub(crate) date: Field,
    /// When the URL was first seen; Unix seconds.
    pub(crate) first_seen: Field,
    /// Of a page the hash of its content, of an image that of its URL.
    pub(crate) fingerprint: Field,
    /// Label of the page's kind: see [`NEWS`], [`EXPLICIT`], [`country_label`].
    pub(crate) label: Field,
    /// The hosts that the page links to, and their parent domains, without its own host.
    pub(crate) links: Field,
    /// The addresses that the links of the page lead to, see [`crate::anchors::target_key`].
    pub(crate) targets: Field,
    /// The hash of the anchors that the page was encoded with.
    pub(crate) anchors: Field,
    /// Width of an image in pixels, when known.
    pub(crate) width: Field,
    /// Height of an image in pixels, when known.
    pub(crate) height: Field,
    /// Of a page its record (see [`crate::record`]); then what a hit shows (see [`crate::card`]).
    pub(crate) card: Field,
}

/// Comes before the forms in [`Fields::title`], where they share the positions of the words.
pub(crate) const STEM_MARK: char = '\u{1}';

/// The label of news.
pub(crate) const NEWS: &str = "news";

/// The label of explicit pages.
pub(crate) const EXPLICIT: &str = "explicit";

/// Returns the label of the pages of a country, by its two letters in upper case.
pub(crate) fn country_label(country: &str) -> String {
    format!("country:{country}")
}

impl Fields {
    pub(crate) fn build() -> (Schema, Self) {
        let mut builder = Schema::builder();
        let fields = Self {
            url: builder.add_text_field("url", STRING),
            site: text(&mut builder, "site", IndexRecordOption::Basic, Norms::No),
            url_words: text(&mut builder, "url_words", IndexRecordOption::WithFreqsAndPositions, Norms::No),
            extension: text(&mut builder, "extension", IndexRecordOption::Basic, Norms::No),
            title: text(&mut builder, "title", IndexRecordOption::WithFreqsAndPositions, Norms::No),
            terms: text(&mut builder, "terms", IndexRecordOption::WithFreqsAndPositions, Norms::Yes),
            exact: text(&mut builder, "exact", IndexRecordOption::WithFreqsAndPositions, Norms::No),
            language: builder.add_text_field("language", STRING),
            date: builder.add_i64_field("date", FAST),
            first_seen: builder.add_i64_field("first_seen", FAST),
            fingerprint: builder.add_u64_field("fingerprint", FAST),
            label: text(&mut builder, "label", IndexRecordOption::Basic, Norms::No),
            links: text(&mut builder, "links", IndexRecordOption::Basic, Norms::No),
            targets: builder.add_u64_field("targets", NumericOptions::default().set_indexed()),
            anchors: builder.add_u64_field("anchors", FAST),
            width: builder.add_u64_field("width", FAST),
            height: builder.add_u64_field("height", FAST),
            card: builder.add_bytes_field("card", STORED),
        };
        (builder.build(), fields)
    }
}

/// Effect of the field's length on the ranking.
#[derive(Clone, Copy)]
enum Norms {
    Yes,
    No,
}

fn text(builder: &mut SchemaBuilder, name: &str, record: IndexRecordOption, norms: Norms) -> Field {
    let norms = matches!(norms, Norms::Yes);
    let indexing =
        TextFieldIndexing::default().set_tokenizer(TOKENIZER).set_index_option(record).set_fieldnorms(norms);
    builder.add_text_field(name, TextOptions::default().set_indexing_options(indexing))
}
