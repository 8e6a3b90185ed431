//! Tests of `websvc crawl`, locally and through a server: files, JSON lines and the final state.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use websvc_testkit::{Page, ReceivedRequest, TestWeb, until};
use yaml_rust2::{Yaml, YamlLoader};

use crate::harness::{KEY, Service, Site, signal, tea_world, wait};

pub(crate) fn stdout_and_stderr(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

pub(crate) fn files(folder: &Path) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Returns the front matter of a file, and the text after it.
fn front_matter_and_text(path: &Path) -> (Yaml, String) {
    let text = std::fs::read_to_string(path).unwrap();
    let (front_matter, rest) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    (YamlLoader::load_from_str(front_matter).unwrap().remove(0), rest.to_owned())
}

/// Returns the options that send a command to a server.
pub(crate) fn server_args(service: &Service) -> [String; 4] {
    ["--server".to_owned(), service.address.clone(), "--api-key".to_owned(), KEY.to_owned()]
}

pub(crate) async fn run(site: &Site, arguments: &[&str]) -> Output {
    let mut command = site.command(arguments);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_command_writes_the_same_files_again() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("pages");
    let arguments =
        ["crawl", "tea.test", "--output", out.to_str().unwrap(), "--format", "html,links", "--json"];
    let expected: Vec<String> = ["green.html", "index", "missing.html", "oolong.html"]
        .iter()
        .flat_map(|stem| ["html", "json", "md"].map(|end| format!("tea.test/{stem}.{end}")))
        .collect();
    for _ in 0..2 {
        let output = run(&site, &arguments).await;
        let (stdout, stderr) = stdout_and_stderr(&output);
        assert!(output.status.success(), "{stderr}");
        let state: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((&state["status"], &state["completed"]), (&"completed".into(), &4.into()), "{state}");
        assert_eq!(state["robotsBlocked"][0], "http://tea.test/secret/plan.html");
        assert!(
            stderr.contains("crawl: 4 pages (1 responded with an error), 0 failed, 1 disallowed"),
            "{stderr}"
        );
        assert_eq!(files(&out), expected);
    }
    let (front_matter, text) = front_matter_and_text(&out.join("tea.test/green.html.md"));
    assert_eq!(front_matter["url"].as_str(), Some("http://tea.test/green.html"));
    assert_eq!(front_matter["title"].as_str(), Some("Green tea"));
    assert_eq!(front_matter["description"].as_str(), Some("How to brew green tea."));
    assert_eq!(
        (front_matter["language"].as_str(), front_matter["statusCode"].as_i64()),
        (Some("en"), Some(200))
    );
    assert!(front_matter["fetched"].as_str().unwrap().ends_with('Z'));
    assert!(text.starts_with("\n# Green tea\n"), "{text}");
    let links: Value =
        serde_json::from_slice(&std::fs::read(out.join("tea.test/index.json")).unwrap()).unwrap();
    assert!(links["links"].as_array().unwrap().contains(&"http://coffee.test/".into()), "{links}");
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_command_overwrites_foreign_files_only_with_force() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let folder = tempfile::tempdir().unwrap();
    let own_file = folder.path().join("tea.test/index.md");
    std::fs::create_dir(folder.path().join("tea.test")).unwrap();
    std::fs::write(&own_file, "# My notes").unwrap();
    let out = folder.path().to_str().unwrap();
    let output = run(&site, &["crawl", "tea.test", "--limit", "1", "--output", out]).await;
    let (_, stderr) = stdout_and_stderr(&output);
    assert!(!output.status.success() && stderr.contains("--force"), "{stderr}");
    assert_eq!(std::fs::read_to_string(&own_file).unwrap(), "# My notes");
    let output = run(&site, &["crawl", "tea.test", "--limit", "1", "--output", out, "--force"]).await;
    assert!(output.status.success(), "{}", stdout_and_stderr(&output).1);
    assert_eq!(front_matter_and_text(&own_file).0["title"].as_str(), Some("Tea house"));
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_command_options_apply_and_invalid_ones_are_named() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let urls = async |options: &[&str]| {
        let output = run(&site, &[&["crawl", "tea.test", "--jsonl", "-"], options].concat()).await;
        let (stdout, stderr) = stdout_and_stderr(&output);
        assert!(output.status.success(), "{stderr}");
        let url = |line: &str| serde_json::from_str::<Value>(line).unwrap()["metadata"]["sourceURL"].clone();
        let mut urls: Vec<Value> = stdout.lines().map(url).collect();
        urls.sort_by_key(ToString::to_string);
        urls
    };
    assert_eq!(urls(&["--depth", "0"]).await, ["http://tea.test/"]);
    assert_eq!(urls(&["--include", "/green", "--concurrency", "1"]).await, ["http://tea.test/green.html"]);
    let external = urls(&["--external", "--exclude", "green|oolong|missing", "--sitemap", "skip"]).await;
    assert_eq!(external, ["http://coffee.test/", "http://tea.test/"]);
    let output = run(&site, &["crawl", "tea.test", "--limit", "0", "--delay", "99", "--include", "("]).await;
    let (_, stderr) = stdout_and_stderr(&output);
    assert!(!output.status.success());
    for name in ["limit", "delay", "includePaths"] {
        assert!(stderr.contains(name), "{stderr}");
    }
    // Without an output option, pages are printed in the form of their files.
    let (stdout, _) = stdout_and_stderr(&run(&site, &["crawl", "tea.test", "--depth", "0"]).await);
    assert!(stdout.starts_with("---\nurl: \"http://tea.test/\"\ntitle: \"Tea house\"\n"), "{stdout}");
    assert!(stdout.contains("\n# Tea house\n"), "{stdout}");
    let output = run(&site, &["crawl", "http://192.168.0.1/"]).await;
    let (_, stderr) = stdout_and_stderr(&output);
    assert!(
        !output.status.success() && stderr.contains("the crawl could not start: this URL may not"),
        "{stderr}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_command_follows_a_crawl_of_a_server() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = site.serve();
    let folder = tempfile::tempdir().unwrap();
    let lines = folder.path().join("pages.jsonl");
    std::fs::write(&lines, "older").unwrap();
    let server_args = server_args(&service);
    let server_args: Vec<&str> = server_args.iter().map(String::as_str).collect();
    let arguments =
        [&["crawl", "tea.test", "--json", "--jsonl", lines.to_str().unwrap()], server_args.as_slice()]
            .concat();
    let output = run(&site, &arguments).await;
    let (stdout, stderr) = stdout_and_stderr(&output);
    assert!(output.status.success(), "{stderr}");
    let state: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&state["status"], &state["creditsUsed"]), (&"completed".into(), &4.into()), "{state}");
    assert_eq!(std::fs::read_to_string(&lines).unwrap().lines().count(), 4);
    assert_eq!(files(folder.path()), ["pages.jsonl"], "a temporary file is left");
    let id = state["id"].as_str().unwrap();
    let out = folder.path().join("later");
    let again =
        [&["crawl", "--resume", id, "--output", out.to_str().unwrap()], server_args.as_slice()].concat();
    let output = run(&site, &again).await;
    assert!(output.status.success(), "{}", stdout_and_stderr(&output).1);
    assert_eq!(files(&out).len(), 4);
    let local = run(&site, &["crawl", "tea.test"]).await;
    assert!(stdout_and_stderr(&local).1.contains("--server URL"), "the message does not mention --server");
    let unknown =
        [&["crawl", "--resume", "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60"], server_args.as_slice()].concat();
    assert!(stdout_and_stderr(&run(&site, &unknown).await).1.contains("404"));
}

