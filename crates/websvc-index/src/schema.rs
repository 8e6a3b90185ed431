//! The fields of the index, and its format number.

use tantivy::schema::{
    FAST, Field, IndexRecordOption, STORED, STRING, Schema, SchemaBuilder, TextFieldIndexing, TextOptions,
};

/// The format of index directories. Raise it whenever fields, positions or stored bytes change their meaning.
pub(crate) const FORMAT: &str = "websvc-index 1";

/// Where the sections of a document begin in the positions of [`Fields::terms`] and [`Fields::exact`].
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
    /// Stems of everything, each as often as its section weighs: the field that ranks (BM25F).
    pub(crate) terms: Field,
    /// Words as typed, stop words included: the field that matches phrases.
    pub(crate) exact: Field,
    /// The language code as one term.
    pub(crate) language: Field,
    /// When the page was published, else modified, else first seen; Unix seconds.
    pub(crate) date: Field,
    /// When the URL was first seen; Unix seconds.
    pub(crate) first_seen: Field,
    /// Hash of the content.
    pub(crate) fingerprint: Field,
    /// What a hit shows: see [`crate::card`].
    pub(crate) card: Field,
}

/// Comes before the forms in [`Fields::title`], where they share the positions of the words.
pub(crate) const STEM_MARK: char = '\u{1}';

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
            card: builder.add_bytes_field("card", STORED),
        };
        (builder.build(), fields)
    }
}

/// Whether the length of the field counts in ranking.
#[derive(Clone, Copy)]
enum Norms {
    Yes,
    No,
}

fn text(builder: &mut SchemaBuilder, name: &str, record: IndexRecordOption, norms: Norms) -> Field {
    let norms = matches!(norms, Norms::Yes);
    let indexing = TextFieldIndexing::default().set_index_option(record).set_fieldnorms(norms);
    builder.add_text_field(name, TextOptions::default().set_indexing_options(indexing))
}
