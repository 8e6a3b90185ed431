//! Accesses of the job scheduler to the store, each in a task of its own.

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::{JoinError, JoinSet};
use websvc_store::{JobLease, JobState, OwnedJobs};

use super::{PageTask, Runner, STORE_RETRY_DELAY, SWEEP_INTERVAL, log_failure};
use crate::active::{ActiveJob, JobContext, JobStartError};
use crate::jobs::JobsError;
use crate::page::{self, PageDisposition, PageReport};

/// URLs of a job that one transaction leases.
const LEASE_BATCH: usize = 16;

/// Duration of a lease: longer than any job, since a page may be queued for as long as its job runs. No lease has to
/// expire: a replica that starts to work on a job releases the leases of its former owner.
const LEASE_TTL: Duration = Duration::from_secs(100 * 365 * 86_400);

/// Delay before a job is loaded again whose path patterns exceeded the shared memory limit.
const POSTPONE_DELAY: Duration = Duration::from_secs(2);

/// The store tasks in flight, and the accesses that are due.
pub(super) struct StoreTasks {
    pub(super) tasks: JoinSet<StoreEvent>,
    /// Jobs that are being loaded or whose URLs are being leased; each has one such task at a time.
    pub(super) busy: HashSet<i64>,
    /// Leases whose outcome could not be stored, to be returned.
    unreturned: Vec<JobLease>,
    /// Interval at which the running jobs are read without a reason; `None` if no other process changes them.
    poll: Option<Duration>,
    last_refresh: Option<Instant>,
    is_refresh_due: bool,
    is_refreshing: bool,
    last_sweep: Option<Instant>,
    is_sweeping: bool,
    /// No task starts before this time, because the store failed.
    suspended_until: Option<Instant>,
}

/// Result of a store task.
pub(super) enum StoreEvent {
    /// The running jobs of this replica.
    Refreshed(Result<OwnedJobs, JobsError>),
    /// A part of the old jobs was deleted; true if there may be more.
    Swept(Result<bool, JobsError>),
    /// `None` is a job that no longer runs, or that another replica owns.
    Loaded(i64, Result<Option<LoadOutcome>, JobsError>),
    Leased(i64, Result<Vec<JobLease>, JobsError>),
    Returned(Vec<JobLease>, Result<(), JobsError>),
    Failed(i64, Result<(), JobsError>),
    HandedOver(i64, Result<(), JobsError>),
    /// The outcome of a page that panicked was stored.
    PanicRecorded(PageTask, PageDisposition),
}

type LoadOutcome = Result<Box<JobContext>, JobStartError>;

impl StoreTasks {
    pub(super) fn new(poll: Option<Duration>) -> Self {
        Self {
            tasks: JoinSet::new(),
            busy: HashSet::new(),
            unreturned: Vec::new(),
            poll,
            last_refresh: None,
            is_refresh_due: true,
            is_refreshing: false,
            last_sweep: None,
            is_sweeping: false,
            suspended_until: None,
        }
    }

    /// Waits for the next task to end; `None` when none is in flight.
    pub(super) async fn next_event(&mut self) -> Option<Result<StoreEvent, JoinError>> {
        self.tasks.join_next().await
    }

    /// Reads the running jobs again before the next page starts.
    pub(super) fn request_refresh(&mut self) {
        self.is_refresh_due = true;
    }

    /// Returns the time until the running jobs are read without a reason.
    pub(super) fn time_to_refresh(&self, now: Instant) -> Duration {
        match (self.poll, self.last_refresh) {
            (Some(poll), Some(last)) if !self.is_refreshing => (last + poll).saturating_duration_since(now),
            (Some(_), None) if !self.is_refreshing => Duration::ZERO,
            _ => SWEEP_INTERVAL,
        }
    }

    /// Returns a lease to the store with the next housekeeping.
    pub(super) fn return_lease(&mut self, lease: JobLease) {
        self.unreturned.push(lease);
    }

    /// Returns how many jobs are being loaded or leased.
    pub(super) fn busy_jobs(&self) -> usize {
        self.busy.len()
    }

    pub(super) fn is_busy(&self, job: i64) -> bool {
        self.busy.contains(&job)
    }

    /// Returns how long no task may start after a failure of the store; `None` when tasks may start.
    pub(super) fn suspended_for(&self, now: Instant) -> Option<Duration> {
        self.suspended_until.filter(|until| *until > now).map(|until| until - now)
    }

