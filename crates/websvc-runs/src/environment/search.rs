//! Searches of the web, and maps of sites.

use std::time::Instant;

use url::Url;
use websvc_agent::{FoundPage, ToolFailure, ToolOutput};
use websvc_engine::MapOutcome;
use websvc_scrape::FilePublisher;
use websvc_types::limits::SEARCH_TIMEOUT_MIN_MS;
use websvc_types::{MapLink, MapRequest, SearchRequest, WebResult};
use websvc_validate::{Checked, check_request};

use super::RunEnvironment;
use super::read::{failure, refused};
use crate::budget::Price;

/// The number of results of a search.
const RESULTS: u32 = 10;

/// The maximum number of URLs of a map.
const MAP_URLS: u32 = 100;

/// The maximum time of a search or a map, in milliseconds.
const TIMEOUT_MS: u64 = 60_000;

/// The maximum length of a title or a description, in characters.
const MAX_TEXT_CHARS: usize = 1_000;

impl RunEnvironment {
    /// Searches the web.
    pub(super) async fn search(&self, query: &str) -> Result<ToolOutput, ToolFailure> {
        let request = SearchRequest {
            limit: Some(RESULTS),
            country: self.setup.location.as_ref().and_then(|location| location.country.clone()),
            timeout: Some(self.timeout_ms(SEARCH_TIMEOUT_MIN_MS, TIMEOUT_MS)),
            ignore_invalid_urls: Some(true),
            threat_protection: self.setup.threat_protection.clone(),
            ..SearchRequest::new(query)
        };
        let Checked { plan, warnings: _ } = check_request(&request, &self.setup.policy)
            .map_err(|rejection| refused(&rejection.to_string()))?;
        let engine = &self.tools.engine;
        let price = Price::from_credits(engine.max_search_credits(&plan));
        let reservation = self.budget.reserve(price).await.map_err(ToolFailure::Stopped)?;
        let files = FilePublisher::inline();
        match engine.search(&plan, &self.setup.team, &files, Instant::now()).await {
            Ok(outcome) => {
                reservation.settle(&outcome.bill);
                let results = outcome.data.web.unwrap_or_default();
                let found = results.into_iter().map(|result: WebResult| FoundPage {
                    url: result.url,
                    title: result.title,
                    description: result.description,
                });
                Ok(self.found(found))
            }
            Err(mut error) => {
                reservation.settle(&error.take_bill());
                Err(failure(&error))
            }
        }
    }

    /// Lists the URLs of a site.
    pub(super) async fn map(&self, url: &str, query: &str) -> Result<ToolOutput, ToolFailure> {
        let url = self.destination(url)?;
        let request = MapRequest {
            search: (!query.trim().is_empty()).then(|| query.to_owned()),
            limit: Some(MAP_URLS),
            timeout: Some(self.timeout_ms(SEARCH_TIMEOUT_MIN_MS, TIMEOUT_MS)),
            location: self.setup.location.clone(),
            threat_protection: self.setup.threat_protection.clone(),
            ..MapRequest::new(url)
        };
        let Checked { plan, warnings: _ } = check_request(&request, &self.setup.policy)
            .map_err(|rejection| refused(&rejection.to_string()))?;
        let engine = &self.tools.engine;
        let price = Price::from_credits(engine.max_map_credits(&plan));
        let reservation = self.budget.reserve(price).await.map_err(ToolFailure::Stopped)?;
        let MapOutcome { result, bill } = engine.map(&plan, &self.setup.team, Instant::now()).await;
        reservation.settle(&bill);
        let links = result.map_err(|error| failure(&error))?.links;
        let found = links.into_iter().map(|link| {
            let MapLink { url, title, description } = link;
            FoundPage { url, title: title.unwrap_or_default(), description: description.unwrap_or_default() }
        });
        Ok(self.found(found))
    }

    /// Returns found pages with texts of limited length, and makes their URLs known to the run.
    fn found(&self, pages: impl Iterator<Item = FoundPage>) -> ToolOutput {
        let cut = |text: String| text.chars().take(MAX_TEXT_CHARS).collect();
        let mut found = Vec::new();
        for FoundPage { url, title, description } in pages {
            let Ok(parsed) = Url::parse(&url) else { continue };
            if matches!(parsed.scheme(), "http" | "https") {
                self.destinations.learn(&parsed);
                found.push(FoundPage { url, title: cut(title), description: cut(description) });
            }
        }
        ToolOutput::Found(found)
    }
}
