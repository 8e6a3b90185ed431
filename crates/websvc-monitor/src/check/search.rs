//! Targets that are searches (operations.md, section 3.6).

use std::collections::HashMap;
use std::time::{Duration, Instant};

use url::Url;
use websvc_scrape::FilePublisher;
use websvc_store::{BaselineChange, CheckPageStatus, NewCheckPage};
use websvc_types::monitor::{MonitorPageMetadata, MonitorSearchStatus};
use websvc_types::{ScrapeOptions, SearchRequest, WebResult, counted};
use websvc_validate::{Checked, Policy, RetentionMode, SearchPlan, SearchTargetPlan, check_request};

use super::{CheckRun, Stop, TIME_IS_OVER};
use crate::baseline::{ResultBaseline, decode, encode};
use crate::credits;
use crate::judge::{ResultDecision, judge_result};
use crate::page::{PageFields, PageResult};
use crate::progress::FoundResult;

/// Number of results whose decisions are stored at once.
const BATCH: usize = 8;

/// Time limit of the scrape of a result that is judged.
const SCRAPE_TIMEOUT: Duration = Duration::from_secs(60);

/// The reason why results were not judged.
const NO_MODEL: &str = "no language model is configured";

impl CheckRun {
    /// Continues a target that is a search. Returns whether there may be more to do at once.
    pub(super) async fn advance_search(
        &mut self,
        index: usize,
        target: &SearchTargetPlan,
    ) -> Result<bool, Stop> {
        if self.progress.targets[index].results.is_none() {
            self.find_results(index, target).await?;
            return Ok(true);
        }
        let results = self.progress.targets[index].results.as_mut();
        let batch: Vec<FoundResult> =
            results.map(|results| results.drain(..results.len().min(BATCH)).collect()).unwrap_or_default();
        if batch.is_empty() {
            self.finish_search(index);
            return Ok(true);
        }
        let purpose = self.purpose(target);
        let mut decided = Vec::with_capacity(batch.len());
        for result in batch {
            decided.push(self.decide(index, &purpose, result).await?);
        }
        self.record_results(index, decided).await?;
        Ok(true)
    }

    /// Runs the searches of a target and stores their results.
    async fn find_results(&mut self, index: usize, target: &SearchTargetPlan) -> Result<(), Stop> {
        let queries: Vec<&String> = target.searches.iter().map(|request| &request.query).collect();
        let mut plans = Vec::with_capacity(target.searches.len());
        for request in &target.searches {
            plans.push(self.search_plan(request.clone()).await?);
        }
        let max_credits = self.engine().max_joint_search_credits(&plans);
        let Some(hold) = credits::hold(&self.monitors, &self.record, max_credits).await? else {
            return Err(Stop::Failed("insufficient credits for the searches of the monitor".to_owned()));
        };
        let begun = Instant::now();
        let mut searches = Vec::with_capacity(plans.len());
        for (query, plan) in queries.iter().zip(&plans) {
            let files = FilePublisher::inline();
            let found = self.engine().search(plan, &self.record.team, &files, Instant::now()).await;
            searches.push(
                found.map_err(|error| Stop::Failed(format!("the search for {query:?} failed: {error}")))?,
            );
        }
        let items = self.engine().charge_jointly(RetentionMode::Normal, &searches).items();
        let usage = credits::usage(&self.record, &queries_text(&queries), items, begun.elapsed());
        let lists = searches.into_iter().map(|found| found.data.web.unwrap_or_default());
        let mut merged = merge(queries.into_iter().zip(lists).collect());
        merged.truncate(target.max_results as usize);
        let progress = &mut self.progress.targets[index];
        progress.result.result_count = Some(merged.len() as u64);
        progress.result.matches = Some(0);
        progress.result.results_judged = Some(0);
        progress.result.judge_credits = Some(0);
        let credits = usage.price();
        progress.result.search_credits = Some(credits);
        progress.results = Some(merged);
        self.progress.credits += credits;
        // Stored before the charge: a check that is interrupted here searches for free, and never pays twice.
        self.save().await?;
        self.monitors
            .run_blocking(move |_| {
                hold.settle(usage);
                Ok(())
            })
            .await?;
        Ok(())
    }

    async fn search_plan(&self, request: SearchRequest) -> Result<SearchPlan, Stop> {
        match check_request(&request, &self.policy().await?) {
            Ok(Checked { plan, warnings: _ }) => Ok(plan),
            Err(rejection) => Err(Stop::Failed(format!("the search is no longer allowed: {rejection}"))),
        }
    }

    async fn policy(&self) -> Result<Policy, Stop> {
        let team = self.record.team.clone();
        let policy = self.monitors.run_blocking(move |inner| super::policy(inner, &team)).await?;
        policy.map_err(Stop::Failed)
    }

    /// Returns the purpose of the decisions about results: with another one, all results are new.
    fn purpose(&self, target: &SearchTargetPlan) -> String {
        let texts = [self.definition.goal.as_deref().unwrap_or_default(), &self.definition.name].into_iter();
        let queries = target.searches.iter().map(|search| search.query.as_str());
        texts.chain(queries).collect::<Vec<_>>().join("\n")
    }

