//! What the page cache has, and what goes into it.

use std::sync::Arc;
use std::time::Duration;

use url::Url;
use websvc_stage::Stage;
use websvc_store::{CacheLimits, PageKey, PageScope, Store};
use websvc_validate::ScrapePlan;

use crate::cache;
use crate::cache_writer::{CacheMetrics, LookupOutcome};
use crate::error::ScrapeError;
use crate::format;
use crate::freshness::{Decision, Freshness};
use crate::output_cache::OutputKey;
use crate::page::Page;
use crate::raw::RawPage;
use crate::scraper::Scraper;

/// What the cache has of a page.
pub(crate) enum CacheLookup {
    /// The formats that are asked for, as they were written before.
    Output(Box<Page>),
    /// The page as its host sent it.
    Response(CacheStatus),
}

/// What the cache has of a page as its host sent it.
pub(crate) enum CacheStatus {
    /// A page that may answer, its name in the cache, and when it was fetched, in milliseconds since the Unix epoch.
    Fresh(Box<RawPage>, (PageKey, u64)),
    /// Nothing that may answer. There may be an older one, of which its host can say that it is unchanged.
    Stale,
    /// Nothing at all.
    Miss,
}

/// Where the cache has a page, or would have it.
#[derive(Clone, Copy)]
pub(crate) struct CacheSlot<'a> {
    pub(crate) key: &'a PageKey,
    /// It was looked at a moment ago, and nothing was there.
    pub(crate) is_empty: bool,
}

impl Scraper {
    /// Returns what the cache has of a page, however old.
    pub(crate) async fn stored_response(
        &self,
        url: &Url,
        key: &PageKey,
    ) -> Result<Option<RawPage>, ScrapeError> {
        let key = key.clone();
        let cached = self.run_store_read(move |store| store.page(&key).map_err(ScrapeError::Store)).await?;
        Ok(cached.and_then(|cached| cache::to_raw_page(url, cached)))
    }

    /// Returns how the page cache fares.
    pub fn cache_report(&self) -> CacheMetrics {
        self.inner.keeping.report(self.clock().now_ms())
    }

    /// Returns the bounds of the page cache.
    #[must_use]
    pub fn cache_limits(&self) -> CacheLimits {
        self.inner.config.cache
    }

    /// Returns what the cache has of a page that may answer: the team's own copy, else that of all teams.
    pub(crate) async fn lookup(
        &self,
        url: &Url,
        key: Option<&PageKey>,
        plan: &ScrapePlan,
        freshness: Freshness,
    ) -> Result<CacheLookup, ScrapeError> {
        let own = self.held_under(url, key, plan, freshness).await;
        let Some(shared) = key.and_then(PageKey::shared) else { return own };
        match own {
            Ok(CacheLookup::Response(found @ (CacheStatus::Stale | CacheStatus::Miss))) => {
                match self.held_under(url, Some(&shared), plan, freshness).await? {
                    // Whether there is an older copy matters to the slot of the team's own.
                    CacheLookup::Response(CacheStatus::Stale | CacheStatus::Miss) => {
                        Ok(CacheLookup::Response(found))
                    }
                    answer @ (CacheLookup::Output(_) | CacheLookup::Response(CacheStatus::Fresh(..))) => {
                        Ok(answer)
                    }
                }
            }
            Err(ScrapeError::NoCachedData | ScrapeError::LockdownMiss) => {
                self.held_under(url, Some(&shared), plan, freshness).await
            }
            Ok(CacheLookup::Output(_) | CacheLookup::Response(CacheStatus::Fresh(..))) | Err(_) => own,
        }
    }

    /// Returns what the cache has under one name.
    async fn held_under(
        &self,
        url: &Url,
        key: Option<&PageKey>,
        plan: &ScrapePlan,
        freshness: Freshness,
    ) -> Result<CacheLookup, ScrapeError> {
        if let Some(page) = self.stages().time(Stage::Cache, || self.cached_output(url, key, plan, freshness))
        {
            self.inner.keeping.record_lookup(LookupOutcome::OutputHit);
            return Ok(CacheLookup::Output(Box::new(page)));
        }
        self.cached_under(url, key, freshness).await.map(CacheLookup::Response)
    }

