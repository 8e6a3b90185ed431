//! Runs and their steps as text for people.

use jiff::Timestamp;
use serde_json::Value;
use websvc::types::agent::{
    AgentArtifact, AgentError, AgentEventDetail, AgentListItem, AgentStatus, AgentStatusResponse, RunOutcome,
};
use websvc_types::counted;

use super::follow::Source;
use crate::output::{Table, printable};

/// Maximum length of a line about a step, in characters.
const MAX_LINE_CHARS: usize = 200;

/// Maximum length of the task in a list, in characters.
const MAX_TASK_CHARS: usize = 60;

/// A line about a step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) text: String,
    /// The line explains another one.
    pub(super) is_detail: bool,
}

impl Step {
    fn new(text: String) -> Option<Self> {
        Some(Self { text, is_detail: false })
    }

    fn detail(text: &str) -> Option<Self> {
        Some(Self { text: format!("  {text}"), is_detail: true })
    }
}

/// Returns an event as a line; `None` for an event that tells people nothing.
pub(super) fn step(detail: &AgentEventDetail) -> Option<Step> {
    match detail {
        AgentEventDetail::RunCancelRequested { reason: _ } => Step::new("it was cancelled".to_owned()),
        AgentEventDetail::RunFinished { outcome, error: _ } => {
            Step::new(format!("end: {}", outcome_text(*outcome)))
        }
        AgentEventDetail::ProgressReported { phase: _, message } => Step::new(one_line(message)),
        AgentEventDetail::ReasoningSummary { text } => Step::detail(&one_line(text)),
        AgentEventDetail::ToolCallStarted { tool_call_id: _, tool_name, parameters } => {
            Step::new(one_line(&format!("{tool_name} {}", parameters_text(parameters))))
        }
        AgentEventDetail::ToolCallFinished { tool_call_id: _, tool_name: _, result } => {
            Step::detail(&one_line(result["summary"].as_str().unwrap_or_default()))
        }
        AgentEventDetail::ArtifactUpdated { artifact } => Step::detail(&artifact_text(artifact)),
        AgentEventDetail::ErrorOccurred { error: AgentError { message, .. } } => {
            Step::new(one_line(&format!("error: {message}")))
        }
        AgentEventDetail::BrowserSessionStarted { session_id: _ } => {
            Step::detail("a browser session has started")
        }
        // Reports of the progress say so, too.
        AgentEventDetail::RunStarted {}
        | AgentEventDetail::AgentStarted {}
        | AgentEventDetail::AgentFinished { .. }
        | AgentEventDetail::BrowserSessionFinished { .. } => None,
    }
}

/// Returns the values of the parameters of a call.
fn parameters_text(parameters: &Value) -> String {
    let values = parameters.as_object().into_iter().flatten().map(|(_, value)| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let values: Vec<String> = values.filter(|text| !text.is_empty() && text != "null").collect();
    values.join(" ")
}

fn artifact_text(artifact: &AgentArtifact) -> String {
    let fields = artifact.changed_fields.as_deref().unwrap_or_default();
    match artifact.item_count {
        Some(count) => counted(count, "source", "sources"),
        None if fields.is_empty() => format!("{} has changed", printable(&artifact.artifact_id)),
        None => one_line(&format!("{}: {}", artifact.artifact_id, fields.join(", "))),
    }
}

fn outcome_text(outcome: RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::Succeeded => "succeeded",
        RunOutcome::Failed => "failed",
        RunOutcome::Cancelled => "cancelled",
        RunOutcome::Refused => "refused",
        RunOutcome::CreditLimitReached => "credit limit reached",
    }
}

/// Returns the runs as a table.
pub(super) fn run_table(runs: &[AgentListItem]) -> Table<5> {
    let mut table = Table::new(["RUN", "STARTED", "STATUS", "ORIGIN", "TASK"]);
    for run in runs {
        table.row([
            &printable(&run.id),
            &time(&run.created_at),
            status_name(run.status),
            &printable(&run.origin),
            &cut(&run.options.prompt, MAX_TASK_CHARS),
        ]);
    }
    table
}

fn status_name(status: AgentStatus) -> &'static str {
    match status {
        AgentStatus::Processing => "processing",
        AgentStatus::Completed => "completed",
        AgentStatus::Failed => "failed",
    }
}

/// Returns the status of a run without its data.
pub(super) fn status_lines(run: &AgentStatusResponse) -> Vec<String> {
    let AgentStatusResponse {
        success: _,
        id,
        status,
        data: _,
        error,
        model: _,
        effort: _,
        expires_at,
        credits_used,
        thread_id,
        thread_turn,
        mode: _,
        message,
        partial: _,
        partial_schema_valid,
        stop_reason,
        warning,
    } = run;
    let reason = stop_reason.as_ref().map(|reason| format!(" ({})", printable(reason))).unwrap_or_default();
    let mut lines = vec![
        field("Run", &printable(id)),
        field("Status", &format!("{}{reason}", status_name(*status))),
        field("Thread", &format!("{}, turn {thread_turn}", printable(thread_id))),
    ];
    if let Some(credits) = credits_used {
        lines.push(field("Credits", &credits.to_string()));
    }
    let texts = [("Error", error), ("Message", message), ("Warning", warning)];
    lines.extend(texts.iter().filter_map(|(name, text)| Some(field(name, &one_line(text.as_deref()?)))));
    if let Some(is_valid) = partial_schema_valid {
        lines.push(field(
            "Partial",
            if *is_valid { "follows the schema" } else { "does not follow the schema" },
        ));
    }
    lines.push(field("Expires", &time(expires_at)));
    lines
}

