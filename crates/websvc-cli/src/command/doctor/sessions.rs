//! Checks of browser sessions: a Chromium of their own, the worker that runs code, and memory.

use std::time::Duration;

use tokio::time::Instant;
use websvc_browser::{
    Browser, BrowserConfig, BrowserError, ClientRole, InteractiveBrowser, InteractiveRequest, RenderRequest,
    StartPage,
};
use websvc_server::session::{
    CdpChannel, ChannelClosed, CodeRunner, Language, Outcome, PageTarget, Program, Sandbox,
};
use websvc_transport::BoxFuture;
use websvc_types::counted;

use super::finding::Finding;
use super::{machine, programs};
use crate::app;
use crate::config::Config;
use crate::human_bytes::HumanBytes;
use crate::output;

const SESSIONS: &str = "sessions";
const CODE: &str = "session code";
const MEMORY: &str = "session memory";

/// Memory of a session that shows an ordinary page.
const SESSION_MEMORY_BYTES: u64 = 200 * 1024 * 1024;
/// The time in which the worker must run the program.
const CODE_TIMEOUT: Duration = Duration::from_secs(10);

/// Checks whether this machine can run browser sessions.
pub(super) async fn check(config: &Config) -> Vec<Finding> {
    if config.interact.max_sessions == 0 || config.browser.concurrency == 0 {
        return vec![Finding::ok(SESSIONS, "off (interact.max_sessions or browser.concurrency = 0)")];
    }
    // The checks of the values and of the browser report why there is none.
    let Ok(Some(browser)) = app::client(config).and_then(|client| app::browser(config, &client)) else {
        return Vec::new();
    };
    let mut findings = try_session(&browser, config).await;
    if browser.executable().is_ok()
        && let Some(available) = machine::available_memory()
    {
        let limit = config.browser.max_memory_bytes.unwrap_or(BrowserConfig::default().max_memory_bytes);
        findings.push(memory(available, config.interact.max_sessions, limit));
    }
    findings
}

/// Starts a session without a page, as the service does, runs a program in it, and ends it.
async fn try_session(browser: &Browser, config: &Config) -> Vec<Finding> {
    let limit = Duration::from_secs(config.interact.open_timeout_s.get());
    let blank = "about:blank".parse().expect("it is a URL");
    let page = RenderRequest::new(blank, Instant::now() + limit);
    match browser.start_interactive(InteractiveRequest { page, start: StartPage::Blank }).await {
        Ok(session) => {
            let code = code(&session).await;
            session.close().await;
            vec![Finding::ok(SESSIONS, "a Chromium of their own starts and opens a page"), code]
        }
        Err(error) => vec![start_failure(&error, limit)],
    }
}

fn start_failure(error: &BrowserError, limit: Duration) -> Finding {
    match error {
        BrowserError::Missing { .. } => {
            Finding::warning(SESSIONS, format!("{error}: browser sessions are not available"))
                .advice(programs::INSTALL_BROWSER)
        }
        BrowserError::Deadline => {
            let message = format!("Chromium did not open a page within {} s", limit.as_secs());
            Finding::problem(SESSIONS, message)
                .advice("raise `interact.open_timeout_s`, or give the machine more processors")
        }
        other => {
            let message = format!("Chromium does not start: {}", output::causes(other));
            Finding::problem(SESSIONS, message).advice(
                "start it by hand with --headless --dump-dom about:blank to see its messages; install missing libraries, \
                 or switch sessions off with `interact.max_sessions = 0`",
            )
        }
    }
}

/// Runs a program in a session, as the service does.
async fn code(session: &InteractiveBrowser) -> Finding {
    let runner = match app::worker_config() {
        Ok(worker) => Sandbox::new(worker, Vec::new()),
        Err(error) => {
            return Finding::problem(CODE, output::causes(error.as_ref()))
                .advice("report this bug of websvc");
        }
    };
    let connecting = session.connector().connect_to_page(ClientRole::Controls, None).await;
    match connecting {
        Ok((channel, page)) => {
            let websvc_browser::PageTarget { target, session } = page;
            let page = PageTarget { target_id: target, session_id: session };
            let program =
                Program { language: Language::Node, code: "1 + 1".to_owned(), timeout: CODE_TIMEOUT };
            code_finding(&runner.run(program, page, Box::new(PageChannel(channel))).await)
        }
        Err(error) => {
            Finding::problem(CODE, format!("no program can reach the page: {}", output::causes(&error)))
                .advice("run the command again; if it repeats, report this bug of websvc")
        }
    }
}

