//! Tests of `websvc scrape` and `websvc search` with a browser: written files and printed output.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use super::{TEA, path_or_skip};
use crate::harness::Site;

/// Runs a command in a directory. Returns its output and the files in the directory.
fn run(site: &Site, directory: &Path, command: &mut Command) -> (Output, Vec<String>) {
    assert!(site.data_dir() != directory);
    let output = command.current_dir(directory).output().unwrap();
    let entries = std::fs::read_dir(directory).unwrap();
    let mut files: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    (output, files)
}

fn stdout_and_stderr(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn scrape_command_writes_screenshots_and_pdfs() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let world = TestWeb::builder().page("http://tea.test/", Page::html(TEA)).start().await;
    let site = Site::new(&world);
    let scrape = |arguments: &[&str]| {
        let directory = tempfile::tempdir().unwrap();
        let mut command = site.command(&["scrape", "tea.test"]);
        command
            .args(arguments)
            .env("WEBSVC__BROWSER__CONCURRENCY", "1")
            .env("WEBSVC__BROWSER__PATH", &chromium);
        let (output, files) = run(&site, directory.path(), &mut command);
        let (out, errors) = stdout_and_stderr(&output);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        let file_starts =
            files.iter().map(|file| std::fs::read(directory.path().join(file)).unwrap()[..4].to_vec());
        let file_starts: Vec<Vec<u8>> = file_starts.collect();
        (out, errors, files, file_starts)
    };
    let (out, errors, files, file_starts) = scrape(&["--screenshot"]);
    assert_eq!((out.as_str(), files.as_slice()), ("", ["tea.test.png".to_owned()].as_slice()));
    assert!(file_starts[0] == *b"\x89PNG" && errors.contains("wrote ./tea.test.png"), "{errors}");

    let (out, _, files, file_starts) =
        scrape(&["--full-page-screenshot=long.jpg", "--pdf=tea.pdf", "--format", "markdown"]);
    assert!(out.contains("A script wrote this in America/New_York"), "{out}");
    assert_eq!(files, ["long.jpg", "tea.pdf"]);
    assert!(file_starts[0].starts_with(b"\xff\xd8\xff") && file_starts[1] == *b"%PDF");

    let actions = json!([
        {"type": "click", "selector": "#name"}, {"type": "write", "text": "Ada"}, {"type": "click", "selector": "#more"},
        {"type": "screenshot"}, {"type": "executeJavascript", "script": "[innerWidth, navigator.language]"},
    ]);
    let (out, _, files, _) = scrape(&[
        "--actions",
        &actions.to_string(),
        "--mobile",
        "--country",
        "DE",
        "--wait-for",
        "10",
        "--json",
    ]);
    let page: Value = serde_json::from_str(&out).unwrap();
    assert!(page["markdown"].as_str().unwrap().contains("More was asked for by Ada."), "{page}");
    assert_eq!(page["actions"]["screenshots"], json!(["./tea.test-action-1.png"]));
    assert_eq!(page["actions"]["javascriptReturns"][0]["value"][1], json!("de-DE"));
    assert_eq!(files, ["tea.test-action-1.png"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn search_command_writes_a_screenshot_per_result() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let world = TestWeb::builder().page("http://tea.test/", Page::html(TEA)).start().await;
    let site = Site::new(&world);
    site.succeed(&["scrape", "tea.test"]);
    let directory = tempfile::tempdir().unwrap();
    let mut command =
        site.command(&["search", "infusion", "--screenshot", "--viewport", "200x100", "--quality", "60"]);
    command.env("WEBSVC__BROWSER__CONCURRENCY", "1").env("WEBSVC__BROWSER__PATH", &chromium);
    let (output, files) = run(&site, directory.path(), &mut command);
    let (out, errors) = stdout_and_stderr(&output);
    assert!(output.status.success(), "{errors}");
    assert_eq!(files, ["1-tea.test.jpg"]);
    assert!(out.contains("screenshot: ./1-tea.test.jpg") && !out.contains("base64"), "{out}");
}

#[tokio::test(flavor = "multi_thread")]
async fn scrape_command_without_browser_reports_what_is_missing() {
    let world = TestWeb::builder().page("http://tea.test/", Page::html(TEA)).start().await;
    let site = Site::new(&world);
    for (arguments, expected) in [
        (["--screenshot", "--fresh"].as_slice(), "no screenshot was taken"),
        (&["--screenshot"], "format screenshot: no browser is installed"),
        (&["--screenshot"], "websvc doctor"),
        (&["--pdf"], "actions are not available: no browser is installed"),
        (&["--actions", "[{\"type\": \"clik\"}]"], "--actions is not a JSON array of actions"),
        (&["--actions-file", "nowhere.json"], "nowhere.json"),
        (&["--screenshot=a.png", "--quality", "50"], "a.png is the name of a PNG"),
        (&["--viewport", "wide"], "not a size such as 1280x800"),
        (&["--country", "Germany"], "country"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let mut command = site.command(&["scrape", "tea.test"]);
        let (output, files) = run(&site, directory.path(), command.args(arguments));
        let (_, errors) = stdout_and_stderr(&output);
        assert!(!output.status.success() && errors.contains(expected), "{arguments:?}: {errors}");
        assert_eq!(files, [""; 0], "{arguments:?}");
    }
}