/// Starts a site with a page, and a page that responds only while the flag is true.
pub(crate) async fn halting_world() -> (TestWeb, Arc<AtomicBool>) {
    let start = Page::html("<title>Start</title><p>Start. <a href=/slow>Slow</a>");
    let is_released = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_released);
    let slow = move |_: &ReceivedRequest| match flag.load(Ordering::SeqCst) {
        true => Page::html("<title>Slow</title><p>Slow."),
        false => Page::unresponsive(),
    };
    let world = TestWeb::builder().page("http://halt.test/", start).page_with("http://halt.test/slow", slow);
    (world.start().await, is_released)
}

/// Starts a command, sends a signal when it requests the second page, and returns its exit status and stderr.
pub(crate) async fn run_until_signal(
    site: &Site,
    world: &TestWeb,
    arguments: &[&str],
    name: &str,
) -> (ExitStatus, String) {
    let mut process: Child =
        site.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(process.stderr.take().unwrap());
    let first_line = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        stderr.read_line(&mut text).unwrap();
        (stderr, text)
    });
    // The command handles signals once it has printed the job.
    let (mut stderr, mut text) = first_line.await.unwrap();
    world.wait_for_request("http://halt.test/slow").await;
    signal(&process, name);
    let process_end = tokio::task::spawn_blocking(move || {
        let status = wait(&mut process);
        stderr.read_to_string(&mut text).unwrap();
        (status, text)
    });
    process_end.await.unwrap()
}

