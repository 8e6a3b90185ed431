//! Programs beside this one: the workers that read documents, character recognition, the browser.

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
const OCR: &str = "recognition";
const BROWSER: &str = "browser";
const BROWSER_SAFETY: &str = "browser safety";

/// The language that pages are recognised in.
const LANGUAGE: &str = "eng";

/// How to install what recognition needs.
const INSTALL_OCR: &str = "Debian, Ubuntu: apt install tesseract-ocr poppler-utils; \
    Fedora: dnf install tesseract poppler-utils; \
    Alpine: apk add tesseract-ocr tesseract-ocr-data-eng poppler-utils; \
    macOS: brew install tesseract poppler";

/// How to install what draws pages.
const INSTALL_BROWSER: &str = "Debian, Ubuntu: apt install chromium-headless-shell (or chromium); \
    Fedora: dnf install chromium-headless; Alpine: apk add chromium; macOS: brew install --cask chromium; \
    or name one in [browser] path";

const INSTALL_CERTUTIL: &str =
    "Debian, Ubuntu: apt install libnss3-tools; Fedora: dnf install nss-tools; Alpine: apk add nss-tools";

const ALLOW_SANDBOX: &str = "run websvc as a user of its own, not as root, on a system that lets users make namespaces \
    (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0)";

/// Checks the programs.
pub(super) async fn check(config: Option<&Config>) -> Vec<Finding> {
    let documents = documents().await;
    let asking = tokio::task::spawn_blocking(|| {
        let programs = Programs { tesseract: tesseract(), drawer: first_line("pdftoppm", &["-v"]) };
        programs.judge()
    });
    let recognition = asking.await.unwrap_or_else(|error| {
        Finding::problem(OCR, error.to_string(), "report this: it is a defect of websvc")
    });
    let mut findings = vec![documents, recognition];
    if let Some(config) = config {
        findings.extend(browser(config).await);
    }
    findings
}

/// Lets a worker read a document, as the service does.
async fn documents() -> Finding {
    let reader = DocumentReader::new(app::document_workers());
    let deadline = Instant::now() + Duration::from_secs(20);
    let table = "tea,grams\ngreen,4\n".into();
    match reader.read(DocumentKind::Csv, table, &ReadOptions::default(), deadline).await {
        Ok(_) => Finding::ok(DOCUMENTS, "a worker reads them, in a process of its own"),
        Err(error) => Finding::problem(
            DOCUMENTS,
            output::causes(&error),
            "let websvc start processes of itself with 256 MB of address space each (limits, seccomp)",
        ),
    }
}

/// Programs that OCR needs.
struct Programs {
    /// The version of Tesseract and its languages.
    tesseract: Option<(String, Vec<String>)>,
    /// The version of the program that draws pages.
    drawer: Option<String>,
}

impl Programs {
    fn judge(&self) -> Finding {
        let without = "scanned PDF pages have no text";
        match (&self.tesseract, &self.drawer) {
            (Some((tesseract, languages)), Some(drawer)) => {
                let known = languages.join(", ");
                if languages.iter().any(|language| language == LANGUAGE) {
                    return Finding::ok(OCR, format!("{tesseract} ({known}), {drawer}"));
                }
                Finding::warning(
                    OCR,
                    format!(
                        "{tesseract} has not the language {LANGUAGE} that it is asked for, only: {known}"
                    ),
                    format!(
                        "install it: tesseract-ocr-{LANGUAGE}, tesseract-ocr-data-{LANGUAGE} or tesseract-langpack-{LANGUAGE}"
                    ),
                )
            }
            (None, None) => {
                Finding::warning(OCR, format!("no tesseract and no pdftoppm: {without}"), INSTALL_OCR)
            }
            (None, Some(_)) => Finding::warning(OCR, format!("no tesseract: {without}"), INSTALL_OCR),
            (Some(_), None) => Finding::warning(OCR, format!("no pdftoppm: {without}"), INSTALL_OCR),
        }
    }
}

fn tesseract() -> Option<(String, Vec<String>)> {
    let version = first_line("tesseract", &["--version"])?;
    let listed = output("tesseract", &["--list-langs"])?;
    // The first line says where they are.
    let languages = listed.lines().skip(1).map(str::trim).filter(|line| !line.is_empty());
    Some((version, languages.map(str::to_owned).collect()))
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let said = output(program, arguments)?;
    Some(said.lines().next().unwrap_or(program).trim().to_owned())
}

/// Runs a program that tells of itself, and returns what it says on either output.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    let said = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    Some(String::from_utf8_lossy(&said).into_owned())
}

