//! The job scheduler: starts the next pages of running jobs, as long as there is capacity.
//!
//! One task schedules all jobs. It never waits for the store: every access to the store is a task of its own, whose
//! result is an event like the end of a page. So a slow store delays the start of further pages, but not the handling
//! of finished ones.

mod store_tasks;
mod team_limit;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use websvc_stage::RequestSpan;
use websvc_store::{JobKind, JobLease, JobState, ReplicaRole, TeamShare};
use websvc_tasks::TaskError;
use websvc_transport::BoxFuture;

use crate::active::{ActiveJob, HostContact, JobContext, NextStep};
use crate::fair_queue::FairQueue;
use crate::hosts::HostTable;
use crate::in_flight::InFlightGuard;
use crate::jobs::{Jobs, POLL_INTERVAL};
use crate::page::attempts::runs_alone;
use crate::page::{self, PageDisposition, PageReport};
use crate::webhook::deliver;

use store_tasks::StoreTasks;
use team_limit::TeamLimit;

/// Interval at which jobs that are too old are ended or deleted.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// Delay before the next access to the store after a failure.
const STORE_RETRY_DELAY: Duration = Duration::from_secs(1);

/// Time for which the drain of requests waits until the others have the jobs of this replica.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

/// State of the scheduler.
struct Runner {
    jobs: Jobs,
    /// The running jobs in their fair order.
    queue: FairQueue,
    active: HashMap<i64, ActiveJob>,
    /// Jobs whose path patterns exceeded the shared memory limit, with the time of the next attempt.
    postponed: HashMap<i64, Instant>,
    hosts: HostTable,
    /// The shares of this replica in the limits of teams with running jobs; all for those that are not here.
    team_shares: HashMap<String, TeamShare>,
    /// The jobs of other replicas that this one helps with, and since when.
    helped: HashMap<i64, Instant>,
    /// Hosts that other replicas may not request, because this one has leased URLs of them.
    leased_hosts: HashSet<String>,
    /// Pages in flight.
    pages: JoinSet<PageReport>,
    page_tasks: HashMap<Id, PageTask>,
    store: StoreTasks,
    /// The only job to run; `None` runs all jobs.
    only: Option<i64>,
    /// Number of this replica when it last read its jobs.
    replica: i64,
}

/// A page in flight.
struct PageTask {
    job: i64,
    host: String,
    lease: JobLease,
    handle: AbortHandle,
    /// Identifies the load of the job that the page belongs to: a job that is loaded again has another context.
    context: Arc<JobContext>,
    /// Counts the page as in flight while the task exists.
    _in_flight: InFlightGuard,
}

impl PageTask {
    fn kind(&self) -> JobKind {
        self.context.record.kind
    }
}

impl Jobs {
    /// Joins the replicas of the database. Call it before requests are served: sessions of an ended process are
    /// destroyed then, and requests can start sessions. If it fails, requests can be served nevertheless, and
    /// [`run`](Self::run) tries again.
    pub async fn prepare(&self) {
        match self.try_join().await {
            Ok(()) => self.inner.is_prepared.store(true, Ordering::Release),
            Err(error) => log_failure(&error),
        }
    }

