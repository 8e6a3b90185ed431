//! The search operation: find, gather, assemble, charge.

mod assemble;
mod capability;
mod category;
mod charge;
mod enforce;
mod find;
mod gather;
mod merge;

use websvc_types::{SearchData, SearchResponse};

pub(crate) use assemble::assemble;
pub(crate) use capability::{Review, review, review_page};
pub(crate) use charge::charge;
pub(crate) use enforce::keeps;
pub(crate) use find::find;
pub(crate) use gather::gather;
pub(crate) use merge::canonical;

/// What a search came to.
#[derive(Debug)]
pub struct SearchOutcome {
    /// The results by source.
    pub data: SearchData,
    /// What the caller should be told.
    pub warnings: Vec<String>,
    /// What it cost.
    pub credits: u64,
}

impl SearchOutcome {
    /// Returns the answer's body.
    pub fn into_response(self, id: String) -> SearchResponse {
        let warning = (!self.warnings.is_empty()).then(|| self.warnings.join("; "));
        SearchResponse { success: true, data: self.data, warning, id, credits_used: self.credits }
    }
}
