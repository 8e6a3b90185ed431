//! Metrics of browser sessions and of their prompts.

use websvc_session::{OpenSessions, PromptMetrics, SessionMetrics, Sessions};

use super::prometheus::{MetricKind, Metrics};

pub(super) fn sessions(out: &mut Metrics, sessions: &Sessions) {
    let OpenSessions { active, clients, viewers } = sessions.open();
    let SessionMetrics { started, failed, ended, durations, programs } = sessions.metrics();
    out.gauge("websvc_browser_sessions", "Active browser sessions of this process.", active);
    let help =
        "Connections to browser sessions: clients of the DevTools protocol, and viewers of the live view.";
    let connections = [("client", clients), ("viewer", viewers)];
    out.gauges("websvc_browser_session_connections", help, "kind", connections);
    out.counter("websvc_browser_sessions_started_total", "Started browser sessions.", started);
    let help = "Browser sessions that did not start, by the reason.";
    out.counters("websvc_browser_sessions_failed_total", help, "reason", failed.counts());
    let help = "Browser sessions that have ended, by the reason.";
    out.counters("websvc_browser_sessions_ended_total", help, "reason", ended.counts());
    let help = "Durations of the browser sessions that have ended.";
    out.histogram("websvc_browser_session_duration_seconds", help, durations);
    let help = "Programs that have ended in browser sessions, by language and outcome.";
    let family = out.family("websvc_browser_session_programs_total", MetricKind::Counter, help);
    for ((language, outcome), count) in programs.counts() {
        family.sample(&[("language", language), ("outcome", outcome)], count);
    }
}

pub(super) fn prompts(out: &mut Metrics, metrics: &PromptMetrics) {
    let PromptMetrics { runs, steps, input_tokens, output_tokens } = metrics;
    let help = "Prompts of browser sessions by outcome.";
    out.counters("websvc_prompt_runs_total", help, "outcome", runs.counts());
    out.counter("websvc_prompt_steps_total", "Steps of prompts of browser sessions.", steps);
    let help = "Tokens of the language model for prompts of browser sessions.";
    let tokens = [("input", input_tokens), ("output", output_tokens)];
    out.counters("websvc_prompt_tokens_total", help, "direction", tokens);
}
