//! The renamed metrics. For one release, their samples are written under the new and the old name.

/// A renamed metric, label or label value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rename {
    /// The current name of the metric.
    pub(super) new: &'static str,
    /// The old name; equal to `new` if only the label or its values were renamed.
    pub(super) old: &'static str,
    /// The label that was renamed, or whose values were renamed.
    label: Option<LabelRename>,
}

#[derive(Debug, Clone, Copy)]
struct LabelRename {
    new: &'static str,
    old: &'static str,
    /// The new and the old value of each renamed value.
    values: &'static [(&'static str, &'static str)],
}

/// All renames. Remove a row one release after it was added. The manual lists the rows in `docs/observability.md`.
pub(super) const RENAMES: &[Rename] = &[
    metric("websvc_requests_in_flight", "websvc_requests_in_work"),
    metric("websvc_requests_queued", "websvc_requests_waiting"),
    metric("websvc_searches_running", "websvc_requests_computing"),
    metric("websvc_searches_queued", "websvc_requests_waiting_to_compute"),
    Rename {
        new: "websvc_admission_decisions_total",
        old: "websvc_requests_total",
        label: Some(LabelRename {
            new: "decision",
            old: "admission",
            values: &[
                ("rejected_rate", "refused_rate"),
                ("rejected_concurrency", "refused_concurrency"),
                ("rejected_overload", "refused_overload"),
            ],
        }),
    },
    metric("websvc_admission_tracked_accounts", "websvc_admission_accounts"),
    Rename {
        new: "websvc_page_cache_writes_total",
        old: "websvc_page_cache_pages_total",
        label: Some(LabelRename { new: "outcome", old: "fate", values: &[("skipped", "passed_over")] }),
    },
    label("websvc_mirror_pages_total", "outcome", "fate"),
    label("websvc_trace_spans_total", "outcome", "fate"),
    metric("websvc_websockets_open", "websvc_sockets"),
    metric("websvc_websocket_frames_sent_total", "websvc_socket_frames_total"),
    values("websvc_job_pages", "state", &[("in_flight", "in_work")]),
    values("websvc_threat_scans_total", "outcome", &[("scanned", "verdict"), ("cached", "remembered")]),
    values("websvc_source_requests_total", "outcome", &[("empty", "none"), ("cancelled", "given_up")]),
    values(
        "websvc_stage_duration_seconds",
        "stage",
        &[("compute_wait", "turn"), ("threat_filter", "screen"), ("url_check", "inspect")],
    ),
];

/// Returns the rename of a metric.
const fn metric(new: &'static str, old: &'static str) -> Rename {
    Rename { new, old, label: None }
}

/// Returns the rename of a label.
const fn label(metric: &'static str, new: &'static str, old: &'static str) -> Rename {
    Rename { new: metric, old: metric, label: Some(LabelRename { new, old, values: &[] }) }
}

/// Returns the rename of label values.
const fn values(
    metric: &'static str,
    label: &'static str,
    values: &'static [(&'static str, &'static str)],
) -> Rename {
    Rename { new: metric, old: metric, label: Some(LabelRename { new: label, old: label, values }) }
}

impl Rename {
    /// Returns whether the metric itself was renamed.
    pub(super) fn renames_family(&self) -> bool {
        self.new != self.old
    }

