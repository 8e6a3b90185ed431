//! The fields of the index, and the version of its format.
//!
//! Pages and images have the same fields. In an image, the fields `url`, `site`, `language`, `date`, `first_seen`,
//! `label` and `links` describe its page; the other fields describe the image itself.

use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, STORED, STRING, Schema, SchemaBuilder, TextFieldIndexing,
    TextOptions,
};

use crate::packed_tokens::TOKENIZER;

/// The format of index directories. Increase the number whenever fields, positions or stored bytes change their
/// meaning.
pub(crate) const FORMAT: &str = "websvc-index 3";

/// First position of the body in [`Fields::terms`] and [`Fields::exact`].
///
/// The title has a region of fixed size before it, so that a position alone distinguishes title and body.
pub(crate) const BODY_START: u32 = 64;

/// Maximum searchable words of a title.
pub(crate) const TITLE_WORDS: u32 = 48;

/// Number of positions between two sections, so that no phrase matches across them.
pub(crate) const SECTION_GAP: u32 = 32;

/// The fields of pages and images.
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
    /// The folded words of the title, for phrases, and at the same positions their forms, for `intitle:`, which begin
    /// with [`STEM_MARK`].
    pub(crate) title: Field,
    /// The texts that are also written as one word have a prefix, [`JOINED_MARK`], because a query with their words must
    /// not score them twice. The stems of all sections, repeated by the weight of the section: the field for ranking (BM25F). Only this field
    /// has the words of the anchors, after all sections of the page itself.
    pub(crate) terms: Field,
    /// The folded words, including stop words: the field for phrases.
    pub(crate) exact: Field,
    /// The language code as one term.
    pub(crate) language: Field,
    /// The first known of: time of publication, of modification, first seen; in Unix seconds.
    pub(crate) date: Field,
    /// Time at which the URL was first seen, in Unix seconds.
    pub(crate) first_seen: Field,
    /// The hash of the content of a page, or of the URL of an image.
    pub(crate) fingerprint: Field,
    /// Labels of the page: see [`NEWS`], [`EXPLICIT`], [`country_label`]. In languages with compounds also the long words
    /// of the page backwards, which begin with [`REVERSED_MARK`].
    pub(crate) label: Field,
    /// The hosts that the page links to, and their parent domains, without its own host.
    pub(crate) links: Field,
    /// The keys of the URLs that the page links to, see [`crate::anchors::target_key`].
    pub(crate) targets: Field,
    /// The hash of the anchors with which the page was encoded.
    pub(crate) anchors: Field,
    /// Width of an image in pixels, if known.
    pub(crate) width: Field,
    /// Height of an image in pixels, if known.
    pub(crate) height: Field,
    /// The stored bytes: the record of a page (see [`crate::stored_record`]), then the display document of a page or
    /// image (see [`crate::display_doc`]).
    pub(crate) stored: Field,
}

/// Prefix of the forms in [`Fields::title`].
pub(crate) const STEM_MARK: char = '\u{1}';

/// Prefix of the texts written as one word in [`Fields::terms`].
pub(crate) const JOINED_MARK: char = '\u{3}';

/// Prefix of the words backwards in [`Fields::label`].
pub(crate) const REVERSED_MARK: char = '\u{2}';

/// The label of news pages.
pub(crate) const NEWS: &str = "news";

/// The label of explicit pages.
pub(crate) const EXPLICIT: &str = "explicit";

/// Returns the label of the pages of a country, given by its two-letter code in upper case.
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
            stored: builder.add_bytes_field("card", STORED),
        };
        (builder.build(), fields)
    }
}

/// Storage of field lengths, which ranking needs.
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
