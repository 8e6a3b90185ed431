//! Lookups in the page cache and the output cache, and storing fetched pages.

use std::sync::Arc;
use std::time::Duration;

use url::Url;
use websvc_stage::Stage;
use websvc_store::{CacheLimits, PageKey, PageScope, Store};
use websvc_types::Format;
use websvc_validate::ScrapePlan;

use crate::browse::RenderMode;
use crate::cache::{self, FetchedPage, StoreOutcome, StoredCopy};
use crate::cache_writer::{CacheMetrics, LookupOutcome};
use crate::error::ScrapeError;
use crate::format;
use crate::freshness::{Decision, Freshness};
use crate::output_cache::OutputKey;
use crate::page::Page;
use crate::raw::{RawPage, RevalidatedPage};
use crate::scraper::Scraper;

/// How far the time of an entry may be ahead of the clock: the clocks of replicas differ a little.
const MAX_LEAD_MS: u64 = 60_000;

/// The result of a lookup in both caches.
pub(crate) enum CacheLookup {
    /// The requested formats, from the output cache.
    Output(Box<Page>),
    /// The state of the page cache.
    Response(CacheStatus),
}

/// The state of the page cache for a page.
pub(crate) enum CacheStatus {
    /// A page that may be served, and the copy in the cache that it was read from.
    Fresh(Box<RawPage>, StoredCopy),
    /// No page that may be served. There may be an older copy, which can be revalidated.
    Stale,
    /// No copy at all.
    Miss,
}

/// The entry of the cache for a page, whether or not it exists.
#[derive(Clone, Copy)]
pub(crate) struct CacheSlot<'a> {
    pub(crate) key: &'a PageKey,
    /// True if a lookup a moment ago found no entry.
    pub(crate) known_absent: bool,
}

/// Returns a key, and the key of the copy of all teams if there is another.
pub(crate) fn with_shared(key: PageKey) -> impl Iterator<Item = PageKey> {
    let shared = key.shared();
    std::iter::once(key).chain(shared)
}

impl Scraper {
    /// Returns the cached page under a key, however old.
    pub(crate) async fn stored_response(
        &self,
        url: &Url,
        key: &PageKey,
    ) -> Result<Option<RawPage>, ScrapeError> {
        let key = key.clone();
        let cached = self.run_store_read(move |store| store.page(&key).map_err(ScrapeError::Store)).await?;
        Ok(cached.and_then(|cached| cache::to_raw_page(url, cached)))
    }

    /// Returns the metrics of the page cache.
    pub fn cache_metrics(&self) -> &CacheMetrics {
        self.inner.cache_writer.metrics()
    }

    /// Returns whether the disk of the page cache is full, so that no pages are stored now.
    pub fn is_cache_full(&self) -> bool {
        self.inner.cache_writer.is_full(self.now_ms())
    }

    /// Returns the limits of the page cache.
    #[must_use]
    pub fn cache_limits(&self) -> CacheLimits {
        self.inner.config.cache
    }

    /// Looks up a page that may be served in both caches, under the first of `keys` that has one. Without any, returns
    /// the state of the first key, the slot of the page.
    pub(crate) async fn lookup(
        &self,
        url: &Url,
        keys: &[PageKey],
        plan: &ScrapePlan,
        freshness: Freshness,
    ) -> Result<CacheLookup, ScrapeError> {
        self.lookup_with(url, keys, Some(plan), freshness).await
    }

    /// Returns the keys of the copies that may be served for a plan, the best first: the team's own copy before the one of
    /// all teams, and copies as served before rendered ones, which only requests for the source of the page refuse.
    pub(crate) fn lookup_keys(&self, url: &Url, plan: &ScrapePlan, mode: RenderMode) -> Vec<PageKey> {
        let wants_source =
            plan.formats.iter().any(|format| matches!(format, Format::RawHtml(_) | Format::RawBase64(_)));
        let rendered = (mode == RenderMode::IfShell && !wants_source).then_some(RenderMode::Render);
        let modes = [Some(mode), rendered].into_iter().flatten();
        modes.filter_map(|mode| self.page_key(url, plan, mode)).flat_map(with_shared).collect()
    }

    /// Returns the page from the output cache, if it may be served.
    fn cached_output(
        &self,
        url: &Url,
        key: &PageKey,
        plan: &ScrapePlan,
        freshness: Freshness,
    ) -> Option<Page> {
        let entry = self.inner.output_cache.find(key, &OutputKey::from_plan(plan))?;
        // Its output has no copy for the index.
        if self.inner.unindexed_pages.is_missing(key, entry.fetched_at_ms) {
            return None;
        }
        // This is one lookup in a database index, at most once a second for a page, so it runs on this thread. When all
        // connections are in use, the page is read from the page cache instead, on the blocking pool.
        if !entry.is_current(|| self.inner.store.try_page_fetched_at(key).ok().flatten()) {
            return None;
        }
        match freshness.decide(Some(self.age(entry.fetched_at_ms))) {
            Ok(Decision::Serve) if freshness.uses_cache() => {}
            Ok(Decision::Serve | Decision::Fetch) | Err(_) => return None,
        }
        let mut page = entry.page.clone();
        format::mark_cached(&mut page, url, cache::fetched_at(entry.fetched_at_ms)?);
        page.metadata.scrape_id = Some(self.new_scrape_id());
        Some(page)
    }

    /// Looks up a page as received in the page cache, as [`Scraper::lookup`] does.
    pub(crate) async fn lookup_response(
        &self,
        url: &Url,
        keys: &[PageKey],
        freshness: Freshness,
    ) -> Result<CacheStatus, ScrapeError> {
        Ok(match self.lookup_with(url, keys, None, freshness).await? {
            CacheLookup::Response(status) => status,
            // Only a lookup with a plan returns outputs.
            CacheLookup::Output(_) => CacheStatus::Miss,
        })
    }

