//! The field rules of websvc: turns a request into a checked plan, or lists every rule that it breaks.
//!
//! A request (`websvc-types`) is what was sent; a plan is what will be done: every value checked, every default
//! filled in, the query and the time filter parsed. A plan has no public fields and is only made here, so whoever
//! holds one need not check again. Nothing here does IO.
//!
//! - [`read_search`], [`read_scrape`], [`read_parse_options`] and [`read_scrape_options`] take bytes: syntax, shape and
//!   rules, all violations in one answer.
//! - [`read_map`] and [`read_map_v1`] do the same for the URLs of a site.
//! - [`read_index_upload`] takes documents for the index, in the same way.
//! - [`check_search`], [`check_scrape`], [`check_map`] and [`check_scrape_options`] take typed requests of Rust callers.
//!
//! The shape of a body (types, names, required and unknown fields) is checked against the published JSON Schema
//! itself, so that the two cannot drift apart; see the module `shape`.
//!
//! ```
//! use websvc_validate::{Policy, Rejection, read_search};
//!
//! let checked = read_search(br#"{"query": "asyncio gather", "limit": 5}"#, &Policy::default())?;
//! assert_eq!(checked.plan.limit(), 5);
//!
//! let refused = read_search(br#"{"limit": 101, "sources": ["wbe"]}"#, &Policy::default());
//! let Err(Rejection::Invalid(violations)) = refused else { panic!("it breaks three rules") };
//! let paths: Vec<&str> = violations.iter().map(|violation| violation.path.as_str()).collect();
//! assert_eq!(paths, ["/limit", "/query", "/sources/0"]);
//! # Ok::<(), Rejection>(())
//! ```
#![deny(missing_docs)]

mod action;
mod batch;
mod bounds;
mod checked;
mod country;
mod crawl;
mod crawl_params;
mod domain;
mod error;
mod format;
mod header;
mod job;
mod json_schema;
mod language;
mod map;
mod map_plan;
mod page;
mod path;
mod path_filter;
mod path_pattern;
mod path_patterns;
mod policy;
mod read;
mod report;
mod retention;
mod scrape;
mod scrape_plan;
mod search;
mod search_plan;
mod selector;
mod shape;
mod suggestion;
mod target;
mod threat;
mod threat_rules;
mod upload;
mod webhook;

pub use batch::{BatchPage, BatchPlan};
pub use checked::Checked;
pub use crawl::{CrawlPlan, check_crawl};
pub use crawl_params::{check_crawl_params, crawl_params_of, with_crawl_params};
pub use domain::DomainFilter;
pub use error::Rejection;
pub use json_schema::schema_parts;
pub use map::check_map;
pub use map_plan::MapPlan;
pub use page::{FilePlan, PagePlan, check_scrape};
pub use path_filter::PathFilter;
pub use path_patterns::{PathPatterns, PatternLimits, PatternUsage};
pub use policy::{FeaturePolicy, Policy, ThreatOverride, ThreatPolicy};
pub use read::{
    read_batch, read_crawl, read_crawl_params, read_crawl_params_request, read_crawl_progress,
    read_crawl_request, read_index_upload, read_map, read_map_v1, read_object, read_parse_options,
    read_rerank, read_scrape, read_scrape_options, read_search,
};
pub use retention::RetentionMode;
pub use scrape::check_scrape_options;
pub use scrape_plan::{LocationPlan, ScrapePlan};
pub use search::check_search;
pub use search_plan::{SearchPlan, SourcePlan};
pub use suggestion::suggest;
pub use target::Target;
pub use threat_rules::ThreatRules;
pub use webhook::WebhookPlan;
pub use websvc_types::SourceKind;
