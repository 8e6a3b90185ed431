//! The engine: what every operation needs, and the stages of a search in their order.

use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use url::Url;
use websvc_model::{LimitedModel, Model};
use websvc_scrape::{BackgroundLimits, FilePublisher, FileUpload, OpenProfile, Page, Scraper};
use websvc_stage::{Stage, StageTimes};
use websvc_threat::{Classifier, UrlChecker};
use websvc_transport::{BoxFuture, UrlPolicy};
use websvc_validate::{PathPatterns, ScrapePlan, SearchPlan};

use crate::bill::Bill;
use crate::error::EngineError;
use crate::generated;
use crate::mirror::Mirror;
use crate::pricing::Pricing;
use crate::search::{
    FeatureCheck, GatherContext, PageOutcome, SearchOutcome, StageTimings, UrlCheckers, assemble, charge,
    charge_single_page, check_page_features, check_search_features, gather, max_file_credits,
    max_page_credits, max_search_credits, min_file_credits, miss_price, query_sources,
};
use crate::source::{InstrumentedSource, SearchSource, SourceMetrics};
use crate::team_indexes::TeamIndexes;
use crate::upload_check::check_upload_features;

/// What becomes of the embedded index when pages come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexMode {
    /// They go to it.
    Write,
    /// They go to its mirrors alone: nobody searches it, and it would fill the disk.
    MirrorOnly,
}

/// What an engine is built of.
#[derive(Debug)]
pub struct EngineConfig {
    /// The sources that are asked, in order of preference.
    pub sources: Vec<Arc<dyn SearchSource>>,
    /// What gets pages.
    pub scraper: Scraper,
    /// Where scraped pages go to be searched; `None` when this process may not write.
    pub index: Option<Arc<websvc_index::Index>>,
    /// Whether they go there.
    pub index_use: IndexMode,
    /// The indexes of teams that keep their pages to themselves; without it, the pages of such teams go nowhere.
    pub team_indexes: Option<Arc<TeamIndexes>>,
    /// Where they are written, too.
    pub mirrors: Vec<Arc<Mirror>>,
    /// The price list.
    pub pricing: Pricing,
    /// What tells the risk of URLs, for teams with threat protection.
    pub threat: Classifier,
    /// What writes summaries and answers, extracts data and reads prompts; without it, rules do what they can.
    pub model: Option<Arc<dyn Model>>,
}

impl EngineConfig {
    /// Returns the model that answers questions.
    pub(crate) fn completion_model(&self) -> Option<&dyn Model> {
        self.model.as_deref().filter(|model| model.can_complete())
    }

    /// Returns the index when pages are to go to it.
    pub(crate) fn writable_index(&self) -> Option<&Arc<websvc_index::Index>> {
        self.index.as_ref().filter(|_| self.index_use == IndexMode::Write)
    }
}

/// The operations. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {
    config: Arc<EngineConfig>,
    /// The sources of the configuration with their counters.
    counted: Arc<[Arc<InstrumentedSource>]>,
    /// What gets pages, when that is not the one of the configuration.
    scraper: Option<Scraper>,
    /// The share of the model, when that is not taken whole.
    model: Option<Arc<dyn Model>>,
    /// The compiled path patterns of all crawls and maps.
    path_patterns: PathPatterns,
}

impl Engine {
    /// Builds an engine.
    pub fn new(mut config: EngineConfig) -> Self {
        let stages = config.scraper.stages();
        let sources = config.sources.drain(..);
        let counted: Arc<[_]> =
            sources.map(|source| Arc::new(InstrumentedSource::new(source, stages.clone()))).collect();
        config.sources = counted.iter().map(|source| Arc::clone(source) as Arc<dyn SearchSource>).collect();
        let path_patterns = PathPatterns::default();
        Self { config: Arc::new(config), counted, scraper: None, model: None, path_patterns }
    }

    /// Returns the table of compiled path patterns that all crawls and maps share.
    pub fn path_patterns(&self) -> &PathPatterns {
        &self.path_patterns
    }

