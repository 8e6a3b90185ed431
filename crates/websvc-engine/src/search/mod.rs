//! The search operation: find, gather, assemble, charge.

mod assemble;
mod category;
mod charge;
mod feature_check;
mod find;
mod gather;
mod joint_charge;
mod media_charge;
mod merge;
mod page_result;
mod post_filter;
mod produced;
mod threat_filter;

use std::time::Duration;

use websvc_scrape::Page;
use websvc_types::{SearchData, SearchResponse};

use crate::bill::Bill;
use crate::error::EngineError;
use crate::ingest::IndexingFailure;

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
pub(crate) use joint_charge::{charge_jointly, max_joint_search_credits};
pub(crate) use merge::canonical;
pub(crate) use post_filter::matches;
pub(crate) use threat_filter::UrlCheckers;

/// The result of a search.
#[derive(Debug)]
pub struct SearchOutcome {
    /// The results by source.
    pub data: SearchData,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
    /// The charges.
    pub bill: Bill,
    /// The durations of its stages.
    pub stages: StageTimings,
}

/// The result of scraping one page.
#[derive(Debug)]
pub struct PageOutcome {
    /// The page, or the error.
    pub page: Result<Page, EngineError>,
    /// The charges. A failed page may have some, too.
    pub bill: Bill,
    /// The reason why the page is missing in an index.
    pub indexing_failure: Option<IndexingFailure>,
}

/// The durations of the stages of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StageTimings {
    /// The time until the sources responded.
    pub find: Duration,
    /// The time from then until the results were filtered and their pages scraped.
    pub gather: Duration,
}

impl SearchOutcome {
    /// Converts it to the body of the response. `credits` is the charged amount.
    pub fn into_response(self, id: String, credits: u64) -> SearchResponse {
        let warning = (!self.warnings.is_empty()).then(|| self.warnings.join("; "));
        SearchResponse { success: true, data: self.data, warning, id, credits_used: credits }
    }
}
