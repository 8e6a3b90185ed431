//! Checks of other processes: document workers, OCR programs, the browser.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use websvc_browser::Browser;
use websvc_documents::DocumentKind;
use websvc_scrape::{DocumentReader, ReadOptions};

use super::finding::Finding;
use crate::app;
use crate::config::Config;
use crate::output;

const DOCUMENTS: &str = "documents";
const OCR: &str = "ocr";
const BROWSER: &str = "browser";
const BROWSER_SECURITY: &str = "browser security";
const INTERPRETERS: &str = "interpreters";

/// The language of OCR.
const LANGUAGE: &str = "eng";

/// Advice for missing OCR programs.
const INSTALL_OCR: &str = "Debian, Ubuntu: apt install tesseract-ocr poppler-utils; \
    Fedora: dnf install tesseract poppler-utils; \
    Alpine: apk add tesseract-ocr tesseract-ocr-data-eng poppler-utils; \
    macOS: brew install tesseract poppler";

/// Advice for a missing browser.
pub(super) const INSTALL_BROWSER: &str = "Debian, Ubuntu: apt install chromium-headless-shell (or chromium); \
    Fedora: dnf install chromium-headless; Alpine: apk add chromium; macOS: brew install --cask chromium; \
    or set `browser.path`";

/// Advice for a missing `certutil`.
const INSTALL_CERTUTIL: &str =
    "Debian, Ubuntu: apt install libnss3-tools; Fedora: dnf install nss-tools; Alpine: apk add nss-tools";

/// Advice for an interpreter that cannot be used.
const SET_INTERPRETERS: &str = "see \"Real interpreters\" on the page \"Code in browser sessions\" of the manual; without \
    `[interact.interpreters]`, node and bash run in the embedded engine";

/// Advice for a browser without a sandbox.
const ALLOW_SANDBOX: &str = "run websvc as a separate user, not as root, on a system that allows user namespaces \
    (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0)";

/// Checks the document workers and the OCR programs.
pub(super) async fn check() -> Vec<Finding> {
    let ocr = websvc_transport::spawn_blocking(|| {
        Programs { tesseract: tesseract(), pdftoppm: first_line("pdftoppm", &["-v"]) }.finding()
    });
    vec![documents().await, ocr.await.unwrap_or_else(|error| Finding::bug(OCR, &error))]
}

/// Parses a document in a worker, as the service does.
async fn documents() -> Finding {
    let reader = DocumentReader::new(app::document_workers());
    let deadline = Instant::now() + Duration::from_secs(20);
    let table = "tea,grams\ngreen,4\n".into();
    match reader.read(DocumentKind::Csv, table, &ReadOptions::default(), deadline).await {
        Ok(_) => Finding::ok(DOCUMENTS, "a worker process can parse documents"),
        Err(error) => Finding::problem(DOCUMENTS, output::causes(&error)).advice(
            "allow websvc to start worker processes with 256 MB of address space each (limits, seccomp)",
        ),
    }
}

/// The programs for OCR.
struct Programs {
    /// Version and languages of Tesseract.
    tesseract: Option<(String, Vec<String>)>,
    /// Version of the program that renders PDF pages.
    pdftoppm: Option<String>,
}

impl Programs {
    fn finding(&self) -> Finding {
        let missing = match (&self.tesseract, &self.pdftoppm) {
            (Some((tesseract, languages)), Some(pdftoppm)) => {
                let installed = languages.join(", ");
                if languages.iter().any(|language| language == LANGUAGE) {
                    return Finding::ok(OCR, format!("{tesseract} ({installed}), {pdftoppm}"));
                }
                let message =
                    format!("{tesseract} does not have the required language {LANGUAGE}, only: {installed}");
                return Finding::warning(OCR, message).advice(format!(
                    "install it: tesseract-ocr-{LANGUAGE}, tesseract-ocr-data-{LANGUAGE} or tesseract-langpack-{LANGUAGE}"
                ));
            }
            (None, None) => "no tesseract and no pdftoppm",
            (None, Some(_)) => "no tesseract",
            (Some(_), None) => "no pdftoppm",
        };
        Finding::warning(OCR, format!("{missing}: scanned PDF pages have no text")).advice(INSTALL_OCR)
    }
}

fn tesseract() -> Option<(String, Vec<String>)> {
    let version = first_line("tesseract", &["--version"])?;
    let listed = output("tesseract", &["--list-langs"])?;
    // The first line has the directory of the languages.
    let languages = listed.lines().skip(1).map(str::trim).filter(|line| !line.is_empty());
    Some((version, languages.map(str::to_owned).collect()))
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let text = output(program, arguments)?;
    Some(text.lines().next().unwrap_or(program).trim().to_owned())
}

