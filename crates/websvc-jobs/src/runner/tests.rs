//! Tests of the job scheduler, step by step, with pages of a loopback web.

use std::time::Duration;

use tempfile::TempDir;
use tokio::time::timeout;
use websvc_artifacts::{Artifacts, ArtifactsConfig};
use websvc_engine::{Engine, EngineConfig, IndexMode, Pricing};
use websvc_scrape::{ScrapeConfig, Scraper};
use websvc_store::{
    ApiVersion, BrowserSessionStatus, CreateBrowserSessionOutcome, DEFAULT_TEAM, JobUrl, NewBrowserSession,
    NewHosts, NewJob, OwnedJobs, SnapshotLimits, Store,
};
use websvc_testkit::{Page, TestWeb, until};

use super::*;
use crate::JobsConfig;
use crate::active::MoreWork;
use crate::request::JobRequest;

const URL: &str = "http://a.test/";
const TIMEOUT: Duration = Duration::from_secs(20);

struct Site {
    web: TestWeb,
    store: Store,
    jobs: Jobs,
    _dir: TempDir,
}

impl Site {
    async fn start() -> Self {
        Self::new(TestWeb::builder().page(URL, Page::html("<title>Tea</title><p>Tea</p>")).start().await)
    }

    fn new(web: TestWeb) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.join_replicas(ReplicaRole::Worker).unwrap();
        let engine = Engine::new(EngineConfig {
            sources: Vec::new(),
            scraper: Scraper::new(web.client(), store.clone(), ScrapeConfig::default()),
            index: None,
            index_mode: IndexMode::MirrorOnly,
            team_indexes: None,
            mirrors: Vec::new(),
            pricing: Pricing::default(),
            snapshots: SnapshotLimits::default(),
            threat: Default::default(),
            model: None,
            media: websvc_engine::MediaTools::Off,
        });
        let artifacts = ArtifactsConfig::in_directory(dir.path().join("artifacts"));
        let artifacts = Artifacts::open(store.clone(), artifacts).unwrap();
        let jobs = Jobs::new(&engine, store.clone(), artifacts, JobsConfig::default());
        Self { web, store, jobs, _dir: dir }
    }

    /// Creates a batch of one page, and returns its number.
    async fn create(&self, id: &str) -> i64 {
        self.create_of(id, &[URL.to_owned()]).await
    }

    /// Creates a batch, and returns its number.
    async fn create_of(&self, id: &str, urls: &[String]) -> i64 {
        let url = |url: &String| JobUrl { url: url.clone(), key: url.clone(), depth: 0, entry: None };
        let job = NewJob {
            id: id.to_owned(),
            team: DEFAULT_TEAM.to_owned(),
            key: None,
            kind: JobKind::Batch,
            api_version: ApiVersion::V2,
            request: serde_json::to_string(&JobRequest::default()).unwrap(),
            idempotency_key: None,
            page_limit: None,
            urls: urls.iter().map(url).collect(),
            list_len: urls.len() as u64,
            webhook: None,
        };
        self.jobs.create(job).await.unwrap();
        self.store.job(DEFAULT_TEAM, JobKind::Batch, id, 0).unwrap().unwrap().number
    }

    fn state(&self, job: i64) -> JobState {
        self.store.job_by_number(job).unwrap().unwrap().state
    }

    fn context(&self, job: i64) -> JobContext {
        let record = self.store.job_by_number(job).unwrap().unwrap();
        JobContext::load(&self.jobs.inner, record).unwrap()
    }
}

#[tokio::test]
async fn finished_page_is_handled_while_another_job_is_loaded() {
    let site = Site::start().await;
    let (first, second) = (site.create("first").await, site.create("second").await);
    let mut runner = Runner::new(site.jobs.clone(), None);
    // A load of the second job that never ends.
    runner.store.busy.insert(second);
    runner.store.tasks.spawn(std::future::pending());
    let completed = async {
        while site.state(first) == JobState::Running || !runner.page_tasks.is_empty() {
            runner.step().await;
        }
    };
    timeout(TIMEOUT, completed).await.expect("the page is handled");
    assert_eq!(site.state(first), JobState::Completed);
    assert_eq!(site.jobs.pages(None).await.unwrap().in_flight, 0);
    assert!(!runner.queue.contains(first), "the completed job is removed");
    assert_eq!((site.state(second), site.web.count(URL)), (JobState::Running, 1));
}

#[tokio::test]
async fn busy_jobs_reserve_capacity() {
    let site = Site::start().await;
    let job = site.create("job").await;
    let mut runner = Runner::new(site.jobs.clone(), None);
    runner.queue.sync(&[(job, DEFAULT_TEAM.to_owned())]);
    let concurrency = site.jobs.config().concurrency as i64;
    runner.store.busy.extend(-concurrency..0);
    runner.start_pages(Instant::now());
    assert!(!runner.store.is_busy(job), "no capacity is left");
    runner.store.busy.remove(&-1);
    runner.start_pages(Instant::now());
    assert!(runner.store.is_busy(job), "the job is loaded");
}

#[tokio::test]
async fn all_jobs_are_completed_after_a_restart() {
    let site = Site::start().await;
    let jobs = [site.create("a").await, site.create("b").await, site.create("c").await];
    // An earlier process had leased a URL.
    site.store.lease_job_urls(jobs[0], 1, NewHosts::Wanted).unwrap();
    let mut runner = Runner::new(site.jobs.clone(), None);
    site.store.join_replicas(ReplicaRole::Worker).unwrap();
    let completed = async {
        while jobs.iter().any(|job| site.state(*job) == JobState::Running) {
            runner.step().await;
        }
    };
    timeout(TIMEOUT, completed).await.expect("all jobs are completed");
    assert!(jobs.iter().all(|job| site.state(*job) == JobState::Completed));
}

