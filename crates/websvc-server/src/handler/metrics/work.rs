//! Figures of the work on requests: answers, stages, credits, traces.

use websvc_jobs::{OpenPageCounts, WebhookMetrics};
use websvc_stage::{Distribution, Stage, TraceMetrics};
use websvc_store::{CacheSize, WebhookStats};
use websvc_threat::ScannerHealth;
use websvc_validate::PatternUsage;

use super::lines::{PrometheusText, distribution};
use crate::handler::watch::WebSocketMetrics;
use crate::request_metrics::{Credits, ResponseCounts};
use crate::service::RequestContext;

pub(super) fn answers(answered: &[ResponseCounts]) -> String {
    let mut out = PrometheusText::default();
    let name = "websvc_http_responses_total";
    out.begin(name, "counter", "Answers over HTTP, by group of operations and by status.");
    for ResponseCounts { group, statuses, took: _ } in answered {
        for (status, count) in statuses {
            let status = status.map_or_else(|| "other".to_owned(), |status| status.to_string());
            out.line(name, &[("operation", group.name()), ("status", &status)], &count.to_string());
        }
    }
    let name = "websvc_http_request_duration_seconds";
    out.begin(name, "histogram", "How long requests took, by group of operations.");
    for ResponseCounts { group, statuses: _, took } in answered {
        distribution(&mut out, name, Some(("operation", group.name())), took);
    }
    out.0
}

pub(super) fn sockets(figures: WebSocketMetrics) -> String {
    let WebSocketMetrics { open, frames } = figures;
    let mut out = PrometheusText::default();
    let name = "websvc_sockets";
    out.begin(name, "gauge", "Open sockets that tell how jobs go.");
    out.line(name, &[], &open.to_string());
    let name = "websvc_socket_frames_total";
    out.begin(name, "counter", "Frames that were sent over sockets that have closed.");
    out.line(name, &[], &frames.to_string());
    out.0
}

pub(super) fn stages(stages: &[(Stage, Distribution)]) -> String {
    let mut out = PrometheusText::default();
    let name = "websvc_stage_duration_seconds";
    out.begin(name, "histogram", "How long the stages of requests took; some are within others.");
    for (stage, took) in stages {
        distribution(&mut out, name, Some(("stage", stage.name())), took);
    }
    out.0
}

/// Writes what was charged: for requests, and for the pages of jobs.
pub(super) fn credits(credits: Credits, jobs: [(&str, u64); 2]) -> String {
    let Credits { charged, refused } = credits;
    let mut out = PrometheusText::default();
    let name = "websvc_credits_charged_total";
    out.begin(name, "counter", "Credits that were charged, by operation.");
    for (operation, count) in charged.into_iter().chain(jobs) {
        out.line(name, &[("operation", operation)], &count.to_string());
    }
    let name = "websvc_credits_refused_total";
    out.begin(name, "counter", "Requests that were refused because the team had not enough credits.");
    out.line(name, &[], &refused.to_string());
    out.0
}

/// Writes what the path patterns of crawls and maps take.
pub(super) fn path_patterns(usage: PatternUsage) -> String {
    let mut out = PrometheusText::default();
    for (name, help, value) in [
        (
            "websvc_path_patterns",
            "Different path patterns of crawls and maps that are in use.",
            usage.patterns,
        ),
        ("websvc_path_pattern_bytes", "The most memory that they take when compiled.", usage.bytes),
    ] {
        out.begin(name, "gauge", help);
        out.line(name, &[], &value.to_string());
    }
    out.0
}

/// Writes how many pages of jobs are not done, and what became of the events of jobs.
pub(super) async fn jobs(context: &RequestContext<'_>) -> String {
    let mut out = PrometheusText::default();
    if let Ok(OpenPageCounts { in_flight, queued }) = context.jobs.pages(None).await {
        let name = "websvc_job_pages";
        out.begin(name, "gauge", "Pages of jobs that are worked on, or wait.");
        for (state, count) in [("in_work", in_flight), ("waiting", queued)] {
            out.line(name, &[("state", state)], &count.to_string());
        }
    }
    let WebhookMetrics { delivered, failed, dead_letters } = context.jobs.webhook_metrics();
    let name = "websvc_webhook_deliveries_total";
    out.begin(
        name,
        "counter",
        "Events of jobs: delivered, tries that failed, and those that became dead letters.",
    );
    for (outcome, count) in [("delivered", delivered), ("failed", failed), ("dead", dead_letters)] {
        out.line(name, &[("outcome", outcome)], &count.to_string());
    }
    if let Ok(WebhookStats { pending, dead_letters }) = context.jobs.webhook_stats().await {
        let name = "websvc_webhook_events";
        out.begin(name, "gauge", "Events of jobs that wait to be delivered, and dead letters that are kept.");
        for (state, count) in [("waiting", pending), ("dead", dead_letters)] {
            out.line(name, &[("state", state)], &count.to_string());
        }
    }
    out.0
}

pub(super) fn traces(figures: TraceMetrics) -> String {
    let TraceMetrics { exported, dropped, failed } = figures;
    let mut out = PrometheusText::default();
    let name = "websvc_trace_spans_total";
    out.begin(name, "counter", "Spans for the collector of traces, by what became of them.");
    for (fate, count) in [("exported", exported), ("dropped", dropped), ("failed", failed)] {
        out.line(name, &[("fate", fate)], &count.to_string());
    }
    out.0
}

pub(super) fn cache_size(size: CacheSize) -> String {
    let CacheSize { pages, bytes } = size;
    let mut out = PrometheusText::default();
    for (name, help, value) in [
        ("websvc_page_cache_pages", "Pages in the page cache.", pages),
        ("websvc_page_cache_bytes", "Bytes of the pages in the page cache.", bytes),
    ] {
        out.begin(name, "gauge", help);
        out.line(name, &[], &value.to_string());
    }
    out.0
}

pub(super) fn scanner_state(condition: &ScannerHealth) -> String {
    let mut out = PrometheusText::default();
    let name = "websvc_threat_scanner_state";
    out.begin(name, "gauge", "1 for the state that the scanner of URLs is in, 0 for the others.");
    let now = match condition {
        ScannerHealth::Ok => "ok",
        ScannerHealth::Paused { .. } => "paused",
        ScannerHealth::Probing { .. } => "probing",
    };
    for state in ["ok", "paused", "probing"] {
        out.line(name, &[("state", state)], if state == now { "1" } else { "0" });
    }
    out.0
}
