//! The arguments of `websvc map`.

use clap::Args;
use websvc_types::SitemapMode;

use super::Remote;
use super::common::wire_name;

/// Uses of sitemaps.
pub(super) const SITEMAP_USES: &[&str] = &["include", "only", "skip"];

#[derive(Debug, Args)]
pub(crate) struct Map {
    /// URL of the site; with a path, only URLs below it are listed
    pub(crate) url: String,
    /// Rank the URLs by these words
    #[arg(long, value_name = "WORDS")]
    pub(crate) search: Option<String>,
    /// Maximum number of URLs, 1 to 100000
    #[arg(long, default_value_t = websvc_types::limits::MAP_LIMIT_DEFAULT)]
    pub(crate) limit: u32,
    /// Use of sitemaps: include their URLs, list only their URLs, or skip them [default: include]
    #[arg(long, value_name = "USE", value_parser = wire_name::<SitemapMode>(SITEMAP_USES))]
    pub(crate) sitemap: Option<SitemapMode>,
    /// Exclude URLs of subdomains
    #[arg(long)]
    pub(crate) no_subdomains: bool,
    /// Keep the queries of URLs
    #[arg(long)]
    pub(crate) keep_queries: bool,
    /// Time limit of the map in milliseconds [default: 60000]
    #[arg(long, value_name = "MS")]
    pub(crate) timeout_ms: Option<u64>,
    /// Print the response as JSON, with titles and descriptions
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}