    /// Decides about a result.
    async fn decide(
        &mut self,
        index: usize,
        purpose: &str,
        result: FoundResult,
    ) -> Result<DecidedResult, Stop> {
        let key = comparable_url(&result.url);
        let (monitor, target) = (self.record.monitor, self.progress.targets[index].result.target_id.clone());
        let known = self.monitors.with_store(move |store, _| store.baseline(monitor, &target, &key)).await?;
        let known = known
            .and_then(|known| decode::<ResultBaseline>(&known.document))
            .filter(|known| known.purpose == purpose);
        let mut decided = DecidedResult::new(result, purpose);
        match known {
            Some(known) if known.is_reported => decided.set_known(MonitorSearchStatus::AlreadySeen, known),
            Some(known) if !known.is_watched => decided.set_known(MonitorSearchStatus::Ignored, known),
            Some(_) | None => self.judge_found(index, &mut decided).await?,
        }
        Ok(decided)
    }

    /// Judges a result that was not reported yet. Without a judge, it is reported.
    async fn judge_found(&mut self, index: usize, decided: &mut DecidedResult) -> Result<(), Stop> {
        let engine = self.engine().clone();
        let Some(goal) = self.definition.judges().map(str::to_owned) else {
            decided.set_status(MonitorSearchStatus::Alert);
            return Ok(());
        };
        let Some(model) = engine.completion_model() else {
            self.degrade(index, NO_MODEL);
            decided.set_status(MonitorSearchStatus::Alert);
            return Ok(());
        };
        // Held before the scrape, which is part of the judgment. A judgment that fails is free.
        let Some(charge) = credits::judge(&self.monitors, &self.record, &decided.result.url).await? else {
            decided.set_skipped("the team has no credits left".to_owned());
            return Ok(());
        };
        let markdown = match self.scrape(&decided.result.url).await? {
            Ok(markdown) => markdown,
            Err(reason) => {
                decided.set_skipped(format!("the result could not be scraped: {reason}"));
                return Ok(());
            }
        };
        let Some(deadline) = self.judging_deadline() else {
            decided.set_skipped(TIME_IS_OVER.to_owned());
            return Ok(());
        };
        let page = format!("{}\n{}\n\n{markdown}", decided.result.title, decided.result.url);
        match judge_result(model, &goal, &page, deadline).await {
            Ok(decision) => {
                decided.set_decision(decision);
                let price = charge.1.price();
                // Stored with the result, so that a check that is interrupted does not pay twice.
                decided.charge = Some(charge);
                let result = &mut self.progress.targets[index].result;
                *result.results_judged.get_or_insert(0) += 1;
                *result.judge_credits.get_or_insert(0) += price;
            }
            Err(reason) => decided.set_skipped(format!("the result could not be judged: {reason}")),
        }
        Ok(())
    }

    /// Returns the markdown of a result, or the reason why there is none. Free: the price of the judgment contains it
    /// (operations.md, section 3.9).
    async fn scrape(&self, url: &str) -> Result<Result<String, String>, Stop> {
        let Ok(parsed) = Url::parse(url) else { return Ok(Err("its URL is not valid".to_owned())) };
        let options = ScrapeOptions { max_age: Some(0), ..ScrapeOptions::default() };
        let plan = match check_request(&options, &self.policy().await?) {
            Ok(Checked { plan, warnings: _ }) => plan,
            Err(rejection) => return Ok(Err(rejection.to_string())),
        };
        let files = FilePublisher::inline();
        let deadline = Instant::now() + SCRAPE_TIMEOUT;
        let outcome = self.engine().scrape(&parsed, &plan, &self.record.team, &files, deadline).await;
        Ok(match outcome.page {
            Ok(page) => page.markdown.ok_or_else(|| "it has no text".to_owned()),
            Err(error) => Err(error.to_string()),
        })
    }

    fn degrade(&mut self, index: usize, reason: &str) {
        let result = &mut self.progress.targets[index].result;
        result.judge_degraded = Some(true);
        result.degraded_reason = Some(reason.to_owned());
    }

    async fn record_results(&mut self, index: usize, decided: Vec<DecidedResult>) -> Result<(), Stop> {
        let target = self.progress.targets[index].result.target_id.clone();
        let (monitor, check) = (self.record.monitor_id.clone(), self.record.id.clone());
        let alerts = decided.iter().filter(|decided| decided.status == MonitorSearchStatus::Alert).count();
        *self.progress.targets[index].result.matches.get_or_insert(0) += alerts as u64;
        let pages = decided.into_iter().map(|decided| decided.into_page(&monitor, &check, &target)).collect();
        self.store_pages(pages).await?;
        self.save().await
    }

    fn finish_search(&mut self, index: usize) {
        let progress = &mut self.progress.targets[index];
        progress.is_done = true;
        let result = &mut progress.result;
        result.search_completed = Some(true);
        result.judge_degraded.get_or_insert(false);
        let (found, matches) = (result.result_count.unwrap_or_default(), result.matches.unwrap_or_default());
        result.summary = Some(format!("{matches} new of {}", counted(found, "result", "results")));
    }
}

