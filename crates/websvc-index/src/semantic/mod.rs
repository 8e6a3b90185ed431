//! Search by meaning: vectors of the passages of pages, in addition to their words.
//!
//! A [`PassageEncoder`] turns texts into vectors. A background thread ([`embedder`]) encodes the passages of committed pages
//! and appends their vectors to a [`store`] in the directory of the index. A vector belongs to the hash of the content of
//! a page, so a changed page gets new vectors, and the same content at two addresses shares them.
//!
//! A search encodes its query, finds the pages with the most similar passages ([`scores`], [`nearest`]) in addition to the
//! candidates of the words, and combines both scores ([`fusion`]). All filters of the query hold for both. A page without
//! vectors is ranked by its words. Without a vector of the query, the search is one by words.

mod embedder;
mod encoder;
mod fusion;
mod nearest;
mod passages;
mod quantized;
mod query;
mod scores;
mod store;
mod store_files;

pub use embedder::EmbeddingProgress;
pub(crate) use embedder::{Embedder, StopFlag};
pub use encoder::{EncodeError, PassageEncoder, SemanticConfig};
pub(crate) use fusion::Meaning;
pub use query::SemanticStats;
pub(crate) use query::{MeaningSource, Semantic};
