//! The tasks of the evaluations with their oracles: a perfect but honest model solves all of them, if the service shows it the
//! right passages, keeps what was collected, and makes no request that it must not make.

use std::path::PathBuf;
use std::time::Duration;

use websvc_evaluation::{
    CaseResult, EvaluationOptions, FormatsOptions, ModelEndpoint, TaskVerdict, evaluate, evaluate_formats,
};
use websvc_testkit::scaled;

use crate::harness::skip;

/// The classes of tasks that the gate runs.
const GATE: &[&str] = &["list/", "hops/", "javascript/", "hostile/"];

#[tokio::test(flavor = "multi_thread")]
async fn oracle_solves_all_tasks() {
    let chromium = std::env::var_os("WEBSVC_TEST_CHROMIUM").map(PathBuf::from);
    if chromium.is_none() {
        skip("without WEBSVC_TEST_CHROMIUM, pages of scripts are left out");
    }
    for only in scaled(GATE, &[""]) {
        solve(chromium.clone(), only).await;
    }
}

/// Checks that the oracle solves the tasks with this text in their class or name.
async fn solve(chromium: Option<PathBuf>, only: &str) {
    let options = EvaluationOptions {
        program: env!("CARGO_BIN_EXE_websvc").into(),
        chromium,
        model: ModelEndpoint::Oracle,
        only: Some(only.to_owned()),
        task_timeout: Duration::from_secs(120),
    };
    let report = evaluate(&options, |result| println!("{result}")).await.unwrap();
    println!("{report}");
    let failed: Vec<String> = report
        .results
        .iter()
        .filter(|result| !matches!(result.verdict, TaskVerdict::Success | TaskVerdict::Skipped))
        .map(|result| format!("{result} {}", result.data))
        .collect();
    assert!(failed.is_empty(), "{} tasks failed:\n{}", failed.len(), failed.join("\n"));
    // All values of the oracle are in passages of pages, and the service must find them there.
    for result in report.with_verdict(TaskVerdict::Success) {
        let note = result.message.as_deref().unwrap_or_default();
        assert!(!note.contains("No page that was read states"), "{}: {note}", result.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn oracle_solves_all_tasks_of_formats() {
    let options = FormatsOptions {
        program: env!("CARGO_BIN_EXE_websvc").into(),
        model: Some(ModelEndpoint::Oracle),
        only: None,
        task_timeout: Duration::from_secs(60),
        concurrency: 2,
    };
    let report = evaluate_formats(&options, |result| println!("{result}")).await.unwrap();
    println!("{report}");
    // Without a model, rules and words are not always right.
    let of_model = report.results.iter().filter(|result| result.has_model());
    let (right, wrong): (Vec<&CaseResult>, Vec<&CaseResult>) = of_model.partition(|result| result.is_right());
    let wrong: Vec<String> = wrong.into_iter().map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(right.len() > 100, "{} tasks", right.len());
}
