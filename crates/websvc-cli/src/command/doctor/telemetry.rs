//! Checks of the log settings and of the collector of traces.

use std::time::Instant;

use super::finding::Finding;
use crate::app::TraceSettings;
use crate::config::Config;
use crate::logging;
use crate::output;

const LOG: &str = "log";
const TRACES: &str = "traces";

/// Checks the log settings, and the collector if there is one.
pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let mut findings = vec![log(logging::check(&config.log))];
    findings.extend(traces(config).await);
    findings
}

fn log(result: anyhow::Result<()>) -> Finding {
    match result {
        Ok(()) => Finding::ok(LOG, "format and filter are valid"),
        Err(error) => Finding::problem(
            LOG,
            output::causes(error.as_ref()),
            "correct the named value; `serve` does not start",
        ),
    }
}

/// Sends an empty batch to the collector.
async fn traces(config: &Config) -> Vec<Finding> {
    let invalid = |error: anyhow::Error| {
        vec![Finding::problem(
            TRACES,
            output::causes(error.as_ref()),
            "correct the named value; `serve` does not start",
        )]
    };
    let settings = match TraceSettings::read(&config.traces, |name| std::env::var(name).ok()) {
        Ok(Some(settings)) => settings,
        Ok(None) => return Vec::new(),
        Err(error) => return invalid(error),
    };
    let exporter = match settings.exporter_config(config) {
        Ok(exporter) => exporter,
        Err(error) => return invalid(error),
    };
    let started = Instant::now();
    let result = exporter.probe().await;
    let elapsed = started.elapsed();
    let mut findings = vec![match result {
        Ok(()) => Finding::ok(TRACES, format!("the collector accepts spans, in {} ms", elapsed.as_millis())),
        Err(error) => Finding::warning(
            TRACES,
            format!("the collector does not accept spans: {error}"),
            "check that it runs and accepts OTLP over HTTP as JSON, `traces.endpoint` and `traces.headers`; the service \
             works without it",
        ),
    }];
    findings.extend(settings.warnings.into_iter().map(|warning| {
        Finding::warning(TRACES, warning, "remove the variable, or set the corresponding key of `[traces]`")
    }));
    findings
}
