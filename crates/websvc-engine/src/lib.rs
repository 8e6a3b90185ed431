//! The operations of websvc: search, maps of sites, and crawling into the index.
//!
//! [`Engine::search`] is stages 7 to 10 of a request: find the hits, gather their pages, assemble the answer,
//! charge for it. [`Engine::map`] lists the URLs of a site. [`crawl`] fills the embedded index from the network, politely.

mod bill;
mod compute;
pub mod crawl;
mod engine;
mod error;
mod export;
mod file;
mod ingest;
mod map;
mod mirror;
mod policy;
mod pricing;
mod prompt;
mod rerank;
mod scope;
mod search;
mod source;
mod team_indexes;
mod written;

pub use bill::{Bill, BillLine, Item};
pub use compute::{ComputeError, computed};
pub use engine::{Engine, EngineConfig, IndexUse};
pub use error::EngineError;
pub use export::to_wire;
pub use ingest::{IngestError, ingest, ingest_durably};
pub use map::{MapOutcome, Mapped};
pub use mirror::{Mirror, MirrorReport};
pub use policy::{PolicyError, team_policy, team_retention};
pub use pricing::Pricing;
pub use prompt::{Prompted, UnreadPrompt};
pub use rerank::{Ranked, Ranking, rerank};
pub use scope::{SweepError, remove_ownerless};
pub use search::{NO_PAGES, PageOutcome, SearchOutcome, Stages, page_content};
pub use source::{
    Answer, AnswerFuture, Ask, Condition, Declaration, DeclarationError, Elasticsearch, ElasticsearchConfig,
    ElasticsearchDeclaration, ElasticsearchWriter, EndpointConfig, Failure, Filters, Hit, HitImage, HttpJson,
    HttpJsonConfig, IndexSource, LATENCY_BOUNDS_MS, SearchSource, Searxng, SearxngConfig, SourceFigures,
    Written,
};
pub use team_indexes::TeamIndexes;
