//! Crawling sites into the index, politely.
//!
//! A crawl fetches the robots.txt of a host before anything else from it (RFC 9309). At most [`CrawlOptions::per_host`]
//! requests to a host run at a time, and each waits as long as the host took to respond to the previous one, or as long
//! as
//! its robots.txt demands.

mod frontier;
mod host;
mod images;
mod report;
mod robots;
mod run;
mod scope;
mod sink;
mod sitemap_hints;

#[cfg(test)]
mod tests;

pub use report::{CrawlEvent, CrawlReport};
pub use robots::fetch_robots_txt;
pub use run::{CrawlOptions, crawl};
pub use sink::{IndexSink, Sink, SinkError, SinkFuture};
