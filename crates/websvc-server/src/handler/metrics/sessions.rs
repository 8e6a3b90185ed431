//! Metrics of browser sessions.

use websvc_session::SessionMetrics;

use super::prometheus::{MetricKind, Metrics};

pub(super) fn sessions(out: &mut Metrics, metrics: &SessionMetrics) {
    let SessionMetrics { active, clients, viewers, started, failed, ended, durations, programs } = metrics;
    out.gauge("websvc_browser_sessions", "Active browser sessions of this process.", active);
    let help =
        "Connections to browser sessions: clients of the DevTools protocol, and viewers of the live view.";
    let family = out.family("websvc_browser_session_connections", MetricKind::Gauge, help);
    for (kind, count) in [("client", clients), ("viewer", viewers)] {
        family.sample(&[("kind", kind)], count);
    }
    out.counter("websvc_browser_sessions_started_total", "Started browser sessions.", started);
    let help = "Browser sessions that did not start, by the reason.";
    let family = out.family("websvc_browser_sessions_failed_total", MetricKind::Counter, help);
    for (reason, count) in failed {
        family.sample(&[("reason", reason)], count);
    }
    let help = "Browser sessions that have ended, by the reason.";
    let family = out.family("websvc_browser_sessions_ended_total", MetricKind::Counter, help);
    for (reason, count) in ended {
        family.sample(&[("reason", reason)], count);
    }
    let help = "Durations of the browser sessions that have ended.";
    let family = out.family("websvc_browser_session_duration_seconds", MetricKind::Histogram, help);
    family.distribution(None, durations);
    let help = "Programs that have ended in browser sessions, by language and outcome.";
    let family = out.family("websvc_browser_session_programs_total", MetricKind::Counter, help);
    for (language, outcome, count) in programs {
        family.sample(&[("language", language), ("outcome", outcome)], count);
    }
}
