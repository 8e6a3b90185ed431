//! The HTTP interface of websvc as an embeddable library.
//!
//! [`Service::handle`] takes one request through stages 2 to 6 and 11 to 12: route, authenticate, admit, decode and
//! check, run the operation, encode the response, log. The operations themselves are in `websvc-engine`.
//!
//! [`EmbeddedServer`] runs the whole service on one data directory.

mod adapter;
mod admission;
mod audit_trail;
mod authenticate;
mod authorize;
mod blocking;
mod charge;
mod clock_watch;
mod cors;
mod crawl_progress;
mod dashboard;
mod embedded;
mod forwarding;
mod handler;
mod mcp;
mod multipart;
mod not_offered;
mod oauth;
mod oidc;
mod paced_body;
mod public_url;
mod readable;
mod replays;
mod request_id;
mod request_metrics;
mod response;
mod route;
mod scrape_results;
mod service;
mod token_bucket;
mod uploads;

pub use admission::AdmissionLimits;
pub use authenticate::Authentication;
pub use dashboard::invitation_link;
pub use embedded::{EmbedError, EmbeddedServer, EmbeddedServerConfig};
pub use forwarding::{Announcement, ReplicaConfig};
pub use mcp::{McpTools, ToolsError};
pub use oauth::{InvalidIssuer, InvalidScheme, OauthIssuer};
pub use oidc::{
    ClientSecret, InvalidOidcConfig, MAX_LEEWAY, Oidc, OidcConfig, ProviderError, ProviderSummary,
    ProviderTiming, SignInConfig, SignatureAlgorithm, TeamSource, UnknownAlgorithm,
};
pub use public_url::PublicUrlConfig;
pub use service::{Service, ServiceConfig};
pub use websvc_artifacts as artifacts;
pub use websvc_audit as audit;
pub use websvc_jobs::{Jobs, JobsConfig, Pace, WebhookConfig};
pub use websvc_model as model;
pub use websvc_monitor::{MailSettings, MessageConfig, Monitors, MonitorsConfig};
pub use websvc_runs::{Runs, RunsConfig};
pub use websvc_scrape::threat;
pub use websvc_session as session;
pub use websvc_session::SessionsConfig;