fn id_in(stderr: &str) -> String {
    stderr.split_once("--resume ").unwrap().1.chars().take(36).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_or_killed_crawl_resumes() {
    for (name, prints_hint) in [("INT", true), ("TERM", true), ("KILL", false)] {
        let (world, is_released) = halting_world().await;
        let site = Site::new(&world);
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().to_str().unwrap();
        let (status, stderr) =
            run_until_signal(&site, &world, &["crawl", "halt.test", "--output", out], name).await;
        assert!(!status.success(), "{name}: {stderr}");
        assert_eq!(stderr.contains("resumes it"), prints_hint, "{name}: {stderr}");
        let id = match prints_hint {
            true => id_in(&stderr),
            // The job ID is in the first line.
            false => stderr.lines().find_map(|line| line.strip_prefix("crawl ")).unwrap().to_owned(),
        };
        assert_eq!(id.len(), 36, "{stderr}");
        // A new crawl of the site does not resume it.
        let other = run(&site, &["crawl", "halt.test", "--depth", "0", "--json"]).await;
        assert!(other.status.success(), "{}", stdout_and_stderr(&other).1);
        world.clear_requests();
        is_released.store(true, Ordering::SeqCst);
        let output = run(&site, &["crawl", "--resume", &id, "--output", out]).await;
        assert!(output.status.success(), "{name}: {}", stdout_and_stderr(&output).1);
        assert_eq!(files(folder.path()), ["halt.test/index.md", "halt.test/slow.md"]);
        assert_eq!(
            (world.count("http://halt.test/"), world.count("http://halt.test/slow")),
            (0, 1),
            "{name}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupt_cancels_own_server_crawl_and_leaves_a_resumed_one() {
    let (world, _is_let) = halting_world().await;
    let site = Site::new(&world);
    let service = site.serve();
    let server_args = server_args(&service);
    let server_args: Vec<&str> = server_args.iter().map(String::as_str).collect();
    let arguments = [&["crawl", "halt.test"], server_args.as_slice()].concat();
    let (status, stderr) = run_until_signal(&site, &world, &arguments, "INT").await;
    assert!(!status.success() && stderr.contains("was cancelled"), "{stderr}");
    let status = service.get(&format!("/v2/crawl/{}", id_in(&stderr))).await.body;
    assert_eq!(status["status"], "cancelled", "{status}");
    world.clear_requests();
    let started = service.post("/v2/crawl", r#"{"url": "http://halt.test/"}"#).await.body;
    let id = started["id"].as_str().unwrap();
    let resume = [&["crawl", "--resume", id], server_args.as_slice()].concat();
    let (status, stderr) = run_until_signal(&site, &world, &resume, "TERM").await;
    assert!(!status.success() && stderr.contains("continues on the server"), "{stderr}");
    let status = service.get(&format!("/v2/crawl/{id}")).await.body;
    assert_eq!((&status["status"], &status["completed"]), (&"scraping".into(), &1.into()), "{status}");
    crate::batch::delete(&service, &format!("/v2/crawl/{id}")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jsonl_lines_are_written_as_pages_complete() {
    let world = TestWeb::builder()
        .page("http://halt.test/", Page::html("<title>Start</title><p>Start. <a href=/never>Never</a>"))
        .page("http://halt.test/never", Page::unresponsive())
        .start()
        .await;
    let site = Site::new(&world);
    let folder = tempfile::tempdir().unwrap();
    let lines = folder.path().join("lines");
    let mut process = site
        .command(&["crawl", "halt.test", "--jsonl", "-"])
        .stdout(std::fs::File::create(&lines).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the first line is written", || std::fs::read_to_string(&lines).unwrap().ends_with('\n')).await;
    assert!(process.try_wait().unwrap().is_none(), "the command ended although a page has no response");
    signal(&process, "TERM");
    assert!(!wait(&mut process).success());
}