    /// Returns the page as it was written before, when that may answer.
    fn cached_output(
        &self,
        url: &Url,
        key: Option<&PageKey>,
        plan: &ScrapePlan,
        freshness: Freshness,
    ) -> Option<Page> {
        let key = key?;
        let entry = self.inner.rendered.find(key, &OutputKey::of(plan))?;
        // One lookup in an index, at most once a second for a page: not worth another thread. When all connections are in use
        // the page is read from the cache, off this thread.
        if !entry.is_current(|| self.inner.store.try_page_fetched_at(key).ok().flatten()) {
            return None;
        }
        match freshness.decide(Some(self.age(entry.fetched_at_ms))) {
            Ok(Decision::Serve) if freshness.asks_cache() => {}
            Ok(Decision::Serve | Decision::Fetch) | Err(_) => return None,
        }
        let mut page = entry.page.clone();
        format::mark_cached(&mut page, url, cache::fetched_at(entry.fetched_at_ms)?);
        Some(page)
    }

    /// Returns what the cache has of a page as its host sent it: the team's own copy, else that of all teams.
    pub(crate) async fn lookup_response(
        &self,
        url: &Url,
        key: Option<&PageKey>,
        freshness: Freshness,
    ) -> Result<CacheStatus, ScrapeError> {
        let own = self.cached_under(url, key, freshness).await;
        let Some(shared) = key.and_then(PageKey::shared) else { return own };
        match own {
            Ok(found @ (CacheStatus::Stale | CacheStatus::Miss)) => {
                match self.cached_under(url, Some(&shared), freshness).await? {
                    CacheStatus::Stale | CacheStatus::Miss => Ok(found),
                    answer @ CacheStatus::Fresh(..) => Ok(answer),
                }
            }
            Err(ScrapeError::NoCachedData | ScrapeError::LockdownMiss) => {
                self.cached_under(url, Some(&shared), freshness).await
            }
            Ok(CacheStatus::Fresh(..)) | Err(_) => own,
        }
    }

    async fn cached_under(
        &self,
        url: &Url,
        key: Option<&PageKey>,
        freshness: Freshness,
    ) -> Result<CacheStatus, ScrapeError> {
        let Some(key) = key.filter(|_| freshness.asks_cache()) else {
            // Nothing cached can answer; what never fetches ends here.
            return freshness.decide(None).map(|_fetch| CacheStatus::Stale);
        };
        let found =
            self.stages().run(Stage::Cache, self.read_cached_response(url, key.clone(), freshness)).await;
        self.inner.keeping.record_lookup(match &found {
            Ok(CacheStatus::Fresh(page, _)) => LookupOutcome::ResponseHit { bytes: page.body.len() },
            Ok(CacheStatus::Stale | CacheStatus::Miss) | Err(_) => LookupOutcome::Miss,
        });
        found
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
                let page = cache::to_raw_page(url, cached).zip(fetched_at_ms);
                // It was stored before there was a browser to draw it.
                page.filter(|(page, _)| freshness.is_cache_only() || !self.inner.drawer.needs_rendering(page))
                    .map_or(CacheStatus::Stale, |(page, at)| CacheStatus::Fresh(Box::new(page), (key, at)))
            }
            (Decision::Fetch, Some(_)) => CacheStatus::Stale,
        })
    }

    fn age(&self, fetched_at_ms: u64) -> Duration {
        Duration::from_millis(self.inner.config.clock.now_ms().saturating_sub(fetched_at_ms))
    }

    /// Puts a page into the cache, and returns when that was if the cache has it now. That it could not be kept is
    /// told, and does not keep it from the caller.
    pub(crate) async fn put(
        &self,
        mut page: RawPage,
        key: PageKey,
    ) -> Result<(RawPage, Option<u64>), ScrapeError> {
        let is_kept = self.scope != PageScope::Off;
        if !is_kept || page.unverified || page.is_personal() || page.challenge_vendor().is_some() {
            return Ok((page, None));
        }
        let (limits, now_ms) = (self.inner.config.cache, self.clock().now_ms());
        let inner = Arc::clone(&self.inner);
        let storing = self.run_cpu_task(move |store| {
            let kept = inner.keeping.store(now_ms, || cache::put(store, &limits, key, &page, now_ms));
            if kept.is_err() {
                page.warnings.push("the page could not be kept in the cache".to_owned());
            }
            Ok((page, kept.unwrap_or_default()))
        });
        self.stages().run(Stage::Store, storing).await
    }
}