/// Returns the queries of a target in one text, for the usage log.
fn queries_text(queries: &[&String]) -> String {
    queries.iter().map(|query| query.as_str()).collect::<Vec<_>>().join("; ")
}

/// Merges the results of several queries: the best of each first, each page once.
fn merge(lists: Vec<(&String, Vec<WebResult>)>) -> Vec<FoundResult> {
    let mut merged: Vec<FoundResult> = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    let mut lists: Vec<_> = lists.into_iter().map(|(query, results)| (query, results.into_iter())).collect();
    loop {
        let mut is_end = true;
        for (query, results) in &mut lists {
            let Some(result) = results.next() else { continue };
            is_end = false;
            let key = comparable_url(&result.url);
            if let Some(position) = positions.get(&key) {
                merged[*position].queries.push(query.clone());
                continue;
            }
            positions.insert(key, merged.len());
            let metadata = result.content.metadata;
            merged.push(FoundResult {
                published_at: metadata.and_then(|metadata| published_at(&metadata.other)),
                url: result.url,
                title: result.title,
                description: result.description,
                queries: vec![query.clone()],
            });
        }
        if is_end {
            return merged;
        }
    }
}

/// A result with the decision about it.
struct DecidedResult {
    result: FoundResult,
    status: MonitorSearchStatus,
    decision: Option<ResultDecision>,
    error: Option<String>,
    baseline: ResultBaseline,
    charge: Option<credits::Charge>,
}

impl DecidedResult {
    fn new(result: FoundResult, purpose: &str) -> Self {
        let baseline = ResultBaseline { purpose: purpose.to_owned(), is_reported: false, is_watched: true };
        let status = MonitorSearchStatus::Skipped;
        Self { result, status, decision: None, error: None, baseline, charge: None }
    }

    fn set_known(&mut self, status: MonitorSearchStatus, known: ResultBaseline) {
        self.status = status;
        self.baseline = known;
    }

    fn set_status(&mut self, status: MonitorSearchStatus) {
        self.status = status;
        self.baseline.is_reported = status == MonitorSearchStatus::Alert;
        self.baseline.is_watched = status != MonitorSearchStatus::Ignored;
    }

    fn set_decision(&mut self, decision: ResultDecision) {
        self.set_status(decision.status);
        self.decision = Some(decision);
    }

    /// Records that there is no decision; the next check tries again.
    fn set_skipped(&mut self, reason: String) {
        self.error = Some(reason);
    }

    fn into_page(self, monitor: &str, check: &str, target: &str) -> NewCheckPage {
        let Self { result, status, decision, error, baseline, charge } = self;
        let page_status = match status {
            MonitorSearchStatus::Alert => CheckPageStatus::New,
            MonitorSearchStatus::AlreadySeen
            | MonitorSearchStatus::Watching
            | MonitorSearchStatus::Ignored => CheckPageStatus::Same,
            MonitorSearchStatus::Skipped => CheckPageStatus::Error,
        };
        let key = comparable_url(&result.url);
        let page = PageResult {
            url: result.url,
            status: page_status,
            fields: PageFields {
                error,
                metadata: Some(MonitorPageMetadata {
                    title: Some(result.title),
                    search_status: Some(status),
                    matched_queries: Some(result.queries),
                    concept: decision.as_ref().and_then(|decision| decision.concept.clone()),
                    rationale: decision.as_ref().and_then(|decision| decision.rationale.clone()),
                    published_at: result.published_at,
                    event_key: decision.as_ref().and_then(|decision| decision.event_key.clone()),
                    judged_this_run: Some(decision.is_some()),
                    ..MonitorPageMetadata::default()
                }),
                judgment: decision.as_ref().map(crate::judge::result_judgment),
                ..PageFields::default()
            },
            event_diff: None,
            baseline: match status {
                MonitorSearchStatus::Skipped | MonitorSearchStatus::AlreadySeen => BaselineChange::Keep,
                MonitorSearchStatus::Alert | MonitorSearchStatus::Watching | MonitorSearchStatus::Ignored => {
                    BaselineChange::Replace(encode(&baseline))
                }
            },
        };
        let has_event = matches!(page_status, CheckPageStatus::New | CheckPageStatus::Error);
        let mut new = crate::check::new_page(page, monitor, check, target, charge);
        new.event = new.event.filter(|_| has_event);
        new.baseline_url = Some(key);
        new
    }
}

/// Returns a URL in the form in which results are compared: in lower case, without fragment and slash at the end.
fn comparable_url(url: &str) -> String {
    let without_fragment = url.split('#').next().unwrap_or_default();
    without_fragment.trim_end_matches('/').to_lowercase()
}

fn published_at(other: &std::collections::BTreeMap<String, serde_json::Value>) -> Option<String> {
    let value = other.get("publishedTime").or_else(|| other.get("article:published_time"))?;
    value.as_str().map(str::to_owned)
}