    pub(super) fn time_to_sweep(&self, now: Instant) -> Duration {
        match self.last_sweep {
            _ if self.is_sweeping => SWEEP_INTERVAL,
            Some(last) => (last + SWEEP_INTERVAL).saturating_duration_since(now),
            None => Duration::ZERO,
        }
    }
}

impl Runner {
    /// Starts the tasks that are due for all jobs: the list of running jobs, the deletion of old ones, the return of
    /// leases.
    pub(super) fn start_housekeeping(&mut self, now: Instant) {
        self.store.is_refresh_due |= self.store.time_to_refresh(now).is_zero();
        if self.store.is_refresh_due && !self.store.is_refreshing {
            (self.store.is_refresh_due, self.store.is_refreshing) = (false, true);
            let (jobs, only) = (self.jobs.clone(), self.only);
            self.store.tasks.spawn(async move {
                StoreEvent::Refreshed(jobs.with_store(move |store, _| store.claim_jobs(only)).await)
            });
        }
        if !self.store.is_sweeping && self.store.time_to_sweep(now).is_zero() {
            self.store.is_sweeping = true;
            let jobs = self.jobs.clone();
            self.store.tasks.spawn(async move {
                let sweep = jobs.with_store(|store, config| store.sweep_jobs(&config.limits, store.now_ms()));
                StoreEvent::Swept(sweep.await)
            });
        }
        if !self.store.unreturned.is_empty() {
            let leases = std::mem::take(&mut self.store.unreturned);
            let jobs = self.jobs.clone();
            self.store.tasks.spawn(async move {
                let returned = leases.clone();
                let result = jobs.with_store(move |store, _| {
                    returned.iter().try_for_each(|lease| store.release_job_url(lease).map(drop))
                });
                let result = result.await;
                StoreEvent::Returned(leases, result)
            });
        }
    }

    /// Loads a job that is not in memory.
    pub(super) fn load(&mut self, number: i64) {
        self.postponed.remove(&number);
        self.store.busy.insert(number);
        let jobs = self.jobs.clone();
        self.store.tasks.spawn(async move {
            let inner = Arc::clone(&jobs.inner);
            let load = jobs.with_store(move |store, _| {
                let record = store.job_by_number(number)?;
                let Some(record) = record.filter(|record| record.state == JobState::Running) else {
                    return Ok(None);
                };
                // Its leases are those of its former owner, or it was removed from memory because its end could not be
                // stored.
                if !store.start_job(number)? {
                    return Ok(None);
                }
                match JobContext::load(&inner, record) {
                    Err(JobStartError::Store(error)) => Err(error),
                    loaded => Ok(Some(loaded.map(Box::new))),
                }
            });
            StoreEvent::Loaded(number, load.await)
        });
    }

    /// Leases more URLs of an active job.
    pub(super) fn lease(&mut self, number: i64) {
        let Some(active) = self.active.get_mut(&number) else { return };
        active.start_lease();
        self.store.busy.insert(number);
        let jobs = self.jobs.clone();
        self.store.tasks.spawn(async move {
            let lease = jobs.with_store(move |store, _| {
                store.lease_job_urls(number, LEASE_BATCH, store.now_ms(), LEASE_TTL)
            });
            StoreEvent::Leased(number, lease.await)
        });
    }

    /// Ends a job that cannot continue.
    pub(super) fn fail_job(&mut self, number: i64, reason: String) {
        self.remove(number);
        let jobs = self.jobs.clone();
        self.store.tasks.spawn(async move {
            let fail = jobs.with_store(move |store, config| {
                store.fail_job(number, &reason, &config.limits, store.now_ms())
            });
            StoreEvent::Failed(number, fail.await)
        });
    }

    /// Stores that a page panicked.
    pub(super) fn record_panic(&mut self, task: PageTask) {
        let jobs = self.jobs.clone();
        self.store.tasks.spawn(async move {
            let disposition = page::record_panic(&jobs, task.kind(), task.lease.clone()).await;
            StoreEvent::PanicRecorded(task, disposition)
        });
    }

    pub(super) fn handle_store_event(&mut self, event: Result<StoreEvent, JoinError>) {
        let result = match event {
            Ok(event) => self.apply(event),
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            Err(_runtime_shuts_down) => Err(JobsError::Stopping),
        };
        if let Err(error) = result {
            log_failure(&error);
            self.store.suspended_until = Some(Instant::now() + STORE_RETRY_DELAY);
        }
    }

