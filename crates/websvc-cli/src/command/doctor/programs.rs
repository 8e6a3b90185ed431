//! Programs beside this one: the workers that read documents, character recognition, the browser.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use websvc_documents::DocumentKind;
use websvc_scrape::{DocumentReader, ReadOptions};

use super::finding::Finding;
use crate::installation;

const DOCUMENTS: &str = "documents";
const OCR: &str = "recognition";
const BROWSER: &str = "browser";

/// The language that pages are recognised in.
const LANGUAGE: &str = "eng";

/// How to install what recognition needs.
const INSTALL_OCR: &str = "Debian, Ubuntu: apt install tesseract-ocr poppler-utils; \
    Fedora: dnf install tesseract poppler-utils; \
    Alpine: apk add tesseract-ocr tesseract-ocr-data-eng poppler-utils; \
    macOS: brew install tesseract poppler";

/// Where Chromium is, by system; names without a folder are looked for in the path.
const BROWSERS: &[&str] = &[
    "chromium-headless-shell",
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "chromium",
    "chromium-browser",
];

/// Checks the programs.
pub(super) async fn check() -> Vec<Finding> {
    let documents = documents().await;
    let asking = tokio::task::spawn_blocking(|| {
        let programs = Programs { tesseract: tesseract(), drawer: first_line("pdftoppm", &["-v"]) };
        (programs.judge(), find(BROWSERS, &search_path()))
    });
    match asking.await {
        Ok((recognition, browser)) => vec![documents, recognition, self::browser(browser.as_deref())],
        Err(error) => {
            vec![documents, Finding::problem(OCR, error.to_string(), "report this: it is a defect of websvc")]
        }
    }
}

/// Lets a worker read a document, as the service does.
async fn documents() -> Finding {
    let reader = DocumentReader::new(installation::document_workers());
    let deadline = Instant::now() + Duration::from_secs(20);
    let table = "tea,grams\ngreen,4\n".into();
    match reader.read(DocumentKind::Csv, table, &ReadOptions::default(), deadline).await {
        Ok(_) => Finding::ok(DOCUMENTS, "a worker reads them, in a process of its own"),
        Err(error) => Finding::problem(
            DOCUMENTS,
            format!("{:#}", anyhow::Error::from(error)),
            "let websvc start processes of itself with 256 MB of address space each (limits, seccomp)",
        ),
    }
}

/// What recognition needs.
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

/// Tells of the browser. No part of this version starts one, so that nothing is lost without.
fn browser(found: Option<&Path>) -> Finding {
    Finding::ok(
        BROWSER,
        match found {
            Some(path) => format!("{}; not used yet by this version", path.display()),
            None => "none; not used yet by this version".to_owned(),
        },
    )
}

fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map_or_else(Vec::new, |path| std::env::split_paths(&path).collect())
}

/// Returns the first program that exists; names are looked for in `folders`.
fn find(programs: &[&str], folders: &[PathBuf]) -> Option<PathBuf> {
    programs.iter().find_map(|program| {
        // An absolute path stays what it is when it is joined to a folder.
        let mut places = std::iter::once(PathBuf::from(program))
            .filter(|place| place.is_absolute())
            .chain(folders.iter().map(|folder| folder.join(program)));
        places.find(|place| place.is_file())
    })
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

    #[test]
    fn a_program_is_found_at_its_place_or_in_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("chromium");
        std::fs::write(&program, "").unwrap();
        let folders = [folder.path().to_owned()];
        assert_eq!(find(&["other", "chromium"], &folders), Some(program.clone()));
        assert_eq!(find(&[program.to_str().unwrap()], &[]), Some(program));
        assert_eq!(find(&["other"], &folders), None);
        assert_eq!(find(&["chromium"], &[]), None);
    }

    #[test]
    fn a_program_that_is_not_there_says_nothing() {
        assert_eq!(output("websvc-no-such-program", &[]), None);
    }
}
