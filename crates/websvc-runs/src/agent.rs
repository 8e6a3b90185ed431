//! The work on one agent run.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use url::Url;
use websvc_agent::{AgentTask, EarlierTurn, RunOutcome, RunReport, Stop, TaskLimits, run_task};
use websvc_engine::{PolicyError, team_policy};
use websvc_store::{
    AddRunEventsOutcome, CreditHold, HoldOutcome, JobEvent, RunRecord, RunStatus, RunWebhookEvent, Team,
    ThreadContent, UsageRetention,
};
use websvc_tasks::TaskError;
use websvc_transport::{has_credentials, text_without_credentials};
use websvc_types::agent::{AgentEffort, AgentErrorSource, AgentEventDetail};
use websvc_types::counted;
use websvc_types::limits::{AGENT_HINT_MAX_CHARS, AGENT_TURNS_MAX};
use websvc_validate::{AgentPlan, Checked, Policy, Target, check_request};

use crate::config::RunsConfig;
use crate::credits::hold_first;
use crate::end::{Ending, RunCharge, end};
use crate::environment::{RunEnvironment, RunSetup};
use crate::runs::{Inner, Runs};
use crate::stored::StoredRequest;
use crate::trace::{Pending, Trace, action_event};

/// Time in which a cancelled or late run ends by itself. Then its requests are dropped.
const GRACE: Duration = Duration::from_secs(2);

/// The parts that a run needs to begin.
struct Preparation {
    plan: AgentPlan,
    policy: Policy,
    team: Option<Team>,
    hold: CreditHold,
    turns: Vec<EarlierTurn>,
}

/// Works on a run until it has ended.
pub(crate) async fn run(runs: Runs, record: RunRecord, cancelled: watch::Receiver<bool>) {
    if let Err(error) = try_run(&runs, &record, cancelled).await {
        // The runner ends it as interrupted.
        tracing::error!(error = &error as &dyn std::error::Error, id = record.id, "an agent run failed");
    }
}

async fn try_run(runs: &Runs, record: &RunRecord, cancelled: watch::Receiver<bool>) -> Result<(), TaskError> {
    let number = record.number;
    if !runs.with_store(move |store, _| store.begin_run(number, store.now_ms())).await? {
        return Ok(());
    }
    let trace = Arc::new(Trace::new(&record.id, record.events, runs.inner.store.clock()));
    trace.add(AgentEventDetail::RunStarted {});
    trace.add(AgentEventDetail::AgentStarted {});
    let started = RunWebhookEvent { event: JobEvent::RunStarted, data: String::new() };
    write(runs, number, &trace, vec![started], 0).await?;
    let owned = record.clone();
    let preparation = match runs.run_blocking(move |inner| prepare(inner, &owned)).await? {
        Ok(preparation) => preparation,
        Err(ending) => return end(runs, record, &trace, ending, None).await,
    };
    Box::pin(work(runs, record, trace, preparation, cancelled)).await
}

/// Checks a run again by the present rules of its team, and holds its first credits. Blocks.
fn prepare(inner: &Inner, record: &RunRecord) -> Result<Result<Preparation, Ending>, TaskError> {
    let failed = |error: String| Ok(Err(Ending::failed("failed", error)));
    let Some(StoredRequest { request, warnings: _ }) = StoredRequest::decode(&record.request) else {
        return failed("the run was stored by another version of websvc".to_owned());
    };
    let team = inner.store.team(&record.team)?;
    let policy = match team_policy(&inner.store, team.as_ref()) {
        Ok(policy) => policy,
        Err(PolicyError::Store(error)) => return Err(error.into()),
        Err(error @ PolicyError::Values(_)) => return failed(error.to_string()),
    };
    let plan = match check_request(&request, &policy) {
        Ok(Checked { plan, warnings: _ }) => plan,
        Err(rejection) => return failed(format!("the run is no longer allowed: {rejection}")),
    };
    if inner.engine.completion_model().is_none() {
        return failed("the run needs a language model, and none is configured in [llm]".to_owned());
    }
    let least = least_credits(&inner.config, &plan);
    let hold = match hold_first(&inner.store, record, least)? {
        HoldOutcome::Granted(hold) => hold,
        HoldOutcome::Insufficient { remaining } => {
            return Ok(Err(Ending::stopped(Stop::TeamCredits { missing: least, remaining })));
        }
    };
    let turns = earlier_turns(inner, record)?;
    Ok(Ok(Preparation { plan, policy, team, hold, turns }))
}

