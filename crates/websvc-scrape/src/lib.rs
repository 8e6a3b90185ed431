//! The scraper: turns a URL into the requested formats of its page (cache rules, fetch, extraction).
//!
//! [`Scraper::scrape`] is the whole path of one page. The cache is looked up by the rules of `maxAge`, `minAge` and
//! lockdown; on a miss the page is fetched through the guarded client. Its bytes are parsed once, on the blocking pool,
//! and every requested format is written from that one document.

mod background_limits;
pub mod blocklist;
mod browse;
mod cache;
mod cache_lookup;
mod cache_writer;
mod challenge;
mod config;
mod crawl_page;
pub mod date;
mod document_pages;
mod documents;
mod embedded_document;
mod error;
mod fetch_slots;
mod fetcher;
mod file_download;
mod files;
mod format;
mod format_task;
mod freshness;
mod google_export;
mod image_size;
mod index_copy;
mod interactive;
mod map_page;
pub mod media;
mod out_links;
mod output_cache;
mod page;
mod page_route;
mod personal;
mod plain_file;
mod profile;
mod proxies;
mod raw;
mod redaction;
mod refresh;
mod request;
mod robots;
mod scraper;
mod shell;
mod single_flight;
pub mod threat;
mod unindexed_pages;
mod upload;
mod url_boundary;
mod url_check;
mod visible;

pub use background_limits::BackgroundLimits;
pub use browse::RenderArtifacts;
pub use cache_writer::CacheMetrics;
pub use config::ScrapeConfig;
pub use crawl_page::CrawlPage;
pub use documents::{
    DocumentReader, DocumentWorkers, ReadError, ReadMode, ReadOptions, WorkerLimits, run_tool, run_worker,
};
pub use error::ScrapeError;
pub use files::FilePublisher;
pub use image_size::ImageProbe;
pub use index_copy::{index_document, known_url};
pub use interactive::InteractivePage;
pub use map_page::{MapPage, MapPageLink};
pub use out_links::OutLinks;
pub use page::{GeneratedContent, Page};
pub use personal::remove_credentials;
pub use profile::OpenProfile;
pub use proxies::ProxyConfig;
pub use raw::{CacheState, FileResponse, RawPage};
pub use redaction::{
    MetadataTexts, PersonalData, metadata_texts, redact_page, requested_kinds, warn_not_redacted,
};
pub use request::{DEFAULT_USER_AGENT, tls_policy};
pub use robots::RobotsRules;
pub use scraper::Scraper;
pub use upload::FileUpload;
pub use url_boundary::UrlBoundary;
pub use websvc_browser::SetCookie;
