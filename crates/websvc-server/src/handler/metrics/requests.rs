//! Metrics of requests and jobs: responses, WebSockets, stages, credits, webhooks and traces.

use websvc_jobs::{OpenPageCounts, WebhookMetrics};
use websvc_monitor::CheckMetrics;
use websvc_runs::RunCounts;
use websvc_stage::{Distribution, Stage, TraceMetrics};
use websvc_store::{DatabaseMetrics, MonitorMetrics, PoolMetrics, RunMetrics, WebhookStats};
use websvc_validate::PatternUsage;

use super::prometheus::{MetricKind, Metrics};
use crate::forwarding::ForwardingMetrics;
use crate::handler::watch::WebSocketMetrics;
use crate::request_metrics::{CreditCounts, ResponseCounts};
use crate::scrape_results::ResultWriteMetrics;
use crate::service::RequestContext;

pub(super) fn responses(out: &mut Metrics, responses: &[ResponseCounts]) {
    let help = "HTTP responses by group of operations and status.";
    let family = out.family("websvc_http_responses_total", MetricKind::Counter, help);
    for ResponseCounts { group, statuses, durations: _ } in responses {
        for (status, count) in statuses {
            let status = status.map_or_else(|| "other".to_owned(), |status| status.to_string());
            family.sample(&[("operation", group.name()), ("status", &status)], count);
        }
    }
    let help = "Durations of requests by group of operations.";
    let family = out.family("websvc_http_request_duration_seconds", MetricKind::Histogram, help);
    for ResponseCounts { group, statuses: _, durations } in responses {
        family.distribution(Some(("operation", group.name())), durations);
    }
}

pub(super) fn websockets(out: &mut Metrics, metrics: WebSocketMetrics) {
    let WebSocketMetrics { open, frames_sent } = metrics;
    out.gauge("websvc_websockets_open", "Open WebSockets that report the progress of jobs.", open);
    let help = "Frames that were sent over closed WebSockets.";
    out.counter("websvc_websocket_frames_sent_total", help, frames_sent);
}

pub(super) fn forwarded(out: &mut Metrics, metrics: &ForwardingMetrics) {
    let ForwardingMetrics { answered, failed, rejected } = metrics;
    let help = "Requests that were passed on to the replica with the browser session by outcome.";
    let outcomes = [("answered", answered), ("failed", failed), ("rejected", rejected)];
    out.counters("websvc_forwarded_requests_total", help, "outcome", outcomes);
}

pub(super) fn scrape_result_writes(out: &mut Metrics, metrics: &ResultWriteMetrics) {
    let ResultWriteMetrics { written, dropped } = metrics;
    let help = "Results of scrapes for the other processes of the service by outcome.";
    let outcomes = [("stored", written), ("dropped", dropped)];
    out.counters("websvc_scrape_result_writes_total", help, "outcome", outcomes);
}

pub(super) fn stages(out: &mut Metrics, stages: &[(Stage, Distribution)]) {
    let help = "Durations of the stages of requests. Some stages are within others.";
    let family = out.family("websvc_stage_duration_seconds", MetricKind::Histogram, help);
    for (stage, durations) in stages {
        family.distribution(Some(("stage", stage.name())), durations);
    }
}

