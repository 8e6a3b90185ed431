//! `GET /metrics`: figures of the sources and mirrors, as Prometheus reads them (text format 0.0.4).
//!
//! Labels have few values: the names of the configuration, outcomes, and kinds of reasons.

use std::fmt::Write;

use http::StatusCode;
use websvc_engine::{Condition, LATENCY_BOUNDS_MS, MirrorReport, SourceFigures};
use websvc_scrape::CacheReport;
use websvc_transport::Body;

use crate::reply::{Reply, with_type};
use crate::service::Context;

/// Returns the figures since the process began.
pub(crate) fn metrics(context: &Context<'_>) -> Reply {
    let mirrors: Vec<MirrorReport> = context.engine.mirrors().iter().map(|mirror| mirror.report()).collect();
    let mut text = text(&context.engine.source_figures(), &mirrors);
    text.push_str(&cache(context.engine.scraper().cache_report()));
    with_type(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", Body::from(text))
}

fn text(sources: &[SourceFigures], mirrors: &[MirrorReport]) -> String {
    let mut out = Lines::default();
    out.begin("websvc_build_info", "gauge", "The version of the service.");
    out.line("websvc_build_info", &[("version", env!("CARGO_PKG_VERSION"))], "1");
    questions(&mut out, sources);
    durations(&mut out, sources);
    states(&mut out, sources);
    if !mirrors.is_empty() {
        out.begin(
            "websvc_mirror_pages_total",
            "counter",
            "Pages for a mirror of the index, by what became of them.",
        );
        for MirrorReport { name, written, refused, lost, first_failure: _ } in mirrors {
            for (fate, count) in [("written", written), ("refused", refused), ("lost", lost)] {
                let labels = [("source", name.as_str()), ("fate", fate)];
                out.line("websvc_mirror_pages_total", &labels, &count.to_string());
            }
        }
    }
    out.0
}

fn cache(report: CacheReport) -> String {
    let CacheReport { stored, failed, passed_over, is_full } = report;
    let mut out = Lines::default();
    let name = "websvc_page_cache_pages_total";
    out.begin(
        name,
        "counter",
        "Fetched pages that were to be kept in the page cache, by what became of them.",
    );
    for (fate, count) in [("stored", stored), ("failed", failed), ("passed_over", passed_over)] {
        out.line(name, &[("fate", fate)], &count.to_string());
    }
    let name = "websvc_page_cache_full";
    out.begin(name, "gauge", "1 while nothing is stored because the disk is full.");
    out.line(name, &[], if is_full { "1" } else { "0" });
    out.0
}

fn questions(out: &mut Lines, sources: &[SourceFigures]) {
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

fn durations(out: &mut Lines, sources: &[SourceFigures]) {
    let name = "websvc_source_duration_seconds";
    out.begin(name, "histogram", "How long a source took to answer or was waited for.");
    for source in sources {
        let label = ("source", source.name.as_str());
        let bounds = LATENCY_BOUNDS_MS.iter().map(|bound| seconds(*bound, 3));
        let bounds = bounds.chain(std::iter::once("+Inf".to_owned()));
        for (bound, count) in bounds.zip(&source.took) {
            out.line(&format!("{name}_bucket"), &[label, ("le", &bound)], &count.to_string());
        }
        let count = source.took.last().copied().unwrap_or_default();
        out.line(&format!("{name}_sum"), &[label], &seconds(source.total_us, 6));
        out.line(&format!("{name}_count"), &[label], &count.to_string());
    }
}

fn states(out: &mut Lines, sources: &[SourceFigures]) {
    let name = "websvc_source_state";
    out.begin(name, "gauge", "1 for the state that a source is in, 0 for the others.");
    for source in sources {
        let now = match source.condition {
            Condition::Ok => "ok",
            Condition::Paused { .. } => "paused",
            Condition::Probing { .. } => "probing",
        };
        for state in ["ok", "paused", "probing"] {
            let labels = [("source", source.name.as_str()), ("state", state)];
            out.line(name, &labels, if state == now { "1" } else { "0" });
        }
    }
}

/// Returns a number of the given decimal fractions of a second, as seconds.
fn seconds(count: u64, decimals: u32) -> String {
    let one = 10_u64.pow(decimals);
    let width = decimals as usize;
    let text = format!("{}.{:0width$}", count / one, count % one);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The text as far as it is written.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn begin(&mut self, name: &str, kind: &str, help: &str) {
        // Writing into a `String` cannot fail, here and below.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: &str) {
        self.0.push_str(name);
        let mut separator = '{';
        for (label, text) in labels.iter().filter(|(_, text)| !text.is_empty()) {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{separator}{label}=\"{text}\"");
            separator = ',';
        }
        let close = if separator == ',' { "}" } else { "" };
        let _ = writeln!(self.0, "{close} {value}");
    }
}

#[cfg(test)]
mod tests {
    use websvc_engine::Failure;

    use super::*;

    #[test]
    fn figures_are_written_as_prometheus_reads_them() {
        let source = SourceFigures {
            name: "a\"b".to_owned(),
            results: 3,
            none: 2,
            unavailable: vec![(Failure::Timeout, 1)],
            given_up: 0,
            took: vec![0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5, 6],
            total_us: 12_500_000,
            condition: Condition::Probing { reason: "x".to_owned() },
        };
        let mirror = MirrorReport {
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
