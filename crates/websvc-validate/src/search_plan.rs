//! Plan of a search.

use std::time::Duration;

use websvc_query::{Query, Tbs};
use websvc_types::{Category, SourceKind, ThreatProtection};

use crate::domain::DomainFilter;
use crate::retention::RetentionMode;
use crate::scrape_plan::ScrapePlan;
use crate::threat_rules::ThreatRules;

/// Plan of a search: all values are valid, all defaults are filled in.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SearchPlan {
    /// The parsed query.
    pub query: Query,
    /// The query as sent.
    pub query_text: String,
    /// The maximum number of results per source, 1 to 100.
    pub limit: usize,
    /// The sources: at least one, each kind once.
    pub sources: Vec<SourcePlan>,
    /// The categories to return, each once; empty for all pages.
    pub categories: Vec<Category>,
    /// The filter of results by host.
    pub domains: DomainFilter,
    /// The country of the user, ISO 3166-1 alpha-2 in upper case.
    pub country: &'static str,
    /// True if the request names the country; otherwise it is the default.
    pub country_given: bool,
    /// The location of the user.
    pub location: Option<String>,
    /// True if explicit content is filtered.
    pub safe: bool,
    /// The time limit of the whole request.
    pub timeout: Duration,
    /// True if results are removed whose URL cannot be scraped.
    pub ignore_invalid_urls: bool,
    /// True if the description of a result is the passage that matches the query.
    pub highlights: bool,
    /// The data retention of the request.
    pub retention: RetentionMode,
    /// The plan for scraping the results; `None` if no formats are requested.
    pub scrape: Option<ScrapePlan>,
    /// The changes of the request to the threat protection of the team.
    pub threat: Option<ThreatProtection>,
    /// The rules for checking the URLs of results; `None` if they are not checked.
    pub protection: Option<ThreatRules>,
}

/// Source of a search, with its filters.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourcePlan {
    /// The kind of the source.
    pub kind: SourceKind,
    /// The time filter: that of the source, else that of the request.
    pub tbs: Option<Tbs>,
    /// The location of the user: that of the source, else that of the request.
    pub location: Option<String>,
}
