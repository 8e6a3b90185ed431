//! The commands, one file each. Those of the command line have a function `run`.

pub(crate) mod agent;
pub(crate) mod backup;
pub(crate) mod batch;
pub(crate) mod blocklists;
pub(crate) mod browser;
pub(crate) mod cache;
pub(crate) mod crawl;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod feedback;
pub(crate) mod index;
pub(crate) mod init;
mod input;
mod job;
pub(crate) mod keys;
pub(crate) mod map;
pub(crate) mod mcp;
pub(crate) mod monitor;
pub(crate) mod parse;
pub(crate) mod parse_document;
pub(crate) mod profiles;
pub(crate) mod ready;
pub(crate) mod scrape;
pub(crate) mod search;
pub(crate) mod serve;
mod shell;
pub(crate) mod sources;
pub(crate) mod store;
pub(crate) mod teams;
pub(crate) mod threat;
pub(crate) mod usage;
pub(crate) mod webhooks;

pub(crate) use browser::{FailedCode, page_commands_help};
pub(crate) use search::format;
pub(crate) use serve::{Running, start, static_keys, stop_signal};
pub(crate) use shell::{completions, man};
