//! The use of sitemaps by maps and crawls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Use of a site's sitemaps by a map or a crawl.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SitemapMode {
    /// URLs from sitemaps and linked pages.
    #[default]
    Include,
    /// Only URLs from sitemaps; a crawl also fetches its start.
    Only,
    /// Sitemaps are not read.
    Skip,
}

/// Old name of [`SitemapMode`].
#[deprecated(note = "renamed to `SitemapMode`")]
pub type SitemapUse = SitemapMode;
