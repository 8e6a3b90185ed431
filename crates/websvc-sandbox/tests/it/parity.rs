//! Programs that have the same outcome with Playwright and in the sandbox.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::process::Command;
use websvc_sandbox::Language;
use websvc_testkit::skip;

use crate::browser::{Browser, chromium};
use crate::channels::program;
use crate::site;

/// The number of programs that issue 23 asks for.
const MIN_PROGRAMS: usize = 80;

/// Returns the programs by name, with the addresses of the site.
fn programs(addresses: impl Fn(&str) -> String) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let only = std::env::var("WEBSVC_TEST_PROGRAM").unwrap_or_default();
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = files.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path));
    named
        .filter(|(name, _)| name.contains(&only))
        .map(|(name, path)| (name, addresses(&fs::read_to_string(path).unwrap())))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_have_the_outcomes_of_playwright() {
    let (Some(chromium), Some(playwright)) = (chromium(), std::env::var_os("WEBSVC_TEST_PLAYWRIGHT")) else {
        return skip("no Chromium (WEBSVC_TEST_CHROMIUM) or no playwright-core (WEBSVC_TEST_PLAYWRIGHT)");
    };
    let web = site::start().await;
    let programs = programs(|code| site::insert_addresses(code, &web));
    let is_complete = std::env::var_os("WEBSVC_TEST_PROGRAM").is_none();
    assert!(!is_complete || programs.len() >= MIN_PROGRAMS, "{} programs", programs.len());
    let (expected, found) = tokio::join!(
        run_playwright(Path::new(&playwright), &chromium, &programs),
        run_ours(&chromium, &programs)
    );
    let mut differences = String::new();
    for name in programs.keys() {
        if expected.get(name) != found.get(name) {
            let show =
                |outcome: Option<&Value>| outcome.map_or("nothing".to_owned(), |value| format!("{value:#}"));
            differences.push_str(&format!(
                "\n{name}\n playwright: {}\n ours: {}\n",
                show(expected.get(name)),
                show(found.get(name))
            ));
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// Runs the programs with Playwright in Node, all in one browser.
async fn run_playwright(
    folder: &Path,
    chromium: &Path,
    programs: &BTreeMap<String, String>,
) -> BTreeMap<String, Value> {
    let files = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = programs.keys().map(|name| files.path().join(format!("{name}.js"))).collect();
    for (path, code) in paths.iter().zip(programs.values()) {
        fs::write(path, code).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/playwright/run.mjs");
    let mut command = Command::new("node");
    command.arg(script).arg(folder).arg(chromium).args(&paths).stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let outcomes = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    outcomes
        .map(|mut outcome| {
            let name = outcome.as_object_mut().unwrap().shift_remove("name").unwrap();
            (name.as_str().unwrap().to_owned(), outcome)
        })
        .collect()
}

/// Runs the programs in the sandbox, each in a page of its own.
async fn run_ours(chromium: &Path, programs: &BTreeMap<String, String>) -> BTreeMap<String, Value> {
    let browser = Browser::start(chromium.to_owned()).await;
    let mut outcomes = BTreeMap::new();
    for (name, code) in programs {
        let outcome = browser.open_page().await.run(program(Language::Node, code, 60)).await;
        let error = outcome.error.as_deref().and_then(|error| error.lines().next());
        // A program without a value has its standard output as result.
        let result =
            outcome.result.filter(|result| result != outcome.stdout.trim() || outcome.stdout.is_empty());
        outcomes.insert(
            name.clone(),
            json!({ "stdout": outcome.stdout, "result": result, "exitCode": outcome.exit_code, "error": error }),
        );
    }
    outcomes
}
