//! The engine: its dependencies, and the stages of its operations in order.

mod prices;

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use url::Url;
use websvc_model::{LimitedModel, Model};
use websvc_scrape::threat::{Classifier, UrlChecker};
use websvc_scrape::{BackgroundLimits, FilePublisher, FileUpload, OpenProfile, Page, Scraper, UrlBoundary};
use websvc_stage::{Stage, StageTimes};
use websvc_transport::{BoxFuture, UrlPolicy};
use websvc_validate::{PathPatterns, ScrapePlan, SearchPlan};

use crate::bill::Bill;
use crate::change_tracking::{SnapshotWriteMode, TrackingContext, track_changes};
use crate::engine_config::EngineConfig;
use crate::error::EngineError;
use crate::generated;
use crate::ingest::{IndexCopy, IndexingFailure};
use crate::media::{self, MediaContext, MediaTools};
use crate::mirror::{self, Mirror};
use crate::search::{
    FeatureCheck, GatherContext, PageOutcome, SearchOutcome, StageTimings, UrlCheckers, assemble, charge,
    charge_single_page, check_page_features, check_search_features, gather, miss_price, query_sources,
};
use crate::source::{InstrumentedSource, SearchSource, SourceMetrics};
use crate::upload_check::check_upload_features;

/// The operations of websvc: search, scrape, parse, map. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {
    config: Arc<EngineConfig>,
    /// The configured sources with their metrics.
    instrumented: Arc<[Arc<InstrumentedSource>]>,
    /// The scraper with limits or rules; `None` for the configured one.
    scraper: Option<Scraper>,
    /// The model with a concurrency limit; `None` for the configured one.
    model: Option<Arc<dyn Model>>,
    /// The compiled path patterns, shared by all crawls and maps.
    path_patterns: PathPatterns,
    /// The time at which versions of scraped pages are stored.
    snapshot_write_mode: SnapshotWriteMode,
}

impl Engine {
    /// Builds an engine.
    pub fn new(mut config: EngineConfig) -> Self {
        let stages = config.scraper.stages();
        let sources = config.sources.drain(..);
        let instrumented: Arc<[_]> =
            sources.map(|source| Arc::new(InstrumentedSource::new(source, stages.clone()))).collect();
        config.sources =
            instrumented.iter().map(|source| Arc::clone(source) as Arc<dyn SearchSource>).collect();
        Self {
            config: Arc::new(config),
            instrumented,
            scraper: None,
            model: None,
            path_patterns: PathPatterns::default(),
            snapshot_write_mode: SnapshotWriteMode::default(),
        }
    }

    /// Returns the compiled path patterns, which all crawls and maps share.
    pub fn path_patterns(&self) -> &PathPatterns {
        &self.path_patterns
    }

    pub(crate) fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// Returns the scraper.
    pub fn scraper(&self) -> &Scraper {
        self.scraper.as_ref().unwrap_or(&self.config.scraper)
    }

    /// Returns an engine for background work, which uses only a part of the scraper's pools and half of the model's
    /// capacity.
    #[must_use]
    pub fn with_background_limits(&self, limits: BackgroundLimits) -> Self {
        let model =
            self.config.model.clone().map(|model| Arc::new(LimitedModel::half_of(model)) as Arc<dyn Model>);
        Self { scraper: Some(self.config.scraper.with_background_limits(limits)), model, ..self.clone() }
    }

    /// Returns an engine whose caller stores the versions of scraped pages for later comparisons: see
    /// [`Page::snapshot`]. A page that the caller never stores is as if it had not been scraped.
    #[must_use]
    pub fn with_snapshots_in_pages(&self) -> Self {
        Self { snapshot_write_mode: SnapshotWriteMode::WithPage, ..self.clone() }
    }

    /// Returns an engine for one page that checks each redirect against `rule`. Rules with the same `name` must give
    /// the same results.
    #[must_use]
    pub fn with_redirect_rule(&self, name: impl Into<Cow<'static, str>>, rule: UrlPolicy) -> Self {
        Self { scraper: Some(self.scraper().with_redirect_rule(name, rule)), ..self.clone() }
    }

