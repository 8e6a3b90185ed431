//! The handle of monitors.

use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::Notify;
use uuid::Uuid;
use websvc_engine::Engine;
use websvc_jobs::Jobs;
use websvc_store::{
    BillingStatus, CheckDeliveries, CheckPageStatus, CheckPages, CheckRecord, CheckStatus, CheckTrigger,
    CreateMonitorOutcome, FinishedCheck, KeyId, MonitorMetrics, MonitorRecord, MonitorStatus, MonitorUpdate,
    NewCheck, NewMonitor, StartCheckOutcome, Store, StoreError,
};
use websvc_tasks::{TaskError, is_anonymous};
use websvc_transport::BoxFuture;
use websvc_validate::{MonitorDefinition, MonitorPlan};

use crate::config::MonitorsConfig;
use crate::credits;
use crate::message::{MessageMetrics, Messages, message_metrics};
use crate::metrics::CheckMetrics;
use crate::stored::StoredDefinition;
use crate::subscription::stored_recipients;
use crate::time::to_ms;

const DAY_MS: u64 = 86_400_000;

/// The monitors of a service. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Monitors {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) jobs: Jobs,
    pub(crate) config: MonitorsConfig,
    /// Wakes the scheduler when the next due time may have changed.
    pub(crate) schedule_wakeup: Notify,
    /// Wakes the runner when there may be a new check.
    pub(crate) check_wakeup: Notify,
    pub(crate) metrics: CheckMetrics,
    /// Wakes the sender when there may be a new message.
    pub(crate) message_wakeup: Notify,
    pub(crate) message_metrics: MessageMetrics,
    /// Held while the credits of a team are compared with an estimate.
    pub(crate) credit_probe: Mutex<()>,
}

impl Inner {
    /// Ends a check, which is stored until `retention_until_ms`. Returns false if it had ended or was deleted, or another
    /// replica owns it. Blocks.
    pub(crate) fn finish_check(
        &self,
        check: i64,
        finished: &FinishedCheck,
        retention_until_ms: u64,
    ) -> Result<bool, TaskError> {
        let now_ms = self.store.now_ms();
        let is_ended = self.store.finish_check(check, finished, retention_until_ms, now_ms)?.is_some();
        if is_ended {
            self.metrics.ended.add(finished.status, 1);
        }
        Ok(is_ended)
    }
}

/// Outcome of creating a monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one value per call, which is consumed at once")]
pub enum CreateOutcome {
    /// The monitor is stored.
    Created(MonitorRecord),
    /// The team has as many monitors as it may have.
    TooMany,
    /// The team has fewer credits than a check may cost.
    InsufficientCredits {
        /// The estimate of the check.
        estimated: u64,
        /// The credits that are left.
        remaining: u64,
    },
}

/// Outcome of starting a check by a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome {
    /// The check is queued.
    Started(Box<CheckRecord>),
    /// Another check, with this ID, is not finished.
    Running(String),
    /// The monitor is paused.
    Paused,
    /// The team has fewer credits than the check may cost.
    InsufficientCredits {
        /// The estimate of the check.
        estimated: u64,
        /// The credits that are left.
        remaining: u64,
    },
    /// There is no such monitor.
    NotFound,
}

/// Estimate of the credits of a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreditEstimate {
    /// Credits of a check.
    pub check: u64,
    /// Credits of all checks of 30 days.
    pub month: u64,
}

impl Monitors {
    /// Creates the handle. No check starts before [`run`](Self::run).
    #[must_use]
    pub fn new(engine: &Engine, store: Store, jobs: Jobs, config: MonitorsConfig) -> Self {
        let inner = Inner {
            engine: engine.clone(),
            store,
            jobs,
            config,
            schedule_wakeup: Notify::new(),
            check_wakeup: Notify::new(),
            metrics: CheckMetrics::default(),
            message_wakeup: Notify::new(),
            message_metrics: message_metrics(),
            credit_probe: Mutex::new(()),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the configuration.
    #[must_use]
    pub fn config(&self) -> &MonitorsConfig {
        &self.inner.config
    }

    /// Starts the checks that are due, works on them and sends their messages until it is dropped. The next run continues
    /// the checks that were running then.
    pub fn run<'a>(&'a self) -> BoxFuture<'a, std::convert::Infallible> {
        Box::pin(async move {
            // Its jobs join. Before, it does not know which checks belong to others.
            self.inner.store.joined().await;
            tokio::select! {
                never = crate::scheduler::schedule(self.clone()) => never,
                never = websvc_tasks::run(self.clone()) => never,
                never = websvc_tasks::run(Messages(self.clone())) => never,
            }
        })
    }

