//! The work on one check: its targets in parallel, then its end.

mod crawl;
mod job;
mod search;

use std::sync::Arc;
use std::time::{Duration, Instant};

use websvc_engine::{Engine, PolicyError, team_policy};
use websvc_store::{
    BillingStatus, CheckPageStatus, CheckRecord, CheckStatus, FinishedCheck, NewCheckPage, RecordPagesOutcome,
};
use websvc_tasks::TaskError;
use websvc_types::counted;
use websvc_types::monitor::{MonitorJudgment, MonitorTarget};
use websvc_validate::{Checked, MonitorDefinition, MonitorPlan, MonitorTargetPlan, Policy};

use crate::credits;
use crate::judge::{judge_changes, undecided};
use crate::monitors::{Inner, Monitors};
use crate::notification::{Deliveries, EndMessages, end_messages};
use crate::page::{PageResult, page_status};
use crate::progress::{CheckProgress, TargetProgress};
use crate::report::{found_statuses, unjudged_statuses};
use crate::stored::StoredDefinition;

/// Interval at which the jobs of a check are read.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Delay before a check continues after a failure of the store.
const FAILURE_DELAY: Duration = Duration::from_secs(1);

/// The part of the time of a check that is not for judgments: one tenth. In it, the check reports what was not judged.
const REPORT_TIME_DIVISOR: u32 = 10;

/// The reason why a page is not judged at the end of the check.
const TIME_IS_OVER: &str = "the time of the check is over";

/// Number of pages that are judged at the same time. The model has a limit of its own, too.
const JUDGED_AT_ONCE: usize = 4;

const DAY_MS: u64 = 86_400_000;

/// Days for which a check is stored whose definition is not valid.
const DEFAULT_RETENTION_DAYS: u64 = 30;

/// A check in progress.
pub(crate) struct CheckRun {
    pub(crate) monitors: Monitors,
    pub(crate) record: CheckRecord,
    pub(crate) definition: MonitorDefinition,
    /// The plan of its targets, by the present permissions of the team.
    pub(crate) plan: Arc<MonitorPlan>,
    pub(crate) progress: CheckProgress,
}

/// The reason why a check ends before its targets are done.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The check fails with this text.
    Failed(String),
    /// The check was deleted, or belongs to another replica now.
    Lost,
    /// The store failed.
    Error(TaskError),
}

impl<E: Into<TaskError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// Works on a check until it is finished or lost. A check that was interrupted continues.
pub(crate) async fn run(monitors: Monitors, record: CheckRecord) {
    if let Err(error) = try_run(monitors, record).await {
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "monitor check could not continue; retrying"
        );
        tokio::time::sleep(FAILURE_DELAY).await;
    }
}

async fn try_run(monitors: Monitors, record: CheckRecord) -> Result<(), TaskError> {
    let (definition, plan) = match load(&monitors, &record).await? {
        Ok(loaded) => loaded,
        Err(reason) => return fail(&monitors, &record, reason).await,
    };
    let progress = CheckProgress::decode(&record.progress);
    let mut check = CheckRun { monitors, record, definition, plan: Arc::new(plan), progress };
    match check.run_targets().await {
        Ok(()) => check.finish(None).await,
        Err(Stop::Failed(reason)) => {
            check.cancel_jobs().await;
            check.finish(Some(reason)).await
        }
        Err(Stop::Lost) => check.leave().await,
        Err(Stop::Error(error)) => Err(error),
    }
}

/// Returns the definition of a check and the plan of its targets, or the reason why it cannot be worked on.
async fn load(
    monitors: &Monitors,
    record: &CheckRecord,
) -> Result<Result<(MonitorDefinition, MonitorPlan), String>, TaskError> {
    let (definition, team) = (record.definition.clone(), record.team.clone());
    monitors
        .run_blocking(move |inner| {
            let Some(StoredDefinition { definition, .. }) = StoredDefinition::decode(&definition) else {
                return Ok(Err("the monitor was stored by another version of websvc".to_owned()));
            };
            let policy = match policy(inner, &team)? {
                Ok(policy) => policy,
                Err(reason) => return Ok(Err(reason)),
            };
            Ok(match definition.plan(&policy) {
                Ok(Checked { plan, warnings: _ }) => Ok((definition, plan)),
                Err(rejection) => Err(format!("the monitor is no longer allowed: {rejection}")),
            })
        })
        .await
}

