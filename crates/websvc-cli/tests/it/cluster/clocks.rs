//! Replicas whose clocks are wrong.

use std::time::{Duration, Instant};

use http::StatusCode;
use serde_json::json;

use super::{Cluster, Variables, numbered_pages, start_job, urls};
use crate::batch::{poll_until, wait_for_end};
use crate::clock::{FakeWall, WRONG_S, clock_of};

const BATCH: &str = "/v2/batch/scrape";

/// How long the replicas work side by side: several sweeps of the jobs.
const MOMENT: Duration = Duration::from_secs(4);

#[tokio::test(flavor = "multi_thread")]
async fn replicas_with_wrong_clocks_delete_and_fail_nothing_and_say_so() {
    let Some(ahead) = FakeWall::ahead(WRONG_S) else { return };
    let Some(behind) = FakeWall::ahead(-WRONG_S) else { return };
    let world = numbered_pages(40, Duration::from_millis(300)).await;
    let settings = vec![Variables::new(), ahead.variables(), behind.variables()];
    let Some(cluster) = Cluster::start_with(&world, settings).await else { return };
    let right = cluster.replica(0);
    let list = |pages| json!({ "urls": urls(pages), "ignoreRobotsTxt": true });
    let batch = start_job(right, BATCH, list(0..5)).await;
    wait_for_end(right, &batch).await;
    let crawl = start_job(right, "/v2/crawl", json!({ "url": "http://list.test/", "limit": 41 })).await;
    poll_until(right, &crawl, |job| job["completed"].as_u64() > Some(0)).await;
    let started = Instant::now();
    while started.elapsed() < MOMENT {
        for number in 0..3 {
            let service = cluster.replica(number);
            let finished = service.get(&batch).await;
            assert_eq!(finished.status, StatusCode::OK, "replica {number}: {}", finished.body);
            let running = service.get(&crawl).await.body;
            assert_ne!(running["status"], "failed", "replica {number}: {running}");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let crawled = wait_for_end(cluster.replica(1), &crawl).await;
    assert_eq!((&crawled["status"], &crawled["completed"]), (&json!("completed"), &json!(41)), "{crawled}");
    for number in [1, 2] {
        // What a replica with a wrong clock creates has the times of the others.
        let job = start_job(cluster.replica(number), BATCH, list(5..8)).await;
        let job = wait_for_end(right, &job).await;
        assert_eq!((&job["status"], &job["completed"]), (&json!("completed"), &json!(3)), "{job}");
        let expires: jiff::Timestamp = job["expiresAt"].as_str().unwrap().parse().unwrap();
        let hours = expires.duration_since(jiff::Timestamp::now()).as_hours();
        assert!((23..=24).contains(&hours), "replica {number}: {job}");
    }
    assert_eq!(clock_of(right).await, (json!({ "state": "ok" }), false));
    for (number, wrong_s, direction) in [(1, WRONG_S, "ahead"), (2, -WRONG_S, "behind")] {
        let (clock, is_degraded) = clock_of(cluster.replica(number)).await;
        assert!(is_degraded && clock["state"] == "wrong", "{clock}");
        assert!(clock["aheadMs"].as_i64().unwrap().abs_diff(wrong_s * 1000) < 10_000, "{clock}");
        assert!(clock["reason"].as_str().unwrap().contains(&format!("{direction} of that of the database")));
        let metrics = cluster.replica(number).text("/metrics").await;
        let line = metrics.lines().find(|line| line.starts_with("websvc_clock_skew_seconds ")).unwrap();
        let skew: f64 = line.rsplit(' ').next().unwrap().parse().unwrap();
        assert!((skew - wrong_s as f64).abs() < 10.0, "{line}");
        let log = std::fs::read_to_string(cluster.data_dir(number).join("log.txt")).unwrap();
        assert_eq!(log.matches("the clock of this machine is").count(), 1, "{log}");
    }
}
