//! Targets that are sites.

use websvc_jobs::{JobRequest, crawl_start_url};
use websvc_store::{JobRecord, JobState};
use websvc_types::job::CrawlRequest;
use websvc_validate::CrawlTargetPlan;

use super::job::JobProgress;
use super::{CheckRun, Stop};
use crate::options::{ComparisonMode, scraped_options};
use crate::page::PageResult;

/// Number of known pages that are read at once to find those that the crawl did not meet.
const KNOWN_PAGES: u64 = 500;

impl CheckRun {
    /// Continues a target that is a site. Returns whether there may be more to do at once.
    pub(super) async fn advance_crawl(
        &mut self,
        index: usize,
        target: &CrawlTargetPlan,
    ) -> Result<bool, Stop> {
        let CrawlTargetPlan { id: _, request, crawl, rules } = target;
        let options = request.scrape_options.clone().unwrap_or_default();
        let mode = ComparisonMode::from_options(&options);
        let start = || {
            let options = Some(scraped_options(options));
            let request = CrawlRequest { scrape_options: options, ..request.clone() };
            (JobRequest::of_crawl(request, crawl), vec![crawl_start_url(crawl.clone())], Some(crawl.limit))
        };
        if !self.ensure_job(index, start).await? {
            return Ok(false);
        }
        match self.advance_job(index, mode, rules).await? {
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
    /// out, so it removes none; neither does one that failed or met no page at all.
    async fn record_missing(&mut self, index: usize, job: &JobRecord) -> Result<(), Stop> {
        let is_full = job.page_limit.is_some_and(|limit| job.documents >= limit);
        if job.state != JobState::Completed || is_full || job.documents == 0 || job.skipped > 0 {
            return Ok(());
        }
        let (monitor, check) = (self.record.monitor, self.record.number);
        let target = self.progress.targets[index].result.target_id.clone();
        let mut after: Option<String> = None;
        loop {
            let (target, from) = (target.clone(), after.take());
            let found = self.monitors.with_store(move |store, _| {
                let known = store.baseline_urls(monitor, &target, from.as_deref(), KNOWN_PAGES)?;
                let last = known.last().map(|(url, _)| url.clone());
                let is_end = (known.len() as u64) < KNOWN_PAGES;
                let present = known.into_iter().filter(|(_, is_removed)| !is_removed);
                let present: Vec<String> = present.map(|(url, _)| url).collect();
                let met = store.check_has_pages(check, &target, &present)?;
                let mut missing = Vec::new();
                for (url, is_met) in present.into_iter().zip(met) {
                    if !is_met {
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
