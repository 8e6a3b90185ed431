//! A clock of the machine that is set while the service runs, with libfaketime.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use http::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use websvc_artifacts::{ArtifactKind, Artifacts, ArtifactsConfig, Retention};
use websvc_store::Store;

use crate::batch::{poll_until, wait_for_end};
use crate::browser::path_or_skip;
use crate::cluster::{numbered_pages, start_job, urls};
use crate::harness::{Service, Site};

/// How far a wrong clock is ahead or behind, in seconds: more than a job is stored.
pub(crate) const WRONG_S: i64 = 25 * 3_600;

/// How long a wrong clock stays: several sweeps of the jobs.
const MOMENT: Duration = Duration::from_secs(3);

/// The wall clock of a process, which a test sets. Time itself passes as for all processes.
pub(crate) struct FakeWall {
    library: PathBuf,
    directory: TempDir,
}

impl FakeWall {
    /// Creates a clock that is ahead; `None` without libfaketime, and records that the test is skipped.
    pub(crate) fn ahead(seconds: i64) -> Option<Self> {
        let library = path_or_skip("WEBSVC_TEST_FAKETIME")?;
        let wall = Self { library, directory: tempfile::tempdir().unwrap() };
        wall.set_ahead(seconds);
        Some(wall)
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("ahead")
    }

    /// Sets the clock. The process may read the file at any moment.
    pub(crate) fn set_ahead(&self, seconds: i64) {
        let draft = self.directory.path().join("draft");
        std::fs::write(&draft, format!("{seconds:+}\n")).unwrap();
        std::fs::rename(draft, self.file()).unwrap();
    }