    pub(crate) fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// Returns what gets pages.
    pub fn scraper(&self) -> &Scraper {
        self.scraper.as_ref().unwrap_or(&self.config.scraper)
    }

    /// Returns the engine for pages that nobody waits for: it takes a share of the scraper's pools only, and half of the model.
    #[must_use]
    pub fn with_background_limits(&self, share: BackgroundLimits) -> Self {
        let model =
            self.config.model.clone().map(|model| Arc::new(LimitedModel::half_of(model)) as Arc<dyn Model>);
        Self { scraper: Some(self.config.scraper.with_background_limits(share)), model, ..self.clone() }
    }

    /// Returns the engine for one page, which asks a rule before it goes to where the page leads on to. Rules of one name decide
    /// alike.
    #[must_use]
    pub fn with_redirect_rule(&self, name: &'static str, rule: UrlPolicy) -> Self {
        Self { scraper: Some(self.scraper().with_redirect_rule(name, rule)), ..self.clone() }
    }

    /// Returns what writes of pages.
    fn completion_model(&self) -> Option<&dyn Model> {
        match &self.model {
            Some(share) => Some(&**share).filter(|model| model.can_complete()),
            None => self.config.completion_model(),
        }
    }

    /// Returns where it is counted how long the stages take.
    pub fn stages(&self) -> &StageTimes {
        self.config.scraper.stages()
    }

    /// Returns what tells the risk of URLs.
    pub fn threat(&self) -> &Classifier {
        &self.config.threat
    }

