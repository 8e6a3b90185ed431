//! `GET /metrics`: figures of the sources, the mirrors, the page cache and the browser, as Prometheus reads them (text format 0.0.4).
//!
//! Labels have few values: the names of the configuration, outcomes, and kinds of reasons.

mod lines;
mod work;

use http::StatusCode;
use websvc_audit::{AuditMetrics, SinkMetrics};
use websvc_browser::{BrowserMetrics, WAIT_BOUNDS_MS};
use websvc_engine::{LATENCY_BOUNDS_MS, MirrorMetrics, SourceHealth, SourceMetrics};
use websvc_scrape::CacheMetrics;
use websvc_store::JobKind;
use websvc_threat::ThreatMetrics;
use websvc_transport::Body;

use self::lines::{PrometheusText, histogram};
use crate::admission::AdmissionMetrics;
use crate::response::{HttpResponse, with_type};
use crate::service::RequestContext;

/// Returns the figures since the process began.
pub(crate) async fn metrics(context: &RequestContext<'_>) -> HttpResponse {
    let mirrors: Vec<MirrorMetrics> = context.engine.mirrors().iter().map(|mirror| mirror.report()).collect();
    let mut text = text(&context.engine.source_figures(), &mirrors);
    text.push_str(&cache(context.engine.scraper().cache_metrics()));
    let store = context.store.clone();
    if let Ok(Ok(size)) = tokio::task::spawn_blocking(move || store.cache_size()).await {
        text.push_str(&work::cache_size(size));
    }
    text.push_str(&threat(&context.engine.threat().metrics()));
    if let Some(condition) = context.engine.threat().health() {
        text.push_str(&work::scanner_state(&condition));
    }
    text.push_str(&admission(context.admission.figures()));
    text.push_str(&work::answers(&context.meters.all_answered()));
    text.push_str(&work::sockets(context.seats.figures()));
    text.push_str(&work::stages(&context.engine.stages().distributions()));
    let jobs = [JobKind::Batch, JobKind::Crawl].map(|kind| (kind.as_str(), context.jobs.charged(kind)));
    text.push_str(&work::credits(context.meters.credits(), jobs));
    text.push_str(&work::path_patterns(context.engine.path_patterns().usage()));
    text.push_str(&work::jobs(context).await);
    if let Some(traces) = context.traces {
        text.push_str(&work::traces(traces.figures()));
    }
    if let Some(events) = context.audit {
        text.push_str(&audit(&events.report()));
    }
    if let Some(configured) = context.engine.scraper().configured_browser() {
        text.push_str(&browser(&configured.metrics().await));
    }
    with_type(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", Body::from(text))
}

fn text(sources: &[SourceMetrics], mirrors: &[MirrorMetrics]) -> String {
    let mut out = PrometheusText::default();
    out.begin("websvc_build_info", "gauge", "The version of the service.");
    out.line("websvc_build_info", &[("version", env!("CARGO_PKG_VERSION"))], "1");
    source_requests(&mut out, sources);
    durations(&mut out, sources);
    states(&mut out, sources);
    if !mirrors.is_empty() {
        out.begin(
            "websvc_mirror_pages_total",
            "counter",
            "Pages for a mirror of the index, by what became of them.",
        );
        for MirrorMetrics { name, written, refused, lost, first_failure: _ } in mirrors {
            for (fate, count) in [("written", written), ("refused", refused), ("lost", lost)] {
                let labels = [("source", name.as_str()), ("fate", fate)];
                out.line("websvc_mirror_pages_total", &labels, &count.to_string());
            }
        }
    }
    out.0
}

fn cache(report: CacheMetrics) -> String {
    let CacheMetrics { stored, failed, skipped, is_full, hits_in_memory, hits, hit_bytes, misses } = report;
    let mut out = PrometheusText::default();
    let name = "websvc_page_cache_pages_total";
    out.begin(
        name,
        "counter",
        "Fetched pages that were to be kept in the page cache, by what became of them.",
    );
    for (fate, count) in [("stored", stored), ("failed", failed), ("passed_over", skipped)] {
        out.line(name, &[("fate", fate)], &count.to_string());
    }
    let name = "websvc_page_cache_full";
    out.begin(name, "gauge", "1 while nothing is stored because the disk is full.");
    out.line(name, &[], if is_full { "1" } else { "0" });
    let name = "websvc_page_cache_lookups_total";
    out.begin(name, "counter", "Questions to the page cache, by what it had.");
    for (outcome, count) in [("hit_memory", hits_in_memory), ("hit", hits), ("miss", misses)] {
        out.line(name, &[("outcome", outcome)], &count.to_string());
    }
    let name = "websvc_page_cache_hit_bytes_total";
    out.begin(name, "counter", "Bytes of pages as received that the page cache gave.");
    out.line(name, &[], &hit_bytes.to_string());
    out.0
}

fn threat(figures: &ThreatMetrics) -> String {
    let ThreatMetrics { scanner, scanned, cached, failed, blocked, latency_counts, total_us } = figures;
    let mut out = PrometheusText::default();
    let name = "websvc_threat_scans_total";
    out.begin(
        name,
        "counter",
        "Questions to the scanner of URLs, by outcome and by the reason of a failure.",
    );
    let mut line = |outcome: &str, reason: &str, count: u64| {
        out.line(name, &[("scanner", scanner), ("outcome", outcome), ("reason", reason)], &count.to_string());
    };
    line("verdict", "", *scanned);
    line("remembered", "", *cached);
    failed.iter().for_each(|(reason, count)| line("failed", reason, *count));
    let name = "websvc_threat_blocked_total";
    out.begin(name, "counter", "URLs that threat protection blocked, by rule, once for each request.");
    for (rule, count) in blocked {
        out.line(name, &[("rule", rule)], &count.to_string());
    }
    let name = "websvc_threat_scan_duration_seconds";
    out.begin(name, "histogram", "How long the scanner of URLs took to answer or was waited for.");
    let label = Some(("scanner", *scanner));
    histogram(&mut out, name, label, &websvc_threat::LATENCY_BOUNDS_MS, latency_counts, *total_us);
    out.0
}

fn admission(figures: AdmissionMetrics) -> String {
    let AdmissionMetrics {
        in_work,
        waiting,
        computing,
        waiting_to_compute,
        is_overloaded,
        remembered,
        admitted,
        refused_rate,
        refused_concurrency,
        refused_overload,
    } = figures;
    let mut out = PrometheusText::default();
    let name = "websvc_requests_total";
    out.begin(name, "counter", "Requests with a key, by whether they were admitted or why they were not.");
    for (fate, count) in [
        ("admitted", admitted),
        ("refused_rate", refused_rate),
        ("refused_concurrency", refused_concurrency),
        ("refused_overload", refused_overload),
    ] {
        out.line(name, &[("admission", fate)], &count.to_string());
    }
    for (name, help, count) in [
        ("websvc_requests_in_work", "Requests with a key that are worked on.", in_work),
        ("websvc_requests_waiting", "Requests with a key that wait for their turn.", waiting),
        ("websvc_requests_computing", "Of those in work, searches that compute.", computing),
        ("websvc_requests_waiting_to_compute", "Searches that wait for a processor.", waiting_to_compute),
        (
            "websvc_overloaded",
            "1 while requests are rejected because too much is in work.",
            is_overloaded.into(),
        ),
        ("websvc_admission_accounts", "Teams and keys whose requests are remembered.", remembered),
    ] {
        out.begin(name, "gauge", help);
        out.line(name, &[], &count.to_string());
    }
    out.0
}

fn audit(report: &AuditMetrics) -> String {
    let AuditMetrics { recorded, unwritten, spool_bytes, sinks } = report;
    let mut out = PrometheusText::default();
    let name = "websvc_audit_events_total";
    out.begin(name, "counter", "Audit events that were to be written.");
    out.line(name, &[], &recorded.to_string());
    type MetricFn = fn(&SinkMetrics) -> u64;
    let of_sinks: [(&str, &str, &str, MetricFn); 4] = [
        ("websvc_audit_events_delivered_total", "counter", "Audit events that a sink took.", |sink| {
            sink.delivered
        }),
        ("websvc_audit_failures_total", "counter", "Attempts to deliver audit events that failed.", |sink| {
            sink.failures
        }),
        ("websvc_audit_backlog_events", "gauge", "Audit events that wait for a sink.", |sink| sink.backlog),
        ("websvc_audit_sink_failing", "gauge", "1 while a sink takes no audit events.", |sink| {
            u64::from(sink.failure.is_some())
        }),
    ];
    for (name, kind, help, figure) in of_sinks {
        out.begin(name, kind, help);
        for sink in sinks {
            out.line(name, &[("sink", sink.name)], &figure(sink).to_string());
        }
    }
    let name = "websvc_audit_events_lost_total";
    out.begin(
        name,
        "counter",
        "Audit events that a sink will never get, by whether they left the full spool or never came into it.",
    );
    for sink in sinks {
        out.line(name, &[("sink", sink.name), ("reason", "spool")], &sink.lost.to_string());
        out.line(name, &[("sink", sink.name), ("reason", "unwritten")], &unwritten.to_string());
    }
    let name = "websvc_audit_spool_bytes";
    out.begin(name, "gauge", "The spool of audit events on the disk.");
    out.line(name, &[], &spool_bytes.to_string());
    out.0
}

fn browser(figures: &BrowserMetrics) -> String {
    let BrowserMetrics {
        open,
        waiting,
        opened,
        failed,
        started,
        recycled,
        crashed,
        memory_bytes,
        waited,
        waited_us,
    } = figures;
    let mut out = PrometheusText::default();
    let mut one = |name: &str, kind: &str, help: &str, value: u64| {
        out.begin(name, kind, help);
        out.line(name, &[], &value.to_string());
    };
    one("websvc_browser_pages_open", "gauge", "Pages that are open in the browser.", *open);
    one("websvc_browser_pages_waiting", "gauge", "Pages that wait for a place in the browser.", *waiting);
    one("websvc_browser_pages_opened_total", "counter", "Pages that got a place in the browser.", *opened);
    let memory = "The memory of the browser's processes; 0 without one, and of a remote one.";
    one("websvc_browser_memory_bytes", "gauge", memory, *memory_bytes);
    let name = "websvc_browser_pages_failed_total";
    out.begin(name, "counter", "Pages that the browser could not give, by the kind of failure.");
    for (kind, count) in failed {
        out.line(name, &[("kind", kind)], &count.to_string());
    }
    let name = "websvc_browser_processes_total";
    out.begin(name, "counter", "Browsers that were started or connected to, replaced, or lost.");
    for (event, count) in [("started", started), ("recycled", recycled), ("crashed", crashed)] {
        out.line(name, &[("event", event)], &count.to_string());
    }
    let name = "websvc_browser_wait_seconds";
    out.begin(name, "histogram", "How long pages waited for a place in the browser.");
    histogram(&mut out, name, None, &WAIT_BOUNDS_MS, waited, *waited_us);
    out.0
}

fn source_requests(out: &mut PrometheusText, sources: &[SourceMetrics]) {
    let name = "websvc_source_requests_total";
    out.begin(
        name,
        "counter",
        "Questions to a source, by outcome and by the reason when there was no answer.",
    );
    for source in sources {
        let mut line = |outcome: &str, reason: &str, count: u64| {
            let labels = [("source", source.name.as_str()), ("outcome", outcome), ("reason", reason)];
            out.line(name, &labels, &count.to_string());
        };
        line("results", "", source.results);
        line("none", "", source.none);
        for (failure, count) in &source.unavailable {
            line("unavailable", failure.name(), *count);
        }
        line("given_up", "", source.given_up);
    }
}

fn durations(out: &mut PrometheusText, sources: &[SourceMetrics]) {
    let name = "websvc_source_duration_seconds";
    out.begin(name, "histogram", "How long a source took to answer or was waited for.");
    for source in sources {
        let label = ("source", source.name.as_str());
        histogram(out, name, Some(label), &LATENCY_BOUNDS_MS, &source.took, source.total_us);
    }
}

fn states(out: &mut PrometheusText, sources: &[SourceMetrics]) {
    let name = "websvc_source_state";
    out.begin(name, "gauge", "1 for the state that a source is in, 0 for the others.");
    for source in sources {
        let now = match source.condition {
            SourceHealth::Ok => "ok",
            SourceHealth::Paused { .. } => "paused",
            SourceHealth::Probing { .. } => "probing",
        };
        for state in ["ok", "paused", "probing"] {
            let labels = [("source", source.name.as_str()), ("state", state)];
            out.line(name, &labels, if state == now { "1" } else { "0" });
        }
    }
}

#[cfg(test)]
mod tests {
    use websvc_engine::FailureKind;

    use super::*;

    #[test]
    fn figures_of_threat_protection_are_written_without_any_url() {
        let figures = ThreatMetrics {
            scanner: "http",
            scanned: 4,
            cached: 1,
            failed: vec![("timeout", 2)],
            blocked: vec![("score", 3)],
            latency_counts: vec![0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 6],
            total_us: 2_500_000,
        };
        let text = threat(&figures);
        for line in [
            "websvc_threat_scans_total{scanner=\"http\",outcome=\"verdict\"} 4",
            "websvc_threat_scans_total{scanner=\"http\",outcome=\"failed\",reason=\"timeout\"} 2",
            "websvc_threat_blocked_total{rule=\"score\"} 3",
            "websvc_threat_scan_duration_seconds_bucket{scanner=\"http\",le=\"0.005\"} 4",
            "websvc_threat_scan_duration_seconds_bucket{scanner=\"http\",le=\"+Inf\"} 6",
            "websvc_threat_scan_duration_seconds_sum{scanner=\"http\"} 2.5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn the_browser_is_written_with_its_waiting() {
        let figures = BrowserMetrics {
            open: 2,
            waiting: 1,
            opened: 9,
            failed: vec![("busy", 3)],
            started: 4,
            recycled: 1,
            crashed: 2,
            memory_bytes: 123,
            waited: vec![1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 9],
            waited_us: 2_500_000,
        };
        let text = browser(&figures);
        for line in [
            "websvc_browser_pages_open 2",
            "websvc_browser_pages_waiting 1",
            "websvc_browser_pages_opened_total 9",
            "websvc_browser_memory_bytes 123",
            "websvc_browser_pages_failed_total{kind=\"busy\"} 3",
            "websvc_browser_processes_total{event=\"crashed\"} 2",
            "# TYPE websvc_browser_wait_seconds histogram",
            "websvc_browser_wait_seconds_bucket{le=\"0.01\"} 2",
            "websvc_browser_wait_seconds_bucket{le=\"+Inf\"} 9",
            "websvc_browser_wait_seconds_sum 2.5",
            "websvc_browser_wait_seconds_count 9",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn figures_are_written_as_prometheus_reads_them() {
        let source = SourceMetrics {
            name: "a\"b".to_owned(),
            results: 3,
            none: 2,
            unavailable: vec![(FailureKind::Timeout, 1)],
            given_up: 0,
            took: vec![0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5, 6],
            total_us: 12_500_000,
            last_failure: None,
            condition: SourceHealth::Probing { reason: "x".to_owned() },
        };
        let mirror = MirrorMetrics {
            name: "es".to_owned(),
            written: 7,
            refused: 1,
            lost: 0,
            first_failure: Some("x".to_owned()),
        };
        let text = text(&[source], &[mirror]);
        for line in [
            "# TYPE websvc_source_requests_total counter",
            "websvc_source_requests_total{source=\"a\\\"b\",outcome=\"results\"} 3",
            "websvc_source_requests_total{source=\"a\\\"b\",outcome=\"unavailable\",reason=\"timeout\"} 1",
            "websvc_source_duration_seconds_bucket{source=\"a\\\"b\",le=\"0.001\"} 0",
            "websvc_source_duration_seconds_bucket{source=\"a\\\"b\",le=\"10\"} 5",
            "websvc_source_duration_seconds_bucket{source=\"a\\\"b\",le=\"+Inf\"} 6",
            "websvc_source_duration_seconds_sum{source=\"a\\\"b\"} 12.5",
            "websvc_source_duration_seconds_count{source=\"a\\\"b\"} 6",
            "websvc_source_state{source=\"a\\\"b\",state=\"ok\"} 0",
            "websvc_source_state{source=\"a\\\"b\",state=\"probing\"} 1",
            "websvc_mirror_pages_total{source=\"es\",fate=\"written\"} 7",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
