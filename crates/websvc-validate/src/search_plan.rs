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
pub struct SearchPlan {
    pub(crate) query: Query,
    pub(crate) query_text: String,
    pub(crate) limit: usize,
    pub(crate) sources: Vec<SourcePlan>,
    pub(crate) categories: Vec<Category>,
    pub(crate) domains: DomainFilter,
    pub(crate) country: &'static str,
    pub(crate) country_given: bool,
    pub(crate) location: Option<String>,
    pub(crate) safe: bool,
    pub(crate) timeout: Duration,
    pub(crate) ignore_invalid_urls: bool,
    pub(crate) highlights: bool,
    pub(crate) retention: RetentionMode,
    pub(crate) scrape: Option<ScrapePlan>,
    pub(crate) threat: Option<ThreatProtection>,
    pub(crate) protection: Option<ThreatRules>,
}

impl SearchPlan {
    /// Returns the parsed query.
    #[must_use]
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Returns the query as sent.
    #[must_use]
    pub fn query_text(&self) -> &str {
        &self.query_text
    }

    /// Returns the maximum number of results per source, 1 to 100.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the sources: at least one, each kind once.
    #[must_use]
    pub fn sources(&self) -> &[SourcePlan] {
        &self.sources
    }

    /// Returns the categories to return, each once; empty for all pages.
    #[must_use]
    pub fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// Returns the filter of results by host.
    #[must_use]
    pub fn domains(&self) -> &DomainFilter {
        &self.domains
    }

    /// Returns the country of the user, ISO 3166-1 alpha-2 in upper case.
    #[must_use]
    pub fn country(&self) -> &'static str {
        self.country
    }

    /// Returns whether the request names the country; otherwise it is the default.
    #[must_use]
    pub fn country_given(&self) -> bool {
        self.country_given
    }

    /// Returns the location of the user.
    #[must_use]
    pub fn location(&self) -> Option<&str> {
        self.location.as_deref()
    }

    /// Returns whether explicit content is filtered.
    #[must_use]
    pub fn safe(&self) -> bool {
        self.safe
    }

    /// Returns the time limit of the whole request.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns whether results are removed whose URL cannot be scraped.
    #[must_use]
    pub fn ignore_invalid_urls(&self) -> bool {
        self.ignore_invalid_urls
    }

    /// Returns whether the description of a result is the passage that matches the query.
    #[must_use]
    pub fn highlights(&self) -> bool {
        self.highlights
    }

    /// Returns the data retention of the request.
    #[must_use]
    pub fn retention(&self) -> RetentionMode {
        self.retention
    }

    /// Returns the plan for scraping the results; `None` if no formats are requested.
    #[must_use]
    pub fn scrape(&self) -> Option<&ScrapePlan> {
        self.scrape.as_ref()
    }

    /// Returns the changes of the request to the threat protection of the team.
    #[must_use]
    pub fn threat(&self) -> Option<&ThreatProtection> {
        self.threat.as_ref()
    }

    /// Returns the rules for checking the URLs of results; `None` if they are not checked.
    #[must_use]
    pub fn protection(&self) -> Option<&ThreatRules> {
        self.protection.as_ref()
    }
}

/// Source of a search, with its filters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePlan {
    pub(crate) kind: SourceKind,
    pub(crate) tbs: Option<Tbs>,
    pub(crate) location: Option<String>,
}

impl SourcePlan {
    /// Returns the kind of the source.
    #[must_use]
    pub fn kind(&self) -> SourceKind {
        self.kind
    }

    /// Returns the time filter: that of the source, else that of the request.
    #[must_use]
    pub fn tbs(&self) -> Option<&Tbs> {
        self.tbs.as_ref()
    }

    /// Returns the location of the user: that of the source, else that of the request.
    #[must_use]
    pub fn location(&self) -> Option<&str> {
        self.location.as_deref()
    }
}
