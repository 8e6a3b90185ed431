//! The commands, one file each.

mod backup;
mod cache;
mod demo;
mod doctor;
mod index;
mod keys;
mod lists;
mod map;
mod mcp;
mod parse;
mod parse_document;
mod profiles;
mod scrape;
mod search;
mod serve;
mod teams;
mod threat;
mod usage;

pub(crate) use backup::backup;
pub(crate) use cache::cache;
pub(crate) use demo::demo;
pub(crate) use doctor::doctor;
pub(crate) use index::index;
pub(crate) use keys::keys;
pub(crate) use lists::lists;
pub(crate) use map::map;
pub(crate) use mcp::mcp;
pub(crate) use parse::parse;
pub(crate) use parse_document::parse_document;
pub(crate) use profiles::profiles;
pub(crate) use scrape::scrape;
pub(crate) use search::search;
pub(crate) use serve::{Running, serve, start, stop_signal};
pub(crate) use teams::teams;
pub(crate) use threat::threat;
pub(crate) use usage::usage;
