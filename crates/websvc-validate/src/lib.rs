//! Field rules of the websvc HTTP interface: converts a request to a checked plan, or lists every rule that it breaks.
//!
//! A request (crate `websvc-types`) holds what was sent. A plan holds what to do: all values are valid, all defaults
//! are filled in, the query and the time filter are parsed. Plans have private fields and can only be created here, so
//! code that has a plan does not need to check it again. This crate does no I/O.
//!
//! # Example
//!
//! ```
//! use websvc_validate::{Policy, Rejection, read_search};
//!
//! let checked = read_search(br#"{"query": "asyncio gather", "limit": 5}"#, &Policy::default())?;
//! assert_eq!(checked.plan.limit(), 5);
//!
//! let result = read_search(br#"{"limit": 101, "sources": ["wbe"]}"#, &Policy::default());
//! let Err(Rejection::Invalid(violations)) = result else { panic!("the request breaks three rules") };
//! let paths: Vec<&str> = violations.iter().map(|violation| violation.path.as_str()).collect();
//! assert_eq!(paths, ["/limit", "/query", "/sources/0"]);
//! # Ok::<(), Rejection>(())
//! ```
//!
//! # Main items
//!
//! | Request | From bytes | From a typed request | Plan |
//! |---|---|---|---|
//! | search | [`read_search`] | [`check_search`] | [`SearchPlan`] |
//! | scrape | [`read_scrape`] | [`check_scrape`] | [`PagePlan`] |
//! | uploaded file | [`read_parse_options`], [`read_parse_upload`] | - | [`FilePlan`] |
//! | upload URL | [`read_upload_url`] | - | the request |
//! | scrape options | [`read_scrape_options`] | [`check_scrape_options`] | [`ScrapePlan`] |
//! | map | [`read_map`], [`read_map_v1`] | [`check_map`] | [`MapPlan`] |
//! | crawl | [`read_crawl`] | [`check_crawl`] | [`CrawlPlan`] |
//! | batch | [`read_batch`] | - | [`BatchPlan`] |
//! | monitor | [`read_create_monitor`], [`read_update_monitor`] | [`check_create_monitor`], [`check_update_monitor`] | [`MonitorDefinition`], then [`MonitorPlan`] |
//! | threat protection of a team | [`read_team_threat`] | - | policies and values |
//! | audit events of a team | [`read_siem`], [`read_siem_test`] | - | on or off; the request |
//! | documents for the index | [`read_index_upload`] | - | the request itself |
//!
//! All of them return a [`Checked`] plan with warnings, or a [`Rejection`]. The [`Policy`] has the permissions of the
//! team.
//!
//! The `read_` functions check syntax, shape and rules, and report all violations at once. The shape of a body (types,
//! names, required and unknown fields) is checked against the published JSON Schema, so that the two cannot diverge.
#![deny(missing_docs)]

mod action;
mod agent;
mod batch;
mod bounds;
mod checked;
mod country;
mod crawl;
mod crawl_params;
mod domain;
mod error;
mod extract;
mod feedback;
mod format;
mod header;
mod interact;
mod job;
mod json_schema;
mod json_size;
mod language;
mod llms_txt;
mod map;
mod map_plan;
mod monitor;
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
mod tracking;
mod upload;
mod value_count;
mod webhook;

pub use agent::{AgentPlan, AgentWebhookPlan, check_agent, check_agent_retention};
pub use batch::{BatchPage, BatchPlan};
pub use checked::Checked;
pub use crawl::{CrawlPlan, check_crawl};
pub use crawl_params::{check_crawl_params, crawl_params_of, with_crawl_params};
pub use domain::DomainFilter;
pub use error::Rejection;
pub use extract::{ExtractPlan, ExtractTarget, check_extract};
pub use interact::{BrowserPlan, CodePlan, InteractPlan};
pub use json_schema::{SchemaCompiler, SchemaError, schema_parts};
pub use llms_txt::LlmsTxtPlan;
pub use map::check_map;
pub use map_plan::MapPlan;
pub use monitor::{
    CrawlTargetPlan, MonitorContext, MonitorDefinition, MonitorPlan, MonitorTargetPlan, MonitorUpdate,
    MonitorWebhookPlan, ScrapeTargetPlan, SearchTargetPlan, check_create_monitor, check_monitor_retention,
    check_monitor_schedule, check_update_monitor, parse_monitor_schedule,
};
pub use page::{FilePlan, PagePlan, check_scrape};
pub use path_filter::PathFilter;
pub use path_patterns::{PathPatterns, PatternLimits, PatternUsage};
pub use policy::{FeaturePolicy, Policy, RobotsAgentPolicy, ThreatOverride, ThreatPolicy};
pub use read::{
    read_agent, read_batch, read_crawl, read_crawl_params, read_crawl_params_request, read_crawl_progress,
    read_crawl_request, read_create_browser, read_create_monitor, read_execute, read_extract, read_feedback,
    read_index_upload, read_interact, read_llms_txt, read_map, read_map_v1, read_monitor_email, read_object,
    read_parse_options, read_parse_upload, read_rerank, read_run_monitor, read_scrape, read_scrape_options,
    read_search, read_search_feedback, read_siem, read_siem_test, read_team_threat, read_update_monitor,
    read_upload_url,
};
pub use retention::RetentionMode;
pub use scrape::check_scrape_options;
pub use scrape_plan::{LocationPlan, ScrapePlan};
pub use search::check_search;
pub use search_plan::{SearchPlan, SourcePlan};
pub use suggestion::suggest;
pub use target::Target;
pub use threat_rules::ThreatRules;
pub use tracking::TrackingPlan;
pub use value_count::check_values;
pub use webhook::WebhookPlan;
pub use websvc_types::SourceKind;
