//! Targets that are sites.

use std::collections::HashSet;

use websvc_engine::crawl::CrawlScope;
use websvc_engine::team_policy;
use websvc_jobs::JobRequest;
use websvc_store::{JobRecord, JobUrl};
use websvc_types::job::CrawlRequest;
use websvc_types::monitor::{CrawlTarget, MonitorCrawlOptions};
use websvc_validate::{Checked, Policy, Rejection, check_crawl};

use super::job::JobProgress;
use super::{CheckRun, Stop};
use crate::options::{ComparisonMode, scrape_options};
use crate::page::PageResult;

/// Number of known pages that are read at once to find those that the crawl did not meet.
const KNOWN_PAGES: u64 = 500;

impl CheckRun {
    /// Continues a target that is a site. Returns whether there may be more to do at once.
    pub(super) async fn advance_crawl(&mut self, index: usize, target: &CrawlTarget) -> Result<bool, Stop> {
        let request = crawl_request(target);
        if self.job_record(&self.progress.targets[index]).await?.is_none() {
            let (team, loaded) = (self.record.team.clone(), request.clone());
            let prepared = self.monitors.run_blocking(move |inner| Ok(prepare(inner, &team, loaded)?));
            let prepared = prepared.await?.map_err(Stop::Failed)?;
            let Prepared { url, page_limit, max_concurrency } = prepared;
            let options = request.scrape_options.clone().unwrap_or_default();
            let crawl = Some(Box::new(request));
            let stored = JobRequest { options, max_concurrency, crawl, ..JobRequest::default() };
            if !self.ensure_job(index, |_| Ok((stored, vec![url], Some(page_limit)))).await? {
                return Ok(false);
            }
        }
        let mode = ComparisonMode::of(target.scrape_options.as_ref());
        match self.advance_job(index, mode).await? {
            JobProgress::Open { has_new } => Ok(has_new),
            JobProgress::Ended(job) => {
                self.record_errors(index, &job).await?;
                self.record_missing(index, &job).await?;
                self.progress.targets[index].is_done = true;
                Ok(true)
            }
        }
    }

    /// Stores the known pages that the crawl did not meet as removed. A crawl that stopped at its limit may have left them
    /// out, so it removes none; neither does one that met no page at all.
    async fn record_missing(&mut self, index: usize, job: &JobRecord) -> Result<(), Stop> {
        let is_full = job.page_limit.is_some_and(|limit| job.documents >= limit);
        if is_full || job.documents == 0 || job.skipped > 0 {
            return Ok(());
        }
        let (monitor, check) = (self.record.monitor, self.record.number);
        let target = self.progress.targets[index].result.target_id.clone();
        let mut after: Option<String> = None;
        loop {
            let (target, from) = (target.clone(), after.take());
            let found = self.monitors.with_store(move |store, _| {
                let known = store.baseline_urls(monitor, &target, from.as_deref(), KNOWN_PAGES)?;
                let met: HashSet<String> = store
                    .met_urls(check, &target, known.iter().map(|(url, _)| url.as_str()))?
                    .into_iter()
                    .collect();
                let last = known.last().map(|(url, _)| url.clone());
                let is_end = (known.len() as u64) < KNOWN_PAGES;
                let mut missing = Vec::new();
                for (url, is_removed) in known {
                    if !is_removed && !met.contains(&url) {
                        let baseline = store.baseline(monitor, &target, &url)?;
                        missing.push(PageResult::missing(url, baseline.as_ref()));
                    }
                }
                Ok((missing, last, is_end))
            });
            let (missing, last, is_end) = found.await?;
            self.record(index, missing).await?;
            if is_end {
                return Ok(());
            }
            after = last;
        }
    }
}

/// Returns the request of the crawl.
fn crawl_request(target: &CrawlTarget) -> CrawlRequest {
    let MonitorCrawlOptions {
        include_paths,
        exclude_paths,
        max_discovery_depth,
        limit,
        crawl_entire_domain,
        allow_external_links,
        allow_subdomains,
        ignore_robots_txt,
        robots_user_agent,
        sitemap,
        deduplicate_similar_urls,
        ignore_query_parameters,
        regex_on_full_url,
        delay,
        max_concurrency,
    } = target.crawl_options.clone().unwrap_or_default();
    CrawlRequest {
        include_paths,
        exclude_paths,
        max_discovery_depth,
        limit,
        crawl_entire_domain,
        allow_external_links,
        allow_subdomains,
        ignore_robots_txt,
        robots_user_agent,
        sitemap,
        deduplicate_similar_urls,
        ignore_query_parameters,
        regex_on_full_url,
        delay,
        max_concurrency,
        scrape_options: Some(scrape_options(target.scrape_options.as_ref())),
        ..CrawlRequest::new(target.url.clone())
    }
}

/// The start of a crawl.
struct Prepared {
    url: JobUrl,
    page_limit: u64,
    max_concurrency: Option<usize>,
}

/// Checks a crawl by the present policy of the team. Returns the reason if it is not allowed. Blocks.
fn prepare(
    inner: &crate::monitors::Inner,
    team: &str,
    request: CrawlRequest,
) -> Result<Result<Prepared, String>, crate::error::MonitorsError> {
    let stored = inner.store.team(team)?;
    let policy = match team_policy(&inner.store, stored.as_ref()) {
        Ok(policy) => policy,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let policy = Policy { path_patterns: inner.engine.path_patterns().for_team(team), ..policy };
    let checked = check_crawl(request, &policy);
    let Checked { plan, warnings: _ } = match checked {
        Ok(checked) => checked,
        Err(rejection) => return Ok(Err(rejected(&rejection))),
    };
    let page_limit = plan.limit();
    let max_concurrency = plan.max_concurrency();
    let url = websvc_jobs::crawl_start_url(&CrawlScope::new(plan));
    Ok(Ok(Prepared { url, page_limit, max_concurrency }))
}

fn rejected(rejection: &Rejection) -> String {
    format!("the options are no longer allowed: {rejection}")
}
