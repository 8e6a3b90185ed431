//! Rules for the pages of sites, which crawls, maps and searches share.
//!
//! - [`strip_tracking_params`] removes session IDs and campaign parameters from a URL that will be fetched. It changes
//!   nothing else, because the host must understand the URL.
//! - [`PageIdentity`] is a key to compare addresses by. It ignores more differences, because it is never fetched.
//! - [`registrable_domain`] and [`is_public_suffix`] read the public suffix list.
//! - [`host_key`] and its relatives compare hosts and paths.
//! - [`may_be_page`] and [`TrapBudgets`] keep crawls away from files without text and from spaces without end.
//! - [`HostPace`] has the time between two requests to a host.
//!
//! With the feature `crawl`, `RobotsTxt` has the rules of a host for crawlers, and `sitemap` reads the files that list the pages
//! of a site.
//!
//! The crate does no IO and has no clock.
//!
//! ```
//! use websvc_site::PageIdentity;
//!
//! let page = PageIdentity::from_address("http://www.example.org/docs/index.html?utm_source=mail#top");
//! assert_eq!(page, PageIdentity::from_address("https://example.org/docs/"));
//! assert_eq!((page.host(), page.as_str()), ("example.org", "example.org/docs"));
//! ```
#![deny(missing_docs)]

mod host;
mod identity;
mod pace;
mod page_url;
mod percent_encoding;
mod public_suffix;
#[cfg(feature = "crawl")]
mod robots_txt;
#[cfg(feature = "crawl")]
pub mod sitemap;
mod tracking_params;
mod trap;

pub use host::{bare_host_key, host_key, is_below_path, is_subdomain, is_web};
pub use identity::PageIdentity;
pub use pace::{HostPace, MAX_RETRIES};
pub use page_url::may_be_page;
pub use public_suffix::{is_public_suffix, registrable_domain};
#[cfg(feature = "crawl")]
pub use robots_txt::{MAX_ROBOTS_BYTES, RobotsStatus, RobotsTxt, robots_url};
pub use tracking_params::strip_tracking_params;
pub use trap::TrapBudgets;
