//! The map operation: lists the URLs of a site.
//!
//! It reads robots.txt first and obeys it for everything that it fetches. Then follow the links of the start page, the
//! feeds that the start page names, the sitemaps that robots.txt names or that have usual paths, and the pages in the
//! index. The URLs are listed in this order, each once.

mod indexed_pages;
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

/// The result of a map.
#[derive(Debug)]
pub struct MapOutcome {
    /// The URLs, or the error.
    pub result: Result<SiteUrls, EngineError>,
    /// The charges. A failed map has only those for URL scans.
    pub bill: Bill,
}

/// The URLs of a site.
#[derive(Debug, Clone, Default)]
pub struct SiteUrls {
    /// The URLs, ranked if the request has search words.
    pub links: Vec<MapLink>,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
}

impl SiteUrls {
    /// Converts it to the body of the response. `credits` is the charged amount.
    #[must_use]
    pub fn into_response(self, id: String, credits: u64) -> MapResponse {
        let warning = (!self.warnings.is_empty()).then(|| self.warnings.join("; "));
        MapResponse { success: true, links: self.links, warning, id, credits_used: credits }
    }
}

impl Engine {
    /// Lists the URLs of a site for a team.
    ///
    /// The deadline is the plan's timeout after `started`. At the deadline, the URLs found so far are returned with a
    /// warning. If there are none, the error is [`EngineError::MapTimeout`]. If nothing of the site can be fetched, it
    /// is [`EngineError::MapFailed`].
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
            let checkers = UrlCheckers::of_page(&plan.page, self.threat());
            let checker = checkers.pages().cloned();
            let scraper = checkers.scraper(self.scraper()).for_team(team, scope);
            let map_run = MapRun::new(plan, scraper, checker, started + plan.timeout);
            let indexes = if plan.index { self.indexes_in(scope).await } else { Ok(Vec::new()) };
            let owner = scope.owner().filter(|_| self.team_server().is_some());
            let server = self.index_server().filter(|_| plan.index).map(|server| (&**server, owner));
            let mut result = match indexes {
                Ok(indexes) => Box::pin(map_run.run(indexes, server)).await,
                Err(error) => Err(error),
            };
            let mut scan_warnings = Vec::new();
            let scanned = checkers.finish(&mut scan_warnings);
            let mut bill = Bill::default();
            if let Ok(site_urls) = &mut result {
                site_urls.warnings.append(&mut scan_warnings);
                bill.add_line(ChargeKind::Map, 1, self.pricing().map);
            }
            bill.add_line(ChargeKind::ThreatScan, scanned, self.pricing().threat_scan);
            MapOutcome { result, bill }
        })
    }

    /// Returns the maximum credits of a map. Scanned URLs of redirects are not included, because they are unknown
    /// before the map.
    #[must_use]
    pub fn max_map_credits(&self, plan: &MapPlan) -> u64 {
        let prices = self.prices();
        let scan = if plan.page.protection.is_some() { prices.threat_scan } else { 0 };
        prices.map.saturating_add(scan)
    }
}
