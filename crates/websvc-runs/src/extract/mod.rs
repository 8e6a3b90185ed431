//! The work on one extraction: finds its pages, extracts the data of each, and merges it into one object
//! (operations.md, section 5.1).

mod budget;
mod discover;
mod finish;
mod header_hosts;
mod pages;
mod result;
mod status;

use std::future::pending;
use std::time::Instant;

use tokio::sync::watch;
use websvc_agent::Stop;
use websvc_engine::{PolicyError, team_policy};
use websvc_store::{
    CreditHold, FinishedRun, HoldOutcome, JobEvent, RunEndEvent, RunRecord, RunStatus, RunWebhookEvent,
};
use websvc_tasks::TaskError;
use websvc_transport::text_without_credentials;
use websvc_types::extract::ExtractCompletedEvent;
use websvc_validate::{Checked, ExtractPlan, Policy, check_request};

use crate::budget::Budget;
use crate::credits::{TeamCredits, hold_first};
use crate::end::{Counts, Ending, RunCharge, end, event_json, finish as finish_run, settlement};
use crate::runs::{Inner, Runs};
use crate::trace::Trace;
pub(crate) use budget::{least_extract_credits, max_credits};
use header_hosts::HeaderHosts;
pub(crate) use result::StoredExtraction;
pub use status::StoredExtractRequest;
pub(crate) use status::extract_status;

/// The checked request of an extraction, with its credits.
struct Preparation {
    plan: ExtractPlan,
    policy: Policy,
    hold: CreditHold,
    warnings: Vec<String>,
}

/// The dependencies of the work on an extraction.
struct Extraction<'a> {
    runs: &'a Runs,
    team: &'a str,
    plan: &'a ExtractPlan,
    policy: &'a Policy,
    /// The task for the model.
    prompt: String,
    header_hosts: HeaderHosts<'a>,
    budget: Budget,
    deadline: Instant,
}

/// The outcome of an extraction.
enum Outcome {
    /// It has its data.
    Extracted {
        extraction: StoredExtraction,
        /// The number of pages that were read.
        pages: u64,
    },
    /// It failed.
    Failed { status: RunStatus, error: String, extraction: StoredExtraction },
}

impl Outcome {
    fn failed(error: impl Into<String>) -> Self {
        let extraction = StoredExtraction::default();
        Self::Failed { status: RunStatus::Failed, error: error.into(), extraction }
    }

    /// Returns the outcome of an extraction whose work must stop.
    fn stopped(stop: Stop, extraction: StoredExtraction) -> Self {
        let Ending { status, error, .. } = Ending::stopped(stop);
        Self::Failed { status, error: error.unwrap_or_default(), extraction }
    }
}

/// Works on an extraction until it has ended.
pub(crate) async fn run(runs: Runs, record: RunRecord, cancelled: watch::Receiver<bool>) {
    if let Err(error) = try_run(&runs, &record, cancelled).await {
        // The runner ends it as interrupted.
        tracing::error!(error = &error as &dyn std::error::Error, id = record.id, "an extraction failed");
    }
}

async fn try_run(runs: &Runs, record: &RunRecord, cancelled: watch::Receiver<bool>) -> Result<(), TaskError> {
    let number = record.number;
    if !runs.with_store(move |store, _| store.begin_run(number, store.now_ms())).await? {
        return Ok(());
    }
    let started = vec![RunWebhookEvent { event: JobEvent::RunStarted, data: String::new() }];
    runs.with_store(move |store, config| {
        store.add_run_events(number, Vec::new(), started, &config.limits, store.now_ms())
    })
    .await?;
    runs.inner.jobs.notify_webhooks();
    let owned = record.clone();
    let preparation = match runs.run_blocking(move |inner| prepare(inner, &owned)).await? {
        Ok(preparation) => preparation,
        Err(outcome) => return finish(runs, record, outcome, None).await,
    };
    tokio::select! {
        result = Box::pin(work(runs, record, preparation)) => result,
        // The run was cancelled or deleted, or belongs to another process.
        () = wait_cancelled(cancelled) => {
            let trace = Trace::new(&record.id, record.events, runs.inner.store.clock());
            end(runs, record, &trace, Ending::cancelled(), None).await
        }
    }
}

async fn wait_cancelled(mut cancelled: watch::Receiver<bool>) {
    if cancelled.wait_for(|is_cancelled| *is_cancelled).await.is_err() {
        // The runner has ended, and with it this task.
        pending::<()>().await;
    }
}

