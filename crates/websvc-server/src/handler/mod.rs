//! The handlers: one file for each operation, from a request to a response.

mod activity;
mod agent;
mod artifact;
mod batch;
mod body;
mod browser;
mod compressed;
mod crawl;
mod crawl_prompt;
mod docs;
mod extract;
mod feedback;
mod index;
mod job;
mod key;
mod map;
mod metrics;
mod monitor;
mod parse;
mod query;
mod scrape;
mod search;
mod status;
mod team;
mod usage;
pub(crate) mod watch;
mod webhook;

use uuid::Uuid;
use websvc_types::ErrorCode;

use crate::response::ApiError;

pub(crate) use activity::ENDPOINTS as ACTIVITY;
pub(crate) use agent::ENDPOINTS as AGENT;
pub(crate) use artifact::ENDPOINTS as ARTIFACT;
pub(crate) use body::{declares_form, declares_json, parse as parse_body, read as read_body};
pub(crate) use browser::{ENDPOINTS as BROWSER, authorize_sessions};
pub(crate) use crawl::start_crawl;
pub(crate) use crawl_prompt::ENDPOINTS as CRAWL_PARAMS;
pub(crate) use docs::ENDPOINTS as DOCS;
pub(crate) use extract::{ENDPOINTS as EXTRACT, is_of_extractions, mark_deprecated};
pub(crate) use feedback::ENDPOINTS as FEEDBACK;
pub(crate) use index::ENDPOINTS as INDEX;
pub(crate) use job::{
    ENDPOINTS as JOBS, JobStart, V1_ENDPOINTS as JOBS_V1, find as find_job, not_found as job_not_found,
    parse_id as parse_job_id, receive as receive_job, start_received as start_job,
};
pub(crate) use key::ENDPOINTS as KEY;
pub(crate) use map::ENDPOINTS as MAP;
pub(crate) use metrics::{ENDPOINTS as METRICS, PATH as METRICS_PATH};
pub(crate) use monitor::{
    CHANNEL_ENDPOINTS as MONITOR_CHANNEL, EMAIL_ENDPOINTS as MONITOR_EMAIL, ENDPOINTS as MONITOR,
    preview as monitor_preview, schedules as monitor_schedules,
};
pub(crate) use parse::{ENDPOINTS as PARSE, ParseForm, parse, receive_form};
pub(crate) use scrape::{ENDPOINTS as SCRAPE, respond_to_scrape, scrape_result};
pub(crate) use search::{ENDPOINTS as SEARCH, forced_retention, respond_to_search};
pub(crate) use status::{ENDPOINTS as STATUS, readiness};
pub(crate) use team::ENDPOINTS as TEAM;
pub(crate) use usage::{ENDPOINTS as USAGE, credit_balance, timestamp};
pub(crate) use webhook::ENDPOINTS as WEBHOOK;

/// Parses a UUID, and returns it in lower case.
///
/// # Errors
/// 400 with this text.
fn parse_uuid(text: &str, problem: &'static str) -> Result<String, ApiError> {
    match Uuid::parse_str(text) {
        Ok(id) => Ok(id.to_string()),
        Err(_) => Err(ApiError::new(ErrorCode::BadRequest, problem)),
    }
}
