//! The work on jobs: whose turn it is, as long as there is room.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use websvc_stage::RequestSpan;
use websvc_store::{JobKind, JobLease, JobState};
use websvc_transport::BoxFuture;

use crate::active::{ActiveJob, HostContact, JobContext, JobStartError, MoreWork, NextStep};
use crate::fair_queue::FairQueue;
use crate::hosts::{HostTable, RequestOutcome};
use crate::in_flight::InFlightGuard;
use crate::jobs::{Jobs, JobsError, now_ms};
use crate::page::{self, PageDisposition, PageReport};
use crate::webhook::deliver;

/// URLs of a job that are leased by one transaction.
const WINDOW: usize = 16;

/// How long a lease lasts: longer than any job, because a page may wait for its turn for as long as that. Nobody waits
/// for its end: who starts ends all leases, and who takes up a job those of it, because the data directory has one server
/// at a time.
const LEASE: Duration = Duration::from_secs(100 * 365 * 86_400);

/// How often is looked whether jobs are to be ended or forgotten, beside when something happens.
const SWEEP: Duration = Duration::from_secs(60);

/// Pause before a job is read again whose path patterns had no room.
const POSTPONED: Duration = Duration::from_secs(2);

/// How long to wait after the store failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// The state of the work.
struct Runner {
    jobs: Jobs,
    turns: FairQueue,
    active: HashMap<i64, ActiveJob>,
    /// Jobs that wait for room for their path patterns, with the time of the next attempt.
    postponed: HashMap<i64, Instant>,
    hosts: HostTable,
    pages: JoinSet<PageReport>,
    tasks: HashMap<Id, Task>,
    /// URLs whose end could not be noted: they are given back, to be lent anew.
    unreturned: Vec<JobLease>,
    swept: Option<Instant>,
    /// The one job that is worked on; `None` for all.
    only: Option<i64>,
}

/// A page that is under way.
struct Task {
    job: i64,
    kind: JobKind,
    host: String,
    lease: JobLease,
    handle: AbortHandle,
    /// Which generation of the job it is of.
    work: Arc<JobContext>,
    /// It is counted for as long as it is there.
    _working: InFlightGuard,
}

impl Jobs {
    /// Works on jobs and delivers their events for as long as it is awaited. What was under way when it is dropped is done
    /// by the next run.
    pub fn run<'a>(&'a self) -> BoxFuture<'a, Infallible> {
        Box::pin(async move {
            tokio::select! {
                never = self.work_on(None) => never,
                never = deliver(self.clone()) => never,
            }
        })
    }

    /// Works on the job of this number and no other, for as long as it is awaited: for who is there for one job. Events
    /// wait for [`run`](Self::run), since those of other jobs are not this caller's to send.
    pub fn run_single<'a>(&'a self, number: i64) -> BoxFuture<'a, Infallible> {
        Box::pin(async move { self.work_on(Some(number)).await })
    }

    async fn work_on(&self, only: Option<i64>) -> Infallible {
        let mut runner = Runner {
            jobs: self.clone(),
            turns: FairQueue::default(),
            active: HashMap::new(),
            postponed: HashMap::new(),
            hosts: HostTable::default(),
            pages: JoinSet::new(),
            tasks: HashMap::new(),
            unreturned: Vec::new(),
            swept: None,
            only,
        };
        let mut is_first = true;
        loop {
            if is_first {
                match self.with_store(|store, _| store.release_all_job_leases()).await {
                    Ok(_ended) => is_first = false,
                    Err(error) => runner.failed(&error).await,
                }
                continue;
            }
            if let Err(error) = runner.tick().await {
                runner.failed(&error).await;
            }
        }
    }
}