    /// Returns an engine for pages that load nothing outside a boundary: see
    /// [`Scraper::with_url_boundary`](websvc_scrape::Scraper::with_url_boundary).
    #[must_use]
    pub fn with_url_boundary(&self, name: &'static str, boundary: UrlBoundary) -> Self {
        Self { scraper: Some(self.scraper().with_url_boundary(name, boundary)), ..self.clone() }
    }

    /// Returns the model that generates content of pages.
    #[must_use]
    pub fn completion_model(&self) -> Option<&dyn Model> {
        match &self.model {
            Some(limited) => Some(&**limited).filter(|model| model.can_complete()),
            None => self.config.completion_model(),
        }
    }

    /// Returns the recorded durations of the stages.
    pub fn stages(&self) -> &StageTimes {
        self.config.scraper.stages()
    }

    /// Returns the classifier of URLs.
    pub fn threat(&self) -> &Classifier {
        &self.config.threat
    }

    /// Returns for each URL the reason why the threat protection lists block it, if they do. The scanner is not
    /// used here, but when a page is scraped.
    pub fn list_verdicts<'u>(
        &self,
        plan: &ScrapePlan,
        urls: impl IntoIterator<Item = &'u Url>,
    ) -> Vec<Option<String>> {
        let checker = plan.protection.as_ref().map(|rules| UrlChecker::new(rules, self.threat()));
        let verdict = |url| checker.as_ref()?.check_lists(url).err().map(|blocked| blocked.to_string());
        urls.into_iter().map(verdict).collect()
    }

    /// Returns the tools that download the media of pages.
    pub fn media(&self) -> &MediaTools {
        &self.config.media
    }

    /// Returns the language model.
    pub fn model(&self) -> Option<&Arc<dyn Model>> {
        self.config.model.as_ref()
    }

    /// Returns the search sources, in order of preference.
    pub fn sources(&self) -> &[Arc<dyn SearchSource>] {
        &self.config.sources
    }

    /// Returns the metrics of the search sources, in order of preference.
    pub fn source_metrics(&self) -> Vec<SourceMetrics> {
        self.instrumented.iter().map(|source| source.metrics()).collect()
    }

    /// Returns the external indexes that new pages are written to as well.
    pub fn mirrors(&self) -> &[Arc<Mirror>] {
        &self.config.mirrors
    }

    /// Writes the pages that wait for external indexes, as long as the future is polled. Never returns.
    pub async fn write_waiting_pages(&self) -> Infallible {
        futures_util::future::join_all(self.mirrors().iter().map(|mirror| mirror.run())).await;
        std::future::pending().await
    }

    /// Returns the server that has the pages of all teams, if they are not added to the embedded index. Of several
    /// servers it is one that is searched.
    pub fn index_server(&self) -> Option<&Arc<Mirror>> {
        self.config.index_server()
    }

    /// Returns the server that has the indexes of single teams; `None` if they are embedded.
    pub fn team_server(&self) -> Option<&Arc<Mirror>> {
        self.config.team_server()
    }

    /// Returns the embedded index if new pages are added to it.
    pub fn writable_index(&self) -> Option<&Arc<websvc_index::Index>> {
        self.config.writable_index()
    }

    /// Returns the embedded index; `None` if this process may not write to it.
    pub fn index(&self) -> Option<&Arc<websvc_index::Index>> {
        self.config.index.as_ref()
    }

    /// Scrapes one page for a team, adds it to the index if it may be stored, and calculates the credits.
    ///
    /// Fails with [`EngineError::NotSupported`], [`EngineError::Profile`] or [`EngineError::Page`].
    pub fn scrape<'a>(
        &'a self,
        url: &'a Url,
        plan: &'a ScrapePlan,
        team: &'a str,
        files: &'a FilePublisher,
        deadline: Instant,
    ) -> BoxFuture<'a, PageOutcome> {
        Box::pin(async move {
            let mut bill = Bill::default();
            let (page, indexing_failure) =
                match self.scrape_page(url, plan, team, files, deadline, &mut bill).await {
                    Ok((page, failure)) => (Ok(page), failure),
                    Err(error) => (Err(error), None),
                };
            PageOutcome { page, bill, indexing_failure }
        })
    }

    async fn scrape_page(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        team: &str,
        files: &FilePublisher,
        deadline: Instant,
        bill: &mut Bill,
    ) -> Result<(Page, Option<IndexingFailure>), EngineError> {
        let FeatureCheck { mut warnings } =
            check_page_features(plan, self.scraper(), self.config.completion_model(), &self.config.media)?;
        let checkers = UrlCheckers::of_page(plan, &self.config.threat);
        let scope = self.scope(team)?;
        let scraper = checkers.scraper(self.scraper()).for_team(team, scope);
        let profile = self.open_profile(team, Some(plan)).await?;
        let scrape_plan = plan.for_scraper(self.completion_model().is_some());
        let mut page = scraper.scrape_with(url, &scrape_plan, profile.as_ref(), deadline).await;
        let profile_warning = match profile {
            Some(profile) => profile.close().await,
            None => None,
        };
        let scanned = checkers.finish(&mut warnings);
        if let Ok(scraped) = &mut page {
            let context =
                MediaContext { tools: &self.config.media, scraper: &scraper, team, url, files, deadline };
            if let Err(error) = media::download(context, plan, scraped).await {
                page = Err(error);
            }
        }
        if let Ok(scraped) = &mut page {
            let writing = generated::write(self.completion_model(), self.stages(), plan, scraped, deadline);
            if let Err(error) = writing.await {
                page = Err(error);
            }
        }
        if let Ok(page) = &mut page {
            let context = TrackingContext {
                scraper: &scraper,
                model: self.completion_model(),
                limits: self.config.snapshots,
                write_mode: self.snapshot_write_mode,
                team,
                url,
                deadline,
            };
            track_changes(context, plan, page).await;
        }
        *bill = charge_single_page(&self.config.pricing, plan, page.as_mut().ok(), scanned);
        let mut page = page.map_err(EngineError::Page)?;
        page.warnings.splice(..0, warnings.into_iter().chain(profile_warning));
        self.stages().run(Stage::Publish, files.publish(&mut page)).await;
        let copies: Vec<_> = IndexCopy::take(&mut page).into_iter().collect();
        let failure_warning = "the page could not be added to the index";
        let indexing = self.config.index_pages(&scraper, scope, copies, failure_warning).await;
        page.warnings.extend(indexing.warnings);
        Ok((page, indexing.failure))
    }

    /// Parses an uploaded file and calculates the credits. Nothing of the file is stored.
    ///
    /// Fails with [`EngineError::NotSupported`] or [`EngineError::Page`].
    pub fn parse<'a>(
        &'a self,
        file: FileUpload,
        plan: &'a ScrapePlan,
        deadline: Instant,
    ) -> BoxFuture<'a, PageOutcome> {
        Box::pin(async move {
            let mut bill = Bill::default();
            let page = self.parse_file(file, plan, deadline, &mut bill).await;
            PageOutcome { page, bill, indexing_failure: None }
        })
    }

    async fn parse_file(
        &self,
        file: FileUpload,
        plan: &ScrapePlan,
        deadline: Instant,
        bill: &mut Bill,
    ) -> Result<Page, EngineError> {
        check_upload_features(plan)?;
        let scraper = &self.config.scraper;
        let FeatureCheck { warnings } =
            check_page_features(plan, scraper, self.config.completion_model(), &self.config.media)?;
        let parse_plan = plan.for_scraper(self.completion_model().is_some());
        let mut page = scraper.read_file(file, &parse_plan, deadline).await.map_err(EngineError::Page)?;
        let writing = generated::write(self.completion_model(), self.stages(), plan, &mut page, deadline);
        writing.await.map_err(EngineError::Page)?;
        *bill = charge_single_page(&self.config.pricing, plan, Some(&mut page), 0);
        page.warnings.splice(..0, warnings);
        Ok(page)
    }

    /// Returns whether a search does nothing but local computation: it uses only local sources, scrapes no pages and
    /// has no URLs scanned.
    #[must_use]
    pub fn is_cpu_bound(&self, plan: &SearchPlan) -> bool {
        plan.scrape.is_none()
            && plan.protection.is_none()
            && self.config.sources.iter().all(|source| source.is_local())
    }

    /// Runs a search: finds the hits, scrapes their pages if the plan has formats, and calculates the credits.
    ///
    /// The deadline is the plan's timeout after `started`. If only pages are late, the search succeeds and their
    /// results contain the error. The profile belongs to `team`. It is opened before any request and closed however the
    /// search ends.
    ///
    /// # Errors
    /// [`EngineError`] if the search as a whole fails.
    pub fn search<'a>(
        &'a self,
        plan: &'a SearchPlan,
        team: &'a str,
        files: &'a FilePublisher,
        started: Instant,
    ) -> BoxFuture<'a, Result<SearchOutcome, EngineError>> {
        Box::pin(async move {
            let deadline = started + plan.timeout;
            let FeatureCheck { mut warnings } = check_search_features(
                plan,
                &self.config.scraper,
                self.config.completion_model(),
                &self.config.media,
            )?;
            let scope = self.scope(team)?;
            let sources = self.config.sources_in(scope).await?;
            let profile = self.open_profile(team, plan.scrape.as_ref()).await?;
            let find_started = Instant::now();
            let stages = self.stages();
            let query = query_sources(&sources, plan, deadline, Timestamp::now(), stages);
            let mut found = stages.run(Stage::Find, query).await?;
            let gather_started = Instant::now();
            warnings.extend(found.warnings.iter().cloned());
            warnings.extend(mirror::lag_warnings(&self.config.mirrors, &sources));
            let checkers = UrlCheckers::from_plan(plan, &self.config.threat);
            let filter = checkers.filter_results(&mut found, plan, deadline, &mut warnings);
            let pricing = &self.config.pricing;
            if let Err(error) = stages.run(Stage::ThreatFilter, filter).await {
                return Err(error.with_scans(checkers.finish(&mut warnings), pricing.threat_scan));
            }
            let scraper = checkers.scraper(&self.config.scraper).for_team(team, scope);
            let context = GatherContext {
                engine: &self.config,
                scraper: &scraper,
                scope,
                team,
                profile: profile.as_ref(),
                files,
                deadline,
            };
            let gathered = stages.run(Stage::Gather, gather(context, plan, &found, &mut warnings)).await;
            found.scanned = checkers.finish(&mut warnings);
            let mut pages = gathered.map_err(|error| error.with_scans(found.scanned, pricing.threat_scan))?;
            if let Some(profile) = profile {
                warnings.extend(profile.close().await);
            }
            let timings =
                StageTimings { find: gather_started - find_started, gather: gather_started.elapsed() };
            let bill = charge(pricing, plan, &found, &mut pages);
            let miss_price = plan.scrape.as_ref().and_then(|scrape| miss_price(pricing, scrape));
            let data = stages.time(Stage::Assemble, || assemble(plan, found, pages, miss_price));
            Ok(SearchOutcome { data, warnings, bill, stages: timings })
        })
    }

    /// Checks a plan before anything is fetched. Returns the warnings that the page will have.
    ///
    /// # Errors
    /// [`EngineError::NotSupported`] if this installation does not support the plan.
    pub fn check_scrape(&self, plan: &ScrapePlan) -> Result<Vec<String>, EngineError> {
        check_page_features(plan, self.scraper(), self.config.completion_model(), &self.config.media)
            .map(|checked| checked.warnings)
    }

    /// Opens the profile of a plan, unless the plan reads only from the cache, which has no pages of profiles.
    pub(crate) async fn open_profile(
        &self,
        team: &str,
        plan: Option<&ScrapePlan>,
    ) -> Result<Option<OpenProfile>, EngineError> {
        let plan = plan.filter(|plan| !plan.lockdown && plan.min_age.is_none());
        let Some(profile) = plan.and_then(|plan| plan.profile.as_ref()) else { return Ok(None) };
        self.config.scraper.open_profile(team, profile).await.map(Some).map_err(EngineError::Profile)
    }
}