    /// Runs jobs and delivers their events until it is dropped. The next run finishes the pages that were in flight
    /// then. If the process stops, call [`stop`](Self::stop) afterwards.
    pub fn run<'a>(&'a self) -> BoxFuture<'a, Infallible> {
        Box::pin(async move {
            // Joining again would free the jobs and end the sessions that requests have started since.
            if !self.inner.is_prepared.swap(false, Ordering::AcqRel) {
                self.join().await;
            }
            tokio::select! {
                never = Runner::new(self.clone(), None).run() => never,
                never = deliver(self.clone()) => never,
            }
        })
    }

    /// Returns the pages that were in flight when [`run`](Self::run) or [`run_single`](Self::run_single) was dropped.
    /// Otherwise they are interrupted: they may be what ended the process, and are given up after several times.
    pub async fn stop(&self) {
        if let Err(error) = self.with_store(|store, _| store.return_leases()).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "the pages in flight were not returned; they count as interrupted");
        }
    }

    /// Hands the work of this replica over to the others, because the process is about to stop; before a drain of requests,
    /// which may take long. The pages in flight are aborted, and fetched again by the new owners of their jobs. Without
    /// other replicas nothing changes.
    pub async fn leave(&self) {
        let leaving = self.with_store(|store, _| store.leave_replicas());
        let reason = match tokio::time::timeout(LEAVE_TIMEOUT, leaving).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the database did not respond in time".to_owned()),
        };
        if let Some(reason) = reason {
            tracing::warn!(reason, "the jobs of this replica move to others only when it has stopped");
        }
        self.inner.scheduler_wakeup.notify_one();
    }

    /// Prepares the store for a job that [`run_single`](Self::run_single) will run. Jobs created afterwards belong to
    /// this process, so no other process that shares the store runs them.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn join_for_single_job(&self) -> Result<(), TaskError> {
        self.with_store(|store, _| store.join_replicas(ReplicaRole::SingleJob)).await
    }

    /// Runs only the job with this number until it is dropped; if another process that shares the store works on it,
    /// waits until that one ends. Delivers no events, because the store may also have events of other jobs;
    /// [`run`](Self::run) delivers them. Requires [`join_for_single_job`](Self::join_for_single_job).
    pub fn run_single<'a>(&'a self, number: i64) -> BoxFuture<'a, Infallible> {
        Box::pin(Runner::new(self.clone(), Some(number)).run())
    }

    async fn try_join(&self) -> Result<(), TaskError> {
        self.with_store(|store, _| store.join_replicas(ReplicaRole::Worker)).await
    }

    /// Joins the replicas of the database. Retries until the store succeeds.
    async fn join(&self) {
        while let Err(error) = self.try_join().await {
            log_failure(&error);
            tokio::time::sleep(STORE_RETRY_DELAY).await;
        }
    }
}

impl Runner {
    fn new(jobs: Jobs, only: Option<i64>) -> Self {
        let poll = jobs.inner.store.is_shared().then_some(POLL_INTERVAL);
        Self {
            jobs,
            queue: FairQueue::default(),
            active: HashMap::new(),
            postponed: HashMap::new(),
            hosts: HostTable::default(),
            team_shares: HashMap::new(),
            helped: HashMap::new(),
            leased_hosts: HashSet::new(),
            pages: JoinSet::new(),
            page_tasks: HashMap::new(),
            store: StoreTasks::new(poll),
            only,
            replica: 0,
        }
    }

    async fn run(mut self) -> Infallible {
        loop {
            self.step().await;
        }
    }

    /// Starts what can start, then waits for one event and handles it.
    async fn step(&mut self) {
        let now = Instant::now();
        let wait = match self.store.suspended_for(now) {
            Some(wait) => wait,
            None => {
                self.start_housekeeping(now);
                self.start_pages(now).min(self.store.time_to_sweep(now)).min(self.store.time_to_refresh(now))
            }
        };
        tokio::select! {
            Some(result) = self.pages.join_next_with_id() => self.handle_page(result),
            Some(event) = self.store.next_event() => self.handle_store_event(event),
            () = self.jobs.inner.scheduler_wakeup.notified() => self.store.request_refresh(),
            () = tokio::time::sleep(wait) => {}
        }
    }

    /// Starts pages, and the store tasks that they depend on, up to the concurrency limit. Returns the time until the
    /// next page becomes ready.
    ///
    /// A job whose turn it is reserves capacity for one page while it is loaded or its URLs are leased. This bounds the
    /// number of such tasks, and no other job overtakes it meanwhile. A page that runs alone starts when those in flight
    /// have ended, and nothing starts before its end.
    fn start_pages(&mut self, now: Instant) -> Duration {
        let config = *self.jobs.config();
        let mut wait = SWEEP_INTERVAL;
        'capacity: while self.pages.len() + self.store.busy_jobs() < config.concurrency
            && !self.page_tasks.values().any(|task| runs_alone(&task.lease))
        {
            wait = SWEEP_INTERVAL;
            for number in self.queue.order() {
                if self.store.is_busy(number) {
                    continue;
                }
                let next = match (self.active.get_mut(&number), self.postponed.get(&number)) {
                    (Some(active), _) => {
                        let limit = TeamLimit::new(&self.jobs, &active.context, &self.team_shares);
                        match limit.step(self.helped.get(&number).copied(), now) {
                            Some(wait) => wait,
                            None => active.next(&self.hosts, config.max_per_host, now),
                        }
                    }
                    (None, Some(at)) if *at > now => NextStep::At(*at),
                    (None, _) => {
                        self.load(number);
                        continue 'capacity;
                    }
                };
                match next {
                    NextStep::Page(host, lease) if runs_alone(&lease) && !self.page_tasks.is_empty() => {
                        if let Some(active) = self.active.get_mut(&number) {
                            active.put_back(host, lease);
                        }
                        return SWEEP_INTERVAL;
                    }
                    NextStep::Page(host, lease) => {
                        self.spawn_page(number, host, lease, now);
                        continue 'capacity;
                    }
                    NextStep::LeaseMore => {
                        self.lease(number);
                        continue 'capacity;
                    }
                    NextStep::At(at) => wait = wait.min(at.saturating_duration_since(now)),
                    NextStep::Later => {}
                }
            }
            break;
        }
        wait
    }

