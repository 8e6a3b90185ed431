//! The arguments of `websvc map`.

use clap::{Args, ValueEnum};
use websvc_types::SitemapMode;

use super::Remote;

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
    #[arg(long, value_name = "USE")]
    pub(crate) sitemap: Option<Sitemap>,
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

/// Use of sitemaps.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Sitemap {
    Include,
    Only,
    Skip,
}

impl From<Sitemap> for SitemapMode {
    fn from(sitemap: Sitemap) -> Self {
        match sitemap {
            Sitemap::Include => Self::Include,
            Sitemap::Only => Self::Only,
            Sitemap::Skip => Self::Skip,
        }
    }
}