/// Returns the credits without which a run cannot do anything: those of a step.
pub(crate) fn least_credits(config: &RunsConfig, plan: &AgentPlan) -> u64 {
    config.credits_per_step.clamp(1, plan.max_credits)
}

/// Returns the last turns of the thread before a run, the oldest first.
fn earlier_turns(inner: &Inner, record: &RunRecord) -> Result<Vec<EarlierTurn>, TaskError> {
    if record.turn == 1 {
        return Ok(Vec::new());
    }
    // The last one is the run itself.
    let max = AGENT_TURNS_MAX as u64 + 1;
    let content = ThreadContent::RequestsAndResults;
    let earlier = inner.store.thread_runs(
        &record.team,
        &record.thread,
        content,
        max,
        u64::MAX,
        inner.store.now_ms(),
    )?;
    let earlier: Vec<RunRecord> = earlier.into_iter().filter(|run| run.turn < record.turn).collect();
    let first = earlier.len().saturating_sub(AGENT_TURNS_MAX);
    let mut turns = Vec::new();
    for run in &earlier[first..] {
        let Some(StoredRequest { request, .. }) = StoredRequest::decode(&run.request) else { continue };
        let result = inner.store.run_result(run.number)?;
        let data = result.and_then(|result| crate::stored::StoredResult::decode(&result.0)?.data);
        turns.push(EarlierTurn { prompt: request.prompt, data });
    }
    Ok(turns)
}

/// Runs the loop, while its events are stored, and ends the run.
async fn work(
    runs: &Runs,
    record: &RunRecord,
    trace: Arc<Trace>,
    preparation: Preparation,
    cancelled: watch::Receiver<bool>,
) -> Result<(), TaskError> {
    let Some(model) = runs.inner.engine.completion_model() else {
        let ending = Ending::failed("failed", "no language model is configured in [llm]");
        return end(runs, record, &trace, ending, None).await;
    };
    let Preparation { plan, policy, team, hold, turns } = preparation;
    let started = Instant::now();
    let deadline = started + runs.config().max_time;
    let setup = setup(
        runs,
        record,
        SetupParts { plan: &plan, policy, team, turns: &turns },
        deadline,
        cancelled.clone(),
        &trace,
    );
    let environment = runs.inner.tools.environment(setup, hold);
    let urls: Vec<String> = plan.urls.iter().map(url_for_model).collect();
    let today = websvc_jobs::timestamp(runs.inner.store.now_ms());
    // The service adds users and passwords to the calls of the URLs that have them. So the model, and with it the trace, the
    // webhook and searches, need none.
    let prompt = text_without_credentials(&plan.prompt);
    let turns: Vec<EarlierTurn> = turns.into_iter().map(turn_for_model).collect();
    let task = AgentTask {
        prompt: &prompt,
        schema: plan.schema.as_ref(),
        urls: &urls,
        mode: plan.mode,
        turns: &turns,
        today: &today[..today.find('T').unwrap_or(today.len())],
        limits: limits(runs, plan.effort),
        deadline,
    };
    let ending = tokio::select! {
        report = Box::pin(run_task(&environment, model, task)) => Some(ending(report)),
        () = dropped(cancelled.clone()) => Some(Ending { data: trace.data(), ..Ending::cancelled() }),
        () = tokio::time::sleep_until(deadline + GRACE) => {
            Some(Ending { data: trace.data(), ..Ending::failed("timeout", TIMEOUT_ERROR) })
        }
        lost = write_events(runs, record.number, &trace, &environment) => {
            lost?;
            None
        }
    };
    // The run was deleted, or belongs to another process.
    let Some(ending) = ending else { return Ok(()) };
    environment.close().await;
    write(runs, record.number, &trace, Vec::new(), environment.credits()).await?;
    let (bill, hold) = environment.into_charge();
    let charge = RunCharge { hold, bill, elapsed: started.elapsed(), target: target(&plan) };
    let is_cancelled = *cancelled.borrow();
    // The response has promised that the run is cancelled, also if it has its data a moment later.
    let ending = match ending.status {
        RunStatus::Succeeded if is_cancelled => {
            let Ending { data, is_schema_valid, message, sources, steps, tokens, .. } = ending;
            Ending { data, is_schema_valid, message, sources, steps, tokens, ..Ending::cancelled() }
        }
        _other => ending,
    };
    let record = RunRecord {
        cancel_requested_at_ms: is_cancelled
            .then(|| runs.inner.store.now_ms())
            .or(record.cancel_requested_at_ms),
        ..record.clone()
    };
    end(runs, &record, &trace, ending, Some(charge)).await
}

