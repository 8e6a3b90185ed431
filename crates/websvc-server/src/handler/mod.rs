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
pub(crate) mod docs;
mod extract;
mod feedback;
mod index;
mod job;
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

pub(crate) use activity::team_activity;
pub(crate) use agent::{AgentCall, AgentOperation, agent, respond_to_agent};
pub(crate) use artifact::artifact;
pub(crate) use body::{declares_json, parse as parse_body, read as read_body};
pub(crate) use browser::{BrowserOperation, BrowserRequest, browser, respond_to_browser};
pub(crate) use crawl::start_crawl;
pub(crate) use docs::docs;
pub(crate) use extract::{ExtractOperation, extract, mark_deprecated};
pub(crate) use feedback::{feedback, search_feedback};
pub(crate) use index::{add_documents, crawl_progress, index_stats};
pub(crate) use job::{
    JobOperation, JobStart, find as find_job, job, not_found as job_not_found, parse_id as parse_job_id,
    receive as receive_job, start as start_job,
};
pub(crate) use map::{map, map_v1, respond_to_map};
pub(crate) use metrics::metrics;
pub(crate) use monitor::{
    MonitorEmailOperation, MonitorOperation, MonitorRequest, monitor, monitor_email,
    preview as monitor_preview, respond_to_monitor, schedules as monitor_schedules,
};
pub(crate) use parse::{ParseForm, parse, parse_formats, parse_upload, receive_form, upload, upload_url};
pub(crate) use scrape::{respond_to_scrape, scrape, scrape_result};
pub(crate) use search::{forced_retention, respond_to_search, search};
pub(crate) use status::{health, openapi, readiness, ready, root};
pub(crate) use team::{TeamOperation, team};
pub(crate) use usage::{
    concurrency_check, credit_balance, credit_history, credit_usage, queue_status, token_history, token_usage,
};
pub(crate) use webhook::{WebhookOperation, webhook};