    /// Creates a monitor of a team that has the credits for a check.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn create(
        &self,
        team: &str,
        key: Option<KeyId>,
        definition: MonitorDefinition,
        plan: &MonitorPlan,
    ) -> Result<CreateOutcome, TaskError> {
        let now = self.inner.store.clock().now();
        let next_run_ms = next_run_ms(&definition, now);
        let stored = StoredDefinition::new(&self.inner.engine, definition, plan, now);
        let team = team.to_owned();
        let outcome = self
            .run_blocking(move |inner| {
                let estimated = stored.check_credits;
                if let Some(remaining) = credits::shortage(inner, &team, key.as_ref(), estimated)? {
                    return Ok(CreateOutcome::InsufficientCredits { estimated, remaining });
                }
                let new = NewMonitor {
                    id: Uuid::new_v4().to_string(),
                    team,
                    key,
                    definition: stored.encode(),
                    next_run_ms,
                    status: MonitorStatus::Active,
                    recipients: stored_recipients(inner, &stored.definition)?,
                };
                Ok(match inner.store.create_monitor(&new, &inner.config.limits, to_ms(now))? {
                    CreateMonitorOutcome::Created(record) => CreateOutcome::Created(record),
                    CreateMonitorOutcome::TooMany => CreateOutcome::TooMany,
                })
            })
            .await?;
        self.inner.schedule_wakeup.notify_one();
        self.inner.message_wakeup.notify_one();
        Ok(outcome)
    }

    /// Estimates the credits of a monitor that is not stored.
    #[must_use]
    pub fn estimate(&self, definition: MonitorDefinition, plan: &MonitorPlan) -> CreditEstimate {
        let now = self.inner.store.clock().now();
        let StoredDefinition { definition: _, check_credits: check, month_credits: month } =
            StoredDefinition::new(&self.inner.engine, definition, plan, now);
        CreditEstimate { check, month }
    }

    /// Returns a monitor of a team.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn monitor(&self, team: &str, id: &str) -> Result<Option<MonitorRecord>, TaskError> {
        let (team, id) = (team.to_owned(), id.to_owned());
        self.with_store(move |store, _| store.monitor(&team, &id)).await
    }

    /// Returns monitors of a team, the newest first.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn list(&self, team: &str, skip: u64, max: u64) -> Result<Vec<MonitorRecord>, TaskError> {
        let team = team.to_owned();
        self.with_store(move |store, _| store.monitors(&team, skip, max)).await
    }

    /// Changes a monitor as it was read. Returns `None` if it was changed or deleted in the meantime.
    ///
    /// The next check is scheduled from now when the schedule changed or the monitor is active again.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn update(
        &self,
        record: &MonitorRecord,
        definition: MonitorDefinition,
        plan: &MonitorPlan,
        status: MonitorStatus,
    ) -> Result<Option<MonitorRecord>, TaskError> {
        let now = self.inner.store.clock().now();
        let previous = StoredDefinition::decode(&record.definition);
        let has_same_schedule = previous
            .is_some_and(|previous| previous.definition.wire_schedule() == definition.wire_schedule());
        let next_run_ms = match status {
            MonitorStatus::Paused => None,
            MonitorStatus::Active if has_same_schedule && record.next_run_ms.is_some() => record.next_run_ms,
            MonitorStatus::Active => next_run_ms(&definition, now),
        };
        let stored = StoredDefinition::new(&self.inner.engine, definition, plan, now);
        let (number, revision) = (record.number, record.revision);
        let updated = self
            .run_blocking(move |inner| {
                let recipients = stored_recipients(inner, &stored.definition)?;
                let update = MonitorUpdate { definition: stored.encode(), status, next_run_ms, recipients };
                Ok(inner.store.update_monitor(number, revision, &update, to_ms(now))?)
            })
            .await?;
        self.inner.schedule_wakeup.notify_one();
        self.inner.message_wakeup.notify_one();
        Ok(updated)
    }

    /// Deletes a monitor of a team with its history. Returns whether it existed.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn delete(&self, team: &str, id: &str) -> Result<bool, TaskError> {
        let (team, id) = (team.to_owned(), id.to_owned());
        let now_ms = self.inner.store.now_ms();
        let is_deleted = self.with_store(move |store, _| store.delete_monitor(&team, &id, now_ms)).await?;
        // The runner ends the check of the monitor.
        self.inner.check_wakeup.notify_one();
        Ok(is_deleted)
    }

    /// Starts a check now.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn run_now(&self, team: &str, id: &str) -> Result<RunOutcome, TaskError> {
        let (team, id) = (team.to_owned(), id.to_owned());
        let outcome = self.run_blocking(move |inner| start_manual(inner, &team, &id)).await?;
        self.inner.check_wakeup.notify_one();
        Ok(outcome)
    }

    /// Returns checks of a monitor, the newest first.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn checks(
        &self,
        monitor: i64,
        status: Option<CheckStatus>,
        skip: u64,
        max: u64,
    ) -> Result<Vec<CheckRecord>, TaskError> {
        self.with_store(move |store, _| store.checks(monitor, status, skip, max)).await
    }

    /// Returns a check of a monitor.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn check(&self, monitor: i64, id: &str) -> Result<Option<CheckRecord>, TaskError> {
        let id = id.to_owned();
        self.with_store(move |store, _| store.check(monitor, &id)).await
    }

    /// Returns the events of checks that are not delivered, in the order of the checks.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn deliveries(&self, checks: Vec<i64>) -> Result<Vec<CheckDeliveries>, TaskError> {
        self.with_store(move |store, _| {
            checks.into_iter().map(|check| store.check_deliveries(check)).collect()
        })
        .await
    }

    /// Returns the numbers of monitors and checks of all teams.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn metrics(&self) -> Result<MonitorMetrics, TaskError> {
        let now_ms = self.inner.store.now_ms();
        self.with_store(move |store, _| store.monitor_metrics(now_ms)).await
    }

    /// Returns the counts of the checks of this process since its start.
    #[must_use]
    pub fn check_metrics(&self) -> &CheckMetrics {
        &self.inner.metrics
    }

    /// Returns the counts of messages since this handle was created.
    #[must_use]
    pub fn message_metrics(&self) -> &MessageMetrics {
        &self.inner.message_metrics
    }

    /// Returns pages of a check, in the order in which they were done.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn check_pages(
        &self,
        check: i64,
        status: Option<CheckPageStatus>,
        skip: u64,
        max: u64,
        max_bytes: u64,
    ) -> Result<CheckPages, TaskError> {
        self.with_store(move |store, _| store.check_pages(check, status, skip, max, max_bytes)).await
    }

    /// Runs an access to the store on the blocking pool.
    pub(crate) async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store, &MonitorsConfig) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, TaskError> {
        self.run_blocking(move |inner| Ok(work(&inner.store, &inner.config)?)).await
    }

    /// Runs blocking work on the blocking pool.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, TaskError> + Send + 'static,
    ) -> Result<T, TaskError> {
        websvc_tasks::run_blocking(&self.inner, work).await
    }
}