/// Returns an earlier turn as the model gets it.
fn turn_for_model(turn: EarlierTurn) -> EarlierTurn {
    let EarlierTurn { prompt, data } = turn;
    EarlierTurn { prompt: text_without_credentials(&prompt).into_owned(), data }
}

/// Returns a URL of the request as the model gets it: without the user name and password, which the service adds to calls.
fn url_for_model(target: &Target) -> String {
    if has_credentials(&target.url_with_credentials()) {
        return target.url.to_string();
    }
    target.text.clone()
}

/// Returns the target of a run for the usage log: its first URL without user name and password, or the beginning of its
/// prompt.
fn target(plan: &AgentPlan) -> String {
    match plan.urls.first() {
        Some(url) => url.url.to_string(),
        None => text_without_credentials(&plan.prompt).chars().take(AGENT_HINT_MAX_CHARS).collect(),
    }
}

/// The error of a run that exceeded its time.
const TIMEOUT_ERROR: &str = "the run exceeded its maximum time";

/// The parts of a setup that were prepared.
struct SetupParts<'a> {
    plan: &'a AgentPlan,
    policy: Policy,
    team: Option<Team>,
    turns: &'a [EarlierTurn],
}

fn setup(
    runs: &Runs,
    record: &RunRecord,
    parts: SetupParts<'_>,
    deadline: Instant,
    cancelled: watch::Receiver<bool>,
    trace: &Arc<Trace>,
) -> RunSetup {
    let SetupParts { plan, policy, team, turns } = parts;
    let mut user_texts: Vec<String> = turns.iter().map(|turn| turn.prompt.clone()).collect();
    user_texts.push(plan.prompt.clone());
    user_texts.extend(plan.schema.as_ref().map(Value::to_string));
    let trace = Arc::clone(trace);
    RunSetup {
        id: record.id.clone(),
        team: record.team.clone(),
        policy,
        concurrency: team.and_then(|team| team.concurrency).or(runs.config().team_concurrency),
        key: record.key.clone(),
        retention: UsageRetention::Whole,
        urls: plan.urls.iter().map(Target::url_with_credentials).collect::<Vec<Url>>(),
        is_strict: plan.is_strict,
        user_texts,
        private_texts: Vec::new(),
        location: plan.location.clone(),
        threat_protection: plan.threat_protection.clone(),
        allows_interact: plan.allow_interact,
        max_credits: plan.max_credits,
        step_credits: runs.config().credits_per_step,
        deadline: deadline.into_std(),
        cancelled,
        on_event: Box::new(move |event| trace.record(event)),
    }
}

fn limits(runs: &Runs, effort: AgentEffort) -> TaskLimits {
    let limits = TaskLimits::for_effort(effort);
    TaskLimits { max_steps: limits.max_steps.min(runs.config().max_steps), ..limits }
}

/// Waits until a cancelled run should have ended by itself.
async fn dropped(mut cancelled: watch::Receiver<bool>) {
    if cancelled.wait_for(|is_cancelled| *is_cancelled).await.is_err() {
        // The runner has ended, and with it this task.
        pending::<()>().await;
    }
    tokio::time::sleep(GRACE).await;
}