    fn spawn_page(&mut self, number: i64, host: String, lease: JobLease, now: Instant) {
        let Some(active) = self.active.get_mut(&number) else { return };
        active.in_flight += 1;
        let context = Arc::clone(&active.context);
        let reachability = self.hosts.reachability(&host, now);
        self.hosts.start(&host, now);
        self.queue.record_served(number);
        let work = page::run(self.jobs.clone(), Arc::clone(&context), lease.clone(), reachability);
        // Log lines and stages of the page carry the identifier of the job.
        let span = RequestSpan::new(&context.record.id, context.record.kind.as_str(), None);
        let handle = self.pages.spawn(span.run(work));
        let in_flight = self.jobs.inner.in_flight.begin(&context.record.team);
        let task = PageTask { job: number, host, lease, handle, context, _in_flight: in_flight };
        self.page_tasks.insert(task.handle.id(), task);
    }

    fn handle_page(&mut self, result: Result<(Id, PageReport), JoinError>) {
        let id = result.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some(task) = self.page_tasks.remove(&id) else { return };
        match result {
            Ok((_, report)) => self.finish_page(task, report),
            Err(error) if error.is_panic() => {
                tracing::error!(error = &error as &dyn std::error::Error, "job page panicked");
                self.record_panic(task);
            }
            Err(_aborted) => self.finish_page(task, PageReport::default()),
        }
    }

    /// Updates the host and the job of a page that ended.
    fn finish_page(&mut self, task: PageTask, report: PageReport) {
        let now = Instant::now();
        let PageTask { job: number, host, lease, context, .. } = task;
        let PageReport { request, more_work, disposition } = report;
        self.hosts.finish(&host, now, self.jobs.config().pace, request);
        let contact =
            if request.elapsed.is_some() { HostContact::Contacted } else { HostContact::NotContacted };
        let active = self.active.get_mut(&number).filter(|active| Arc::ptr_eq(&active.context, &context));
        let is_current = active.is_some();
        if let Some(active) = active
            && !matches!(disposition, PageDisposition::InsufficientCredits(_))
        {
            active.page_finished(now, contact, more_work);
        }
        match disposition {
            // The job was removed or loaded again meanwhile, which released its leases.
            PageDisposition::InsufficientCredits(_) | PageDisposition::FailJob(_) if !is_current => {}
            PageDisposition::Recorded(JobState::Running) | PageDisposition::LeaseReturned => {}
            PageDisposition::NotRecorded => self.store.return_lease(lease),
            PageDisposition::Recorded(JobState::Completed | JobState::Cancelled | JobState::Failed) => {
                self.remove(number);
            }
            PageDisposition::InsufficientCredits(reason) => {
                self.park_for_credits(number, host, lease, reason, now);
            }
            PageDisposition::FailJob(reason) => self.fail_job(number, reason),
        }
    }

    /// Parks a page until the team has enough credits; fails its job when it has waited for too long.
    fn park_for_credits(&mut self, number: i64, host: String, lease: JobLease, reason: String, now: Instant) {
        let Some(active) = self.active.get_mut(&number) else { return };
        if !active.park_for_credits(host, lease, now) {
            self.fail_job(number, reason);
        }
    }

    /// Removes a job from memory and aborts its pages.
    fn remove(&mut self, number: i64) {
        self.queue.remove(number);
        self.active.remove(&number);
        for task in self.page_tasks.values().filter(|task| task.job == number) {
            task.handle.abort();
        }
    }
}

fn log_failure(error: &TaskError) {
    tracing::error!(error = error as &dyn std::error::Error, "job scheduler failed; retrying");
}
