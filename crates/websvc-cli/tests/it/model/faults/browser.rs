//! The same failures for what needs a browser: the format `branding`, and prompts in sessions.

use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::super::BASE;
use super::kinds::{Expected, Fault, sample};
use super::runs::check;
use super::{FaultTest, PLAIN};
use crate::browser::path_or_skip;

/// The number of sessions, and of pages that are rendered at the same time.
const SESSIONS: usize = 4;

async fn start() -> Option<Arc<FaultTest>> {
    let chromium = path_or_skip("WEBSVC_TEST_CHROMIUM")?;
    let test = FaultTest::with_settings(BASE, |command| {
        command.env("WEBSVC__BROWSER__PATH", &chromium);
        command.env("WEBSVC__BROWSER__CONCURRENCY", SESSIONS.to_string());
    });
    Some(test.await)
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_the_model_leave_branding_to_rules() {
    let Some(test) = start().await else { return };
    test.check_all(sample(), |test, fault| async move {
        let options = json!({ "formats": ["markdown", "branding"], "timeout": 120_000 });
        let body = test.scrape(&fault.url(), &options).await?;
        check_branding(fault, &body)
    })
    .await;
}

fn check_branding(fault: &Fault, body: &Value) -> Result<(), String> {
    let (data, warning) = (&body["data"], body["warning"].as_str().unwrap_or_default());
    let (design, credits) = (&data["branding"], &data["metadata"]["creditsUsed"]);
    let words = match fault.json {
        Expected::Failure(words) => words,
        Expected::Answer | Expected::Either => "",
    };
    let has_design = design["colors"].is_object() && *credits == 1;
    let is_answer = has_design && design["personality"]["targetAudience"] == "People who drink tea";
    let is_failure = has_design
        && design["personality"].is_null()
        && warning.contains("format branding")
        && warning.contains(words);
    check(fault, is_answer, is_failure, body)
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_the_model_end_prompts_and_leave_the_session() {
    let Some(test) = start().await else { return };
    let mut paths = Vec::new();
    for _ in 0..SESSIONS {
        let body = test.scrape(PLAIN, &json!({})).await.unwrap();
        let id = body["data"]["metadata"]["scrapeId"].as_str().unwrap();
        paths.push(Arc::new(Mutex::new(format!("/v2/scrape/{id}/interact"))));
    }
    let sessions = paths.clone();
    test.check_all(sample(), move |test, fault| {
        let at = sample().position(|other| other.name == fault.name).unwrap();
        let session = Arc::clone(&sessions[at % SESSIONS]);
        async move {
            let path = session.lock().await;
            let prompt = json!({ "prompt": format!("What does the tea cost? {}", fault.mark()) });
            let ran = test.request(&path, &prompt).await?;
            check_prompt(fault, &ran)?;
            let code = test.request(&path, &json!({ "code": "1 + 1" })).await?;
            if code["result"] == "2" { Ok(()) } else { Err(format!("the session is of no use: {code}")) }
        }
    })
    .await;
    for path in paths {
        let ended = test.service.send(Method::DELETE, &path.lock().await, &[], String::new()).await;
        assert_eq!(ended.status, 200, "{}", ended.body);
    }
}

fn check_prompt(fault: &Fault, ran: &Value) -> Result<(), String> {
    let has_reason = ran["error"].as_str().is_some_and(|error| !error.is_empty());
    let is_answer = ran["success"] == true && ran["output"] == "It costs 12 euros.";
    let is_failure = ran["success"] == false && ran["exitCode"] == 1 && has_reason;
    check(fault, is_answer, is_failure, ran)
}