#[tokio::test]
async fn preparation_ends_earlier_sessions_and_the_run_keeps_later_ones() {
    let site = Site::start().await;
    let begin = |id: &str| {
        let session = NewBrowserSession {
            id: id.to_owned(),
            team: DEFAULT_TEAM.to_owned(),
            key: None,
            scrape: None,
            stream_web_view: false,
            ttl: Duration::from_secs(60),
        };
        let created = site.store.create_browser_session(&session, 10, 0).unwrap();
        assert!(matches!(created, CreateBrowserSessionOutcome::Created(_)), "{created:?}");
    };
    let status = |id: &str| site.store.browser_session(id).unwrap().unwrap().status;
    begin("earlier process");
    site.jobs.prepare().await;
    assert_eq!(status("earlier process"), BrowserSessionStatus::Destroyed);
    begin("early request");
    let job = site.create("job").await;
    let completed = async {
        while site.state(job) == JobState::Running {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        never = site.jobs.run() => match never {},
        result = timeout(TIMEOUT, completed) => result.expect("the job is completed"),
    }
    assert_eq!(status("early request"), BrowserSessionStatus::Active);
}

#[tokio::test]
async fn job_that_was_cancelled_during_its_load_is_not_activated() {
    let site = Site::start().await;
    let job = site.create("job").await;
    let mut runner = Runner::new(site.jobs.clone(), None);
    runner.queue.sync(&[(job, DEFAULT_TEAM.to_owned())]);
    runner.load(job);
    runner.sync_running(OwnedJobs::default());
    while runner.store.is_busy(job) {
        let event = runner.store.next_event().await.unwrap();
        runner.handle_store_event(event);
    }
    assert!(runner.active.is_empty());
}

#[tokio::test]
async fn empty_lease_does_not_hide_urls_that_were_added_meanwhile() {
    let site = Site::start().await;
    let mut job = ActiveJob::new(site.context(site.create("job").await));
    let now = Instant::now();
    let next = |job: &mut ActiveJob| job.next(&HostTable::default(), 1, now);
    assert!(matches!(next(&mut job), NextStep::LeaseMore));
    job.start_lease();
    job.expect_more();
    job.add_leases(Vec::new());
    assert!(matches!(next(&mut job), NextStep::LeaseMore), "URLs were added during the lease");
    job.start_lease();
    job.add_leases(Vec::new());
    assert!(matches!(next(&mut job), NextStep::Later), "the store is exhausted");
    job.page_finished(now, HostContact::NotContacted, MoreWork::Perhaps);
    assert!(matches!(next(&mut job), NextStep::LeaseMore));
}

#[tokio::test]
async fn page_that_ends_the_process_is_given_up_and_no_other() {
    const BAD: &str = "http://bad.test/";
    let mut urls: Vec<String> = (0..24).map(|number| format!("http://good-{number}.test/")).collect();
    let mut web = TestWeb::builder().page(BAD, Page::unresponsive());
    for url in &urls {
        let page = Page::html("<title>Tea</title><p>Tea</p>").delay(Duration::from_millis(50));
        web = web.page(url, page);
    }
    urls.insert(4, BAD.to_owned());
    let site = Site::new(web.start().await);
    let job = site.create_of("job", &urls).await;
    let mut kills = 0;
    while site.state(job) == JobState::Running {
        site.store.join_replicas(ReplicaRole::Worker).unwrap();
        let mut runner = Runner::new(site.jobs.clone(), None);
        let work = async {
            while site.state(job) == JobState::Running {
                runner.step().await;
                if runner.page_tasks.values().any(|task| runs_alone(&task.lease)) {
                    assert_eq!(runner.page_tasks.len(), 1, "another page is in flight");
                }
            }
        };
        // The process ends as soon as the page is requested.
        tokio::select! {
            () = work => {}
            () = until("the page is requested", || site.web.count(BAD) > kills) => kills += 1,
        }
        if kills > 2 && site.state(job) == JobState::Running {
            assert_eq!(runner.page_tasks.len(), 1, "the page runs alone when the process ends");
        }
        while runner.store.next_event().await.is_some() {}
    }
    assert_eq!((site.state(job), kills), (JobState::Completed, 10));
    let errors = site.store.job_errors(job, 99).unwrap();
    assert_eq!(errors.iter().map(|error| error.url.as_str()).collect::<Vec<_>>(), [BAD]);
    let text =
        "gave up after 10 attempts: each time, the service ended meanwhile or the result could not be stored";
    assert_eq!(errors[0].error, text);
    assert_eq!(site.store.job_by_number(job).unwrap().unwrap().documents, 24);
}

#[tokio::test]
async fn page_that_waits_for_credits_is_not_interrupted() {
    let site = Site::start().await;
    let job = site.create("job").await;
    let lease = || site.store.lease_job_urls(job, 1, NewHosts::Wanted).unwrap().remove(0);
    let lease_of_page = lease();
    assert!(page::attempts::begin(&site.jobs, &lease_of_page).await.unwrap());
    page::attempts::pause(&site.jobs, &lease_of_page).await.unwrap();
    assert!(site.store.start_job(job, false).unwrap());
    assert_eq!(lease().interruptions(), 0);
}
