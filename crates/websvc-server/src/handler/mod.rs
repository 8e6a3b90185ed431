//! The operations as HTTP sees them: a request to a reply, one file each.

mod artifact;
mod batch;
mod body;
mod compressed;
mod crawl;
mod crawl_prompt;
pub(crate) mod docs;
mod index;
mod job;
mod map;
mod metrics;
mod parse;
mod scrape;
mod search;
mod status;
mod usage;
pub(crate) mod watch;
mod webhook;

pub(crate) use artifact::artifact;
pub(crate) use body::read as read_body;
pub(crate) use docs::docs;
pub(crate) use index::{add_documents, crawl_progress, index_stats};
pub(crate) use job::{JobOperation, JobStart, Version, begin as begin_job, job, receive as receive_job};
pub(crate) use map::{answer_map, map, map_v1};
pub(crate) use metrics::metrics;
pub(crate) use parse::{parse, parse_formats};
pub(crate) use scrape::{answer_scrape, scrape, scrape_result};
pub(crate) use search::{answer_search, demanded, search};
pub(crate) use status::{health, openapi, readiness, ready, root};
pub(crate) use usage::{
    concurrency_check, credit_history, credit_usage, queue_status, token_history, token_usage,
};
pub(crate) use webhook::{WebhookOperation, webhook};
