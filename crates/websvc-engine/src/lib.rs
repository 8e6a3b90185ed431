//! The operations of websvc: search, maps of sites, and crawling into the index.
//!
//! [`Engine::search`] runs the stages 7 to 10 of a request: find the hits, gather their pages, assemble the response,
//! charge for it. [`Engine::map`] lists the URLs of a site. [`crawl`] crawls sites politely into the embedded index.

mod bill;
mod blocking;
mod change_tracking;
pub mod crawl;
mod domain;
mod embedding;
mod engine;
mod engine_config;
mod error;
mod export;
mod generated;
mod ingest;
mod interactive;
mod map;
mod media;
mod mirror;
mod monitor_estimate;
mod policy;
mod pricing;
mod prompt;
mod rerank;
mod scope;
mod search;
mod source;
mod team_indexes;
mod upload_check;

pub use bill::{Bill, BillLine, ChargeKind};
pub use blocking::{ComputeError, run_blocking};
pub use change_tracking::page_diff;
pub use embedding::{EncoderPrefixes, LocalEncoder, RemoteEncoder};
pub use engine::Engine;
pub use engine_config::{EngineConfig, IndexMode};
pub use error::EngineError;
pub use export::to_index_document;
pub use generated::{
    NamedAnswer, NoAnswer, SCHEMA_COMPILER, check_named, name_personal_data, schema_violation,
};
pub use ingest::{IndexCopy, IndexingFailure, IndexingOutcome, IngestError, ingest, ingest_durably};
pub use interactive::SessionUse;
pub use map::{MapOutcome, SiteUrls};
pub use media::MediaTools;
pub use mirror::{Mirror, MirrorMetrics, OutboxError, OutboxState, OutboxStatus};
pub use monitor_estimate::MonitorEstimate;
pub use policy::{PolicyError, team_policy, team_retention};
pub use pricing::Pricing;
pub use prompt::{PromptError, PromptOptions};
pub use rerank::{Ranked, Ranking, rerank};
pub use scope::{SweepError, remove_ownerless};
pub use search::{NO_PAGES, PageOutcome, SearchOutcome, StageTimings, page_content};
pub use source::{
    ApiDefinition, BulkReport, DeclarationError, DeletionOutcome, Elasticsearch, ElasticsearchConfig,
    ElasticsearchDeclaration, ElasticsearchWriter, EndpointConfig, FailureKind, FilterSupport, Hit, HitImage,
    HttpJson, HttpJsonConfig, IndexServerError, IndexSource, ListedPage, OutboxLimits, PageSelection,
    ResultKind, SearchSource, Searxng, SearxngConfig, ServerIndexStats, SourceFit, SourceFuture,
    SourceHealth, SourceMetrics, SourceRequest, SourceResponse, Topic,
};
pub use team_indexes::TeamIndexes;