/// Looks whether the browser is there: one that would be started here is not, a remote one is connected to.
async fn browser(config: &Config) -> Vec<Finding> {
    let made = app::client(config).and_then(|client| app::browser(config, &client));
    let browser = match made {
        Ok(Some(browser)) => browser,
        Ok(None) => return vec![Finding::ok(BROWSER, "turned off (browser.concurrency = 0)")],
        // Said among the values.
        Err(error) => {
            return vec![Finding::warning(
                BROWSER,
                format!("not looked for: {}", output::causes(error.as_ref())),
                "mend that first",
            )];
        }
    };
    if config.browser.cdp_url.is_some() {
        return vec![remote_browser(&browser).await];
    }
    let without = "pages that scripts draw stay empty, and there are no screenshots and no actions";
    match browser.executable() {
        Ok(path) => {
            let warnings = browser.health().warnings.into_iter();
            let warnings = warnings.map(|warning| {
                let advice = if warning.contains("certutil") { INSTALL_CERTUTIL } else { ALLOW_SANDBOX };
                Finding::warning(BROWSER_SAFETY, warning, advice)
            });
            std::iter::once(Finding::ok(BROWSER, path.display().to_string())).chain(warnings).collect()
        }
        Err(error) => vec![Finding::warning(BROWSER, format!("{error}: {without}"), INSTALL_BROWSER)],
    }
}

/// Connects to a remote browser as the service does, and leaves it again.
async fn remote_browser(browser: &Browser) -> Finding {
    let outcome = browser.prepare().await;
    browser.stop().await;
    match outcome {
        Ok(()) => Finding::ok(
            BROWSER,
            "the remote browser answers, and comes back to this service for what its pages want",
        ),
        Err(error) => Finding::problem(
            BROWSER,
            output::causes(&error),
            "check that it runs with --remote-debugging-port and that `browser.cdp_url` leads there; it has to reach this \
             service at `browser.egress_host` (else `browser.egress_listen`), on any port",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn recognition_needs_both_programs_and_its_language() {
        let tesseract = |languages: &[&str]| {
            Some(("tesseract 5".to_owned(), languages.iter().map(|name| (*name).to_owned()).collect()))
        };
        let drawer = || Some("pdftoppm 25".to_owned());
        for (programs, expected, word) in [
            (Programs { tesseract: tesseract(&["eng", "osd"]), drawer: drawer() }, State::Ok, "(eng, osd)"),
            (Programs { tesseract: tesseract(&["deu"]), drawer: drawer() }, State::Warning, "only: deu"),
            (Programs { tesseract: None, drawer: drawer() }, State::Warning, "no tesseract:"),
            (Programs { tesseract: tesseract(&["eng"]), drawer: None }, State::Warning, "no pdftoppm:"),
            (Programs { tesseract: None, drawer: None }, State::Warning, "no tesseract and no pdftoppm"),
        ] {
            let finding = programs.judge();
            assert_eq!(finding.state, expected, "{finding:?}");
            assert!(finding.message.contains(word), "{finding:?}");
        }
    }

    #[tokio::test]
    async fn a_browser_is_there_missing_or_turned_off() {
        let check = async |path: &std::path::Path, concurrency| {
            let mut config = Config::default();
            config.browser.path = Some(path.to_owned());
            config.browser.concurrency = concurrency;
            browser(&config).await.swap_remove(0)
        };
        let folder = tempfile::tempdir().unwrap();
        let missing = check(&folder.path().join("none"), 1).await;
        assert_eq!(missing.state, State::Warning, "{missing:?}");
        assert!(missing.message.contains("no screenshots"), "{missing:?}");
        assert_eq!(check(&folder.path().join("none"), 0).await.state, State::Ok);
        let here = std::env::current_exe().unwrap();
        let found = check(&here, 1).await;
        assert_eq!((found.state, found.message), (State::Ok, here.display().to_string()));
    }

    #[tokio::test]
    async fn a_remote_browser_that_is_not_there_is_a_problem_with_its_address() {
        let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let mut config = Config::default();
        config.browser.cdp_url = Some(format!("http://{closed}"));
        let found = browser(&config).await;
        assert_eq!(found[0].state, State::Problem, "{found:?}");
        assert!(found[0].message.contains(&closed.to_string()), "{found:?}");
    }

    #[test]
    fn a_program_that_is_not_there_says_nothing() {
        assert_eq!(output("websvc-no-such-program", &[]), None);
    }
}