    /// Returns the labels of a sample under the old name; `None` if the sample was not renamed.
    pub(super) fn old_labels(
        &self,
        labels: &[(&'static str, String)],
    ) -> Option<Vec<(&'static str, String)>> {
        let old: Vec<(&'static str, String)> = labels
            .iter()
            .map(|(name, value)| match &self.label {
                Some(label) if label.new == *name => (label.old, label.old_value(value).to_owned()),
                Some(_) | None => (*name, value.clone()),
            })
            .collect();
        (self.renames_family() || old != labels).then_some(old)
    }

    /// Returns the note for the HELP text of a deprecated metric, or of a metric with deprecated labels.
    pub(super) fn note(&self) -> String {
        let Self { new, label, .. } = self;
        match label {
            Some(LabelRename { new, old, values }) if !self.renames_family() => {
                let values: Vec<String> = values
                    .iter()
                    .map(|(new_value, old_value)| {
                        format!("Deprecated: {old}=\"{old_value}\", use {new}=\"{new_value}\".")
                    })
                    .collect();
                match values.is_empty() {
                    true => format!("Deprecated: label {old}, use {new}."),
                    false => values.join(" "),
                }
            }
            Some(_) | None => format!("Deprecated: use {new}."),
        }
    }
}

impl LabelRename {
    fn old_value<'a>(&self, value: &'a str) -> &'a str {
        self.values.iter().find(|(new, _)| *new == value).map_or(value, |(_, old)| *old)
    }
}

#[cfg(test)]
mod tests {
    use super::super::prometheus::{MetricKind, Metrics};
    use super::*;

    #[track_caller]
    fn check(metrics: &Metrics, expected: &str) {
        assert_eq!(metrics.write(RENAMES), expected);
    }

    #[test]
    fn renamed_metric_is_written_under_both_names_with_a_note_in_its_old_help() {
        let mut metrics = Metrics::default();
        metrics.gauge("websvc_requests_in_flight", "Requests.", 3);
        check(
            &metrics,
            "# HELP websvc_requests_in_flight Requests.\n# TYPE websvc_requests_in_flight gauge\n\
             websvc_requests_in_flight 3\n\
             # HELP websvc_requests_in_work Deprecated: use websvc_requests_in_flight.\n\
             # TYPE websvc_requests_in_work gauge\nwebsvc_requests_in_work 3\n",
        );
        let mut metrics = Metrics::default();
        let writes = metrics.family("websvc_page_cache_writes_total", MetricKind::Counter, "Writes.");
        writes.sample(&[("outcome", "stored")], 2);
        writes.sample(&[("outcome", "skipped")], 1);
        let text = metrics.write(RENAMES);
        for line in [
            "websvc_page_cache_writes_total{outcome=\"skipped\"} 1",
            "websvc_page_cache_pages_total{fate=\"stored\"} 2",
            "websvc_page_cache_pages_total{fate=\"passed_over\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn renamed_label_and_renamed_value_are_written_in_the_same_metric() {
        let mut metrics = Metrics::default();
        let spans = metrics.family("websvc_trace_spans_total", MetricKind::Counter, "Spans.");
        spans.sample(&[("outcome", "failed")], 1);
        check(
            &metrics,
            "# HELP websvc_trace_spans_total Spans. Deprecated: label fate, use outcome.\n\
             # TYPE websvc_trace_spans_total counter\n\
             websvc_trace_spans_total{outcome=\"failed\"} 1\nwebsvc_trace_spans_total{fate=\"failed\"} 1\n",
        );
        let mut metrics = Metrics::default();
        let pages = metrics.family("websvc_job_pages", MetricKind::Gauge, "Pages.");
        pages.sample(&[("state", "in_flight")], 1);
        pages.sample(&[("state", "waiting")], 2);
        check(
            &metrics,
            "# HELP websvc_job_pages Pages. Deprecated: state=\"in_work\", use state=\"in_flight\".\n\
             # TYPE websvc_job_pages gauge\nwebsvc_job_pages{state=\"in_flight\"} 1\n\
             websvc_job_pages{state=\"waiting\"} 2\nwebsvc_job_pages{state=\"in_work\"} 1\n",
        );
    }

    #[test]
    fn manual_lists_every_renamed_metric() {
        let manual = include_str!("../../../../../docs/observability.md");
        let (_, table) = manual.split_once("## Renamed metrics").expect("the manual has the section");
        for rename in RENAMES {
            let row = table.lines().find(|line| line.contains(rename.new) && line.contains(rename.old));
            assert!(row.is_some(), "{rename:?}");
            let label = rename.label.into_iter();
            let names = label.flat_map(|label| label.values.iter().map(|(_, old)| *old).chain([label.old]));
            for name in names {
                assert!(table.contains(name), "{name} of {}", rename.new);
            }
        }
    }
}