/// Checks an extraction again by the present rules of its team, and holds its first credits. Blocks.
fn prepare(inner: &Inner, record: &RunRecord) -> Result<Result<Preparation, Outcome>, TaskError> {
    let failed = |error: String| Ok(Err(Outcome::failed(error)));
    let Some(StoredExtractRequest { request, mut warnings }) = StoredExtractRequest::decode(&record.request)
    else {
        return failed("the extraction was stored by another version of websvc".to_owned());
    };
    let team = inner.store.team(&record.team)?;
    let policy = match team_policy(&inner.store, team.as_ref()) {
        Ok(policy) => policy,
        Err(PolicyError::Store(error)) => return Err(error.into()),
        Err(error @ PolicyError::Values(_)) => return failed(error.to_string()),
    };
    let plan = match check_request(&request, &policy) {
        Ok(Checked { plan, warnings: _ }) => plan,
        Err(rejection) => return failed(format!("the extraction is no longer allowed: {rejection}")),
    };
    if inner.engine.completion_model().is_none() {
        return failed("the extraction needs a language model, and none is configured in [llm]".to_owned());
    }
    let least = least_extract_credits(&inner.engine, &plan);
    let hold = match hold_first(&inner.store, record, least)? {
        HoldOutcome::Granted(hold) => hold,
        HoldOutcome::Insufficient { remaining } => {
            let stop = Stop::TeamCredits { missing: least, remaining };
            return Ok(Err(Outcome::stopped(stop, StoredExtraction::default())));
        }
    };
    match inner.engine.check_scrape(&plan.scrape) {
        Ok(more) => warnings.extend(more),
        Err(error) => return failed(error.to_string()),
    }
    Ok(Ok(Preparation { plan, policy, hold, warnings }))
}

async fn work(runs: &Runs, record: &RunRecord, preparation: Preparation) -> Result<(), TaskError> {
    let Preparation { plan, policy, hold, warnings } = preparation;
    let started = Instant::now();
    let max_time = runs.config().max_time;
    let team = TeamCredits::new(runs.inner.store.clone(), record.team.clone(), record.max_credits);
    let extraction = Extraction {
        runs,
        team: &record.team,
        plan: &plan,
        policy: &policy,
        prompt: pages::prompt(&plan),
        header_hosts: HeaderHosts::new(&plan),
        // Only the number of its pages limits it.
        budget: Budget::new(u64::MAX, team, hold),
        deadline: started + plan.timeout.map_or(max_time, |timeout| timeout.min(max_time)),
    };
    let outcome = extraction.extract(warnings).await;
    let target = target(&plan);
    let (bill, hold) = extraction.budget.into_parts();
    let charge = RunCharge { hold, bill, elapsed: started.elapsed(), target };
    finish(runs, record, outcome, Some(charge)).await
}

/// Returns the target of an extraction for the usage log: its first URL without user name and password, or the beginning
/// of its prompt.
fn target(plan: &ExtractPlan) -> String {
    let url = plan.targets.first().map(|target| target.target().url.to_string());
    let prompt = text_without_credentials(plan.prompt.as_deref().unwrap_or_default());
    url.unwrap_or_else(|| prompt.chars().take(websvc_types::limits::AGENT_HINT_MAX_CHARS).collect())
}

/// Ends an extraction. Nothing changes if it had ended or was deleted, or another replica owns it.
async fn finish(
    runs: &Runs,
    record: &RunRecord,
    outcome: Outcome,
    charge: Option<RunCharge>,
) -> Result<(), TaskError> {
    let (status, error, extraction, webhook) = match outcome {
        Outcome::Extracted { extraction, pages } => {
            let webhook = completed_event(record, &extraction, pages);
            (RunStatus::Succeeded, None, extraction, webhook)
        }
        Outcome::Failed { status, error, extraction } => {
            let webhook =
                RunEndEvent { event: JobEvent::RunFailed, data: Box::new(|_credits| String::new()) };
            (status, Some(error), extraction, webhook)
        }
    };
    let tokens = extraction.tokens;
    let finished = FinishedRun {
        status,
        error,
        message: None,
        result: Some(extraction.encode()),
        charge: charge.map(|charge| settlement(record, charge, status)),
        events: Vec::new(),
        webhook: Some(webhook),
    };
    let charged = finish_run(runs, record.number, finished, Counts { steps: 0, tokens }).await?;
    // Neither the prompt nor what the model wrote is logged.
    let credits = charged.unwrap_or_default();
    tracing::info!(id = record.id, status = status.as_str(), tokens, credits, "extraction ended");
    Ok(())
}

fn completed_event(record: &RunRecord, extraction: &StoredExtraction, pages: u64) -> RunEndEvent {
    let event = ExtractCompletedEvent {
        success: true,
        data: extraction.data.clone().unwrap_or_default(),
        extract_id: record.id.clone(),
        total_urls_scraped: pages,
        credits_used: 0,
        sources: extraction.sources.clone(),
    };
    let data = move |credits_used| event_json(&ExtractCompletedEvent { credits_used, ..event.clone() });
    RunEndEvent { event: JobEvent::RunCompleted, data: Box::new(data) }
}
