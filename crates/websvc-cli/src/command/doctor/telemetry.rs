//! Check of the log configuration and of the trace collector.

use std::time::Instant;

use super::finding::Finding;
use crate::app::TraceSettings;
use crate::config::Config;
use crate::logging;
use crate::output;

const LOG: &str = "log";
const TRACES: &str = "traces";

/// Checks the log, and the collector if there is one.
pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let mut findings = vec![log(logging::check(&config.log))];
    findings.extend(traces(config).await);
    findings
}

fn log(checked: anyhow::Result<()>) -> Finding {
    match checked {
        Ok(()) => Finding::ok(LOG, "format and filter can be used"),
        Err(error) => Finding::problem(
            LOG,
            output::causes(error.as_ref()),
            "correct what is named; `serve` does not start",
        ),
    }
}

/// Sends the collector a batch without spans.
async fn traces(config: &Config) -> Vec<Finding> {
    let unusable = |error: anyhow::Error| {
        vec![Finding::problem(
            TRACES,
            output::causes(error.as_ref()),
            "correct what is named; `serve` does not start",
        )]
    };
    let settings = match TraceSettings::read(&config.traces, |name| std::env::var(name).ok()) {
        Ok(Some(settings)) => settings,
        Ok(None) => return Vec::new(),
        Err(error) => return unusable(error),
    };
    let destination = match settings.destination(config) {
        Ok(destination) => destination,
        Err(error) => return unusable(error),
    };
    let started = Instant::now();
    let probed = destination.probe().await;
    let taken = started.elapsed();
    let mut findings = vec![match probed {
        Ok(()) => Finding::ok(TRACES, format!("the collector takes spans, in {} ms", taken.as_millis())),
        Err(error) => Finding::warning(
            TRACES,
            format!("the collector does not take spans: {error}"),
            "check that it runs and takes OTLP over HTTP as JSON, `traces.endpoint` and `traces.headers`; requests are \
             served all the same",
        ),
    }];
    findings.extend(settings.warnings.into_iter().map(|warning| {
        Finding::warning(
            TRACES,
            warning,
            "take the variable out, or give the key of `[traces]` that stands for it",
        )
    }));
    findings
}
