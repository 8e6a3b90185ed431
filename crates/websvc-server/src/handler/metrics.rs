//! `GET /metrics`: the metrics of the service in the text format of Prometheus.
//!
//! Labels have few values: names of the configuration, outcomes and kinds of reasons.

mod models;
mod process;
mod prometheus;
mod requests;
mod semantic;
mod sessions;

use http::StatusCode;
use websvc_audit::{AuditMetrics, SinkMetrics};
use websvc_browser::BrowserMetrics;
use websvc_engine::{MirrorMetrics, OutboxStatus, SourceHealth, SourceMetrics};
use websvc_scrape::media::MediaMetrics;
use websvc_scrape::threat::{ScannerHealth, ThreatMetrics};
use websvc_scrape::{CacheMetrics, Scraper};
use websvc_store::{CacheSize, JobKind};
use websvc_transport::Body;

use self::prometheus::{MetricKind, Metrics};
use crate::admission::AdmissionMetrics;
use crate::response::{HttpResponse, with_type};
use crate::route::{Endpoint, OperationGroup, handler};
use crate::service::RequestContext;

/// The path of the metrics, which need a key if other machines can reach this address.
pub(crate) const PATH: &str = "/metrics";

pub(crate) const ENDPOINTS: &[Endpoint] =
    &[Endpoint::get(PATH, OperationGroup::Status, handler!(|context, _| Ok(metrics(&context).await)))
        .public()];

/// The states of a circuit breaker: closed, open and half-open.
const STATES: [&str; 3] = ["ok", "paused", "probing"];

