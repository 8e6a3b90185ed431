//! The text format of Prometheus (0.0.4).

use std::fmt::{Display, Write};

use websvc_stage::{Distribution, Histogram};

/// The type of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

impl MetricKind {
    fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// The metrics of a response.
#[derive(Debug, Default)]
pub(super) struct Metrics(Vec<Family>);

/// The samples with one metric name.
#[derive(Debug)]
pub(super) struct Family {
    name: &'static str,
    kind: MetricKind,
    help: &'static str,
    samples: Vec<Sample>,
}

#[derive(Debug)]
struct Sample {
    /// The part of the name after that of the family, such as `_bucket`.
    suffix: &'static str,
    labels: Vec<(&'static str, String)>,
    value: String,
}

impl Metrics {
    /// Begins a family.
    pub(super) fn family(&mut self, name: &'static str, kind: MetricKind, help: &'static str) -> &mut Family {
        let index = self.0.len();
        self.0.push(Family { name, kind, help, samples: Vec::new() });
        &mut self.0[index]
    }

    /// Adds a counter without labels.
    pub(super) fn counter(&mut self, name: &'static str, help: &'static str, value: impl Display) {
        self.family(name, MetricKind::Counter, help).sample(&[], value);
    }

    /// Adds a gauge without labels.
    pub(super) fn gauge(&mut self, name: &'static str, help: &'static str, value: impl Display) {
        self.family(name, MetricKind::Gauge, help).sample(&[], value);
    }

    /// Adds a counter with one label, by the values of the label.
    pub(super) fn counters<V: Display>(
        &mut self,
        name: &'static str,
        help: &'static str,
        label: &'static str,
        samples: impl IntoIterator<Item = (&'static str, V)>,
    ) {
        self.family(name, MetricKind::Counter, help).samples(label, samples);
    }

    /// Adds a gauge with one label, by the values of the label.
    pub(super) fn gauges<V: Display>(
        &mut self,
        name: &'static str,
        help: &'static str,
        label: &'static str,
        samples: impl IntoIterator<Item = (&'static str, V)>,
    ) {
        self.family(name, MetricKind::Gauge, help).samples(label, samples);
    }

    /// Adds a histogram without labels.
    pub(super) fn histogram(&mut self, name: &'static str, help: &'static str, histogram: &Histogram) {
        self.family(name, MetricKind::Histogram, help).distribution(None, &histogram.distribution());
    }

    /// Writes all families.
    pub(super) fn write(&self) -> String {
        let mut out = String::new();
        for Family { name, kind, help, samples } in &self.0 {
            // Writing to a `String` cannot fail, here and below.
            let _ = write!(out, "# HELP {name} {help}\n# TYPE {name} {}\n", kind.name());
            for sample in samples {
                write_sample(&mut out, name, sample);
            }
        }
        out
    }
}

impl Family {
    /// Adds a sample. Labels with an empty value are omitted.
    pub(super) fn sample(&mut self, labels: &[(&'static str, &str)], value: impl Display) {
        self.push("", labels, value.to_string());
    }

    /// Adds a sample for each value of a label.
    fn samples<V: Display>(
        &mut self,
        label: &'static str,
        samples: impl IntoIterator<Item = (&'static str, V)>,
    ) {
        for (value, number) in samples {
            self.sample(&[(label, value)], number);
        }
    }

    /// Adds a sample for each state: 1 for the current one, 0 for the others.
    pub(super) fn states(
        &mut self,
        label: Option<(&'static str, &str)>,
        states: &[&'static str],
        current: &str,
    ) {
        for state in states {
            let labels: Vec<_> = label.into_iter().chain([("state", *state)]).collect();
            self.sample(&labels, u8::from(*state == current));
        }
    }

    /// Adds a histogram.
    pub(super) fn distribution(&mut self, label: Option<(&'static str, &str)>, distribution: &Distribution) {
        let Distribution { bounds_us, counts, total_us } = distribution;
        let bounds = bounds_us.iter().map(|bound| seconds(*bound));
        for (bound, count) in bounds.chain(["+Inf".to_owned()]).zip(counts) {
            let labels: Vec<_> = label.into_iter().chain([("le", bound.as_str())]).collect();
            self.push("_bucket", &labels, count.to_string());
        }
        let count = counts.last().copied().unwrap_or_default();
        let labels: Vec<_> = label.into_iter().collect();
        self.push("_sum", &labels, seconds(*total_us));
        self.push("_count", &labels, count.to_string());
    }

    fn push(&mut self, suffix: &'static str, labels: &[(&'static str, &str)], value: String) {
        let labels = labels.iter().filter(|(_, value)| !value.is_empty());
        let labels = labels.map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.samples.push(Sample { suffix, labels, value });
    }
}

fn write_sample(out: &mut String, name: &str, sample: &Sample) {
    let Sample { suffix, labels, value } = sample;
    out.push_str(name);
    out.push_str(suffix);
    let mut separator = '{';
    for (label, value) in labels {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let _ = write!(out, "{separator}{label}=\"{value}\"");
        separator = ',';
    }
    let close = if separator == ',' { "}" } else { "" };
    let _ = writeln!(out, "{close} {value}");
}

/// Returns microseconds as seconds.
fn seconds(us: u64) -> String {
    let text = format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn family_is_written_with_its_help_and_type() {
        let mut metrics = Metrics::default();
        metrics.gauge("websvc_requests_in_flight", "Requests.", 3);
        let writes = metrics.family("websvc_page_cache_writes_total", MetricKind::Counter, "Writes.");
        writes.sample(&[("outcome", "stored"), ("reason", "")], 2);
        writes.sample(&[("outcome", "a\"b")], 1);
        assert_eq!(
            metrics.write(),
            "# HELP websvc_requests_in_flight Requests.\n# TYPE websvc_requests_in_flight gauge\n\
             websvc_requests_in_flight 3\n\
             # HELP websvc_page_cache_writes_total Writes.\n# TYPE websvc_page_cache_writes_total counter\n\
             websvc_page_cache_writes_total{outcome=\"stored\"} 2\n\
             websvc_page_cache_writes_total{outcome=\"a\\\"b\"} 1\n",
        );
    }
}
