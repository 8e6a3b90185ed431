//! The commands, one file each.

mod agent;
mod backup;
mod batch;
mod blocklists;
mod browser;
mod cache;
mod crawl;
mod demo;
mod doctor;
mod feedback;
mod index;
mod job;
mod keys;
mod map;
mod mcp;
mod monitor;
mod parse;
mod parse_document;
mod profiles;
mod scrape;
mod search;
mod serve;
mod store;
mod teams;
mod threat;
mod usage;
mod webhooks;

pub(crate) use agent::agent;
pub(crate) use backup::backup;
pub(crate) use batch::batch;
pub(crate) use blocklists::blocklists;
pub(crate) use browser::{FailedCode, browser, page_commands_help};
pub(crate) use cache::cache;
pub(crate) use crawl::crawl;
pub(crate) use demo::demo;
pub(crate) use doctor::doctor;
pub(crate) use feedback::feedback;
pub(crate) use index::index;
pub(crate) use keys::keys;
pub(crate) use map::map;
pub(crate) use mcp::mcp;
pub(crate) use monitor::monitor;
pub(crate) use parse::parse;
pub(crate) use parse_document::parse_document;
pub(crate) use profiles::profiles;
pub(crate) use scrape::scrape;
pub(crate) use search::{format, search};
pub(crate) use serve::{Running, serve, start, static_keys, stop_signal};
pub(crate) use store::store;
pub(crate) use teams::teams;
pub(crate) use threat::threat;
pub(crate) use usage::usage;
pub(crate) use webhooks::webhooks;

/// Returns the time in milliseconds since the Unix epoch.
fn now_ms() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default()
}
