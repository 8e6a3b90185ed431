//! Wire models of the websvc HTTP interface: requests, responses, limits, errors and their JSON Schemas.
//!
//! Depend on this crate alone to share schemas with a websvc service: it does no IO, needs no runtime and builds for
//! every target. A request type holds what was sent, so that nothing given and a default given differ; the crate
//! `websvc-validate` turns it into what will be done.
//!
//! ```
//! use websvc_types::{Format, SearchRequest};
//!
//! let request: SearchRequest = serde_json::from_str(
//!     r#"{"query": "asyncio gather", "sources": ["web"], "scrapeOptions": {"formats": ["markdown", {"type": "links"}]}}"#,
//! )?;
//! let formats = request.scrape_options.and_then(|options| options.formats).unwrap_or_default();
//! assert_eq!(formats.iter().map(Format::name).collect::<Vec<_>>(), ["markdown", "links"]);
//! # Ok::<(), serde_json::Error>(())
//! ```
#![deny(missing_docs)]

pub mod action;
mod bare_name;
pub mod compat;
pub mod country;
mod error;
pub mod format;
pub mod index;
pub mod job;
pub mod limits;
pub mod map;
mod metadata;
pub mod openapi;
pub mod pattern;
pub mod rerank;
pub mod schema;
pub mod scrape;
pub mod search;
mod sitemap_mode;
pub mod status;
mod tagged;
pub mod usage;

pub use action::Action;
pub use error::{ErrorBody, ErrorCode, Violation, ViolationCode};
pub use format::Format;
#[expect(deprecated, reason = "old names stay for one release")]
pub use map::SitemapUse;
pub use map::{MapLink, MapRequest, MapResponse, SitemapMode};
pub use metadata::{CacheState, Metadata, ProxyUsed};
pub use scrape::{
    AuditMetadata, Location, ParseFormat, ParseFormatList, ParseFormats, ParseOptions, Parser, ParserKind,
    ParserMode, Profile, Proxy, RedactEntity, RedactMode, RedactOptions, RedactPii, ReplaceStyle,
    ScrapeOptions, ScrapeRequest, ScrapeResponse, ThreatFailurePolicy, ThreatMode, ThreatProtection,
    Viewport,
};
#[expect(deprecated, reason = "old names stay for one release")]
pub use search::Enterprise;
pub use search::{
    Category, ImageResult, NewsResult, PageContent, RetentionOption, SearchData, SearchRequest,
    SearchResponse, Source, SourceKind, WebResult,
};
