//! `[log]` and `[traces]`: logging and the export of traces.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

/// `[log]`: the lines on stderr.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Log {
    /// Format of the lines. If unset, it depends on whether stderr is a terminal.
    pub(crate) format: Option<LogFormat>,
    /// Filter of log lines, such as `info` or `websvc_server=debug,warn`.
    pub(crate) filter: Option<String>,
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// One JSON object per line.
    Json,
    /// Text for people.
    Pretty,
}

impl Log {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] = &["format", "filter"];
}

/// `[traces]`: the export of spans. Unset keys are taken from the standard OpenTelemetry variables.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Traces {
    /// Base URL, to which `/v1/traces` is added. Without one, no traces are exported.
    pub(crate) endpoint: Option<String>,
    /// Headers that are sent with every batch.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) service_name: Option<String>,
    /// Name of the sampler, as in `OTEL_TRACES_SAMPLER`.
    pub(crate) sampler: Option<String>,
    /// Ratio of traces that are sent, 0 to 1, for the samplers with a ratio.
    pub(crate) ratio: Option<f64>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) queue: Option<usize>,
    pub(crate) batch: Option<usize>,
    pub(crate) delay_ms: Option<u64>,
}

impl Traces {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] = &[
        "endpoint",
        "headers",
        "service_name",
        "sampler",
        "ratio",
        "timeout_ms",
        "queue",
        "batch",
        "delay_ms",
    ];
}

impl fmt::Debug for Traces {
    /// Omits the headers and the URL, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traces").field("sampler", &self.sampler).finish_non_exhaustive()
    }
}
