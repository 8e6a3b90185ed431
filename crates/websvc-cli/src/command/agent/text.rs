//! Runs and their steps as text for people.

use serde_json::Value;
use websvc_types::counted;

use crate::command::monitor::text::credits_suffix;
use crate::output::{self, Column, column, column_of, printable};

/// Maximum length of a line about a step, in characters.
const MAX_LINE_CHARS: usize = 200;

/// Maximum length of the task in a list, in characters.
const MAX_TASK_CHARS: usize = 60;

/// The columns of a list of runs.
pub(super) const RUNS: &[Column] = &[
    column("RUN", "id"),
    column_of("STARTED", |run| time(&run["createdAt"])),
    column("STATUS", "status"),
    column("ORIGIN", "origin"),
    column_of("TASK", |run| output::one_line(text(&run["options"]["prompt"]), MAX_TASK_CHARS)),
];

/// A line about a step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) text: String,
    /// The line explains another one.
    pub(super) is_detail: bool,
}

/// Returns an event as a line; `None` for an event that tells people nothing.
pub(super) fn step(event: &Value) -> Option<Step> {
    let line = |line: &str| Some(Step { text: one_line(line), is_detail: false });
    let detail = |line: &str| Some(Step { text: format!("  {}", one_line(line)), is_detail: true });
    match text(&event["type"]) {
        "run.cancel_requested" => line("it was cancelled"),
        "run.finished" => line(&format!("end: {}", text(&event["outcome"]).replace('_', " "))),
        "progress.reported" => line(text(&event["message"])),
        "reasoning.summary" => detail(text(&event["text"])),
        "tool_call.started" => {
            line(&format!("{} {}", text(&event["toolName"]), parameters_text(&event["parameters"])))
        }
        "tool_call.finished" => detail(text(&event["result"]["summary"])),
        "artifact.updated" => detail(&artifact_text(&event["artifact"])),
        "error.occurred" => line(&format!("error: {}", text(&event["error"]["message"]))),
        "browser.session.started" => detail("a browser session has started"),
        // Others only repeat what a report of the progress says.
        _ => None,
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

fn artifact_text(artifact: &Value) -> String {
    let fields = artifact["changedFields"].as_array().into_iter().flatten();
    let fields: Vec<&str> = fields.map(text).collect();
    match artifact["itemCount"].as_u64() {
        Some(count) => counted(count, "source", "sources"),
        None if fields.is_empty() => format!("{} has changed", text(&artifact["artifactId"])),
        None => format!("{}: {}", text(&artifact["artifactId"]), fields.join(", ")),
    }
}

/// Returns the status of a run without its data.
pub(super) fn status_lines(run: &Value) -> Vec<String> {
    let mut lines = vec![
        field("Run", &printable(text(&run["id"]))),
        field("Status", &format!("{}{}", text(&run["status"]), stop_reason(run))),
        field("Thread", &format!("{}, turn {}", printable(text(&run["threadId"])), run["threadTurn"])),
    ];
    if let Some(credits) = run["creditsUsed"].as_u64() {
        lines.push(field("Credits", &credits.to_string()));
    }
    let texts = [("Error", "error"), ("Message", "message"), ("Warning", "warning")];
    lines.extend(texts.iter().filter_map(|(name, key)| Some(field(name, &one_line(run[*key].as_str()?)))));
    if let Some(is_valid) = run["partialSchemaValid"].as_bool() {
        let text = if is_valid { "follows the schema" } else { "does not follow the schema" };
        lines.push(field("Partial", text));
    }
    lines.push(field("Expires", &time(&run["expiresAt"])));
    lines
}

fn field(name: &str, value: &str) -> String {
    format!("{name:<9}{value}")
}

/// Returns the end of a run in one line.
pub(super) fn end_line(run: &Value) -> String {
    format!("agent: {}{}", text(&run["status"]), credits_suffix(&run["creditsUsed"]))
}

/// Returns the reason of a failed run.
pub(super) fn failure(run: &Value) -> String {
    let error = run["error"].as_str().map_or_else(|| "no reason was given".to_owned(), one_line);
    format!("{error}{}", stop_reason(run))
}

/// Returns the reason of the end of a run in brackets, if there is one.
fn stop_reason(run: &Value) -> String {
    run["stopReason"].as_str().map_or_else(String::new, |reason| format!(" ({})", printable(reason)))
}

/// Returns a source of data in one line.
pub(super) fn source_line(source: &Value) -> String {
    // A JSON Pointer to the whole data is empty.
    let pointer = source["pointer"].as_str().filter(|pointer| !pointer.is_empty()).unwrap_or("/");
    one_line(&format!("{pointer} {} \"{}\"", text(&source["url"]), text(&source["passage"])))
}

/// Returns a value as the lines of indented JSON for a terminal: its texts are those of pages, and JSON does not escape
/// all characters with which they could control it.
pub(super) fn json_lines(value: &Value) -> serde_json::Result<Vec<String>> {
    Ok(serde_json::to_string_pretty(value)?.lines().map(printable).collect())
}

/// Returns a time without fractions of a second.
pub(super) fn time(time: &Value) -> String {
    output::time_of(text(time))
}

/// Returns text in one bounded line, without control characters.
pub(super) fn one_line(text: &str) -> String {
    output::one_line(text, MAX_LINE_CHARS)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(event: &Value) -> Option<String> {
        step(event).map(|step| step.text)
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
        let run = |fields: Value| -> Value {
            let mut run = json!({
                "success": true, "id": "7", "status": "failed", "expiresAt": "2026-03-01T08:00:00.000Z",
                "threadId": "t", "threadTurn": 2, "mode": "extract", "creditsUsed": 0,
            });
            for (name, value) in fields.as_object().unwrap() {
                run[name] = value.clone();
            }
            run
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
        let source = json!({ "pointer": "", "url": "http://a.test/", "passage": "a\u{7}b" });
        assert_eq!(source_line(&source), "/ http://a.test/ \"ab\"");
    }
}
