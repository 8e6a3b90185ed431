//! The map operation: which URLs a site has.
//!
//! robots.txt is read first and obeyed in what is fetched. Then come the links of the start page, the feeds it names, the
//! sitemaps that robots.txt names or that are at the usual places, and what the index knows: in this order the URLs are
//! listed, and each once.

mod listing;
mod rank;
mod robots;
mod run;
mod site;
mod url_collector;
mod warnings;

#[cfg(test)]
mod tests;

use std::time::Instant;

use websvc_transport::BoxFuture;
use websvc_types::{MapLink, MapResponse};
use websvc_validate::MapPlan;

use crate::bill::{Bill, ChargeKind};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::search::UrlCheckers;
use run::MapRun;

/// What a map came to.
#[derive(Debug)]
pub struct MapOutcome {
    /// The URLs, or why there are none.
    pub result: Result<SiteUrls, EngineError>,
    /// What it costs; a map that failed costs no more than what was scanned for it.
    pub bill: Bill,
}

/// The URLs of a site.
#[derive(Debug, Clone, Default)]
pub struct SiteUrls {
    /// The URLs, the best first when words to rank by were given.
    pub links: Vec<MapLink>,
    /// What the caller should be told.
    pub warnings: Vec<String>,
}

impl SiteUrls {
    /// Returns the answer's body; `credits` is what was charged.
    #[must_use]
    pub fn into_response(self, id: String, credits: u64) -> MapResponse {
        let warning = (!self.warnings.is_empty()).then(|| self.warnings.join("; "));
        MapResponse { success: true, links: self.links, warning, id, credits_used: credits }
    }
}

impl Engine {
    /// Lists the URLs of a site for a team.
    ///
    /// One deadline, the plan's timeout from `started`, bounds it all. What was found until then is the answer, with a
    /// warning; only when nothing was found it is [`EngineError::MapTimeout`]. A site of which nothing can be had is
    /// [`EngineError::MapFailed`].
    pub fn map<'a>(
        &'a self,
        plan: &'a MapPlan,
        team: &'a str,
        started: Instant,
    ) -> BoxFuture<'a, MapOutcome> {
        Box::pin(async move {
            let scope = match self.scope(team) {
                Ok(scope) => scope,
                Err(error) => return MapOutcome { result: Err(error), bill: Bill::default() },
            };
            let inspections = UrlCheckers::of_page(plan.page(), self.threat());
            let inspection = inspections.pages().cloned();
            let scraper = inspections.scraper(self.scraper()).in_scope(scope);
            let exploration = MapRun::new(plan, scraper, inspection, started + plan.timeout());
            let indexes = if plan.index() { self.indexes_in(scope).await } else { Ok(Vec::new()) };
            let mut result = match indexes {
                Ok(indexes) => Box::pin(exploration.run(indexes)).await,
                Err(error) => Err(error),
            };
            let mut late_notes = Vec::new();
            let scanned = inspections.finish(&mut late_notes);
            let mut bill = Bill::default();
            if let Ok(mapped) = &mut result {
                mapped.warnings.append(&mut late_notes);
                bill.add_line(ChargeKind::Map, 1, self.pricing().map);
            }
            bill.add_line(ChargeKind::ThreatScan, scanned, self.pricing().threat_scan);
            MapOutcome { result, bill }
        })
    }

    /// Returns the most that a map may cost. URLs that are scanned because the site leads to them do not count: they are
    /// known only when it did.
    #[must_use]
    pub fn max_map_credits(&self, plan: &MapPlan) -> u64 {
        let prices = self.prices();
        let scan = if plan.page().protection().is_some() { prices.threat_scan } else { 0 };
        prices.map.saturating_add(scan)
    }
}
