//! Crawling sites into the index, politely.
//!
//! A crawl fetches the robots.txt of a host before anything else from it (RFC 9309). At most [`CrawlOptions::per_host`]
//! requests to a host run at a time, and each waits as long as the host took to respond to the previous one, or as long
//! as
//! its robots.txt demands.

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
pub use robots::{RobotsStatus, RobotsTxt, fetch_robots_txt};
pub use run::{CrawlOptions, crawl};
pub use scope::host_key;
pub use sink::{IndexSink, Sink, SinkError, SinkFuture};
pub use site::CrawlScope;
pub use sitemap_pages::SitemapReader;
pub use trap::TrapBudgets;