fn field(name: &str, value: &str) -> String {
    format!("{name:<9}{value}")
}

/// Returns the end of a run in one line.
pub(super) fn end_line(run: &AgentStatusResponse) -> String {
    let credits = run
        .credits_used
        .map(|credits| format!(", {}", counted(credits, "credit", "credits")))
        .unwrap_or_default();
    format!("agent: {}{credits}", status_name(run.status))
}

/// Returns the reason of a failed run.
pub(super) fn failure(run: &AgentStatusResponse) -> String {
    let reason = run.stop_reason.as_deref().map(|reason| format!(" ({})", printable(reason)));
    let error = run.error.as_deref().map_or_else(|| "no reason was given".to_owned(), one_line);
    format!("{error}{}", reason.unwrap_or_default())
}

/// Returns a source in one line.
pub(super) fn source_line(source: &Source) -> String {
    let Source { pointer, url, passage } = source;
    let pointer = if pointer.is_empty() { "/" } else { pointer };
    cut(&format!("{pointer} {url} \"{passage}\""), MAX_LINE_CHARS)
}

/// Returns a value as the lines of indented JSON for a terminal: its texts are those of pages, and JSON does not escape
/// all characters with which they could control it.
pub(super) fn json_lines(value: &Value) -> serde_json::Result<Vec<String>> {
    Ok(serde_json::to_string_pretty(value)?.lines().map(printable).collect())
}

/// Returns a time without fractions of a second.
pub(super) fn time(text: &str) -> String {
    match text.parse::<Timestamp>() {
        Ok(at) => at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        Err(_) => printable(text),
    }
}

/// Returns text in one bounded line, without control characters.
pub(super) fn one_line(text: &str) -> String {
    cut(text, MAX_LINE_CHARS)
}

fn cut(text: &str, max: usize) -> String {
    crate::command::monitor::text::one_line(text, max)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(event: &Value) -> Option<String> {
        step(&serde_json::from_value(event.clone()).unwrap()).map(|step| step.text)
    }

    #[test]
    fn events_become_lines_without_control_characters() {
        let started = |parameters: &Value| json!({ "type": "tool_call.started", "toolCallId": "c", "toolName": "map", "parameters": parameters });
        let finished = |summary: &str| {
            let result = json!({ "success": true, "summary": summary });
            json!({ "type": "tool_call.finished", "toolCallId": "c", "toolName": "map", "result": result })
        };
        let artifact = json!({
            "kind": "json", "artifactId": "data", "snapshotId": "data-1", "change": "init", "changedFields": ["a", "b"],
        });
        for (event, expected) in [
            (started(&json!({ "url": "http://a.test/", "search": "" })), Some("map http://a.test/")),
            (started(&json!({ "search": "tea\nmint", "limit": 5 })), Some("map 5 tea mint")),
            (finished("a\u{1b}[31m page"), Some("  a[31m page")),
            (json!({ "type": "reasoning.summary", "text": "why" }), Some("  why")),
            (json!({ "type": "artifact.updated", "artifact": artifact }), Some("  data: a, b")),
            (
                json!({ "type": "run.finished", "outcome": "credit_limit_reached", "error": null }),
                Some("end: credit limit reached"),
            ),
            (
                json!({ "type": "artifact.updated", "artifact": {
                    "kind": "json", "artifactId": "sources", "snapshotId": "s", "change": "init", "itemCount": 1,
                } }),
                Some("  1 source"),
            ),
            (json!({ "type": "agent.started" }), None),
        ] {
            let found = line(&event);
            let sorted = |text: &str| {
                let mut words: Vec<&str> = text.split(' ').collect();
                words.sort_unstable();
                words.join(" ")
            };
            assert_eq!(found.as_deref().map(sorted), expected.map(sorted), "{event}");
        }
    }

    #[test]
    fn failure_has_the_error_and_the_reason() {
        let run = |fields: Value| -> AgentStatusResponse {
            let mut run = json!({
                "success": true, "id": "7", "status": "failed", "expiresAt": "2026-03-01T08:00:00.000Z",
                "threadId": "t", "threadTurn": 2, "mode": "extract", "creditsUsed": 0,
            });
            for (name, value) in fields.as_object().unwrap() {
                run[name] = value.clone();
            }
            serde_json::from_value(run).unwrap()
        };
        let limited = run(json!({ "error": "too\nmuch", "stopReason": "credit_limit_reached" }));
        assert_eq!(failure(&limited), "too much (credit_limit_reached)");
        assert_eq!(failure(&run(json!({}))), "no reason was given");
        let lines = status_lines(&run(json!({ "partial": {}, "partialSchemaValid": false })));
        for expected in [
            "Status   failed",
            "Thread   t, turn 2",
            "Credits  0",
            "Partial  does not follow the schema",
            "Expires  2026-03-01T08:00:00Z",
        ] {
            assert!(lines.iter().any(|line| line == expected), "{expected:?} is not in {lines:?}");
        }
    }

    #[test]
    fn json_of_pages_cannot_control_a_terminal() {
        let lines = json_lines(&json!({ "tea": "a\u{1b}[31m\u{9b}31m\u{202e}b\nc" })).unwrap();
        assert_eq!(lines, ["{", r#"  "tea": "a\u001b[31m31mb\nc""#, "}"]);
    }

    #[test]
    fn source_has_pointer_url_and_passage() {
        let source = Source {
            pointer: String::new(),
            url: "http://a.test/".to_owned(),
            passage: "a\u{7}b".to_owned(),
        };
        assert_eq!(source_line(&source), "/ http://a.test/ \"ab\"");
    }
}
