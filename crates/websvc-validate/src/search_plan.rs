//! Plan of a search.

use std::time::Duration;

use websvc_query::{Query, Tbs};
use websvc_types::{Category, SourceKind, ThreatProtection};

use crate::domain::DomainFilter;
use crate::retention::RetentionMode;
use crate::scrape_plan::ScrapePlan;
use crate::threat_rules::ThreatRules;

/// A checked search with every default filled in.
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

    /// Returns the query as it was typed.
    #[must_use]
    pub fn query_text(&self) -> &str {
        &self.query_text
    }

    /// Returns how many results each source may give, 1 to 100.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns what is searched: at least one, each kind once.
    #[must_use]
    pub fn sources(&self) -> &[SourcePlan] {
        &self.sources
    }

    /// Returns the kinds of pages that are kept, each once; all when there are none.
    #[must_use]
    pub fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// Returns the hosts results may come from.
    #[must_use]
    pub fn domains(&self) -> &DomainFilter {
        &self.domains
    }

    /// Returns the country of the searcher, ISO 3166-1 alpha-2 in upper case.
    #[must_use]
    pub fn country(&self) -> &'static str {
        self.country
    }

    /// Returns whether the request names the country, so that it is no default.
    #[must_use]
    pub fn country_given(&self) -> bool {
        self.country_given
    }

    /// Returns the place of the searcher.
    #[must_use]
    pub fn location(&self) -> Option<&str> {
        self.location.as_deref()
    }

    /// Returns whether explicit content is filtered.
    #[must_use]
    pub fn safe(&self) -> bool {
        self.safe
    }

    /// Returns the time for the whole request.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns whether results are left out whose URL other operations would refuse.
    #[must_use]
    pub fn ignore_invalid_urls(&self) -> bool {
        self.ignore_invalid_urls
    }

    /// Returns whether descriptions show the passage about the query.
    #[must_use]
    pub fn highlights(&self) -> bool {
        self.highlights
    }

    /// Returns what may be kept of the search.
    #[must_use]
    pub fn retention(&self) -> RetentionMode {
        self.retention
    }

    /// Returns how the results are scraped; `None` when no formats are asked for, so that none is.
    #[must_use]
    pub fn scrape(&self) -> Option<&ScrapePlan> {
        self.scrape.as_ref()
    }

    /// Returns what the request changes in the team's threat protection.
    #[must_use]
    pub fn threat(&self) -> Option<&ThreatProtection> {
        self.threat.as_ref()
    }

    /// Returns the rules by which the URLs of results are checked; `None` when they are not.
    #[must_use]
    pub fn protection(&self) -> Option<&ThreatRules> {
        self.protection.as_ref()
    }
}

/// One source of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePlan {
    pub(crate) kind: SourceKind,
    pub(crate) tbs: Option<Tbs>,
    pub(crate) location: Option<String>,
}

impl SourcePlan {
    /// Returns what is searched.
    #[must_use]
    pub fn kind(&self) -> SourceKind {
        self.kind
    }

    /// Returns the time filter: the source's own, else that of the request.
    #[must_use]
    pub fn tbs(&self) -> Option<&Tbs> {
        self.tbs.as_ref()
    }

    /// Returns the place of the searcher: the source's own, else that of the request.
    #[must_use]
    pub fn location(&self) -> Option<&str> {
        self.location.as_deref()
    }
}
