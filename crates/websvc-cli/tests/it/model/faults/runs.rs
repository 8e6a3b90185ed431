//! The same failures for changes of pages, monitors, crawls, extractions and agent runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use http::StatusCode;
use serde_json::{Value, json};

use super::super::{BASE, price};
use super::FaultTest;
use super::kinds::{Expected, FAULTS, Fault, sample};

/// How long a run, an extraction or a check may take.
const TIMEOUT: Duration = Duration::from_secs(100);

impl FaultTest {
    /// Sends a request that must succeed, and returns its body.
    pub(super) async fn request(&self, path: &str, body: &Value) -> Result<Value, String> {
        let response = self.service.post(path, body.to_string()).await;
        let is_ok = response.status == StatusCode::OK;
        if is_ok { Ok(response.body) } else { Err(format!("{path}: {} {}", response.status, response.body)) }
    }

    /// Reads a path until its status is none of these.
    async fn wait(&self, path: &str, working: &[&str]) -> Result<Value, String> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let body = self.service.get(path).await.body;
            let status = body["status"].as_str().or(body["data"]["status"].as_str()).unwrap_or_default();
            if !working.contains(&status) {
                return Ok(body);
            }
            if Instant::now() > deadline {
                return Err(format!("{path} is not done: {body}"));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Starts an agent run or an extraction, and returns its end.
    async fn run(&self, path: &str, body: &Value) -> Result<Value, String> {
        let started = self.request(path, body).await?;
        self.wait(&format!("{path}/{}", started["id"].as_str().unwrap_or_default()), &["processing"]).await
    }

    /// Runs a check of a monitor, and returns it.
    async fn check(&self, monitor: &str) -> Result<Value, String> {
        let started = self.request(&format!("{monitor}/run"), &json!({})).await?;
        let path = format!("{monitor}/checks/{}", started["id"].as_str().unwrap_or_default());
        Ok(self.wait(&path, &["queued", "running"]).await?["data"].clone())
    }
}

fn changes() -> Value {
    let changes = json!({ "type": "changeTracking", "modes": ["json"], "schema": price() });
    json!({ "formats": ["markdown", changes], "maxAge": 0 })
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_the_model_leave_changes_unjudged_and_free() {
    let test = FaultTest::new(BASE).await;
    let mut monitors = Vec::new();
    for fault in FAULTS {
        let target = json!({ "type": "scrape", "urls": [fault.url()] });
        let body = json!({
            "name": fault.name, "goal": "Prices of teas", "schedule": { "cron": "0 0 1 1 *" }, "targets": [target],
        });
        let created = test.request("/v2/monitor", &body).await.unwrap();
        monitors.push(format!("/v2/monitor/{}", created["data"]["id"].as_str().unwrap()));
    }
    let monitors = Arc::new(monitors);
    let path = move |fault: &Fault| {
        let at = FAULTS.iter().position(|other| other.name == fault.name).unwrap();
        monitors[at].clone()
    };
    // No model reads the first versions.
    test.check_all(sample(), |test, fault| {
        let monitor = path(fault);
        async move {
            test.scrape(&fault.url(), &changes()).await?;
            test.check(&monitor).await.map(|_| ())
        }
    })
    .await;
    test.is_changed.store(true, Ordering::Relaxed);
    test.check_all(sample(), |test, fault| {
        let monitor = path(fault);
        async move {
            let (body, check) =
                tokio::join!(async { test.scrape(&fault.url(), &changes()).await }, test.check(&monitor));
            check_changes(fault, &body?)?;
            check_judgment(fault, &check?)
        }
    })
    .await;
}

fn check_changes(fault: &Fault, body: &Value) -> Result<(), String> {
    let (data, warning) = (&body["data"], body["warning"].as_str().unwrap_or_default());
    let (found, credits) = (&data["changeTracking"]["json"], &data["metadata"]["creditsUsed"]);
    let is_answer = found["euros"] == json!({ "previous": 12, "current": 13 }) && *credits == 5;
    let is_failure = found.is_null() && *credits == 1 && !warning.is_empty();
    check(fault, is_answer, is_failure, body)
}

fn check_judgment(fault: &Fault, found: &Value) -> Result<(), String> {
    let (judgment, credits) = (&found["pages"][0]["judgment"], &found["actualCredits"]);
    let reason = judgment["reason"].as_str().unwrap_or_default();
    let is_answer = judgment["meaningful"] == false && *credits == 2;
    let is_failure = judgment["meaningful"] == true
        && judgment["confidence"] == "low"
        && reason.starts_with("The changes were not judged: ")
        && *credits == 1;
    check(fault, is_answer && found["status"] == "completed", is_failure, found)
}

/// Checks an end of a request for JSON.
pub(super) fn check(fault: &Fault, is_answer: bool, is_failure: bool, found: &Value) -> Result<(), String> {
    let is_expected = match fault.json {
        Expected::Answer => is_answer,
        Expected::Failure(_) => is_failure,
        Expected::Either => is_answer || is_failure,
    };
    if is_expected { Ok(()) } else { Err(format!("not {:?}: {found}", fault.json)) }
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_the_model_leave_prompts_of_crawls_to_rules() {
    let test = FaultTest::new(BASE).await;
    test.check_all(sample(), |test, fault| async move {
        let prompt = format!("Only the blog. {}", fault.mark());
        let body = json!({ "url": "http://site.test", "prompt": prompt });
        let found = test.request("/v2/crawl/params-preview", &body).await?;
        let warning = found["warning"].as_str().unwrap_or_default();
        let has_blog = found["data"]["includePaths"][0] == "blog/.*";
        let is_failure = has_blog && warning.contains("simple rules");
        check(fault, has_blog && !is_failure, is_failure, &found)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_the_model_fail_extractions_and_agent_runs_for_free() {
    let test = FaultTest::new(BASE).await;
    test.check_all(sample(), |test, fault| async move {
        let body = json!({ "urls": [fault.url()], "prompt": "The tea and its price.", "schema": price() });
        let mut task = body.clone();
        task["strictConstrainToURLs"] = json!(true);
        let (extracted, collected) =
            tokio::join!(test.run("/v2/extract", &body), test.run("/v2/agent", &task));
        check_run(fault, &extracted?)?;
        check_run(fault, &collected?)
    })
    .await;
}

fn check_run(fault: &Fault, end: &Value) -> Result<(), String> {
    let is_completed = end["status"] == "completed";
    let is_answer = is_completed && end["data"]["tea"] == "sencha";
    let has_reason = end["error"].as_str().is_some_and(|error| !error.is_empty());
    let is_failure = end["status"] == "failed" && has_reason && end["creditsUsed"] == 0;
    check(fault, is_answer, is_failure, end)
}
