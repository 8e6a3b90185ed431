//! URL in, page out: cache rules, fetch and extraction.
//!
//! [`Scraper::scrape`] is the whole path of one page: the cache is asked by the rules of `maxAge`, `minAge` and
//! lockdown, else the page is fetched through the guarded client; its bytes are parsed once, off the async
//! threads, and every format that was asked for is written from that one document.

mod browse;
mod cache;
mod challenge;
mod clock;
mod config;
pub mod date;
mod documents;
mod error;
mod fetcher;
mod files;
mod flight;
mod freshness;
mod google_export;
mod handover;
mod image;
mod index_copy;
mod inspecting;
mod keeping;
mod leads;
mod lookup;
mod outline;
mod page;
mod personal;
mod plain_file;
mod profile;
mod proxies;
mod raw;
mod redaction;
mod refresh;
mod render;
mod rendered;
mod request;
mod robots;
mod scraper;
mod share;
mod shell;
mod survey;
mod upload;
mod visible;
mod writing;

pub use browse::Takings;
pub use clock::Clock;
pub use config::ScrapeConfig;
pub use documents::{
    DocumentReader, DocumentWorkers, Mode, ReadError, ReadOptions, WorkerLimits, run_tool, run_worker,
};
pub use error::ScrapeError;
pub use files::Files;
pub use image::ImageAnswer;
pub use index_copy::{index_document, known_url};
pub use keeping::CacheReport;
pub use leads::Leads;
pub use outline::{Outline, OutlineLink};
pub use page::{Page, Written};
pub use personal::remove_credentials;
pub use profile::OpenProfile;
pub use proxies::ProxyConfig;
pub use raw::{CacheState, FileAnswer, RawPage};
pub use request::{DEFAULT_USER_AGENT, tls_policy};
pub use robots::RobotsRules;
pub use scraper::Scraper;
pub use share::ShareConfig;
pub use survey::Survey;
pub use upload::FileUpload;
