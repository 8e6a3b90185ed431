//! The search operation: find, gather, assemble, charge.

mod assemble;
mod category;
mod charge;
mod feature_check;
mod find;
mod gather;
mod merge;
mod post_filter;
mod produced;
mod threat_filter;

use std::time::Duration;

use websvc_scrape::Page;
use websvc_types::{SearchData, SearchResponse};

use crate::bill::Bill;
use crate::error::EngineError;

pub(crate) use assemble::assemble;
pub use assemble::page_content;
pub(crate) use charge::{
    charge, charge_single_page, max_file_credits, max_page_credits, max_search_credits, min_file_credits,
    miss_price,
};
pub(crate) use feature_check::{FeatureCheck, check_page_features, check_search_features};
pub use find::NO_PAGES;
pub(crate) use find::query_sources;
pub(crate) use gather::{GatherContext, gather};
pub(crate) use merge::canonical;
pub(crate) use post_filter::matches;
pub(crate) use threat_filter::UrlCheckers;

/// What a search came to.
#[derive(Debug)]
pub struct SearchOutcome {
    /// The results by source.
    pub data: SearchData,
    /// What the caller should be told.
    pub warnings: Vec<String>,
    /// What it costs.
    pub bill: Bill,
    /// How long its stages took.
    pub stages: StageTimings,
}

/// What getting one page came to.
#[derive(Debug)]
pub struct PageOutcome {
    /// The page, or why there is none.
    pub page: Result<Page, EngineError>,
    /// What it costs; a page that could not be got may cost something, too.
    pub bill: Bill,
}

/// How long the stages of a search took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StageTimings {
    /// Until the sources had answered.
    pub find: Duration,
    /// From there until the results were screened and the pages were there.
    pub gather: Duration,
}

impl SearchOutcome {
    /// Returns the answer's body; `credits` is what was charged.
    pub fn into_response(self, id: String, credits: u64) -> SearchResponse {
        let warning = (!self.warnings.is_empty()).then(|| self.warnings.join("; "));
        SearchResponse { success: true, data: self.data, warning, id, credits_used: credits }
    }
}