fn start_manual(inner: &Inner, team: &str, id: &str) -> Result<RunOutcome, TaskError> {
    let Some(record) = inner.store.monitor(team, id)? else { return Ok(RunOutcome::NotFound) };
    match (record.status, &record.current_check) {
        (MonitorStatus::Paused, _) => return Ok(RunOutcome::Paused),
        (MonitorStatus::Active, Some(current)) => return Ok(RunOutcome::Running(current.clone())),
        (MonitorStatus::Active, None) => {}
    }
    let Some(stored) = StoredDefinition::decode(&record.definition) else { return Ok(RunOutcome::NotFound) };
    let key = record.key.as_ref();
    if let Some(remaining) = credits::shortage(inner, &record.team, key, stored.check_credits)? {
        let estimated = stored.check_credits;
        return Ok(RunOutcome::InsufficientCredits { estimated, remaining });
    }
    let check = new_check(inner, &record, &stored, CheckTrigger::Manual, record.next_run_ms);
    Ok(match inner.store.start_check(&check, inner.store.now_ms())? {
        StartCheckOutcome::Started(check) => RunOutcome::Started(Box::new(check)),
        StartCheckOutcome::Overlap { current } => RunOutcome::Running(current),
        StartCheckOutcome::Paused => RunOutcome::Paused,
        StartCheckOutcome::NotFound => RunOutcome::NotFound,
    })
}

/// Returns a check to be started.
pub(crate) fn new_check(
    inner: &Inner,
    record: &MonitorRecord,
    stored: &StoredDefinition,
    trigger: CheckTrigger,
    next_run_ms: Option<u64>,
) -> NewCheck {
    let retention_ms = u64::from(stored.definition.retention_days) * DAY_MS;
    NewCheck {
        id: Uuid::new_v4().to_string(),
        monitor: record.number,
        trigger,
        scheduled_for_ms: match trigger {
            CheckTrigger::Scheduled => record.next_run_ms,
            CheckTrigger::Manual => None,
        },
        next_run_ms,
        estimated_credits: stored.check_credits,
        billing: match is_anonymous(&record.team, record.key.as_ref()) {
            true => BillingStatus::NotApplicable,
            false => BillingStatus::Reserved,
        },
        webhook: crate::webhook::new_webhook(&stored.definition),
        retention_until_ms: inner.store.now_ms().saturating_add(retention_ms),
    }
}

/// Returns the time of the next scheduled check after `now`, in milliseconds since the Unix epoch.
pub(crate) fn next_run_ms(definition: &MonitorDefinition, now: Timestamp) -> Option<u64> {
    definition.schedule().ok()?.next_after(now).map(to_ms)
}
