//! The search operation: find, gather, assemble, charge.

mod assemble;
mod capability;
mod category;
mod charge;
mod enforce;
mod find;
mod gather;
mod merge;
mod produced;
mod screen;

use std::time::Duration;

use websvc_scrape::Page;
use websvc_types::{SearchData, SearchResponse};

use crate::bill::Bill;
use crate::error::EngineError;

pub(crate) use assemble::assemble;
pub use assemble::page_content;
pub(crate) use capability::{Review, review, review_page};
pub(crate) use charge::{ceiling, charge, charge_alone, file_ceiling, file_floor, miss_price, page_ceiling};
pub(crate) use enforce::keeps;
pub use find::NO_PAGES;
pub(crate) use find::find;
pub(crate) use gather::{Means, gather};
pub(crate) use merge::canonical;
pub(crate) use screen::Inspections;

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
    pub stages: Stages,
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
pub struct Stages {
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