    /// Applies the result of a store task. After a failure the same access is due again.
    fn apply(&mut self, event: StoreEvent) -> Result<(), JobsError> {
        match event {
            StoreEvent::Refreshed(result) => {
                self.store.is_refreshing = false;
                self.store.last_refresh = Some(Instant::now());
                self.store.is_refresh_due |= result.is_err();
                self.sync_running(result?);
            }
            StoreEvent::Swept(result) => {
                self.store.is_sweeping = false;
                if !result? {
                    self.store.last_sweep = Some(Instant::now());
                }
                // The sweep may have ended jobs.
                self.store.is_refresh_due = true;
                self.jobs.inner.webhook_wakeup.notify_one();
            }
            StoreEvent::Loaded(number, result) => {
                self.store.busy.remove(&number);
                self.activate(number, result?);
            }
            StoreEvent::Leased(number, result) => {
                self.store.busy.remove(&number);
                let leases = result?;
                // If the job was removed meanwhile, loading it again releases these leases.
                if let Some(active) = self.active.get_mut(&number) {
                    active.add_leases(leases);
                }
            }
            StoreEvent::Returned(leases, result) => {
                if let Err(error) = result {
                    self.store.unreturned.extend(leases);
                    return Err(error);
                }
                for lease in leases {
                    if let Some(active) = self.active.get_mut(&lease.job()) {
                        active.expect_more();
                    }
                }
            }
            StoreEvent::Failed(number, result) => {
                // After a failure of the store the job still runs: it is loaded and fails again.
                self.store.is_refresh_due = true;
                result?;
                self.jobs.inner.watchers.notify(number);
                self.jobs.inner.webhook_wakeup.notify_one();
            }
            StoreEvent::HandedOver(number, result) => {
                self.store.busy.remove(&number);
                // After a failure of the store the job is still owned, and is handed over or run later.
                result?;
            }
            StoreEvent::PanicRecorded(task, disposition) => {
                self.finish_page(task, PageReport { disposition, ..PageReport::default() });
            }
        }
        Ok(())
    }

    /// Takes over the list of running jobs, and aborts the pages of all others.
    pub(super) fn sync_running(&mut self, owned: OwnedJobs) {
        let OwnedJobs { replica, jobs: mut running, surplus } = owned;
        if replica != self.replica {
            self.replica = replica;
            // Other replicas may have worked on these jobs in the meantime, so they are loaded again.
            self.active.clear();
        }
        running.retain(|(number, _)| self.only.is_none_or(|only| *number == only));
        if surplus > 0 && self.only.is_none() {
            self.hand_over(&mut running, surplus);
        }
        self.queue.sync(&running);
        self.active.retain(|number, _| self.queue.contains(*number));
        self.postponed.retain(|number, _| self.queue.contains(*number));
        self.active.values_mut().for_each(ActiveJob::expect_more);
        for task in self.page_tasks.values().filter(|task| !self.active.contains_key(&task.job)) {
            task.handle.abort();
        }
    }

    /// Hands the newest jobs over to replicas that have fewer, and removes them from the list. Jobs with pages in flight
    /// stay.
    fn hand_over(&mut self, running: &mut Vec<(i64, String)>, count: usize) {
        let is_idle = |number: &i64| {
            !self.store.is_busy(*number) && self.active.get(number).is_none_or(|active| active.in_flight == 0)
        };
        let newest: Vec<i64> =
            running.iter().rev().map(|(number, _)| *number).filter(is_idle).take(count).collect();
        running.retain(|(number, _)| !newest.contains(number));
        for number in newest {
            self.active.remove(&number);
            self.store.busy.insert(number);
            let jobs = self.jobs.clone();
            self.store.tasks.spawn(async move {
                StoreEvent::HandedOver(
                    number,
                    jobs.with_store(move |store, _| store.hand_over_job(number)).await,
                )
            });
        }
    }

    /// Activates a job that was loaded; fails one whose request is no longer allowed.
    fn activate(&mut self, number: i64, loaded: Option<LoadOutcome>) {
        if !self.queue.contains(number) {
            return;
        }
        match loaded {
            Some(Ok(context)) => drop(self.active.insert(number, ActiveJob::new(*context))),
            Some(Err(JobStartError::Exhausted(reason))) => {
                tracing::debug!(job = number, reason, "job postponed: too many path patterns in memory");
                self.postponed.insert(number, Instant::now() + POSTPONE_DELAY);
            }
            Some(Err(error)) => self.fail_job(number, error.to_string()),
            None => self.queue.remove(number),
        }
    }
}
