//! The text format of Prometheus, line by line.

use std::fmt::Write;

use websvc_stage::Distribution;

/// Writes counts below bounds of milliseconds, each with those before it and at the end all of them.
pub(super) fn histogram(
    out: &mut PrometheusText,
    name: &str,
    label: Option<(&str, &str)>,
    bounds_ms: &[u64],
    counts: &[u64],
    total_us: u64,
) {
    let bounds = bounds_ms.iter().map(|bound| seconds(*bound, 3)).collect();
    classes(out, name, label, bounds, counts, total_us);
}

/// Writes a distribution.
pub(super) fn distribution(
    out: &mut PrometheusText,
    name: &str,
    label: Option<(&str, &str)>,
    of: &Distribution,
) {
    let Distribution { bounds_us, counts, total_us } = of;
    let bounds = bounds_us.iter().map(|bound| seconds(*bound, 6)).collect();
    classes(out, name, label, bounds, counts, *total_us);
}

fn classes(
    out: &mut PrometheusText,
    name: &str,
    label: Option<(&str, &str)>,
    bounds: Vec<String>,
    counts: &[u64],
    total_us: u64,
) {
    let bounds = bounds.into_iter().chain(["+Inf".to_owned()]);
    for (bound, count) in bounds.zip(counts) {
        let labels: Vec<_> = label.into_iter().chain([("le", bound.as_str())]).collect();
        out.line(&format!("{name}_bucket"), &labels, &count.to_string());
    }
    let count = counts.last().copied().unwrap_or_default();
    let labels: Vec<_> = label.into_iter().collect();
    out.line(&format!("{name}_sum"), &labels, &seconds(total_us, 6));
    out.line(&format!("{name}_count"), &labels, &count.to_string());
}

/// Returns a number of the given decimal fractions of a second, as seconds.
pub(super) fn seconds(count: u64, decimals: u32) -> String {
    let one = 10_u64.pow(decimals);
    let width = decimals as usize;
    let text = format!("{}.{:0width$}", count / one, count % one);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The text as far as it is written.
#[derive(Default)]
pub(super) struct PrometheusText(pub(super) String);

impl PrometheusText {
    pub(super) fn begin(&mut self, name: &str, kind: &str, help: &str) {
        // Writing into a `String` cannot fail, here and below.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    pub(super) fn line(&mut self, name: &str, labels: &[(&str, &str)], value: &str) {
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
