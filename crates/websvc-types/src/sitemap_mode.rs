//! Use of sitemaps by maps and crawls.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Use of a site's sitemaps by a map or a crawl.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SitemapMode {
    /// Uses the URLs of sitemaps and those of other sources.
    #[default]
    Include,
    /// Uses only the URLs of sitemaps; a crawl also fetches its start.
    Only,
    /// Does not read sitemaps.
    Skip,
}