/// Returns the policy of a team, with its share of the compiled path patterns. Blocks.
pub(crate) fn policy(inner: &Inner, team: &str) -> Result<Result<Policy, String>, TaskError> {
    let stored = inner.store.team(team)?;
    Ok(match team_policy(&inner.store, stored.as_ref()) {
        Ok(policy) => Ok(Policy { path_patterns: inner.engine.path_patterns().for_team(team), ..policy }),
        Err(PolicyError::Store(error)) => return Err(error.into()),
        Err(error @ PolicyError::Values(_)) => Err(error.to_string()),
    })
}

/// Ends a check that cannot be worked on.
pub(crate) async fn fail(monitors: &Monitors, record: &CheckRecord, reason: String) -> Result<(), TaskError> {
    let stored = StoredDefinition::decode(&record.definition);
    let messages = stored.map(|stored| end_messages(&stored.definition, monitors.config().mail.is_some()));
    let EndMessages { deliveries, has_messages } = messages.unwrap_or_default();
    let finished = FinishedCheck {
        status: CheckStatus::Failed,
        error: Some(reason),
        actual_credits: 0,
        billing: released(record.billing),
        notifications: deliveries.encode(),
        has_messages,
    };
    let (number, now_ms) = (record.number, monitors.inner.store.now_ms());
    let until_ms = now_ms.saturating_add(DEFAULT_RETENTION_DAYS * DAY_MS);
    monitors.run_blocking(move |inner| inner.finish_check(number, &finished, until_ms)).await?;
    monitors.inner.jobs.notify_webhooks();
    monitors.inner.message_wakeup.notify_one();
    Ok(())
}

fn released(billing: BillingStatus) -> BillingStatus {
    match billing {
        BillingStatus::Reserved => BillingStatus::Released,
        BillingStatus::NotApplicable
        | BillingStatus::Confirmed
        | BillingStatus::Released
        | BillingStatus::Failed => billing,
    }
}

impl CheckRun {
    /// Works on all targets until they are done.
    async fn run_targets(&mut self) -> Result<(), Stop> {
        if self.progress.targets.is_empty() {
            let targets = self.definition.targets.iter();
            self.progress.targets = targets
                .map(|target| TargetProgress::new(target.id().unwrap_or_default(), target.kind()))
                .collect();
        }
        self.save().await?;
        self.record_start();
        let plan = Arc::clone(&self.plan);
        loop {
            let (mut is_done, mut has_progress) = (true, false);
            for (index, target) in plan.targets.iter().enumerate() {
                if self.progress.targets.get(index).is_none_or(|progress| progress.is_done) {
                    continue;
                }
                has_progress |= match target {
                    MonitorTargetPlan::Scrape(target) => self.advance_scrape(index, target).await?,
                    MonitorTargetPlan::Crawl(target) => self.advance_crawl(index, target).await?,
                    MonitorTargetPlan::Search(target) => self.advance_search(index, target).await?,
                };
                is_done &= self.progress.targets[index].is_done;
            }
            if is_done {
                return self.save().await;
            }
            self.check_time()?;
            if !has_progress {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            // Notices a deleted monitor, too.
            self.save().await?;
        }
    }

    /// Counts the delay of a scheduled check whose work begins, but not if it continues after an interruption.
    fn record_start(&self) {
        if let (Some(due_ms), None) = (self.record.scheduled_for_ms, self.record.started_at_ms) {
            let delay_ms = self.now_ms().saturating_sub(due_ms);
            self.monitors.inner.metrics.start_delay.count(Duration::from_millis(delay_ms));
        }
    }

    /// Fails the check if it takes too long.
    fn check_time(&self) -> Result<(), Stop> {
        let limit = self.time_limit();
        if self.elapsed() <= limit {
            return Ok(());
        }
        let minutes = counted(limit.as_secs() / 60, "minute", "minutes");
        Err(Stop::Failed(format!("the check took more than {minutes}, the maximum")))
    }

    fn time_limit(&self) -> Duration {
        let config = self.monitors.config();
        let has_only_searches = self.definition.has_only_search_targets();
        if has_only_searches { config.search_check_timeout } else { config.check_timeout }
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.now_ms().saturating_sub(self.record.created_at_ms))
    }

    /// Returns until when pages are judged; `None` if that time is over.
    fn judging_deadline(&self) -> Option<Instant> {
        let time = judging_time(self.time_limit(), self.elapsed());
        (!time.is_zero()).then(|| Instant::now() + time)
    }

    /// Stores the progress.
    pub(crate) async fn save(&self) -> Result<(), Stop> {
        let (number, progress) = (self.record.number, self.progress.encode());
        let now_ms = self.now_ms();
        let is_owned = self
            .monitors
            .with_store(move |store, _| {
                store.set_check_progress(number, CheckStatus::Running, &progress, now_ms)
            })
            .await?;
        if is_owned { Ok(()) } else { Err(Stop::Lost) }
    }

