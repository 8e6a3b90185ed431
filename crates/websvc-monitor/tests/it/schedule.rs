//! Scheduled checks: when they start, what happens while one runs, and after a time without the service.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use uuid::Uuid;
use websvc_artifacts::{Artifacts, ArtifactsConfig};
use websvc_engine::{Engine, EngineConfig, IndexMode, Pricing};
use websvc_jobs::{Jobs, JobsConfig};
use websvc_monitor::{CreateOutcome, Monitors, MonitorsConfig};
use websvc_scrape::threat::Classifier;
use websvc_scrape::{ScrapeConfig, Scraper};
use websvc_stage::Distribution;
use websvc_store::{CheckRecord, CheckStatus, CheckTrigger, Clock, MonitorRecord, SnapshotLimits, Store};
use websvc_testkit::{Page, TestWeb};
use websvc_types::monitor::{CreateMonitorRequest, MonitorRequestSchedule, MonitorTarget, ScrapeTarget};
use websvc_validate::{MonitorContext, Policy, check_request};

const TEAM: &str = "default";
const URL: &str = "http://shop.test/";
pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// How long a test may wait for a check.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Monitors that run, with a clock that the test sets forward.
pub(crate) struct Running {
    pub(crate) monitors: Monitors,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    /// The time that the page takes to respond, in milliseconds.
    delay_ms: Arc<AtomicU64>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
    _web: TestWeb,
    _dir: TempDir,
}

impl Running {
    pub(crate) async fn start() -> Self {
        let delay_ms = Arc::new(AtomicU64::new(0));
        let delay = Arc::clone(&delay_ms);
        let page = "<title>Shop</title><main><h1>Shop</h1><p>Tea costs 5 euros.</p></main>";
        let respond =
            move |_: &_| Page::html(page).delay(Duration::from_millis(delay.load(Ordering::SeqCst)));
        let web = TestWeb::builder().page_with(URL, respond).start().await;
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let artifacts = ArtifactsConfig::in_directory(dir.path().join("artifacts"));
        let artifacts = Artifacts::open(store.clone(), artifacts).unwrap();
        let engine = Engine::new(EngineConfig {
            sources: Vec::new(),
            scraper: Scraper::new(web.client(), store.clone(), ScrapeConfig::default()),
            index: None,
            index_mode: IndexMode::Write,
            team_indexes: None,
            mirrors: Vec::new(),
            pricing: Pricing::default(),
            snapshots: SnapshotLimits::default(),
            threat: Classifier::none(),
            model: None,
            media: websvc_engine::MediaTools::Off,
        });
        let jobs = Jobs::new(&engine, store.clone(), artifacts, JobsConfig::default());
        let clock = store.clock().clone();
        let monitors = Monitors::new(&engine, store.clone(), jobs.clone(), MonitorsConfig::default());
        let mut running = Self { monitors, store, clock, delay_ms, tasks: Vec::new(), _web: web, _dir: dir };
        running.tasks.push(tokio::spawn(async move { match jobs.run().await {} }));
        running.run_monitors();
        // A check that is started before has no owner, and cannot be finished until it is claimed.
        running.store.joined().await;
        running
    }

    pub(crate) fn run_monitors(&mut self) {
        let monitors = self.monitors.clone();
        self.tasks.push(tokio::spawn(async move { match monitors.run().await {} }));
    }

    /// Ends the scheduler, as if the service was down.
    pub(crate) fn stop_monitors(&mut self) {
        self.tasks.pop().unwrap().abort();
    }

    /// Creates a monitor with this schedule.
    pub(crate) async fn create(&self, schedule: &str) -> MonitorRecord {
        let request = CreateMonitorRequest {
            name: "Tea".to_owned(),
            schedule: MonitorRequestSchedule { text: Some(schedule.to_owned()), ..Default::default() },
            targets: vec![MonitorTarget::Scrape(ScrapeTarget {
                urls: vec![URL.to_owned()],
                ..ScrapeTarget::default()
            })],
            ..CreateMonitorRequest::default()
        };
        let context = MonitorContext {
            policy: &Policy::default(),
            now: self.clock.now(),
            min_interval: self.monitors.config().min_interval,
            new_id: &mut || Uuid::new_v4().to_string(),
        };
        let definition = check_request(&request, context).unwrap().plan;
        let plan = definition.plan(&Policy::default()).unwrap().plan;
        match self.monitors.create(TEAM, None, definition, &plan).await.unwrap() {
            CreateOutcome::Created(record) => record,
            outcome @ (CreateOutcome::TooMany | CreateOutcome::InsufficientCredits { .. }) => {
                panic!("the monitor is not created: {outcome:?}")
            }
        }
    }