impl Runner {
    /// Starts what may start, and waits for something to happen.
    async fn tick(&mut self) -> Result<(), JobsError> {
        self.refresh().await?;
        self.sweep().await?;
        loop {
            let wait = self.start().await?;
            tokio::select! {
                Some(done) = self.pages.join_next_with_id(), if !self.pages.is_empty() => self.finish(done).await?,
                () = self.jobs.inner.scheduler_wakeup.notified() => return Ok(()),
                () = tokio::time::sleep(wait) => {
                    if self.swept.is_none_or(|swept| swept.elapsed() >= SWEEP) {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn failed(&self, error: &JobsError) {
        tracing::error!(error = error as &dyn std::error::Error, "jobs cannot be worked on");
        tokio::time::sleep(AFTER_FAILURE).await;
    }

    /// Learns which jobs run; what is under way of others is given up.
    async fn refresh(&mut self) -> Result<(), JobsError> {
        let mut running = self.jobs.with_store(|store, _| store.running_job_numbers()).await?;
        running.retain(|(number, _)| self.only.is_none_or(|only| *number == only));
        self.turns.sync(&running);
        self.active.retain(|number, _| running.iter().any(|(running, _)| running == number));
        self.postponed.retain(|number, _| running.iter().any(|(running, _)| running == number));
        self.active.values_mut().for_each(|active| active.expect_more());
        for task in self.tasks.values().filter(|task| !self.active.contains_key(&task.job)) {
            task.handle.abort();
        }
        Ok(())
    }

    async fn sweep(&mut self) -> Result<(), JobsError> {
        if self.swept.is_some_and(|swept| swept.elapsed() < SWEEP) {
            return Ok(());
        }
        if self.jobs.with_store(|store, config| store.sweep_jobs(&config.limits, now_ms())).await? {
            // A part at a time: meanwhile the others go on.
            self.jobs.inner.scheduler_wakeup.notify_one();
        } else {
            self.swept = Some(Instant::now());
        }
        self.jobs.inner.webhook_wakeup.notify_one();
        Ok(())
    }

    /// Starts whatever may start now, and returns how long at most to wait for something to happen.
    async fn start(&mut self) -> Result<Duration, JobsError> {
        self.give_back().await?;
        let config = *self.jobs.config();
        let mut wait = SWEEP;
        'turns: while self.pages.len() < config.concurrency {
            let now = Instant::now();
            wait = SWEEP;
            'jobs: for number in self.turns.order() {
                self.load(number).await?;
                if let Some(at) = self.postponed.get(&number) {
                    wait = wait.min(at.saturating_duration_since(now));
                }
                // One that had to be ended has left the others their places.
                let Some(active) = self.active.get_mut(&number) else { continue };
                let mut next = active.next(&self.hosts, config.max_per_host, now);
                while matches!(next, NextStep::LeaseMore) {
                    self.lease(number).await?;
                    let Some(active) = self.active.get_mut(&number) else { continue 'jobs };
                    next = active.next(&self.hosts, config.max_per_host, now);
                }
                match next {
                    NextStep::Page(host, lease) => {
                        self.spawn_page(number, host, lease, now);
                        continue 'turns;
                    }
                    NextStep::At(at) => wait = wait.min(at.saturating_duration_since(now)),
                    NextStep::Later | NextStep::LeaseMore => {}
                }
            }
            break;
        }
        Ok(wait)
    }

    /// Reads a job when it is new; one that cannot be done is ended.
    async fn load(&mut self, number: i64) -> Result<(), JobsError> {
        let is_postponed = self.postponed.get(&number).is_some_and(|at| *at > Instant::now());
        if is_postponed || self.active.contains_key(&number) {
            return Ok(());
        }
        let inner = Arc::clone(&self.jobs.inner);
        let read = self
            .jobs
            .with_store(move |store, _| {
                let record = store.job_by_number(number)?;
                let Some(record) = record.filter(|record| record.state == JobState::Running) else {
                    return Ok(None);
                };
                // It may have been laid down when its end could not be noted.
                store.release_job_leases(number)?;
                match JobContext::load(&inner, record) {
                    Err(JobStartError::Store(error)) => Err(error),
                    read => Ok(Some(read)),
                }
            })
            .await?;
        self.postponed.remove(&number);
        match read {
            Some(Ok(work)) => drop(self.active.insert(number, ActiveJob::new(work))),
            Some(Err(JobStartError::Exhausted(reason))) => {
                tracing::debug!(job = number, reason, "a job waits for room for its path patterns");
                self.postponed.insert(number, Instant::now() + POSTPONED);
            }
            Some(Err(amiss)) => self.fail_job(number, amiss.to_string()).await?,
            None => self.turns.remove(number),
        }
        Ok(())
    }

    async fn lease(&mut self, number: i64) -> Result<(), JobsError> {
        let leases = self
            .jobs
            .with_store(move |store, _| store.lease_job_urls(number, WINDOW, now_ms(), LEASE))
            .await?;
        if let Some(active) = self.active.get_mut(&number) {
            active.add_leases(leases);
        }
        Ok(())
    }

    /// Gives back the URLs whose end could not be noted.
    async fn give_back(&mut self) -> Result<(), JobsError> {
        while let Some(lease) = self.unreturned.last().cloned() {
            self.jobs.with_store(move |store, _| store.release_job_url(&lease)).await?;
            if let Some(active) = self.unreturned.pop().and_then(|lease| self.active.get_mut(&lease.job())) {
                active.expect_more();
            }
        }
        Ok(())
    }

    fn spawn_page(&mut self, number: i64, host: String, lease: JobLease, now: Instant) {
        let Some(active) = self.active.get_mut(&number) else { return };
        active.in_flight += 1;
        let known = self.hosts.reachability(&host, now);
        self.hosts.start(&host, now);
        self.turns.record_served(number);
        let work = page::run(self.jobs.clone(), Arc::clone(&active.context), lease.clone(), known);
        // Its lines in the log and its stages are found by the identifier of the job.
        let record = &active.context.record;
        let kind = record.kind;
        let span = RequestSpan::new(&record.id, kind.as_str(), None);
        let handle = self.pages.spawn(span.run(work));
        let working = self.jobs.inner.in_flight.begin(&record.team);
        let work = Arc::clone(&active.context);
        self.tasks
            .insert(handle.id(), Task { job: number, kind, host, lease, handle, work, _working: working });
    }

    async fn finish(&mut self, done: Result<(Id, PageReport), JoinError>) -> Result<(), JobsError> {
        let now = Instant::now();
        let id = done.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some(task) = self.tasks.remove(&id) else { return Ok(()) };
        let Task { job: number, kind, host, lease, work, .. } = task;
        let ended = done.as_ref().map_or(RequestOutcome::default(), |(_, done)| done.request);
        let more = done.as_ref().map_or(MoreWork::Perhaps, |(_, done)| done.more_work);
        let asked = if ended.elapsed.is_some() { HostContact::Contacted } else { HostContact::NotContacted };
        self.hosts.finish(&host, now, self.jobs.config().host_pause, ended);
        let end = match done {
            Ok((_, done)) => done.disposition,
            Err(ended) if ended.is_panic() => {
                tracing::error!(error = &ended as &dyn std::error::Error, "a page of a job panicked");
                page::record_panic(&self.jobs, kind, lease.clone()).await
            }
            Err(_aborted) => PageDisposition::LeaseReturned,
        };
        let active = self.active.get_mut(&number).filter(|active| Arc::ptr_eq(&active.context, &work));
        let is_current = active.is_some();
        if let Some(active) = active
            && !matches!(end, PageDisposition::InsufficientCredits(_))
        {
            active.page_finished(now, asked, more);
        }
        match end {
            // The job was laid down meanwhile, or taken up anew: its leases are ended.
            PageDisposition::InsufficientCredits(_) | PageDisposition::FailJob(_) if !is_current => {}
            PageDisposition::Recorded(JobState::Running) | PageDisposition::LeaseReturned => {}
            PageDisposition::NotRecorded => self.unreturned.push(lease),
            PageDisposition::Recorded(JobState::Completed | JobState::Cancelled | JobState::Failed) => {
                self.forget(number);
            }
            PageDisposition::InsufficientCredits(reason) => {
                self.park_for_credits(number, host, lease, reason, now).await?;
            }
            PageDisposition::FailJob(reason) => self.fail_job(number, reason).await?,
        }
        Ok(())
    }

    /// Has a page wait for credits, or ends its job when nobody is left who could give some back.
    async fn park_for_credits(
        &mut self,
        number: i64,
        host: String,
        lease: JobLease,
        reason: String,
        now: Instant,
    ) -> Result<(), JobsError> {
        let Some(active) = self.active.get_mut(&number) else { return Ok(()) };
        if active.park_for_credits(host, lease, now) { Ok(()) } else { self.fail_job(number, reason).await }
    }

    /// Ends a job that cannot go on.
    async fn fail_job(&mut self, number: i64, reason: String) -> Result<(), JobsError> {
        self.forget(number);
        self.jobs
            .with_store(move |store, config| store.fail_job(number, &reason, &config.limits, now_ms()))
            .await?;
        self.jobs.inner.watchers.notify(number);
        self.jobs.inner.webhook_wakeup.notify_one();
        Ok(())
    }

    fn forget(&mut self, number: i64) {
        self.turns.remove(number);
        self.active.remove(&number);
        for task in self.tasks.values().filter(|task| task.job == number) {
            task.handle.abort();
        }
    }
}
