//! The prices of an engine: the maximum of a request before it, and the price list.

use websvc_validate::{MonitorPlan, RetentionMode, ScrapePlan, SearchPlan};

use super::Engine;
use crate::bill::Bill;
use crate::monitor_estimate::MonitorEstimate;
use crate::pricing::Pricing;
use crate::search::{
    SearchOutcome, charge_jointly, max_file_credits, max_joint_search_credits, max_page_credits,
    max_search_credits, min_file_credits,
};

impl Engine {
    /// Returns the maximum credits of a page. Further pages of a document and scanned redirects are not included.
    pub fn max_page_credits(&self, plan: &ScrapePlan) -> u64 {
        max_page_credits(&self.prices(), self.config.scraper.proxies(), plan)
    }

    /// Returns the credits of each further page of a document.
    pub fn document_page_price(&self) -> u64 {
        self.prices().pdf_page
    }

    /// Returns the credits of data that the model extracts from a page, in addition to those of the page.
    pub fn json_price(&self) -> u64 {
        self.prices().json
    }

    /// Returns the maximum credits of an uploaded file. Further pages of a document are not included.
    pub fn max_file_credits(&self, plan: &ScrapePlan) -> u64 {
        max_file_credits(&self.prices(), plan)
    }

    /// Returns the minimum credits of a readable uploaded file of any type.
    pub fn min_file_credits(&self) -> u64 {
        min_file_credits(&self.prices())
    }

    /// Returns the maximum credits of a search, which are held before it. A document counts as one page, because its
    /// number of pages is unknown before it is read. Scanned redirects are not included, because they are unknown
    /// before the pages are fetched.
    pub fn max_search_credits(&self, plan: &SearchPlan) -> u64 {
        max_search_credits(&self.prices(), self.config.scraper.proxies(), plan)
    }

    /// Returns the maximum credits of searches whose results are charged together. They must have the same retention.
    pub fn max_joint_search_credits(&self, plans: &[SearchPlan]) -> u64 {
        max_joint_search_credits(&self.prices(), self.config.scraper.proxies(), plans)
    }

    /// Returns the charges of searches whose results are charged together: by started tens of all of them.
    pub fn charge_jointly(&self, retention: RetentionMode, searches: &[SearchOutcome]) -> Bill {
        charge_jointly(&self.prices(), retention, searches)
    }

    /// Returns the credits of a judgment about a page of a monitor.
    pub fn judge_price(&self) -> u64 {
        if self.completion_model().is_some() { self.config.pricing.judge } else { 0 }
    }

    /// Estimates the credits of a monitor: see [`Pricing::estimate_monitor`].
    pub fn estimate_monitor(
        &self,
        plan: &MonitorPlan,
        is_judged: bool,
        runs_per_month: u64,
    ) -> MonitorEstimate {
        self.prices().estimate_monitor(plan, is_judged, runs_per_month)
    }

    /// Returns the price list.
    pub(crate) fn pricing(&self) -> &Pricing {
        &self.config.pricing
    }

    /// Returns the prices of the features that are configured; others are free.
    pub(crate) fn prices(&self) -> Pricing {
        let mut pricing = self.config.pricing;
        if !self.config.threat.has_scanner() {
            pricing.threat_scan = 0;
        }
        if self.config.completion_model().is_none() {
            (pricing.json, pricing.question, pricing.highlights) = (0, 0, 0);
        }
        if self.config.media.downloader().is_none() {
            (pricing.audio, pricing.video) = (0, 0);
        }
        pricing
    }
}
