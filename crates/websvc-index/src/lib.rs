//! The embedded full-text index of websvc.
//!
//! [`Index::open`] opens a directory and is cheap. [`Index::add`] sends documents to the writer thread, which commits
//! them within about a second. [`Index::search`] runs a [`websvc_query::Query`] and may be called from any number of
//! threads. No type of tantivy, the search library, leaves this crate, except as the source of an error.
//!
//! ```
//! # let dir = tempfile::tempdir()?;
//! use websvc_index::{Document, Index, IndexConfig, SearchOptions};
//!
//! let index = Index::open(dir.path(), IndexConfig::default())?;
//! index.add(Document {
//!     url: "https://docs.example/asyncio".to_owned(),
//!     title: "Coroutines and tasks".to_owned(),
//!     body: "Run awaitable objects concurrently with gather.".to_owned(),
//!     ..Document::default()
//! })?;
//! index.flush()?;
//! let query = websvc_query::parse("gathering awaitables").query;
//! let outcome = index.search(&query, &SearchOptions::default())?;
//! assert_eq!(outcome.hits[0].url, "https://docs.example/asyncio");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod analysis;
mod anchor_update;
mod anchors;
mod backlog;
mod bytes;
mod candidate;
mod compiled;
mod copies;
mod country;
mod creation;
mod decompound;
mod display_doc;
mod display_doc_cache;
mod document;
mod document_terms;
mod document_tokens;
mod encode;
mod error;
mod exclusion_query;
mod explicit;
mod export;
mod feedback;
mod filter;
mod filtered_query;
mod finder;
mod freshness;
mod image_fields;
mod index;
mod index_shared;
mod journal;
mod lazy_writer;
mod lexicon;
mod packed_tokens;
mod place;
mod query_words;
mod rank;
mod related;
mod remove_site;
mod run;
mod schema;
mod search;
mod search_options;
mod segment_dates;
mod select;
mod semantic;
mod snapshot;
mod snippet;
mod stored_record;
mod sub_index;
mod suggest;
mod vocabulary;
mod writer_handle;
mod writer_thread;

pub use analysis::{detect as detect_language, is_stop_word, stop_words};
pub use copies::{MIN_COPY_WORDS, MIN_RESEMBLANCE, SHINGLE_WORDS, can_be_copies};
pub use document::{Document, Image, Link, News};
pub use document_terms::{
    DocumentTerms, EXPLICIT_LABEL, ImageUrlTerms, NEWS_LABEL, folded_words, label_of_country, one_extension,
    site_entries,
};
pub use error::IndexError;
pub use image_fields::searchable_images;
pub use index::{Index, Stats};
pub use index_shared::IndexConfig;
pub use related::topic_words;
pub use search_options::{
    DomainFilter, Hit, HitImage, Place, Safe, SearchOptions, SearchOutcome, SnippetMode, Vertical,
};
pub use semantic::{EmbeddingProgress, EncodeError, PassageEncoder, SemanticConfig, SemanticStats};
