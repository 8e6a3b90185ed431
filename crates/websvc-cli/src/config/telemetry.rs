//! `[log]` and `[traces]`: what the service tells of its work.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

/// `[log]`: the lines on stderr.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Log {
    /// By whether stderr is a terminal, when it is not given.
    pub(crate) format: Option<LogFormat>,
    /// Filter of log lines, such as `info` or `websvc_server=debug,warn`.
    pub(crate) filter: Option<String>,
}

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// An object of JSON.
    Json,
    /// For people.
    Pretty,
}

impl Log {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] = &["format", "filter"];
}

/// `[traces]`: spans to a collector. What is not given is taken from the standard variables of OpenTelemetry.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Traces {
    /// The address that `/v1/traces` is added to; without one, nothing is traced.
    pub(crate) endpoint: Option<String>,
    /// Sent with every batch.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) service_name: Option<String>,
    /// As `OTEL_TRACES_SAMPLER` spells it.
    pub(crate) sampler: Option<String>,
    /// The share of the traces that are sent, 0 to 1, for the samplers that take one.
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
    /// Leaves out the headers and the address, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traces").field("sampler", &self.sampler).finish_non_exhaustive()
    }
}