/// Adds the credits that were charged for requests and for the pages of jobs.
pub(super) fn credits(out: &mut Metrics, credits: &CreditCounts, jobs: [(&'static str, u64); 2]) {
    let CreditCounts { charged, rejected } = credits;
    let help = "Charged credits by operation.";
    let charged = charged.counts().into_iter().chain(jobs);
    out.counters("websvc_credits_charged_total", help, "operation", charged);
    let help = "Requests that were rejected because the team had too few credits.";
    out.counter("websvc_credits_refused_total", help, rejected);
}

/// Adds the statements and connections of the database.
pub(super) fn database(out: &mut Metrics, metrics: DatabaseMetrics) {
    let DatabaseMetrics { statements, pools, busy, takeovers, unwritten_usage } = metrics;
    // A file has no statements to a server, and a family without samples is none.
    if !statements.is_empty() {
        let help = "Durations of the statements to the database server, failed ones included.";
        let family = out.family("websvc_database_statement_duration_seconds", MetricKind::Histogram, help);
        for (class, durations) in &statements {
            family.distribution(Some(("class", class)), durations);
        }
    }
    let help = "Connections to the database.";
    let family = out.family("websvc_database_connections", MetricKind::Gauge, help);
    for (pool, PoolMetrics { used, idle, waits: _ }) in &pools {
        family.sample(&[("pool", pool), ("state", "used")], *used);
        family.sample(&[("pool", pool), ("state", "idle")], *idle);
    }
    let help = "Time for which work waited because all connections to the database were used.";
    let family = out.family("websvc_database_connection_wait_seconds", MetricKind::Histogram, help);
    for (pool, PoolMetrics { waits, .. }) in &pools {
        family.distribution(Some(("pool", pool)), waits);
    }
    let help = "Statements that gave up waiting for a lock or a connection of the database.";
    out.counter("websvc_database_busy_total", help, busy);
    let help = "Lost replicas whose work this one made free for the others.";
    out.counter("websvc_replica_takeovers_total", help, takeovers);
    let help = "Rows of the usage log that are not in the database yet.";
    out.gauge("websvc_usage_unwritten_rows", help, unwritten_usage);
}

/// Adds the compiled path patterns of crawls and maps.
pub(super) fn path_patterns(out: &mut Metrics, usage: PatternUsage) {
    let help = "Distinct path patterns of crawls and maps in use.";
    out.gauge("websvc_path_patterns", help, usage.patterns);
    out.gauge("websvc_path_pattern_bytes", "Maximum size of these patterns when compiled.", usage.bytes);
}

/// Adds the unfinished pages of jobs, and the webhook events.
pub(super) async fn jobs(out: &mut Metrics, context: &RequestContext<'_>) {
    let jobs = &context.state.jobs;
    if let Ok(OpenPageCounts { in_flight, queued }) = jobs.pages(None).await {
        let states = [("in_flight", in_flight), ("waiting", queued)];
        out.gauges("websvc_job_pages", "Unfinished pages of jobs by state.", "state", states);
    }
    let WebhookMetrics { delivered, failed, dead_letters } = jobs.webhook_metrics();
    let help =
        "Deliveries of webhook events: delivered, failed attempts, and events that became dead letters.";
    let outcomes = [("delivered", delivered), ("failed", failed), ("dead", dead_letters)];
    out.counters("websvc_webhook_deliveries_total", help, "outcome", outcomes);
    if let Ok(WebhookStats { pending, dead_letters }) = jobs.webhook_stats().await {
        let help = "Stored webhook events: waiting for delivery, and dead letters.";
        out.gauges("websvc_webhook_events", help, "state", [("waiting", pending), ("dead", dead_letters)]);
    }
}

/// Adds the monitors and their checks.
pub(super) async fn monitors(out: &mut Metrics, context: &RequestContext<'_>) {
    let Ok(metrics) = context.state.monitors.metrics().await else { return };
    let MonitorMetrics { active, paused, due, running, messages } = metrics;
    let statuses = [("active", active), ("paused", paused)];
    out.gauges("websvc_monitors", "Monitors by status.", "status", statuses);
    out.gauge("websvc_monitors_due", "Active monitors whose next check is due and not started.", due);
    out.gauge("websvc_monitor_checks_running", "Checks of monitors that are queued or running.", running);
    let help = "Emails and Slack messages of monitors that wait or are being sent.";
    out.gauge("websvc_monitor_messages_waiting", help, messages);
    let help = "Emails and Slack messages of monitors by kind and outcome: sent, attempts that are repeated, messages \
                that failed for good, and messages that were no longer wanted.";
    let family = out.family("websvc_monitor_messages_total", MetricKind::Counter, help);
    for ((kind, outcome), count) in context.state.monitors.message_metrics().counts() {
        family.sample(&[("kind", kind.as_str()), ("outcome", outcome.name())], count);
    }
}

/// Adds the checks of this process.
pub(super) fn monitor_checks(out: &mut Metrics, metrics: &CheckMetrics) {
    let CheckMetrics { ended, start_delay } = metrics;
    let help = "Checks of monitors that ended, by status.";
    let ended = ended.counts().into_iter().map(|(status, count)| (status.as_str(), count));
    out.counters("websvc_monitor_checks_total", help, "status", ended);
    let help = "Start delay of scheduled checks of monitors.";
    out.histogram("websvc_monitor_check_start_delay_seconds", help, start_delay);
}

/// Adds the agent runs of all processes, and those that this process has ended.
pub(super) async fn runs(out: &mut Metrics, context: &RequestContext<'_>) {
    if let Ok(RunMetrics { queued, running, stored }) = context.state.runs.metrics().await {
        let help = "Agent runs and extractions that wait or work.";
        out.gauges("websvc_runs_open", help, "status", [("queued", queued), ("running", running)]);
        out.gauge("websvc_runs_stored", "Stored agent runs and extractions.", stored);
    }
    let RunCounts { ended, steps, tokens } = context.state.runs.counts();
    let help = "Agent runs and extractions that ended, by status.";
    let ended = ended.counts().into_iter().map(|(status, count)| (status.as_str(), count));
    out.counters("websvc_runs_total", help, "status", ended);
    out.counter("websvc_run_steps_total", "Steps of agent runs that ended.", steps);
    out.counter("websvc_run_tokens_total", "Tokens of the language model in runs that ended.", tokens);
}

pub(super) fn traces(out: &mut Metrics, metrics: &TraceMetrics) {
    let TraceMetrics { exported, dropped, failed } = metrics;
    let help = "Spans for the trace collector by outcome.";
    let outcomes = [("exported", exported), ("dropped", dropped), ("failed", failed)];
    out.counters("websvc_trace_spans_total", help, "outcome", outcomes);
}