fn code_finding(outcome: &Outcome) -> Finding {
    if outcome.result.as_deref() == Some("2") {
        return Finding::ok(CODE, "a worker process runs programs");
    }
    let reason = outcome.error.as_deref().unwrap_or(outcome.stderr.trim());
    let message = match (outcome.killed, reason) {
        (true, _) => format!("the worker did not end within {} s", CODE_TIMEOUT.as_secs()),
        (false, "") => format!("the worker ended with the exit code {}", outcome.exit_code),
        (false, reason) => format!("the worker cannot run a program: {reason}"),
    };
    Finding::problem(CODE, message).advice(
        "allow websvc to start worker processes (limits of processes and address space, seccomp, a file system that \
         allows execution)",
    )
}

/// Compares the memory of as many sessions as are allowed with that of the machine, and with the limit of the browser.
fn memory(available: u64, max_sessions: usize, limit: u64) -> Finding {
    let count = u64::try_from(max_sessions).unwrap_or(u64::MAX);
    let required = count.saturating_mul(SESSION_MEMORY_BYTES);
    let [available_shown, required_shown, limit_shown] = [available, required, limit].map(HumanBytes);
    let needed =
        format!("{} about {required_shown}", counted(max_sessions, "session needs", "sessions need"));
    if required > limit {
        return Finding::warning(
            MEMORY,
            format!("{needed}; browser.max_memory_bytes is {limit_shown}, beyond which pages are stopped"),
        )
        .advice("lower `interact.max_sessions`, or raise `browser.max_memory_bytes`");
    }
    if required > available {
        return Finding::warning(MEMORY, format!("{needed}; {available_shown} available"))
            .advice("add memory, or lower `interact.max_sessions`");
    }
    Finding::ok(MEMORY, format!("{needed}; {available_shown} available"))
}

/// The connection of the program to the session.
#[derive(Debug)]
struct PageChannel(websvc_browser::CdpChannel);

impl CdpChannel for PageChannel {
    fn send(&mut self, message: String) -> BoxFuture<'_, Result<(), ChannelClosed>> {
        let sent = self.0.send(&message).map_err(|websvc_browser::ChannelClosed| ChannelClosed);
        Box::pin(std::future::ready(sent))
    }

    fn receive(&mut self) -> BoxFuture<'_, Option<String>> {
        Box::pin(self.0.receive())
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    const GIB: u64 = 1024 * 1024 * 1024;

    #[test]
    fn memory_is_compared_with_the_machine_and_the_limit() {
        for (available, max_sessions, limit, expected, word) in [
            (8 * GIB, 8, 3 * GIB, State::Ok, "8 sessions need about 1.56 GiB"),
            (GIB, 8, 3 * GIB, State::Warning, "1.00 GiB available"),
            (64 * GIB, 100, 3 * GIB, State::Warning, "browser.max_memory_bytes is 3.00 GiB"),
        ] {
            let finding = memory(available, max_sessions, limit);
            assert_eq!(finding.state, expected, "{finding:?}");
            assert!(finding.message.contains(word), "{finding:?}");
        }
    }

    #[test]
    fn worker_that_fails_is_a_problem_with_its_reason() {
        let ok = Outcome { result: Some("2".to_owned()), ..Outcome::default() };
        assert_eq!(code_finding(&ok).state, State::Ok);
        let failed = |outcome| {
            let finding = code_finding(&outcome);
            assert_eq!(finding.state, State::Problem, "{finding:?}");
            finding.message
        };
        let error = Some("no such file".to_owned());
        let message = failed(Outcome { exit_code: 1, error, ..Outcome::default() });
        assert_eq!(message, "the worker cannot run a program: no such file");
        assert_eq!(
            failed(Outcome { killed: true, ..Outcome::default() }),
            "the worker did not end within 10 s"
        );
        let message = failed(Outcome { exit_code: 9, ..Outcome::default() });
        assert_eq!(message, "the worker ended with the exit code 9");
    }

    #[tokio::test]
    async fn chromium_is_missing_broken_or_not_wanted() {
        let directory = tempfile::tempdir().unwrap();
        let first_of = async |path: &std::path::Path, max_sessions| {
            let mut config = Config::default();
            config.browser.path = Some(path.to_owned());
            config.interact.max_sessions = max_sessions;
            check(&config).await.swap_remove(0)
        };
        let missing = directory.path().join("none");
        assert_eq!(first_of(&missing, 0).await.state, State::Ok);
        let found = first_of(&missing, 1).await;
        assert_eq!(found.state, State::Warning, "{found:?}");
        assert!(found.message.contains("browser sessions are not available"), "{found:?}");
        let broken = first_of(std::path::Path::new("/bin/false"), 1).await;
        assert_eq!(broken.state, State::Problem, "{broken:?}");
        assert!(broken.message.starts_with("Chromium does not start: "), "{broken:?}");
    }
}
