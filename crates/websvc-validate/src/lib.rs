//! Field rules of the websvc HTTP interface: converts a request to a checked plan, or lists every rule that it breaks.
//!
//! A request (crate `websvc-types`) holds what was sent. A plan holds what to do: all values are valid, all defaults
//! are filled in, the query and the time filter are parsed. Only the checks create plans, whose fields are public to
//! read and are not changed elsewhere, so code that has a plan does not need to check it again. This crate does no I/O.
//!
//! # Example
//!
//! ```
//! use websvc_types::SearchRequest;
//! use websvc_validate::{Policy, Rejection, read_request};
//!
//! let body = br#"{"query": "asyncio gather", "limit": 5}"#;
//! let checked = read_request::<SearchRequest>(body, &Policy::default())?;
//! assert_eq!(checked.plan.limit, 5);
//!
//! let body = br#"{"limit": 101, "sources": ["wbe"]}"#;
//! let result = read_request::<SearchRequest>(body, &Policy::default());
//! let Err(Rejection::Invalid(violations)) = result else { panic!("the request breaks three rules") };
//! let paths: Vec<&str> = violations.iter().map(|violation| violation.path.as_str()).collect();
//! assert_eq!(paths, ["/limit", "/query", "/sources/0"]);
//! # Ok::<(), Rejection>(())
//! ```
//!
//! # Main items
//!
//! [`read_request`] converts the bytes of a body to the plan of a [`Request`], and [`check_request`] does the same for a
//! typed request. Both return a [`Checked`] plan with warnings, or a [`Rejection`]. [`read_with_request`] also returns
//! the request. The [`Policy`] has the permissions of the team.
//!
//! | Request | Plan |
//! |---|---|
//! | `SearchRequest` | [`SearchPlan`] |
//! | `ScrapeRequest`, `ScrapeOptions` | [`PagePlan`], [`ScrapePlan`] |
//! | `ParseOptions`, `ParseUploadRequest` | [`FilePlan`] |
//! | `MapRequest`, `MapRequestV1` | [`MapPlan`] |
//! | `CrawlRequest` | [`CrawlPlan`] |
//! | `BatchScrapeRequest` | [`BatchPlan`] |
//! | `CreateMonitorRequest`, `UpdateMonitorRequest` | [`MonitorDefinition`], then [`MonitorPlan`] |
//! | `AgentRequest`, `ExtractRequest` | [`AgentPlan`], [`ExtractPlan`] |
//! | `CreateBrowserRequest`, `ExecuteRequest`, `InteractRequest` | [`BrowserPlan`], [`CodePlan`], [`InteractPlan`] |
//!
//! Other requests are their own plan. Reading checks syntax, shape and rules, and reports all violations at once. The
//! shape of a body (types, names, required and unknown fields) is checked against the published JSON Schema, so that
//! the two cannot diverge.
#![deny(missing_docs)]

mod action;
mod agent;
mod batch;
mod bounds;
mod channel;
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
mod key;
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
mod report;
mod request;
mod request_rules;
mod rerank;
mod retention;
mod scrape;
mod scrape_plan;
mod search;
mod search_plan;
mod selector;
mod shape;
mod suggestion;
mod target;
mod team;
mod text_pattern;
mod threat;
mod threat_rules;
mod tracking;
mod upload;
mod uuid;
mod value_count;
mod webhook;

pub use agent::{AgentPlan, AgentWebhookPlan, check_agent_retention};
pub use batch::{BatchPage, BatchPlan};
pub use channel::{Channel, ChannelService, InvalidChannel};
pub use checked::Checked;
pub use crawl::CrawlPlan;
pub use crawl_params::{crawl_params_of, with_crawl_params};
pub use domain::DomainFilter;
pub use error::Rejection;
pub use extract::{ExtractPlan, ExtractTarget};
pub use interact::{BrowserPlan, CodePlan, InteractPlan};
pub use json_schema::{SchemaCompiler, SchemaError, schema_parts};
pub use llms_txt::LlmsTxtPlan;
pub use map_plan::MapPlan;
pub use monitor::{
    ConditionSubject, CrawlTargetPlan, MonitorContext, MonitorDefinition, MonitorPlan, MonitorTargetPlan,
    MonitorUpdate, MonitorWebhookPlan, NumberRange, PageCondition, PageRules, ScrapeTargetPlan,
    SearchTargetPlan, check_monitor_retention, check_monitor_schedule, parse_monitor_schedule,
};
pub use page::{FilePlan, PagePlan};
pub use path_filter::PathFilter;
pub use path_patterns::{PathPatterns, PatternLimits, PatternUsage};
pub use policy::{FeaturePolicy, Policy, RobotsAgentPolicy, ThreatOverride, ThreatPolicy};
pub use request::{Request, check_request, read_object, read_request, read_with_request};
pub use retention::RetentionMode;
pub use scrape_plan::{LocationPlan, ScrapePlan};
pub use search_plan::{SearchPlan, SourcePlan};
pub use suggestion::suggest;
pub use target::Target;
pub use text_pattern::TextPattern;
pub use threat_rules::ThreatRules;
pub use tracking::TrackingPlan;
pub use value_count::check_values;
pub use webhook::WebhookPlan;
pub use websvc_types::SourceKind;
