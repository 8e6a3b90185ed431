//! What the page cache has, and what goes into it.

use std::sync::Arc;
use std::time::Duration;

use url::Url;
use websvc_stage::Stage;
use websvc_store::{CacheLimits, PageKey, PageScope, Store};
use websvc_validate::ScrapePlan;

use crate::cache;
use crate::error::ScrapeError;
use crate::freshness::{Decision, Freshness};
use crate::keeping::{CacheReport, Lookup};
use crate::page::Page;
use crate::raw::RawPage;
use crate::render;
use crate::rendered::Recipe;
use crate::scraper::Scraper;

/// What the cache has of a page.
pub(crate) enum Held {
    /// The formats that are asked for, as they were written before.
    Written(Box<Page>),
    /// The page as its host sent it.
    Found(Found),
}

/// What the cache has of a page as its host sent it.
pub(crate) enum Found {
    /// A page that may answer, its name in the cache, and when it was fetched, in milliseconds since the Unix epoch.
    Fresh(Box<RawPage>, (PageKey, u64)),
    /// Nothing that may answer. There may be an older one, of which its host can say that it is unchanged.
    NotFresh,
    /// Nothing at all.
    Nothing,
}

/// Where the cache has a page, or would have it.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'a> {
    pub(crate) key: &'a PageKey,
    /// It was looked at a moment ago, and nothing was there.
    pub(crate) is_empty: bool,
}

impl Scraper {
    /// Returns what the cache has of a page, however old.
    pub(crate) async fn known(&self, url: &Url, key: &PageKey) -> Result<Option<RawPage>, ScrapeError> {
        let key = key.clone();
        let cached = self.read(move |store| store.page(&key).map_err(ScrapeError::Store)).await?;
        Ok(cached.and_then(|cached| cache::raw_page(url, cached)))
    }

    /// Returns how the page cache fares.
    pub fn cache_report(&self) -> CacheReport {
        self.inner.keeping.report(self.clock().now_ms())
    }

    /// Returns the bounds of the page cache.
    #[must_use]
    pub fn cache_limits(&self) -> CacheLimits {
        self.inner.config.cache
    }

    /// Returns what the cache has of a page that may answer: the team's own copy, else that of all teams.
    pub(crate) async fn held(
        &self,
        url: &Url,
        key: Option<&PageKey>,
        plan: &ScrapePlan,
        freshness: Freshness,
    ) -> Result<Held, ScrapeError> {
        let own = self.held_under(url, key, plan, freshness).await;
        let Some(shared) = key.and_then(PageKey::shared) else { return own };
        match own {
            Ok(Held::Found(found @ (Found::NotFresh | Found::Nothing))) => {
                match self.held_under(url, Some(&shared), plan, freshness).await? {
                    // Whether there is an older copy matters to the slot of the team's own.
                    Held::Found(Found::NotFresh | Found::Nothing) => Ok(Held::Found(found)),
                    answer @ (Held::Written(_) | Held::Found(Found::Fresh(..))) => Ok(answer),
                }
            }
            Err(ScrapeError::NoCachedData | ScrapeError::LockdownMiss) => {
                self.held_under(url, Some(&shared), plan, freshness).await
            }
            Ok(Held::Written(_) | Held::Found(Found::Fresh(..))) | Err(_) => own,
        }
    }

    /// Returns what the cache has under one name.
    async fn held_under(
        &self,
        url: &Url,
        key: Option<&PageKey>,
        plan: &ScrapePlan,
        freshness: Freshness,
    ) -> Result<Held, ScrapeError> {
        if let Some(page) = self.stages().time(Stage::Cache, || self.rendered(url, key, plan, freshness)) {
            self.inner.keeping.looked_up(Lookup::Written);
            return Ok(Held::Written(Box::new(page)));
        }
        self.cached_under(url, key, freshness).await.map(Held::Found)
    }

    /// Returns the page as it was written before, when that may answer.
    fn rendered(
        &self,
        url: &Url,
        key: Option<&PageKey>,
        plan: &ScrapePlan,
        freshness: Freshness,
    ) -> Option<Page> {
        let key = key?;
        let entry = self.inner.rendered.find(key, &Recipe::of(plan))?;
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
        render::as_cached(&mut page, url, cache::fetched_at(entry.fetched_at_ms)?);
        Some(page)
    }

    /// Returns what the cache has of a page as its host sent it: the team's own copy, else that of all teams.
    pub(crate) async fn cached(
        &self,
        url: &Url,
        key: Option<&PageKey>,
        freshness: Freshness,
    ) -> Result<Found, ScrapeError> {
        let own = self.cached_under(url, key, freshness).await;
        let Some(shared) = key.and_then(PageKey::shared) else { return own };
        match own {
            Ok(found @ (Found::NotFresh | Found::Nothing)) => {
                match self.cached_under(url, Some(&shared), freshness).await? {
                    Found::NotFresh | Found::Nothing => Ok(found),
                    answer @ Found::Fresh(..) => Ok(answer),
                }
            }
            Err(ScrapeError::NoCachedData | ScrapeError::LockdownMiss) => {
                self.cached_under(url, Some(&shared), freshness).await
            }
            Ok(Found::Fresh(..)) | Err(_) => own,
        }
    }

    async fn cached_under(
        &self,
        url: &Url,
        key: Option<&PageKey>,
        freshness: Freshness,
    ) -> Result<Found, ScrapeError> {
        let Some(key) = key.filter(|_| freshness.asks_cache()) else {
            // Nothing cached can answer; what never fetches ends here.
            return freshness.decide(None).map(|_fetch| Found::NotFresh);
        };
        let found = self.stages().run(Stage::Cache, self.look_up(url, key.clone(), freshness)).await;
        self.inner.keeping.looked_up(match &found {
            Ok(Found::Fresh(page, _)) => Lookup::Received { bytes: page.body.len() },
            Ok(Found::NotFresh | Found::Nothing) | Err(_) => Lookup::Missed,
        });
        found
    }

    async fn look_up(&self, url: &Url, key: PageKey, freshness: Freshness) -> Result<Found, ScrapeError> {
        let read = move |store: &Store| Ok((store.page(&key).map_err(ScrapeError::Store)?, key));
        let (cached, key) = self.read(read).await?;
        let fetched_at_ms = cached.as_ref().map(|cached| cached.fetched_at_ms);
        Ok(match (freshness.decide(fetched_at_ms.map(|at| self.age(at)))?, cached) {
            (_, None) => Found::Nothing,
            (Decision::Serve, Some(cached)) => {
                let page = cache::raw_page(url, cached).zip(fetched_at_ms);
                // It was stored before there was a browser to draw it.
                page.filter(|(page, _)| freshness.is_cache_only() || !self.inner.drawer.would_fill(page))
                    .map_or(Found::NotFresh, |(page, at)| Found::Fresh(Box::new(page), (key, at)))
            }
            (Decision::Fetch, Some(_)) => Found::NotFresh,
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
        if !is_kept || page.unverified || page.is_personal() || page.wall().is_some() {
            return Ok((page, None));
        }
        let (limits, now_ms) = (self.inner.config.cache, self.clock().now_ms());
        let inner = Arc::clone(&self.inner);
        let storing = self.work(move |store| {
            let kept = inner.keeping.keep(now_ms, || cache::put(store, &limits, key, &page, now_ms));
            if kept.is_err() {
                page.warnings.push("the page could not be kept in the cache".to_owned());
            }
            Ok((page, kept.unwrap_or_default()))
        });
        self.stages().run(Stage::Store, storing).await
    }
}
