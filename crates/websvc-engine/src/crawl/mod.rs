//! Crawling sites into the index, politely.
//!
//! What keeps it polite: robots.txt is asked before anything else of a host (RFC 9309), at most
//! [`CrawlOptions::per_host`] requests run against a host at one time, and each waits as long as the host took to
//! answer the one before (or as long as its robots.txt asks).

mod frontier;
mod host;
mod images;
mod pace;
mod report;
pub(crate) mod robots;
mod run;
mod scope;
mod sink;
mod site;
mod sitemap_hints;
mod sitemap_pages;
mod trap;

#[cfg(test)]
mod tests;

pub use pace::{HostPace, MAX_RETRIES};
pub use report::{CrawlEvent, CrawlReport};
pub use robots::{RobotsTxt, fetch_robots_txt};
pub use run::{CrawlOptions, crawl};
pub use scope::host_key;
pub use sink::{IndexSink, Sink, SinkError, SinkFuture};
pub use site::CrawlScope;
pub use sitemap_pages::SitemapReader;
pub use trap::TrapBudgets;