/// Returns the metrics since the start of the process.
async fn metrics(context: &RequestContext<'_>) -> HttpResponse {
    let state = context.state;
    let engine = &state.engine;
    let mut out = Metrics::default();
    let build_info = out.family("websvc_build_info", MetricKind::Gauge, "The version of the service.");
    build_info.sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    let help =
        "How far the clock of this machine is ahead of the time of the service; negative if it is behind.";
    out.gauge("websvc_clock_skew_seconds", help, seconds(state.store.clock().skew_ms()));
    sources(&mut out, &engine.source_metrics());
    let mirror_metrics: Vec<MirrorMetrics> = engine.mirrors().iter().map(|mirror| mirror.metrics()).collect();
    mirrors(&mut out, &mirror_metrics);
    cache(&mut out, engine.scraper());
    process::process(&mut out);
    let store = state.store.clone();
    let reading = websvc_transport::spawn_blocking(move || (store.cache_size(), store.disk_space()));
    if let Ok((size, space)) = reading.await {
        if let Ok(size) = size {
            cache_size(&mut out, size);
        }
        if let Some(space) = space {
            process::disk(&mut out, space);
        }
    }
    requests::database(&mut out, state.store.database_metrics());
    if let Some(metrics) = state.scrape_results.write_metrics() {
        requests::scrape_result_writes(&mut out, metrics);
    }
    threat(&mut out, engine.threat().scanner_name().unwrap_or("none"), engine.threat().metrics());
    if let Some(health) = engine.threat().health() {
        scanner_state(&mut out, &health);
    }
    admission(&mut out, state.admission.metrics());
    requests::responses(&mut out, &state.metrics.responses());
    requests::websockets(&mut out, state.websockets.metrics());
    if let Some(metrics) = state.forwarding.metrics() {
        requests::forwarded(&mut out, metrics);
    }
    requests::stages(&mut out, &engine.stages().distributions());
    let job_credits = [JobKind::Batch, JobKind::Crawl].map(|kind| (kind.as_str(), state.jobs.charged(kind)));
    requests::credits(&mut out, state.metrics.credits(), job_credits);
    requests::path_patterns(&mut out, engine.path_patterns().usage());
    requests::jobs(&mut out, context).await;
    requests::monitors(&mut out, context).await;
    requests::monitor_checks(&mut out, state.monitors.check_metrics());
    requests::runs(&mut out, context).await;
    if let Some(metrics) = engine.model().and_then(|model| model.metrics()) {
        models::models(&mut out, &metrics);
    }
    semantic::semantic(&mut out, engine.index()).await;
    if let Some(traces) = &state.traces {
        requests::traces(&mut out, traces);
    }
    if let Some(events) = &state.audit {
        audit(&mut out, &events.metrics());
    }
    if let Some(downloader) = engine.media().downloader() {
        media(&mut out, downloader.metrics());
    }
    if let Some(configured) = engine.scraper().configured_browser() {
        let memory_bytes = configured.memory_bytes().await;
        browser(&mut out, configured.metrics(), configured.open_pages(), memory_bytes);
        sessions::sessions(&mut out, &state.browser_sessions);
        sessions::prompts(&mut out, state.browser_sessions.prompt_metrics());
    }
    let body = Body::from(out.write());
    with_type(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", body)
}

/// Returns milliseconds in seconds.
#[expect(clippy::cast_precision_loss, reason = "a difference of two times is far below 2^53 ms")]
fn seconds(ms: i64) -> f64 {
    ms as f64 / 1000.0
}

fn media(out: &mut Metrics, metrics: &MediaMetrics) {
    let MediaMetrics { downloads, bytes } = metrics;
    let help = "Downloads of media by format and outcome.";
    let family = out.family("websvc_media_downloads_total", MetricKind::Counter, help);
    for ((kind, outcome), count) in downloads.counts() {
        family.sample(&[("format", kind.name()), ("outcome", outcome)], count);
    }
    out.counter("websvc_media_bytes_total", "Size of the downloaded media.", bytes);
}

fn mirrors(out: &mut Metrics, mirrors: &[MirrorMetrics]) {
    if mirrors.is_empty() {
        return;
    }
    let help = "Pages for a mirror of the index by outcome.";
    let family = out.family("websvc_mirror_pages_total", MetricKind::Counter, help);
    for MirrorMetrics { name, written, refused, lost, .. } in mirrors {
        for (outcome, count) in [("written", written), ("refused", refused), ("lost", lost)] {
            family.sample(&[("source", name), ("outcome", outcome)], count);
        }
    }
    type MetricFn = fn(&OutboxStatus) -> u64;
    let gauges: [(&str, &str, MetricFn); 3] = [
        ("websvc_mirror_outbox_pages", "Pages that wait for a mirror.", |outbox| outbox.pages),
        ("websvc_mirror_outbox_bytes", "Size of the pages that wait for a mirror.", |outbox| outbox.bytes),
        ("websvc_mirror_lag_seconds", "Time for which the oldest page waits for a mirror.", |outbox| {
            outbox.lag.as_secs()
        }),
    ];
    for (name, help, value) in gauges {
        let family = out.family(name, MetricKind::Gauge, help);
        for mirror in mirrors {
            family.sample(&[("source", &mirror.name)], value(&mirror.outbox));
        }
    }
}

fn cache(out: &mut Metrics, scraper: &Scraper) {
    let CacheMetrics { stored, failed, skipped, hits_in_memory, hits, hit_bytes, misses, stale, revalidated } =
        scraper.cache_metrics();
    let help = "Writes of fetched pages to the page cache by outcome.";
    let outcomes = [("stored", stored), ("failed", failed), ("skipped", skipped)];
    out.counters("websvc_page_cache_writes_total", help, "outcome", outcomes);
    let help = "1 while no pages are stored because the disk is full.";
    out.gauge("websvc_page_cache_full", help, u8::from(scraper.is_cache_full()));
    let help = "Lookups in the page cache by outcome. miss includes stale, and stale includes revalidated.";
    let outcomes = [
        ("hit_memory", hits_in_memory),
        ("hit", hits),
        ("miss", misses),
        ("stale", stale),
        ("revalidated", revalidated),
    ];
    out.counters("websvc_page_cache_lookups_total", help, "outcome", outcomes);
    let help = "Size of the bodies that the page cache returned, as received.";
    out.counter("websvc_page_cache_hit_bytes_total", help, hit_bytes);
}

fn cache_size(out: &mut Metrics, size: CacheSize) {
    let CacheSize { pages, bytes } = size;
    out.gauge("websvc_page_cache_pages", "Pages in the page cache.", pages);
    out.gauge("websvc_page_cache_bytes", "Size of the pages in the page cache.", bytes);
}

fn threat(out: &mut Metrics, scanner: &str, metrics: &ThreatMetrics) {
    let ThreatMetrics { scanned, cached, failed, blocked, scans } = metrics;
    let help = "Checks of URLs by the threat scanner, by outcome and by the reason of a failure.";
    let family = out.family("websvc_threat_scans_total", MetricKind::Counter, help);
    let mut sample = |outcome: &str, reason: &str, count: u64| {
        family.sample(&[("scanner", scanner), ("outcome", outcome), ("reason", reason)], count);
    };
    sample("scanned", "", scanned.get());
    sample("cached", "", cached.get());
    failed.counts().into_iter().for_each(|(reason, count)| sample("failed", reason, count));
    let help = "URLs that threat protection blocked, by rule, once for each request.";
    out.counters("websvc_threat_blocked_total", help, "rule", blocked.counts());
    let help = "Durations of requests to the threat scanner, cancelled ones included.";
    let family = out.family("websvc_threat_scan_duration_seconds", MetricKind::Histogram, help);
    family.distribution(Some(("scanner", scanner)), &scans.distribution());
}

fn scanner_state(out: &mut Metrics, health: &ScannerHealth) {
    let help = "1 for the current state of the threat scanner, 0 for the others.";
    let family = out.family("websvc_threat_scanner_state", MetricKind::Gauge, help);
    let current = match health {
        ScannerHealth::Ok => "ok",
        ScannerHealth::Paused { .. } => "paused",
        ScannerHealth::Probing { .. } => "probing",
    };
    family.states(None, &STATES, current);
}

fn admission(out: &mut Metrics, metrics: AdmissionMetrics) {
    let AdmissionMetrics {
        in_flight,
        queued,
        searches_running,
        searches_queued,
        is_overloaded,
        tracked_accounts,
        admitted,
        rejected_rate,
        rejected_concurrency,
        rejected_overload,
    } = metrics;
    let help = "Requests with a key, by the decision to admit or to reject them.";
    let decisions = [
        ("admitted", admitted),
        ("rejected_rate", rejected_rate),
        ("rejected_concurrency", rejected_concurrency),
        ("rejected_overload", rejected_overload),
    ];
    out.counters("websvc_admission_decisions_total", help, "decision", decisions);
    out.gauge("websvc_requests_in_flight", "Requests with a key in flight.", in_flight);
    out.gauge("websvc_requests_queued", "Requests with a key in the admission queue.", queued);
    out.gauge("websvc_searches_running", "Searches in flight that use a processor.", searches_running);
    out.gauge("websvc_searches_queued", "Searches in flight that wait for a processor.", searches_queued);
    let help = "1 while requests are rejected because of overload.";
    out.gauge("websvc_overloaded", help, u8::from(is_overloaded));
    let help = "Teams and keys whose requests are tracked for limits.";
    out.gauge("websvc_admission_tracked_accounts", help, tracked_accounts);
}

fn audit(out: &mut Metrics, metrics: &AuditMetrics) {
    let AuditMetrics { recorded, unwritten, spool_bytes, sinks } = metrics;
    out.counter("websvc_audit_events_total", "Recorded audit events.", recorded);
    type MetricFn = fn(&SinkMetrics) -> u64;
    let sink_metrics: [(&str, MetricKind, &str, MetricFn); 4] = [
        (
            "websvc_audit_events_delivered_total",
            MetricKind::Counter,
            "Audit events that were delivered to a sink.",
            |sink| sink.delivered,
        ),
        (
            "websvc_audit_failures_total",
            MetricKind::Counter,
            "Failed attempts to deliver audit events.",
            |sink| sink.failures,
        ),
        (
            "websvc_audit_backlog_events",
            MetricKind::Gauge,
            "Audit events that wait for delivery to a sink.",
            |sink| sink.backlog,
        ),
        ("websvc_audit_sink_failing", MetricKind::Gauge, "1 while a sink accepts no audit events.", |sink| {
            u64::from(sink.failure.is_some())
        }),
    ];
    for (name, kind, help, value) in sink_metrics {
        let family = out.family(name, kind, help);
        for sink in sinks {
            family.sample(&[("sink", sink.name)], value(sink));
        }
    }
    let help = "Audit events that are lost for a sink: dropped from the full spool, or never written to it.";
    let family = out.family("websvc_audit_events_lost_total", MetricKind::Counter, help);
    for sink in sinks {
        family.sample(&[("sink", sink.name), ("reason", "spool")], sink.lost);
        family.sample(&[("sink", sink.name), ("reason", "unwritten")], unwritten);
    }
    out.gauge("websvc_audit_spool_bytes", "Size of the spool of audit events on the disk.", spool_bytes);
}

fn browser(out: &mut Metrics, metrics: &BrowserMetrics, open: u64, memory_bytes: u64) {
    let BrowserMetrics { opened, failed, started, recycled, crashed, waited, .. } = metrics;
    out.gauge("websvc_browser_pages_open", "Open pages in the browser.", open);
    let help = "Pages that wait for a permit of the browser.";
    out.gauge("websvc_browser_pages_waiting", help, metrics.waiting());
    out.counter("websvc_browser_pages_opened_total", "Pages that got a permit of the browser.", opened);
    let help = "Memory of the browser's processes; 0 without a browser and for a remote one.";
    out.gauge("websvc_browser_memory_bytes", help, memory_bytes);
    let help = "Pages that the browser could not render, by the kind of failure.";
    out.counters("websvc_browser_pages_failed_total", help, "kind", failed.counts());
    let help = "Browsers that were started or connected to, replaced, or lost.";
    let events = [("started", started), ("recycled", recycled), ("crashed", crashed)];
    out.counters("websvc_browser_processes_total", help, "event", events);
    let help = "Time that pages waited for a permit of the browser.";
    out.histogram("websvc_browser_wait_seconds", help, waited);
}

fn sources(out: &mut Metrics, sources: &[SourceMetrics]) {
    let help = "Requests to a source, by outcome and by the reason if it was unavailable.";
    let family = out.family("websvc_source_requests_total", MetricKind::Counter, help);
    for source in sources {
        let mut sample = |outcome: &str, reason: &str, count: u64| {
            family.sample(&[("source", &source.name), ("outcome", outcome), ("reason", reason)], count);
        };
        sample("results", "", source.results);
        sample("empty", "", source.empty);
        for (failure, count) in &source.unavailable {
            sample("unavailable", failure.name(), *count);
        }
        sample("cancelled", "", source.cancelled);
    }
    let help = "Durations of requests to a source, cancelled ones included.";
    let family = out.family("websvc_source_duration_seconds", MetricKind::Histogram, help);
    for source in sources {
        family.distribution(Some(("source", &source.name)), &source.latencies);
    }
    let help = "1 for the current state of a source, 0 for the others.";
    let family = out.family("websvc_source_state", MetricKind::Gauge, help);
    for source in sources {
        let current = match source.health {
            SourceHealth::Ok => "ok",
            SourceHealth::Paused { .. } => "paused",
            SourceHealth::Probing { .. } => "probing",
        };
        family.states(Some(("source", &source.name)), &STATES, current);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use websvc_engine::FailureKind;
    use websvc_stage::Distribution;

    use super::*;

    #[track_caller]
    fn check(add: impl FnOnce(&mut Metrics), expected: &[&str]) {
        let mut metrics = Metrics::default();
        add(&mut metrics);
        let text = metrics.write();
        for line in expected {
            assert!(text.lines().any(|found| found == *line), "{line}\n{text}");
        }
    }

    #[test]
    fn metrics_of_threat_protection_contain_no_url() {
        let metrics = ThreatMetrics::default();
        metrics.scanned.add(4);
        metrics.failed.add("timeout", 2);
        metrics.blocked.add("score", 3);
        for ms in [5, 2_600] {
            metrics.scans.count(Duration::from_millis(ms));
        }
        check(
            |out| threat(out, "http", &metrics),
            &[
                "websvc_threat_scans_total{scanner=\"http\",outcome=\"scanned\"} 4",
                "websvc_threat_scans_total{scanner=\"http\",outcome=\"failed\",reason=\"timeout\"} 2",
                "websvc_threat_blocked_total{rule=\"score\"} 3",
                "websvc_threat_scan_duration_seconds_bucket{scanner=\"http\",le=\"0.005\"} 1",
                "websvc_threat_scan_duration_seconds_bucket{scanner=\"http\",le=\"+Inf\"} 2",
                "websvc_threat_scan_duration_seconds_sum{scanner=\"http\"} 2.605",
            ],
        );
    }

    #[test]
    fn metrics_of_the_browser_contain_its_waiting_time() {
        let metrics = BrowserMetrics::default();
        metrics.opened.add(9);
        metrics.failed.add("busy", 3);
        metrics.crashed.add(2);
        for ms in [10, 40_000] {
            metrics.waited.count(Duration::from_millis(ms));
        }
        check(
            |out| browser(out, &metrics, 2, 123),
            &[
                "websvc_browser_pages_open 2",
                "websvc_browser_pages_waiting 0",
                "websvc_browser_pages_opened_total 9",
                "websvc_browser_memory_bytes 123",
                "websvc_browser_pages_failed_total{kind=\"busy\"} 3",
                "websvc_browser_processes_total{event=\"crashed\"} 2",
                "# TYPE websvc_browser_wait_seconds histogram",
                "websvc_browser_wait_seconds_bucket{le=\"0.01\"} 1",
                "websvc_browser_wait_seconds_bucket{le=\"+Inf\"} 2",
                "websvc_browser_wait_seconds_sum 40.01",
                "websvc_browser_wait_seconds_count 2",
            ],
        );
    }

    #[test]
    fn metrics_of_sources_and_mirrors_are_valid_prometheus_text() {
        let source = SourceMetrics {
            name: "a\"b".to_owned(),
            results: 3,
            empty: 2,
            unavailable: vec![(FailureKind::Timeout, 1)],
            cancelled: 0,
            latencies: Distribution {
                bounds_us: &[1_000, 10_000_000],
                counts: vec![0, 5, 6],
                total_us: 12_500_000,
            },
            last_failure: None,
            health: SourceHealth::Probing { reason: "x".to_owned() },
        };
        let mirror = MirrorMetrics {
            name: "es".to_owned(),
            written: 7,
            refused: 1,
            lost: 0,
            waiting: 0,
            first_failure: Some("x".to_owned()),
            outbox: OutboxStatus {
                pages: 3,
                bytes: 90,
                lag: Duration::from_millis(61_500),
                ..OutboxStatus::default()
            },
        };
        check(
            |out| {
                sources(out, &[source]);
                mirrors(out, &[mirror]);
            },
            &[
                "# TYPE websvc_source_requests_total counter",
                "websvc_source_requests_total{source=\"a\\\"b\",outcome=\"results\"} 3",
                "websvc_source_requests_total{source=\"a\\\"b\",outcome=\"empty\"} 2",
                "websvc_source_requests_total{source=\"a\\\"b\",outcome=\"unavailable\",reason=\"timeout\"} 1",
                "websvc_source_duration_seconds_bucket{source=\"a\\\"b\",le=\"0.001\"} 0",
                "websvc_source_duration_seconds_bucket{source=\"a\\\"b\",le=\"10\"} 5",
                "websvc_source_duration_seconds_bucket{source=\"a\\\"b\",le=\"+Inf\"} 6",
                "websvc_source_duration_seconds_sum{source=\"a\\\"b\"} 12.5",
                "websvc_source_duration_seconds_count{source=\"a\\\"b\"} 6",
                "websvc_source_state{source=\"a\\\"b\",state=\"ok\"} 0",
                "websvc_source_state{source=\"a\\\"b\",state=\"probing\"} 1",
                "websvc_mirror_pages_total{source=\"es\",outcome=\"written\"} 7",
                "websvc_mirror_outbox_pages{source=\"es\"} 3",
                "websvc_mirror_outbox_bytes{source=\"es\"} 90",
                "websvc_mirror_lag_seconds{source=\"es\"} 61",
            ],
        );
    }
}