    /// Stores results of pages. Judges those that changed, if the monitor has a goal.
    pub(crate) async fn record(&mut self, index: usize, mut results: Vec<PageResult>) -> Result<(), Stop> {
        if results.is_empty() {
            return Ok(());
        }
        let mut charges = Vec::with_capacity(results.len());
        for group in results.chunks_mut(JUDGED_AT_ONCE) {
            let judged = futures_util::future::join_all(group.iter().map(|result| self.judge(result))).await;
            for (result, judged) in group.iter_mut().zip(judged) {
                let (judgment, charge) = judged?;
                result.fields.judgment = judgment;
                charges.push(charge);
            }
            if self.definition.judges().is_some() {
                // Judgments may take minutes, and are useless for a check that was deleted meanwhile.
                self.save().await?;
            }
        }
        let target = self.progress.targets[index].result.target_id.clone();
        let (monitor, check) = (&self.record.monitor_id, &self.record.id);
        let pages = results.into_iter().zip(charges);
        let pages = pages.map(|(result, charge)| new_page(result, monitor, check, &target, charge)).collect();
        self.store_pages(pages).await
    }

    pub(crate) async fn store_pages(&mut self, mut pages: Vec<NewCheckPage>) -> Result<(), Stop> {
        let (number, now_ms) = (self.record.number, self.now_ms());
        if let Some(statuses) = self.definition.webhook.as_ref().and_then(|webhook| webhook.statuses.as_ref())
        {
            for page in pages.iter_mut().filter(|page| !statuses.contains(&page_status(page.status))) {
                page.event = None;
            }
        }
        let events: Vec<bool> = pages.iter().map(|page| page.event.is_some()).collect();
        let recording = self
            .monitors
            .with_store(move |store, config| store.record_check_pages(number, pages, &config.limits, now_ms));
        match recording.await? {
            RecordPagesOutcome::Recorded(recorded) => {
                let stored =
                    recorded.iter().zip(&events).filter(|(is_new, has_event)| **is_new && **has_event);
                self.progress.page_events += stored.count() as u64;
            }
            RecordPagesOutcome::NotRunning => return Err(Stop::Lost),
            RecordPagesOutcome::StorageFull => {
                let text = "the service has no space for further versions of pages (monitor.max_page_bytes)";
                return Err(Stop::Failed(text.to_owned()));
            }
        }
        self.monitors.inner.jobs.notify_webhooks();
        Ok(())
    }

    /// Judges a page that changed. Returns the judgment, and its charge if the model answered.
    async fn judge(
        &self,
        result: &PageResult,
    ) -> Result<(Option<MonitorJudgment>, Option<credits::Charge>), Stop> {
        let (Some(goal), Some(changes)) = (self.definition.judges(), result.changes_text()) else {
            return Ok((None, None));
        };
        let Some(model) = self.engine().completion_model() else {
            return Ok((Some(undecided("no language model is configured")), None));
        };
        let Some(deadline) = self.judging_deadline() else {
            return Ok((Some(undecided(TIME_IS_OVER)), None));
        };
        let Some(charge) = credits::judge(&self.monitors, &self.record, &result.url).await? else {
            return Ok((Some(undecided("the team has no credits left")), None));
        };
        Ok(match judge_changes(model, goal, &changes, deadline).await {
            Ok(judgment) => (Some(judgment), Some(charge)),
            Err(reason) => (Some(undecided(&reason)), None),
        })
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.monitors.inner.engine
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.monitors.inner.store.now_ms()
    }

    /// Leaves a check on which this process may not work any more. If it has ended or was deleted, its jobs end too;
    /// otherwise another replica continues with them.
    async fn leave(&self) -> Result<(), TaskError> {
        let number = self.record.number;
        let current = self.monitors.with_store(move |store, _| store.check_by_number(number)).await?;
        if current.is_none_or(|check| check.status.is_finished()) {
            self.cancel_jobs().await;
        }
        Ok(())
    }

    /// Cancels the jobs that still run.
    async fn cancel_jobs(&self) {
        for target in &self.progress.targets {
            let (Some(id), Some(kind)) = (&target.job, job::kind(target.result.kind)) else { continue };
            // If this fails, the job ends by itself.
            let _ = self.monitors.inner.jobs.cancel(&self.record.team, kind, id).await;
        }
    }

