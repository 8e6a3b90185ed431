//! The embedded full-text index of websvc.
//!
//! [`Index::open`] opens a directory cheaply; [`Index::add`] hands documents to one writing thread that commits
//! within about a second; [`Index::search`] answers a [`websvc_query::Query`] from any number of threads. The
//! search engine beneath is known in this crate only.
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
mod anchors;
mod backlog;
mod bytes;
mod card;
mod cards;
mod checked;
mod desk;
mod document;
mod encode;
mod error;
mod explicit;
mod export;
mod feedback;
mod filter;
mod finder;
mod freshness;
mod highlight;
mod index;
mod journal;
mod lexicon;
mod maintain;
mod outline;
mod owner;
mod packed;
mod picture;
mod place;
mod rank;
mod record;
mod related;
mod schema;
mod search;
mod select;
mod settle;
mod settled;
mod shelf;
mod snapshot;
mod suggest;
mod tokens;
mod vocabulary;
mod writer;

pub use document::{Document, Image, Link, News};
pub use error::IndexError;
pub use index::{Index, IndexConfig, Stats};
pub use outline::{
    EXPLICIT_LABEL, NEWS_LABEL, Outline, folded_words, label_of_country, one_extension, site_entries,
};
pub use search::{DomainFilter, Highlights, Hit, HitImage, Safe, SearchOptions, SearchOutcome, Vertical};
