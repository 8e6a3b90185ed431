//! The HTTP interface of websvc as an embeddable library.
//!
//! [`Service::handle`] is one request, stages 2 to 6 and 11 to 12: route, authenticate, admit, decode and check,
//! run the operation, encode the reply, log. It knows HTTP and nothing of pages; the operations are the engine's.
//!
//! [`Embedded`] is the whole service on one data directory.

mod adapter;
mod admit;
mod authenticate;
mod authorise;
mod charge;
mod cors;
mod crawls;
mod dashboard;
mod embed;
mod handler;
mod mcp;
mod meters;
mod multipart;
mod not_offered;
mod origin;
mod reply;
mod request_id;
mod results;
mod route;
mod service;
mod trail;
mod uploads;

pub use admit::Limits;
pub use authenticate::Authentication;
pub use embed::{EmbedConfig, EmbedError, Embedded};
pub use mcp::{Tools, ToolsError};
pub use origin::OriginConfig;
pub use service::{Service, ServiceConfig};
pub use websvc_artifacts as artifacts;
pub use websvc_audit as audit;
pub use websvc_jobs::{HostPause, Jobs, JobsConfig, WebhookConfig};
pub use websvc_model as model;
pub use websvc_threat as threat;