    /// Stores the end of the check. With `error`, it failed.
    async fn finish(&self, error: Option<String>) -> Result<(), TaskError> {
        let (searches, pages) = (self.progress.credits, self.job_credits().await?);
        let record = self.record.clone();
        let retention_ms = u64::from(self.definition.retention_days) * DAY_MS;
        let now_ms = self.now_ms();
        let EndMessages { deliveries, has_messages } =
            end_messages(&self.definition, self.monitors.config().mail.is_some());
        let is_judged = self.definition.judges().is_some();
        let is_ended = self
            .monitors
            .run_blocking(move |inner| {
                let Some(recorded) = inner.store.check_by_number(record.number)? else { return Ok(false) };
                let status = match (&error, recorded.summary.error) {
                    (Some(_), _) => CheckStatus::Failed,
                    (None, 0) => CheckStatus::Completed,
                    (None, _) => CheckStatus::Partial,
                };
                // The store has the charges of judgments.
                let actual_credits = recorded.actual_credits + searches + pages;
                let billing = match record.billing {
                    BillingStatus::Reserved if actual_credits > 0 => BillingStatus::Confirmed,
                    other => released(other),
                };
                // Feeds read it for many checks, and need not read their pages.
                let found = if is_judged {
                    found_statuses(&inner.store, &recorded)?
                } else {
                    unjudged_statuses(recorded.summary)
                };
                let notifications = Deliveries { found: Some(found), ..deliveries }.encode();
                let finished =
                    FinishedCheck { status, error, actual_credits, billing, notifications, has_messages };
                inner.finish_check(record.number, &finished, now_ms.saturating_add(retention_ms))
            })
            .await?;
        self.monitors.inner.jobs.notify_webhooks();
        self.monitors.inner.message_wakeup.notify_one();
        if !is_ended {
            return Ok(());
        }
        self.expire_jobs().await?;
        self.prune_baselines().await
    }

    /// Deletes the versions of pages of targets that the monitor no longer has.
    async fn prune_baselines(&self) -> Result<(), TaskError> {
        let number = self.record.monitor;
        self.monitors
            .with_store(move |store, _| {
                let Some(record) = store.monitor_by_number(number)? else { return Ok(()) };
                let Some(stored) = StoredDefinition::decode(&record.definition) else { return Ok(()) };
                let targets = stored.definition.targets.iter().filter_map(MonitorTarget::id);
                store.prune_baselines(number, &targets.map(str::to_owned).collect::<Vec<_>>())
            })
            .await
    }

    /// Returns the credits of the jobs of the check.
    async fn job_credits(&self) -> Result<u64, TaskError> {
        let mut credits = 0;
        for target in &self.progress.targets {
            credits += self.job_record(target).await?.map_or(0, |job| job.credits);
        }
        Ok(credits)
    }

    /// Lets the store delete the jobs of the check, whose documents are no longer needed.
    async fn expire_jobs(&self) -> Result<(), TaskError> {
        for target in &self.progress.targets {
            if let Some(job) = self.job_record(target).await? {
                self.monitors.inner.jobs.expire(job.number).await?;
            }
        }
        Ok(())
    }
}

/// Returns the time that remains for judgments, of a check with this time limit.
fn judging_time(limit: Duration, elapsed: Duration) -> Duration {
    (limit - limit / REPORT_TIME_DIVISOR).saturating_sub(elapsed)
}

/// Returns a page as the store takes it.
pub(crate) fn new_page(
    result: PageResult,
    monitor: &str,
    check: &str,
    target: &str,
    charge: Option<credits::Charge>,
) -> NewCheckPage {
    let event = serde_json::to_vec(&result.event(monitor, check));
    let document = serde_json::to_vec(&result.fields);
    let PageResult { url, status, fields: _, event_diff: _, baseline } = result;
    NewCheckPage {
        id: uuid::Uuid::new_v4().to_string(),
        target: target.to_owned(),
        url,
        status,
        document: document.expect("results have only strings, numbers and JSON"),
        event: Some(event.expect("events have only strings, numbers and JSON")),
        event_success: status != CheckPageStatus::Error,
        baseline,
        baseline_url: None,
        charge,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judgments_have_the_time_of_the_check_except_for_its_report() {
        let check = |elapsed_minutes: u64, expected_minutes: u64| {
            let minutes = |count| Duration::from_secs(count * 60);
            assert_eq!(judging_time(minutes(60), minutes(elapsed_minutes)), minutes(expected_minutes));
        };
        check(0, 54);
        check(50, 4);
        check(54, 0);
        check(99, 0);
    }
}