/// Runs a program and returns its output, from stdout or stderr. Returns `None` if it cannot be started.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Checks the browser. A local one is located and not started; a remote one is connected.
pub(super) async fn browser(config: &Config) -> Vec<Finding> {
    let result = app::client(config).and_then(|client| app::browser(config, &client));
    let browser = match result {
        Ok(Some(browser)) => browser,
        Ok(None) => return vec![Finding::ok(BROWSER, "off (browser.concurrency = 0)")],
        // The check of the values reports it, too.
        Err(error) => {
            let message = format!("not checked: {}", output::causes(error.as_ref()));
            return vec![Finding::warning(BROWSER, message).advice("fix this first")];
        }
    };
    if config.browser.cdp_url.is_some() {
        return vec![remote_browser(&browser).await];
    }
    let consequence = "pages that need JavaScript stay empty, and screenshots and actions are not available";
    match browser.executable() {
        Ok(path) => {
            let warnings = browser.health().warnings.into_iter().map(|warning| {
                let advice = if warning.contains("certutil") { INSTALL_CERTUTIL } else { ALLOW_SANDBOX };
                Finding::warning(BROWSER_SECURITY, warning).advice(advice)
            });
            std::iter::once(Finding::ok(BROWSER, path.display().to_string())).chain(warnings).collect()
        }
        Err(error) => {
            vec![Finding::warning(BROWSER, format!("{error}: {consequence}")).advice(INSTALL_BROWSER)]
        }
    }
}

/// Runs a first program with each configured interpreter, as the service does at its start.
pub(super) async fn interpreters(data_dir: &Path, config: &Config) -> Vec<Finding> {
    let problem = |text: String| Finding::problem(INTERPRETERS, text).advice(SET_INTERPRETERS);
    match app::interpreters_of(config, data_dir).await {
        Ok(prepared) => {
            let findings = prepared.into_iter().map(|(key, interpreter)| match interpreter {
                Ok(interpreter) => Finding::ok(INTERPRETERS, interpreter.to_string()),
                Err(error) => problem(format!("{key}: {error}")),
            });
            findings.collect()
        }
        Err(error) => vec![problem(error.to_string())],
    }
}

/// Connects to a remote browser as the service does, and disconnects.
async fn remote_browser(browser: &Browser) -> Finding {
    let outcome = browser.prepare().await;
    browser.stop().await;
    match outcome {
        Ok(()) => {
            Finding::ok(BROWSER, "the remote browser responds and can reach the egress proxy of this service")
        }
        Err(error) => Finding::problem(BROWSER, output::causes(&error)).advice(
            "check that it runs with --remote-debugging-port at `browser.cdp_url`, and that it can reach this \
             service at `browser.egress_host` (default: `browser.egress_listen`) on any port",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn ocr_requires_both_programs_and_the_language() {
        let tesseract = |languages: &[&str]| {
            Some(("tesseract 5".to_owned(), languages.iter().map(|name| (*name).to_owned()).collect()))
        };
        let pdftoppm = || Some("pdftoppm 25".to_owned());
        for (programs, expected, word) in [
            (
                Programs { tesseract: tesseract(&["eng", "osd"]), pdftoppm: pdftoppm() },
                State::Ok,
                "(eng, osd)",
            ),
            (Programs { tesseract: tesseract(&["deu"]), pdftoppm: pdftoppm() }, State::Warning, "only: deu"),
            (Programs { tesseract: None, pdftoppm: pdftoppm() }, State::Warning, "no tesseract:"),
            (Programs { tesseract: tesseract(&["eng"]), pdftoppm: None }, State::Warning, "no pdftoppm:"),
            (Programs { tesseract: None, pdftoppm: None }, State::Warning, "no tesseract and no pdftoppm"),
        ] {
            let finding = programs.finding();
            assert_eq!(finding.state, expected, "{finding:?}");
            assert!(finding.message.contains(word), "{finding:?}");
        }
    }

    #[tokio::test]
    async fn local_browser_is_found_missing_or_off() {
        let check = async |path: &Path, concurrency| {
            let mut config = Config::default();
            config.browser.path = Some(path.to_owned());
            config.browser.concurrency = concurrency;
            browser(&config).await.swap_remove(0)
        };
        let directory = tempfile::tempdir().unwrap();
        let missing = check(&directory.path().join("none"), 1).await;
        assert_eq!(missing.state, State::Warning, "{missing:?}");
        assert!(missing.message.contains("screenshots and actions are not available"), "{missing:?}");
        assert_eq!(check(&directory.path().join("none"), 0).await.state, State::Ok);
        let executable = std::env::current_exe().unwrap();
        let found = check(&executable, 1).await;
        assert_eq!((found.state, found.message), (State::Ok, executable.display().to_string()));
    }

    #[tokio::test]
    async fn unreachable_remote_browser_is_a_problem_with_its_address() {
        let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let mut config = Config::default();
        config.browser.cdp_url = Some(format!("http://{closed}"));
        let found = browser(&config).await;
        assert_eq!(found[0].state, State::Problem, "{found:?}");
        assert!(found[0].message.contains(&closed.to_string()), "{found:?}");
    }

    #[test]
    fn output_of_a_missing_program_is_none() {
        assert_eq!(output("websvc-no-such-program", &[]), None);
    }
}