    /// Returns the variables of a process with this clock.
    pub(crate) fn variables(&self) -> Vec<(&'static str, OsString)> {
        vec![
            ("LD_PRELOAD", self.library.clone().into()),
            ("FAKETIME_TIMESTAMP_FILE", self.file().into()),
            ("FAKETIME_NO_CACHE", "1".into()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
            ("NO_FAKE_STAT", "1".into()),
        ]
    }
}

/// Returns the clock in the response of `/ready`, and whether it is among the degraded parts.
pub(crate) async fn clock_of(service: &Service) -> (Value, bool) {
    let ready = service.get("/ready").await;
    assert_eq!(ready.status, StatusCode::OK, "{}", ready.body);
    let is_degraded = ready.body["degraded"].as_array().unwrap().contains(&json!("clock"));
    (ready.body["clock"].clone(), is_degraded)
}

async fn wait_for_clock(service: &Service, state: &str) -> Value {
    poll_until(service, "/ready", |ready| ready["clock"]["state"] == state).await["clock"].clone()
}

/// Stores an artifact for a day, and returns the path of its URL.
async fn put_artifact(data_dir: &Path) -> String {
    let config = ArtifactsConfig::in_directory(data_dir.join("artifacts"));
    let artifacts = Artifacts::open(Store::open(data_dir).unwrap(), config).unwrap();
    let team = artifacts.for_team("default", Retention::Stored);
    let day = Duration::from_secs(86_400);
    let artifact = team.put(ArtifactKind::Png, bytes::Bytes::from_static(b"image"), day).await.unwrap();
    artifact.url("")
}

/// Returns seconds until the next full hour of the right clock.
fn until_full_hour() -> i64 {
    3_600 - jiff::Timestamp::now().as_second() % 3_600
}

/// Repeats requests for what must survive, for a moment.
async fn check_everything(service: &Service, with_expiry: &Service, batch: &str, artifact: &str) {
    let started = Instant::now();
    while started.elapsed() < MOMENT {
        let response = service.get(batch).await;
        assert_eq!(response.status, StatusCode::OK, "{}", response.body);
        assert_eq!((&response.body["status"], &response.body["completed"]), (&json!("completed"), &json!(5)));
        assert_eq!(with_expiry.get(batch).await.status, StatusCode::OK, "the key is valid");
        service.file(artifact).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clock_that_is_wrong_for_a_moment_deletes_fails_and_doubles_nothing() {
    let world = numbered_pages(40, Duration::from_millis(400)).await;
    // By this clock, a full hour begins in three minutes.
    let mut right_s = until_full_hour() - 170;
    let Some(wall) = FakeWall::ahead(right_s) else { return };
    let site = Site::new(&world);
    let mut command = site.serve_command();
    let service = Service::start_logging(command.envs(wall.variables()), &site.data_dir().join("log.txt"));
    let monitor = json!({
        "name": "List",
        "schedule": { "text": "hourly" },
        "targets": [{ "type": "scrape", "urls": ["http://list.test/1"] }],
    });
    let monitor = service.post("/v2/monitor", monitor.to_string()).await;
    assert_eq!(monitor.status, StatusCode::OK, "{}", monitor.body);
    let checks = format!("/v2/monitor/{}/checks", monitor.body["data"]["id"].as_str().unwrap());
    let batch =
        start_job(&service, "/v2/batch/scrape", json!({ "urls": urls(0..5), "ignoreRobotsTxt": true })).await;
    wait_for_end(&service, &batch).await;
    let crawl = start_job(&service, "/v2/crawl", json!({ "url": "http://list.test/", "limit": 41 })).await;
    poll_until(&service, &crawl, |job| job["completed"].as_u64() > Some(0)).await;
    let artifact = put_artifact(site.data_dir()).await;
    let mut with_expiry = Service::at(&service.address);
    with_expiry.key = site.create_key(&["--expires", "1d"]);
    for wrong_s in [WRONG_S, -WRONG_S] {
        wall.set_ahead(right_s + wrong_s);
        let clock = wait_for_clock(&service, "wrong").await;
        assert!(clock["aheadMs"].as_i64().unwrap().abs_diff(wrong_s * 1000) < 10_000, "{clock}");
        check_everything(&service, &with_expiry, &batch, &artifact).await;
        assert_eq!(service.get(&checks).await.body["data"], json!([]), "no check is due yet");
        wall.set_ahead(right_s);
        wait_for_clock(&service, "ok").await;
        check_everything(&service, &with_expiry, &batch, &artifact).await;
    }
    let crawled = wait_for_end(&service, &crawl).await;
    assert_eq!((&crawled["status"], &crawled["completed"]), (&json!("completed"), &json!(41)), "{crawled}");
    // The hour begins, after steps that are mere corrections of the clock: the check is made, once.
    for _ in 0..3 {
        right_s += 58;
        wall.set_ahead(right_s);
        assert_eq!(clock_of(&service).await, (json!({ "state": "ok" }), false));
    }
    let is_checked = |list: &Value| list["data"][0]["status"] == "completed";
    poll_until(&service, &checks, is_checked).await;
    wall.set_ahead(right_s - WRONG_S);
    wait_for_clock(&service, "wrong").await;
    check_everything(&service, &with_expiry, &batch, &artifact).await;
    wall.set_ahead(right_s);
    wait_for_clock(&service, "ok").await;
    check_everything(&service, &with_expiry, &batch, &artifact).await;
    let list = service.get(&checks).await.body;
    assert_eq!(list["data"].as_array().unwrap().len(), 1, "{list}");
    let log = std::fs::read_to_string(site.data_dir().join("log.txt")).unwrap();
    assert_eq!(
        log.matches("the clock of this machine was set").count(),
        3,
        "each time is logged once: {log}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn clock_that_was_set_while_the_service_was_stopped_deletes_nothing_at_the_start() {
    let world = numbered_pages(5, Duration::ZERO).await;
    let Some(wall) = FakeWall::ahead(WRONG_S) else { return };
    let site = Site::new(&world);
    let service = site.serve();
    let batch =
        start_job(&service, "/v2/batch/scrape", json!({ "urls": urls(0..5), "ignoreRobotsTxt": true })).await;
    wait_for_end(&service, &batch).await;
    let artifact = put_artifact(site.data_dir()).await;
    assert!(service.stop().success());
    let mut command = site.serve_command();
    let service = Service::start(command.envs(wall.variables()));
    let (clock, is_degraded) = clock_of(&service).await;
    assert!(is_degraded && clock["reason"].as_str().unwrap().contains("seconds ahead"), "{clock}");
    check_everything(&service, &service, &batch, &artifact).await;
}