    fn checks(&self, monitor: &MonitorRecord) -> Vec<CheckRecord> {
        self.store.checks(monitor.number, None, 0, 100).unwrap()
    }

    /// Waits until the checks of a monitor fulfil a condition, and returns them, the newest first.
    pub(crate) async fn wait(
        &self,
        monitor: &MonitorRecord,
        is_expected: impl Fn(&[CheckRecord]) -> bool,
    ) -> Vec<CheckRecord> {
        let polling = async {
            loop {
                let checks = self.checks(monitor);
                if is_expected(&checks) {
                    return checks;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(TIMEOUT, polling).await.unwrap_or_else(|_| panic!("{:?}", self.checks(monitor)))
    }

    /// Waits until this many checks with a status are counted.
    async fn wait_for_count(&self, status: CheckStatus, expected: u64) {
        let polling = async {
            while self
                .monitors
                .check_metrics()
                .ended
                .counts()
                .iter()
                .all(|ended| *ended != (status, expected))
            {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let metrics = || self.monitors.check_metrics();
        tokio::time::timeout(TIMEOUT, polling).await.unwrap_or_else(|_| panic!("{:?}", metrics()));
    }

    fn monitor(&self, monitor: &MonitorRecord) -> MonitorRecord {
        self.store.monitor(TEAM, &monitor.id).unwrap().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

pub(crate) fn to_ms(time: jiff::Timestamp) -> u64 {
    u64::try_from(time.as_millisecond()).unwrap()
}

pub(crate) fn count(checks: &[CheckRecord], status: CheckStatus) -> usize {
    checks.iter().filter(|check| check.status == status).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn check_starts_when_it_is_due_and_not_before() {
    let running = Running::start().await;
    let monitor = running.create("daily").await;
    let due_ms = monitor.next_run_ms.unwrap();
    assert_eq!(due_ms % 86_400_000, 0, "midnight in UTC");
    assert!(running.checks(&monitor).is_empty());
    running.clock.advance(DAY);
    let checks = running.wait(&monitor, |checks| count(checks, CheckStatus::Completed) == 1).await;
    assert_eq!(
        (checks.len(), checks[0].trigger, checks[0].scheduled_for_ms),
        (1, CheckTrigger::Scheduled, Some(due_ms))
    );
    assert_eq!((checks[0].summary.new, checks[0].actual_credits), (1, 1));
    let after = running.monitor(&monitor);
    assert_eq!(after.next_run_ms, Some(due_ms + 86_400_000));
    assert_eq!(after.current_check, None);
    running.wait_for_count(CheckStatus::Completed, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn delay_of_a_check_is_counted_from_its_due_time_once() {
    let mut running = Running::start().await;
    let monitor = running.create("daily").await;
    let due_ms = monitor.next_run_ms.unwrap();
    running.stop_monitors();
    let until_due = Duration::from_millis(due_ms - to_ms(running.clock.now()));
    running.clock.advance(until_due + Duration::from_secs(100));
    running.delay_ms.store(60_000, Ordering::SeqCst);
    running.run_monitors();
    running.wait(&monitor, |checks| count(checks, CheckStatus::Running) == 1).await;
    let delayed = |running: &Running| {
        let Distribution { bounds_us, counts, total_us } =
            running.monitors.check_metrics().start_delay.distribution();
        let bucket = counts.iter().position(|count| *count > 0).map(|index| bounds_us[index]);
        (bucket, counts.last().copied().unwrap(), total_us >= 100_000_000)
    };
    let polling = async {
        while delayed(&running).1 == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, polling).await.expect("the delay is counted");
    let late = (Some(300_000_000), 1, true);
    assert_eq!(delayed(&running), late);
    // The work continues, and the check has begun before.
    running.stop_monitors();
    running.delay_ms.store(0, Ordering::SeqCst);
    running.run_monitors();
    running.clock.advance(Duration::from_secs(3_700));
    running.wait(&monitor, |checks| count(checks, CheckStatus::Running) == 0).await;
    assert_eq!(delayed(&running), late);
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_missed_while_the_service_was_down_are_one_check() {
    let mut running = Running::start().await;
    let monitor = running.create("daily").await;
    let due_ms = monitor.next_run_ms.unwrap();
    running.stop_monitors();
    running.clock.advance(5 * DAY);
    running.run_monitors();
    let checks = running.wait(&monitor, |checks| count(checks, CheckStatus::Completed) == 1).await;
    assert_eq!(checks.len(), 1, "{checks:?}");
    assert_eq!(running.monitor(&monitor).next_run_ms, Some(due_ms + 5 * 86_400_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn check_that_is_due_while_another_runs_is_skipped() {
    let interval = Duration::from_secs(30 * 60);
    let running = Running::start().await;
    let monitor = running.create("every 30 minutes").await;
    running.clock.advance(interval);
    running.wait(&monitor, |checks| count(checks, CheckStatus::Completed) == 1).await;
    let summary = running.monitor(&monitor).last_summary;
    running.delay_ms.store(60_000, Ordering::SeqCst);
    running.clock.advance(interval);
    running.wait(&monitor, |checks| count(checks, CheckStatus::Running) == 1).await;
    // Less than the time limit of the check that is running.
    running.clock.advance(interval);
    let checks = running.wait(&monitor, |checks| count(checks, CheckStatus::SkippedOverlap) == 1).await;
    let skipped = checks.iter().find(|check| check.status == CheckStatus::SkippedOverlap).unwrap();
    assert!(skipped.error.is_some() && skipped.finished_at_ms.is_some(), "{skipped:?}");
    assert_eq!(running.monitor(&monitor).last_summary, summary, "a skipped check changes no summary");
    running.wait_for_count(CheckStatus::SkippedOverlap, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn check_over_the_time_limit_fails_and_cancels_its_scrapes() {
    let running = Running::start().await;
    let monitor = running.create("daily").await;
    running.delay_ms.store(60_000, Ordering::SeqCst);
    running.clock.advance(DAY);
    running.wait(&monitor, |checks| count(checks, CheckStatus::Running) == 1).await;
    running.clock.advance(Duration::from_secs(3_700));
    let checks = running.wait(&monitor, |checks| count(checks, CheckStatus::Failed) == 1).await;
    let error = checks[0].error.as_deref().unwrap();
    assert!(error.contains("60 minutes"), "{error}");
    assert!(running.store.running_jobs(None).unwrap().is_empty());
    running.wait_for_count(CheckStatus::Failed, 1).await;
}

#[tokio::test]
async fn clock_that_is_ahead_for_a_moment_silences_no_monitor() {
    let running = Running::start().await;
    let monitor = running.create("hourly").await;
    running.clock.advance(2 * DAY);
    running.wait(&monitor, |checks| checks.len() == 1 && checks[0].status.is_finished()).await;
    let ahead_ms = running.monitor(&monitor).next_run_ms.unwrap();
    running.clock.turn_back(2 * DAY);
    let hour_ms = 3_600_000;
    let in_time = |next_ms: u64| next_ms <= to_ms(running.clock.now()) + hour_ms + 60_000;
    assert!(!in_time(ahead_ms), "the next check is in two days");
    let brought_forward = async {
        while !in_time(running.monitor(&monitor).next_run_ms.unwrap()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, brought_forward).await.expect("the next check is brought forward");
    assert_eq!(running.checks(&monitor).len(), 1, "nothing is checked again");
    running.clock.advance(2 * Duration::from_secs(3_600));
    running.wait(&monitor, |checks| checks.len() == 2).await;
}

#[tokio::test]
async fn clock_that_was_set_back_before_the_start_silences_no_monitor() {
    let mut running = Running::start().await;
    let monitor = running.create("hourly").await;
    running.stop_monitors();
    let late_ms = to_ms(running.clock.now()) + 2 * 86_400_000;
    let due_ms = monitor.next_run_ms.unwrap();
    assert!(running.store.bring_check_forward(monitor.number, due_ms, late_ms).unwrap());
    running.run_monitors();
    let brought_forward = async {
        while running.monitor(&monitor).next_run_ms == Some(late_ms) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, brought_forward).await.expect("the next check is brought forward");
}