    /// Returns of each URL why the lists of threat protection block it, if they do. The scanner is not asked: that is done
    /// when a page is scraped.
    pub fn list_verdicts<'u>(
        &self,
        plan: &ScrapePlan,
        urls: impl IntoIterator<Item = &'u Url>,
    ) -> Vec<Option<String>> {
        let inspection = plan.protection().map(|rules| UrlChecker::new(rules, self.threat()));
        let verdict = |url| inspection.as_ref()?.check_lists(url).err().map(|blocked| blocked.to_string());
        urls.into_iter().map(verdict).collect()
    }

    /// Returns the language model.
    pub fn model(&self) -> Option<&Arc<dyn Model>> {
        self.config.model.as_ref()
    }

    /// Returns the sources that are asked, in order of preference.
    pub fn sources(&self) -> &[Arc<dyn SearchSource>] {
        &self.config.sources
    }

    /// Returns the figures of the sources, in order of preference.
    pub fn source_figures(&self) -> Vec<SourceMetrics> {
        self.counted.iter().map(|source| source.figures()).collect()
    }

    /// Returns the places beside the index that pages are written to.
    pub fn mirrors(&self) -> &[Arc<Mirror>] {
        &self.config.mirrors
    }

    /// Returns the index when pages that come in are to go to it.
    pub fn writable_index(&self) -> Option<&Arc<websvc_index::Index>> {
        self.config.writable_index()
    }

    /// Returns the index of this process, when it may write.
    pub fn index(&self) -> Option<&Arc<websvc_index::Index>> {
        self.config.index.as_ref()
    }

    /// Gets one page for a team, hands it to the index when it may be kept, and counts the credits.
    ///
    /// A page that could not be got is [`EngineError::NotSupported`], [`EngineError::Profile`], or
    /// [`EngineError::Page`].
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
            let page = self.page(url, plan, (team, files), deadline, &mut bill).await;
            PageOutcome { page, bill }
        })
    }

    async fn page(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        (team, files): (&str, &FilePublisher),
        deadline: Instant,
        bill: &mut Bill,
    ) -> Result<Page, EngineError> {
        let FeatureCheck { mut warnings } =
            check_page_features(plan, self.scraper(), self.config.completion_model())?;
        let inspections = UrlCheckers::of_page(plan, &self.config.threat);
        let scope = self.scope(team)?;
        let scraper = inspections.scraper(self.scraper()).in_scope(scope);
        let profile = self.open_profile(team, Some(plan)).await?;
        let reading = plan.without_generated_formats();
        let mut page = scraper.scrape_with(url, &reading, profile.as_ref(), deadline).await;
        let unsaved = match profile {
            Some(profile) => profile.close().await,
            None => None,
        };
        let scanned = inspections.finish(&mut warnings);
        if let Ok(page) = &mut page {
            generated::write(self.completion_model(), self.stages(), plan, page, deadline).await;
        }
        *bill = charge_single_page(&self.config.pricing, plan, page.as_mut().ok(), scanned);
        let mut page = page.map_err(EngineError::Page)?;
        page.warnings.splice(..0, warnings.into_iter().chain(unsaved));
        self.stages().run(Stage::Publish, files.publish(&mut page)).await;
        let copies: Vec<_> = page.index_copy.take().into_iter().map(|copy| *copy).collect();
        let keeping =
            self.config.keep(scope, copies, self.stages(), "the page could not be added to the index");
        page.warnings.extend(keeping.await);
        Ok(page)
    }

    /// Reads a file that the caller brought, and counts the credits. Nothing of it is kept.
    ///
    /// A file that could not be read is [`EngineError::NotSupported`] or [`EngineError::Page`].
    pub fn parse<'a>(
        &'a self,
        file: FileUpload,
        plan: &'a ScrapePlan,
        deadline: Instant,
    ) -> BoxFuture<'a, PageOutcome> {
        Box::pin(async move {
            let mut bill = Bill::default();
            let page = self.file(file, plan, deadline, &mut bill).await;
            PageOutcome { page, bill }
        })
    }

    async fn file(
        &self,
        file: FileUpload,
        plan: &ScrapePlan,
        deadline: Instant,
        bill: &mut Bill,
    ) -> Result<Page, EngineError> {
        check_upload_features(plan)?;
        let scraper = &self.config.scraper;
        let FeatureCheck { warnings } = check_page_features(plan, scraper, self.config.completion_model())?;
        let reading = plan.without_generated_formats();
        let mut page = scraper.read_file(file, &reading, deadline).await.map_err(EngineError::Page)?;
        generated::write(self.completion_model(), self.stages(), plan, &mut page, deadline).await;
        *bill = charge_single_page(&self.config.pricing, plan, Some(&mut page), 0);
        page.warnings.splice(..0, warnings);
        Ok(page)
    }

    /// Tells whether a search waits for nobody elsewhere: it asks only sources that are here, gets no pages and has no
    /// URLs scanned.
    #[must_use]
    pub fn is_cpu_bound(&self, plan: &SearchPlan) -> bool {
        plan.scrape().is_none()
            && plan.protection().is_none()
            && self.config.sources.iter().all(|source| source.is_local())
    }

    /// Runs a search: finds the hits, gets their pages when the plan asks for formats, and counts the credits.
    ///
    /// One deadline, the plan's timeout from `started`, bounds it all. When only pages are late, their results
    /// say so and the search succeeds. A profile is that of `team`; it is taken before anything is asked and given back
    /// however the search ends.
    ///
    /// # Errors
    /// [`EngineError`], when the search as a whole has no answer.
    pub fn search<'a>(
        &'a self,
        plan: &'a SearchPlan,
        team: &'a str,
        files: &'a FilePublisher,
        started: Instant,
    ) -> BoxFuture<'a, Result<SearchOutcome, EngineError>> {
        Box::pin(async move {
            let deadline = started + plan.timeout();
            let FeatureCheck { mut warnings } =
                check_search_features(plan, &self.config.scraper, self.config.completion_model())?;
            let scope = self.scope(team)?;
            let sources = self.config.sources_in(scope).await?;
            let profile = self.open_profile(team, plan.scrape()).await?;
            let begun = Instant::now();
            let stages = self.stages();
            let finding = query_sources(&sources, plan, deadline, Timestamp::now(), stages);
            let mut found = stages.run(Stage::Find, finding).await?;
            let gathering = Instant::now();
            warnings.extend(found.warnings.iter().cloned());
            let inspections = UrlCheckers::of(plan, &self.config.threat);
            let screening = inspections.filter_results(&mut found, plan, deadline, &mut warnings);
            let pricing = &self.config.pricing;
            if let Err(late) = stages.run(Stage::Screen, screening).await {
                return Err(late.with_scans(inspections.finish(&mut warnings), pricing.threat_scan));
            }
            let scraper = inspections.scraper(&self.config.scraper).in_scope(scope);
            let profile_used = profile.as_ref();
            let means = GatherContext {
                engine: &self.config,
                scraper: &scraper,
                scope,
                profile: profile_used,
                files,
                deadline,
            };
            let gathered = stages.run(Stage::Gather, gather(means, plan, &found, &mut warnings)).await;
            found.scanned = inspections.finish(&mut warnings);
            let mut pages = gathered.map_err(|error| error.with_scans(found.scanned, pricing.threat_scan))?;
            if let Some(profile) = profile {
                warnings.extend(profile.close().await);
            }
            let took = StageTimings { find: gathering - begun, gather: gathering.elapsed() };
            let bill = charge(pricing, plan, &found, &mut pages);
            let miss_price = plan.scrape().and_then(|scrape| miss_price(pricing, scrape));
            let data = stages.time(Stage::Assemble, || assemble(plan, found, pages, miss_price));
            Ok(SearchOutcome { data, warnings, bill, stages: took })
        })
    }

    /// Returns what a page by this plan will be told, before anything is got.
    ///
    /// # Errors
    /// [`EngineError::NotSupported`] when this installation cannot do it.
    pub fn review(&self, plan: &ScrapePlan) -> Result<Vec<String>, EngineError> {
        check_page_features(plan, self.scraper(), self.config.completion_model())
            .map(|review| review.warnings)
    }

    /// Returns the most that a page may cost, a document of several pages and redirects that are scanned apart.
    pub fn max_page_credits(&self, plan: &ScrapePlan) -> u64 {
        max_page_credits(&self.prices(), self.config.scraper.proxies(), plan)
    }

    /// Returns the most that an uploaded file may cost, a document of several pages apart.
    pub fn max_file_credits(&self, plan: &ScrapePlan) -> u64 {
        max_file_credits(&self.prices(), plan)
    }

    /// Returns the least that an uploaded file costs that can be read, whatever it is.
    pub fn min_file_credits(&self) -> u64 {
        min_file_credits(&self.prices())
    }

    /// Returns the most that a search may cost, so that it can be reserved before. A document counts as one page: how
    /// many it has is known only when it was read. Redirects that are scanned do not count: where pages lead is known
    /// only when they were got.
    pub fn max_search_credits(&self, plan: &SearchPlan) -> u64 {
        max_search_credits(&self.prices(), self.config.scraper.proxies(), plan)
    }

    /// Returns the price list.
    pub(crate) fn pricing(&self) -> &Pricing {
        &self.config.pricing
    }

    /// Returns the prices of what there is.
    pub(crate) fn prices(&self) -> Pricing {
        let mut pricing = self.config.pricing;
        if !self.config.threat.has_scanner() {
            pricing.threat_scan = 0;
        }
        if self.config.completion_model().is_none() {
            (pricing.json, pricing.question, pricing.highlights) = (0, 0, 0);
        }
        pricing
    }

    /// Opens the profile of a plan, unless only the cache is asked, which has no page of one.
    async fn open_profile(
        &self,
        team: &str,
        plan: Option<&ScrapePlan>,
    ) -> Result<Option<OpenProfile>, EngineError> {
        let plan = plan.filter(|plan| !plan.lockdown() && plan.min_age().is_none());
        let Some(profile) = plan.and_then(ScrapePlan::profile) else { return Ok(None) };
        self.config.scraper.open_profile(team, profile).await.map(Some).map_err(EngineError::Profile)
    }
}
