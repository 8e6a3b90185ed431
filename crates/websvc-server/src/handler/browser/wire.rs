//! The responses about sessions.

use jiff::Timestamp;
use websvc_session::{Execution, Outcome, PromptExecution, SessionView};
use websvc_store::{BrowserSessionRecord, BrowserSessionStatus};
use websvc_types::interact::{
    self, BrowserSession, CreateBrowserResponse, ExecuteResponse, InteractResponse,
};

/// The URLs of a session; empty if it has ended or runs in another process.
#[derive(Debug, Default)]
struct Urls {
    cdp: String,
    live: String,
    interactive: String,
}

fn urls(base_url: Option<&str>, view: &SessionView) -> Urls {
    let Some(tokens) = &view.urls else { return Urls::default() };
    let base = base_url.unwrap_or_default();
    // `http` becomes `ws`, and `https` becomes `wss`.
    let websocket = base.strip_prefix("http").map_or_else(|| base.to_owned(), |rest| format!("ws{rest}"));
    let (id, control, shown) = (&view.record.id, tokens.control_token(), tokens.view_token());
    Urls {
        cdp: format!("{websocket}/v2/browser/{id}/cdp?token={control}"),
        live: format!("{base}/v2/browser/{id}/live?token={shown}"),
        interactive: format!("{base}/v2/browser/{id}/live?token={control}&interactive=true"),
    }
}

/// Returns warnings as one text; `None` if there are none.
pub(super) fn warning(warnings: &[String]) -> Option<String> {
    (!warnings.is_empty()).then(|| warnings.join("; "))
}

pub(super) fn created(
    base_url: Option<&str>,
    view: &SessionView,
    warnings: &[String],
) -> CreateBrowserResponse {
    let Urls { cdp, live, interactive } = urls(base_url, view);
    CreateBrowserResponse {
        success: true,
        id: view.record.id.clone(),
        cdp_url: cdp,
        live_view_url: live,
        interactive_live_view_url: interactive,
        expires_at: time(view.record.expires_at_ms),
        warning: warning(warnings),
    }
}

pub(super) fn listed(base_url: Option<&str>, view: &SessionView) -> BrowserSession {
    let Urls { cdp, live, interactive } = urls(base_url, view);
    let BrowserSessionRecord { id, status, stream_web_view, created_at_ms, active_at_ms, .. } = &view.record;
    BrowserSession {
        id: id.clone(),
        status: match status {
            BrowserSessionStatus::Active => interact::BrowserSessionStatus::Active,
            BrowserSessionStatus::Destroyed => interact::BrowserSessionStatus::Destroyed,
        },
        cdp_url: cdp,
        live_view_url: live,
        interactive_live_view_url: interactive,
        stream_web_view: *stream_web_view,
        created_at: time(*created_at_ms),
        last_activity: time(*active_at_ms),
    }
}

pub(super) fn executed(execution: Execution, warnings: &[String]) -> ExecuteResponse {
    let Ran { stdout, stderr, result, exit_code, killed, truncated, error } = ran(execution);
    // Unlike for a scrape, the request succeeds even if the code fails.
    ExecuteResponse {
        success: true,
        stdout,
        stderr,
        result,
        exit_code,
        killed,
        truncated,
        error,
        warning: warning(warnings),
    }
}

/// Returns the response to code, which has no `output`.
pub(super) fn interacted(
    base_url: Option<&str>,
    view: &SessionView,
    execution: Execution,
) -> InteractResponse {
    prompted(base_url, view, PromptExecution { execution, output: None })
}

/// Returns the response to a prompt.
pub(super) fn prompted(
    base_url: Option<&str>,
    view: &SessionView,
    PromptExecution { execution, output }: PromptExecution,
) -> InteractResponse {
    let Urls { cdp, live, interactive } = urls(base_url, view);
    let Ran { stdout, stderr, result, exit_code, killed, truncated, error } = ran(execution);
    InteractResponse {
        success: exit_code == 0 && !killed,
        session_id: view.record.id.clone(),
        cdp_url: cdp,
        live_view_url: live,
        interactive_live_view_url: interactive,
        output,
        stdout,
        stderr,
        result,
        exit_code,
        killed,
        truncated,
        error,
        warning: None,
    }
}

/// The fields of a run that both responses have.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    stdout: String,
    stderr: String,
    result: Option<String>,
    exit_code: i32,
    killed: bool,
    truncated: Option<bool>,
    error: Option<String>,
}

fn ran(execution: Execution) -> Ran {
    let Execution { outcome, is_truncated } = execution;
    // The execution counts what the program cut, too. The session keeps the page.
    let Outcome { stdout, mut stderr, result, exit_code, killed, error, truncated: _, page: _ } = outcome;
    let has_failed = exit_code != 0 || killed;
    if has_failed && stderr.is_empty() {
        stderr = error.unwrap_or_else(|| format!("the code failed with the exit code {exit_code}"));
    }
    let result = result.unwrap_or_else(|| stdout.trim().to_owned());
    Ran {
        // Some clients show nothing else of a failure.
        error: has_failed.then(|| stderr.clone()),
        stdout,
        stderr,
        result: Some(result),
        exit_code,
        killed,
        truncated: is_truncated.then_some(true),
    }
}

/// Returns a time as ISO 8601.
fn time(ms: u64) -> String {
    let time = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    format!("{:.3}", time.unwrap_or(Timestamp::UNIX_EPOCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(outcome: Outcome) -> Ran {
        ran(Execution { outcome, is_truncated: false })
    }

    #[test]
    fn failure_has_a_reason_in_stderr_and_error() {
        let failed = |stderr: &str, error: Option<&str>| {
            let (stderr, error) = (stderr.to_owned(), error.map(str::to_owned));
            let Ran { stderr, error, .. } =
                check(Outcome { stderr, error, exit_code: 1, ..Outcome::default() });
            assert_eq!(Some(&stderr), error.as_ref());
            stderr
        };
        assert_eq!(failed("Error: x", Some("y")), "Error: x");
        assert_eq!(failed("", Some("y")), "y");
        assert_eq!(failed("", None), "the code failed with the exit code 1");
        assert!(check(Outcome { stderr: "a warning".to_owned(), ..Outcome::default() }).error.is_none());
    }

    #[test]
    fn result_without_a_value_is_what_was_printed() {
        let stdout = " 7\n".to_owned();
        let ran = check(Outcome { stdout: stdout.clone(), ..Outcome::default() });
        assert_eq!((ran.result.as_deref(), ran.stdout.as_str()), (Some("7"), " 7\n"));
        let ran = check(Outcome { stdout, result: Some("{}".to_owned()), ..Outcome::default() });
        assert_eq!(ran.result.as_deref(), Some("{}"));
    }

    #[test]
    fn time_has_milliseconds() {
        assert_eq!(time(1_764_072_000_007), "2025-11-25T12:00:00.007Z");
    }
}
