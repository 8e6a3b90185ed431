//! Accesses of the job scheduler to the store, each in a task of its own.

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::{JoinError, JoinSet};
use websvc_store::{JobLease, JobState, OwnedJobs, Store, StoreError, WorkKind};
use websvc_tasks::TaskError;

use super::{PageTask, Runner, STORE_RETRY_DELAY, SWEEP_INTERVAL, log_failure};
use crate::active::{ActiveJob, JobContext, JobStartError};
use crate::config::JobsConfig;
use crate::page::{self, PageDisposition, PageReport};

/// URLs of a job that one transaction leases.
const LEASE_BATCH: usize = 16;

/// Hosts that one transaction releases.
const MAX_RELEASED: usize = 256;

/// Jobs that are handed over at a time: those whose hosts this replica has come back.
const MAX_HANDED_OVER: usize = 16;

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
    Refreshed(Result<OwnedJobs, TaskError>),
    /// A part of the old jobs was deleted; true if there may be more.
    Swept(Result<bool, TaskError>),
    /// `None` is a job that no longer runs, or that another replica owns.
    Loaded(i64, Result<Option<LoadOutcome>, TaskError>),
    Leased(i64, Result<Vec<JobLease>, TaskError>),
    Returned(Vec<JobLease>, Result<(), TaskError>),
    Failed(i64, Result<(), TaskError>),
    HandedOver(i64, Result<(), TaskError>),
    /// True if a job moved to the replica that has the host of its next URL.
    Moved(i64, Result<bool, TaskError>),
    /// The hosts were released, or have to be released again.
    HostsReleased(Vec<String>, Result<(), TaskError>),
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
        if self.store.time_to_refresh(now).is_zero() {
            let may_have_jobs = !self.active.is_empty()
                || !self.leased_hosts.is_empty()
                || self.jobs.inner.store.may_have_work(WorkKind::Jobs);
            self.store.is_refresh_due |= may_have_jobs;
            self.store.last_refresh = Some(now);
        }
        if self.store.is_refresh_due && !self.store.is_refreshing {
            (self.store.is_refresh_due, self.store.is_refreshing) = (false, true);
            let only = self.only;
            self.access_store(move |store, _| store.claim_jobs(only), StoreEvent::Refreshed);
            self.release_hosts(now);
        }
        if !self.store.is_sweeping && self.store.time_to_sweep(now).is_zero() {
            self.store.is_sweeping = true;
            self.access_store(
                |store, config| store.sweep_jobs(&config.limits, store.now_ms()),
                StoreEvent::Swept,
            );
        }
        if !self.store.unreturned.is_empty() {
            let leases = std::mem::take(&mut self.store.unreturned);
            let returned = leases.clone();
            self.access_store(
                move |store, _| returned.iter().try_for_each(|lease| store.release_job_url(lease).map(drop)),
                |result| StoreEvent::Returned(leases, result),
            );
        }
    }

    /// Starts an access to the store, whose result becomes an event.
    fn access_store<T: Send + 'static>(
        &mut self,
        access: impl FnOnce(&Store, &JobsConfig) -> Result<T, StoreError> + Send + 'static,
        to_event: impl FnOnce(Result<T, TaskError>) -> StoreEvent + Send + 'static,
    ) {
        let jobs = self.jobs.clone();
        self.store.tasks.spawn(async move { to_event(jobs.with_store(access).await) });
    }

    /// Loads a job that is not in memory.
    pub(super) fn load(&mut self, number: i64) {
        self.postponed.remove(&number);
        self.store.busy.insert(number);
        let (inner, is_only) = (Arc::clone(&self.jobs.inner), self.only.is_some());
        let load = move |store: &Store, _: &JobsConfig| {
            let record = store.job_by_number(number)?;
            let Some(record) = record.filter(|record| record.state == JobState::Running) else {
                return Ok(None);
            };
            let loaded = match JobContext::load(&inner, record) {
                Err(JobStartError::Store(error)) => return Err(error),
                loaded => loaded.map(Box::new),
            };
            // Its leases are those of a former owner, or it was removed from memory because its end could not be
            // stored.
            let may_spread = loaded.as_ref().is_ok_and(|context| !is_only && context.may_spread());
            Ok(store.start_job(number, may_spread)?.then_some(loaded))
        };
        self.access_store(load, move |loaded| StoreEvent::Loaded(number, loaded));
    }

    /// Leases more URLs of an active job.
    pub(super) fn lease(&mut self, number: i64) {
        let Some(active) = self.active.get_mut(&number) else { return };
        let hosts = active.start_lease();
        self.store.busy.insert(number);
        self.access_store(
            move |store, _| store.lease_job_urls(number, LEASE_BATCH, hosts),
            move |leases| StoreEvent::Leased(number, leases),
        );
    }

    /// Ends a job that cannot continue.
    pub(super) fn fail_job(&mut self, number: i64, reason: String) {
        self.remove(number);
        self.access_store(
            move |store, config| store.fail_job(number, &reason, &config.limits, store.now_ms()),
            move |result| StoreEvent::Failed(number, result),
        );
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
            Err(_runtime_shuts_down) => Err(TaskError::Stopping),
        };
        if let Err(error) = result {
            log_failure(&error);
            self.store.suspended_until = Some(Instant::now() + STORE_RETRY_DELAY);
        }
    }

    /// Applies the result of a store task. After a failure the same access is due again.
    fn apply(&mut self, event: StoreEvent) -> Result<(), TaskError> {
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
                    let is_blocked = leases.is_empty() && active.is_idle();
                    active.add_leases(leases);
                    self.leased_hosts.extend(active.queued_hosts().map(str::to_owned));
                    if is_blocked {
                        self.move_to_host(number);
                    }
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
            StoreEvent::Moved(number, result) => {
                self.store.busy.remove(&number);
                self.store.is_refresh_due |= result?;
            }
            StoreEvent::HostsReleased(hosts, result) => {
                if result.is_err() {
                    self.leased_hosts.extend(hosts);
                }
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
        let OwnedJobs { replica, jobs: mut running, helped, team_shares, surplus } = owned;
        self.team_shares = team_shares;
        if replica != self.replica {
            self.replica = replica;
            // Other replicas may have worked on these jobs in the meantime, so they are loaded again.
            self.active.clear();
            self.leased_hosts.clear();
        }
        running.retain(|(number, _)| self.only.is_none_or(|only| *number == only));
        if surplus > 0 && self.only.is_none() {
            self.hand_over(&mut running, surplus);
        }
        let (known, now) = (std::mem::take(&mut self.helped), Instant::now());
        let since = |(number, _): &(i64, String)| (*number, known.get(number).copied().unwrap_or(now));
        self.helped = helped.iter().map(since).collect();
        running.extend(helped);
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
            !self.store.is_busy(*number) && self.active.get(number).is_none_or(ActiveJob::is_idle)
        };
        let newest: Vec<i64> = running
            .iter()
            .rev()
            .map(|(number, _)| *number)
            .filter(is_idle)
            .take(count.min(MAX_HANDED_OVER))
            .collect();
        running.retain(|(number, _)| !newest.contains(number));
        for number in newest {
            self.active.remove(&number);
            self.store.busy.insert(number);
            self.access_store(
                move |store, _| store.hand_over_job(number),
                move |result| StoreEvent::HandedOver(number, result),
            );
        }
    }

    /// Moves a job that can lease nothing to the replica that has the host of its next URL, if another replica has it.
    fn move_to_host(&mut self, number: i64) {
        if self.jobs.inner.store.workers() < 2 || self.only.is_some() || self.helped.contains_key(&number) {
            return;
        }
        self.store.busy.insert(number);
        self.access_store(
            move |store, _| store.move_job_to_host(number),
            move |result| StoreEvent::Moved(number, result),
        );
    }

    /// Releases the hosts that have had no request for a while and have no leased URLs, so that other replicas can request
    /// theirs.
    fn release_hosts(&mut self, now: Instant) {
        if self.leased_hosts.is_empty() || !self.jobs.inner.store.is_shared() {
            return;
        }
        let queued = self.active.values().flat_map(ActiveJob::queued_hosts);
        let in_flight = self.page_tasks.values().map(|task| task.host.as_str());
        let used: HashSet<&str> = queued.chain(in_flight).collect();
        let is_unused = |host: &&String| !used.contains(host.as_str()) && self.hosts.is_idle(host, now);
        let unused: Vec<String> =
            self.leased_hosts.iter().filter(is_unused).take(MAX_RELEASED).cloned().collect();
        if unused.is_empty() {
            return;
        }
        self.leased_hosts.retain(|host| !unused.contains(host));
        let hosts = unused.clone();
        self.access_store(
            move |store, _| store.release_hosts(&hosts),
            |result| StoreEvent::HostsReleased(unused, result),
        );
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
