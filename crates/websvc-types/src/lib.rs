//! Types of the websvc HTTP interface: requests, responses, errors, limits and their JSON Schemas.
//!
//! websvc is a self-hosted service that searches the web, scrapes pages, maps sites and crawls them, in the wire format
//! of Firecrawl v2. This crate has what goes over the wire, and nothing else: it does no I/O, needs no async runtime
//! and builds for WebAssembly. Depend on it to
//!
//! - build requests and read responses with [serde](https://serde.rs),
//! - share types between a service and its clients,
//! - publish the JSON Schemas of the interface, see [`schema`].
//!
//! To send requests, use the client of the crate `websvc`, which re-exports this crate as `websvc::types`. To check a
//! request against the field rules, as the service does, use the crate `websvc-validate`.
//!
//! # First example
//!
//! A request can be built in Rust or read from JSON:
//!
//! ```
//! use websvc_types::{Format, ScrapeOptions, SearchRequest};
//!
//! let request = SearchRequest {
//!     limit: Some(5),
//!     scrape_options: Some(ScrapeOptions {
//!         formats: Some(vec![Format::markdown(), Format::links()]),
//!         ..ScrapeOptions::default()
//!     }),
//!     ..SearchRequest::new("asyncio gather")
//! };
//!
//! let body = r#"{
//!     "query": "asyncio gather",
//!     "limit": 5,
//!     "scrapeOptions": { "formats": ["markdown", { "type": "links" }] }
//! }"#;
//! assert_eq!(serde_json::from_str::<SearchRequest>(body)?, request);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # Main items
//!
//! | Operation | Request | Response |
//! |---|---|---|
//! | `POST /v2/search` | [`SearchRequest`] | [`SearchResponse`] |
//! | `POST /v2/scrape` | [`ScrapeRequest`] | [`ScrapeResponse`] |
//! | `POST /v2/parse` | [`ParseOptions`] and the file, or [`ParseUploadRequest`] | [`ScrapeResponse`] |
//! | `POST /v2/parse/upload-url` | [`UploadUrlRequest`] | [`UploadUrlResponse`] |
//! | `POST /v2/map` | [`MapRequest`] | [`MapResponse`] |
//! | `POST /v2/crawl` | [`job::CrawlRequest`] | [`job::StartJobResponse`] |
//! | `POST /v2/batch/scrape` | [`job::BatchScrapeRequest`] | [`job::StartJobResponse`] |
//! | `GET` of the job | - | [`job::JobStatusResponse`] |
//! | `POST /v2/monitor` | [`monitor::CreateMonitorRequest`] | [`monitor::MonitorResponse`] |
//! | `PATCH /v2/monitor/{id}` | [`monitor::UpdateMonitorRequest`] | [`monitor::MonitorResponse`] |
//! | `POST /v2/agent` | [`agent::AgentRequest`] | [`agent::AgentStarted`] |
//! | `POST /v2/extract` | [`extract::ExtractRequest`] | [`extract::ExtractStarted`] |
//! | `POST /v2/browser` | [`interact::CreateBrowserRequest`] | [`interact::CreateBrowserResponse`] |
//! | `POST /v2/scrape/{id}/interact` | [`interact::InteractRequest`] | [`interact::InteractResponse`] |
//! | `POST /v2/index/documents` | [`index::IndexUploadRequest`] | [`index::IndexUploadResponse`] |
//! | `POST /v1/rerank` | [`rerank::RerankRequest`] | [`rerank::RerankResponse`] |
//! | `GET /v2/team/credit-usage` | - | [`usage::CreditUsageResponse`] |
//! | `PUT /v2/team/threat-protection` | [`team::TeamThreatRequest`] | [`team::TeamThreatResponse`] |
//! | `PUT /v2/team/siem` | [`team::SiemRequest`] | [`team::SiemResponse`] |
//! | `GET /ready` | - | [`status::ReadinessResponse`] |
//! | any failure | - | [`ErrorBody`] |
//!
//! - [`ScrapeOptions`] says how a page is scraped. It is part of most requests; its [`Format`]s and [`Action`]s have
//!   modules of their own, [`mod@format`] and [`action`].
//! - [`changes`] are the results of the format `changeTracking`; [`product`] and [`menu`] are the results of the formats of
//!   these names, and [`video`] has the videos that a page contains.
//! - [`PageContent`] is a scraped page, with its [`Metadata`]. It is part of most responses.
//! - [`limits`] has every number of the interface by name, such as the maximum length of a query.
//! - [`schema`] generates the JSON Schemas.
//!
//! # Absent fields, defaults and null
//!
//! An optional field of a request is an `Option`: `None` means that the client did not send it, so that "not given" and
//! "given with the value of the default" stay distinguishable. The service fills in the defaults; the documentation of
//! each field names them. `null` counts as not given. `None` is not written.
//!
//! Create a request with its constructor or with [`Default`], and set fields by struct update syntax, as above. Code
//! written so also compiles when a later version adds a field.
//!
//! Unknown fields are ignored when a type is read, except in the few objects that the specification closes, such as
//! [`RedactOptions`].
//!
//! # Errors
//!
//! Every failure has an [`ErrorBody`]. [`ErrorCode`] is the table of all conditions with their codes and HTTP statuses.
//! A request that breaks rules lists all [`Violation`]s at once.
//!
//! Reading a type only fails on the shape of the JSON, with a [`serde_json::Error`]. It does not check the rules of
//! the fields, such as ranges and lengths.

#![deny(missing_docs)]
#![cfg_attr(
    not(feature = "schemars"),
    allow(dead_code, unused_imports, reason = "some limits and helpers serve the schemas alone")
)]

#[cfg(feature = "schemars")]
mod absent;
pub mod action;
pub mod activity;
pub mod agent;
mod bare_name;
pub mod branding;
pub mod changes;
pub mod compat;
mod counted;
pub mod country;
mod document_page;
mod error;
pub mod extract;
pub mod feedback;
pub mod format;
pub mod index;
pub mod interact;
pub mod job;
pub mod key;
pub mod limits;
pub mod llms_txt;
pub mod map;
pub mod menu;
mod metadata;
pub mod monitor;
pub mod pattern;
pub mod product;
pub mod rerank;
#[cfg(feature = "schemars")]
pub mod schema;
pub mod scrape;
pub mod search;
mod sitemap_mode;
pub mod status;
mod tagged;
pub mod team;
mod url_or_options;
pub mod usage;
pub mod video;

pub use action::Action;
pub use counted::counted;
pub use document_page::{BlockConfidence, BlockSource, BlocksStatus, DocumentPage, PageBlock, PageBlocks};
pub use error::{ErrorBody, ErrorCode, Violation, ViolationCode};
pub use format::Format;
pub use map::{MapLink, MapRequest, MapResponse, SitemapMode};
pub use metadata::{CacheState, Metadata, ProxyUsed};
pub use scrape::{
    AuditMetadata, Location, ParseFormat, ParseFormatList, ParseFormats, ParseOptions, ParseUploadRequest,
    Parser, ParserKind, ParserMode, Profile, Proxy, RedactEntity, RedactMode, RedactOptions, RedactPii,
    ReplaceStyle, ScrapeOptions, ScrapeRequest, ScrapeResponse, ThreatFailurePolicy, ThreatMode,
    ThreatProtection, UploadUrl, UploadUrlRequest, UploadUrlResponse, Viewport,
};
pub use search::{
    Category, ImageResult, NewsResult, PageContent, RetentionOption, SearchData, SearchRequest,
    SearchResponse, Source, SourceKind, WebResult,
};
pub use url_or_options::UrlOrOptions;