/// Stores the events of a run as they happen. Returns if the run has ended, or belongs to another process.
async fn write_events(
    runs: &Runs,
    run: i64,
    trace: &Trace,
    environment: &RunEnvironment,
) -> Result<(), TaskError> {
    loop {
        trace.wakeup.notified().await;
        match write(runs, run, trace, Vec::new(), environment.credits()).await? {
            AddRunEventsOutcome::Added { .. } => {}
            AddRunEventsOutcome::NotRunning => return Ok(()),
        }
    }
}

/// Stores the new events of a run, and enqueues those of its webhook: first these, then the actions.
async fn write(
    runs: &Runs,
    run: i64,
    trace: &Trace,
    mut webhook: Vec<RunWebhookEvent>,
    credits: u64,
) -> Result<AddRunEventsOutcome, TaskError> {
    // A write that began must end before the next one, also if its caller is gone.
    let guard = Arc::clone(&trace.writer).lock_owned().await;
    let Pending { events, actions } = trace.take();
    webhook.extend(actions.into_iter().map(|(action, input)| action_event(action, input, credits)));
    if events.is_empty() && webhook.is_empty() {
        return Ok(AddRunEventsOutcome::Added { is_cancelled: false });
    }
    let has_webhook_events = !webhook.is_empty();
    let outcome = runs
        .with_store(move |store, config| {
            let _guard = guard;
            store.add_run_events(run, events, webhook, &config.limits, store.now_ms())
        })
        .await?;
    if has_webhook_events {
        runs.inner.jobs.notify_webhooks();
    }
    Ok(outcome)
}

/// Returns the end of a run by the report of the loop.
fn ending(report: RunReport) -> Ending {
    let RunReport { outcome, nothing_read, data, is_schema_valid, message, sources, steps, usage } = report;
    let failed = |stop_reason, error: String| Ending {
        source: AgentErrorSource::Agent,
        ..Ending::failed(stop_reason, error)
    };
    let end = match outcome {
        RunOutcome::Succeeded => {
            Ending { status: RunStatus::Succeeded, error: None, ..Ending::failed("succeeded", "") }
        }
        RunOutcome::Refused(reason) => Ending { status: RunStatus::Refused, ..failed("refused", reason) },
        RunOutcome::Stopped(stop) => Ending::stopped(stop),
        RunOutcome::StepLimit => failed(
            "step_limit_reached",
            format!("the run was not done after {}, the maximum", counted(steps, "step", "steps")),
        ),
        RunOutcome::TokenLimit => {
            failed("token_limit_reached", "the token budget of the run is exhausted".to_owned())
        }
        RunOutcome::Timeout => failed("timeout", TIMEOUT_ERROR.to_owned()),
        RunOutcome::InvalidData(violation) => {
            failed("invalid_data", format!("the data does not follow the schema: {violation}"))
        }
        RunOutcome::Model(error) => {
            failed("model_failed", format!("the language model failed: {}", error.with_advice()))
        }
        RunOutcome::Answers(reason) => failed(
            "model_failed",
            format!("the language model gave no usable answer several times in a row: {reason}"),
        ),
        RunOutcome::Repeats => failed(
            "model_failed",
            "the language model repeated its steps and did not end the task".to_owned(),
        ),
    };
    let error = match (end.error, nothing_read) {
        (Some(error), Some(reasons)) => Some(format!("{}; {reasons}", error.trim_end_matches('.'))),
        (error, _) => error,
    };
    let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
    Ending { error, data, is_schema_valid: Some(is_schema_valid), message, sources, steps, tokens, ..end }
}

#[cfg(test)]
mod tests {
    use websvc_types::agent::AgentRequest;

    use super::*;

    #[test]
    fn model_gets_no_password() {
        let urls = ["https://user:hunter2@a.test/x", "token@b.test", "https://c.test"];
        let urls = Some(urls.map(str::to_owned).to_vec());
        let request = AgentRequest { urls, ..AgentRequest::new("x") };
        let plan = check_request(&request, &Policy::default()).unwrap().plan;
        let found: Vec<String> = plan.urls.iter().map(url_for_model).collect();
        assert_eq!(found, ["https://a.test/x", "http://b.test/", "https://c.test"]);
    }
}