    /// Looks up a page, with a plan also in the output cache, and counts the lookup.
    async fn lookup_with(
        &self,
        url: &Url,
        keys: &[PageKey],
        plan: Option<&ScrapePlan>,
        freshness: Freshness,
    ) -> Result<CacheLookup, ScrapeError> {
        if keys.is_empty() || !freshness.uses_cache() {
            // No cached page may be served; a request that must not fetch fails here.
            return freshness.decide(None).map(|_fetch| CacheLookup::Response(CacheStatus::Stale));
        }
        let found = self.first_found(url, keys, plan, freshness).await;
        self.inner.cache_writer.record_lookup(match &found {
            Ok(CacheLookup::Output(_)) => LookupOutcome::OutputHit,
            Ok(CacheLookup::Response(CacheStatus::Fresh(page, _))) => {
                LookupOutcome::ResponseHit { bytes: page.body.len() }
            }
            Ok(CacheLookup::Response(CacheStatus::Stale)) => LookupOutcome::Stale,
            Ok(CacheLookup::Response(CacheStatus::Miss)) | Err(_) => LookupOutcome::Miss,
        });
        found
    }

    async fn first_found(
        &self,
        url: &Url,
        keys: &[PageKey],
        plan: Option<&ScrapePlan>,
        freshness: Freshness,
    ) -> Result<CacheLookup, ScrapeError> {
        let mut first = None;
        for key in keys {
            let output = plan.and_then(|plan| {
                self.stages().time(Stage::Cache, || self.cached_output(url, key, plan, freshness))
            });
            if let Some(page) = output {
                return Ok(CacheLookup::Output(Box::new(page)));
            }
            let reading = self.read_cached_response(url, key.clone(), freshness);
            let found = self.stages().run(Stage::Cache, reading).await;
            match found {
                Ok(CacheStatus::Stale | CacheStatus::Miss)
                | Err(ScrapeError::NoCachedData | ScrapeError::LockdownMiss) => {
                    first.get_or_insert(found);
                }
                Ok(CacheStatus::Fresh(..)) | Err(_) => return found.map(CacheLookup::Response),
            }
        }
        first.unwrap_or(Ok(CacheStatus::Miss)).map(CacheLookup::Response)
    }

    /// Merges a response with the cached copy whose validators the request had, and counts a revalidation. Returns the
    /// current page, and whether the host responded 304 Not Modified.
    pub(crate) fn merge_response(
        &self,
        url: &Url,
        cached: Option<RawPage>,
        fetched: RawPage,
    ) -> RevalidatedPage {
        let has_copy = cached.is_some();
        let merged = RevalidatedPage::new(url, cached, fetched);
        if has_copy && merged.not_modified {
            self.inner.cache_writer.record_revalidation();
        }
        merged
    }

    async fn read_cached_response(
        &self,
        url: &Url,
        key: PageKey,
        freshness: Freshness,
    ) -> Result<CacheStatus, ScrapeError> {
        let read = move |store: &Store| Ok((store.page(&key).map_err(ScrapeError::Store)?, key));
        let (cached, key) = self.run_store_read(read).await?;
        let fetched_at_ms = cached.as_ref().map(|cached| cached.fetched_at_ms);
        Ok(match (freshness.decide(fetched_at_ms.map(|at| self.age(at)))?, cached) {
            (_, None) => CacheStatus::Miss,
            (Decision::Serve, Some(cached)) => {
                let copy = StoredCopy { key, fetched_at_ms: cached.fetched_at_ms };
                let page = cache::to_raw_page(url, cached);
                // A shell page may have been stored when no browser was available.
                let page = page
                    .filter(|page| freshness.is_cache_only() || !self.inner.renderer.needs_rendering(page));
                page.map_or(CacheStatus::Stale, |page| CacheStatus::Fresh(Box::new(page), copy))
            }
            (Decision::Fetch, Some(_)) => CacheStatus::Stale,
        })
    }

    /// Returns the age of an entry. One from the future was fetched while the clock was ahead, and counts as very old.
    fn age(&self, fetched_at_ms: u64) -> Duration {
        let now_ms = self.now_ms();
        if fetched_at_ms > now_ms.saturating_add(MAX_LEAD_MS) {
            return Duration::MAX;
        }
        Duration::from_millis(now_ms.saturating_sub(fetched_at_ms))
    }

    /// Stores a page in the cache. A page that could not be stored is still returned, with a warning.
    pub(crate) async fn put(&self, mut page: RawPage, key: PageKey) -> Result<FetchedPage, ScrapeError> {
        let is_off = self.scope == PageScope::Off;
        if is_off || page.unverified || page.is_personal() || page.challenge_vendor().is_some() {
            return Ok(FetchedPage { page, store_outcome: StoreOutcome::NotStored });
        }
        let (limits, now_ms) = (self.inner.config.cache, self.now_ms());
        let inner = Arc::clone(&self.inner);
        let storing = self.run_cpu_task(move |store| {
            let stored = inner.cache_writer.store(now_ms, || cache::put(store, &limits, key, &page, now_ms));
            if stored.is_err() {
                page.warnings.push("the page could not be cached".to_owned());
            }
            let fetched_at_ms = stored.unwrap_or_default();
            let store_outcome = fetched_at_ms.map_or(StoreOutcome::NotStored, StoreOutcome::StoredAt);
            Ok(FetchedPage { page, store_outcome })
        });
        self.stages().run(Stage::Store, storing).await
    }
}
