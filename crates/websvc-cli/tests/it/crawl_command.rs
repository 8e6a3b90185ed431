//! `websvc crawl`: the pages of a site as files, lines and a state, here and through a server.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use websvc_testkit::{Page, ReceivedRequest, TestWeb, until};
use yaml_rust2::{Yaml, YamlLoader};

use crate::harness::{KEY, Service, Site, signal, tea_world, wait};

pub(crate) fn said(output: &Output) -> (String, String) {
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

/// Returns what is in front of a file, and what comes after.
fn parts(path: &Path) -> (Yaml, String) {
    let text = std::fs::read_to_string(path).unwrap();
    let (matter, rest) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    (YamlLoader::load_from_str(matter).unwrap().remove(0), rest.to_owned())
}

/// The options that go to a server instead of the data directory.
pub(crate) fn at(service: &Service) -> [String; 4] {
    ["--server".to_owned(), service.address.clone(), "--api-key".to_owned(), KEY.to_owned()]
}

pub(crate) async fn run(site: &Site, arguments: &[&str]) -> Output {
    let mut command = site.command(arguments);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_becomes_files_and_again_the_same() {
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
        let (stdout, stderr) = said(&output);
        assert!(output.status.success(), "{stderr}");
        let state: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((&state["status"], &state["completed"]), (&"completed".into(), &4.into()), "{state}");
        assert_eq!(state["robotsBlocked"][0], "http://tea.test/secret/plan.html");
        assert!(stderr.contains("crawl: 4 pages, 0 failed, 1 not allowed by robots.txt"), "{stderr}");
        assert_eq!(files(&out), expected);
    }
    let (matter, text) = parts(&out.join("tea.test/green.html.md"));
    assert_eq!(matter["url"].as_str(), Some("http://tea.test/green.html"));
    assert_eq!(matter["title"].as_str(), Some("Green tea"));
    assert_eq!(matter["description"].as_str(), Some("How to brew green tea."));
    assert_eq!((matter["language"].as_str(), matter["statusCode"].as_i64()), (Some("en"), Some(200)));
    assert!(matter["fetched"].as_str().unwrap().ends_with('Z'));
    assert!(text.starts_with("\n# Green tea\n"), "{text}");
    let links: Value =
        serde_json::from_slice(&std::fs::read(out.join("tea.test/index.json")).unwrap()).unwrap();
    assert!(links["links"].as_array().unwrap().contains(&"http://coffee.test/".into()), "{links}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_others_are_left_alone() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let folder = tempfile::tempdir().unwrap();
    let mine = folder.path().join("tea.test/index.md");
    std::fs::create_dir(folder.path().join("tea.test")).unwrap();
    std::fs::write(&mine, "# Mine").unwrap();
    let out = folder.path().to_str().unwrap();
    let output = run(&site, &["crawl", "tea.test", "--limit", "1", "--output", out]).await;
    let (_, stderr) = said(&output);
    assert!(!output.status.success() && stderr.contains("--force"), "{stderr}");
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "# Mine");
    let output = run(&site, &["crawl", "tea.test", "--limit", "1", "--output", out, "--force"]).await;
    assert!(output.status.success(), "{}", said(&output).1);
    assert_eq!(parts(&mine).0["title"].as_str(), Some("Tea house"));
}

#[tokio::test(flavor = "multi_thread")]
async fn options_are_those_of_the_request_and_bad_ones_are_named() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let urls = async |more: &[&str]| {
        let output = run(&site, &[&["crawl", "tea.test", "--jsonl", "-"], more].concat()).await;
        let (stdout, stderr) = said(&output);
        assert!(output.status.success(), "{stderr}");
        let url = |line: &str| serde_json::from_str::<Value>(line).unwrap()["metadata"]["sourceURL"].clone();
        let mut urls: Vec<Value> = stdout.lines().map(url).collect();
        urls.sort_by_key(ToString::to_string);
        urls
    };
    assert_eq!(urls(&["--depth", "0"]).await, ["http://tea.test/"]);
    assert_eq!(
        urls(&["--include", "/green", "--concurrency", "1"]).await,
        ["http://tea.test/", "http://tea.test/green.html"]
    );
    let external = urls(&["--external", "--exclude", "green|oolong|missing", "--sitemap", "skip"]).await;
    assert_eq!(external, ["http://coffee.test/", "http://tea.test/"]);
    let output = run(&site, &["crawl", "tea.test", "--limit", "0", "--delay", "99", "--include", "("]).await;
    let (_, stderr) = said(&output);
    assert!(!output.status.success());
    for name in ["limit", "delay", "includePaths"] {
        assert!(stderr.contains(name), "{stderr}");
    }
    // Without a place for them, pages are printed as their files would be.
    let (stdout, _) = said(&run(&site, &["crawl", "tea.test", "--depth", "0"]).await);
    assert!(stdout.starts_with("---\nurl: \"http://tea.test/\"\ntitle: \"Tea house\"\n"), "{stdout}");
    assert!(stdout.contains("\n# Tea house\n"), "{stdout}");
    let nothing = run(&site, &["crawl", "http://192.168.0.1/"]).await;
    let (_, stderr) = said(&nothing);
    assert!(
        !nothing.status.success() && stderr.contains("the crawl could not start: this URL may not"),
        "{stderr}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_crawls_and_is_followed_to_the_end() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = site.serve();
    let folder = tempfile::tempdir().unwrap();
    let lines = folder.path().join("pages.jsonl");
    std::fs::write(&lines, "older").unwrap();
    let at = at(&service);
    let at: Vec<&str> = at.iter().map(String::as_str).collect();
    let arguments =
        [&["crawl", "tea.test", "--json", "--jsonl", lines.to_str().unwrap()], at.as_slice()].concat();
    let output = run(&site, &arguments).await;
    let (stdout, stderr) = said(&output);
    assert!(output.status.success(), "{stderr}");
    let state: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&state["status"], &state["creditsUsed"]), (&"completed".into(), &4.into()), "{state}");
    assert_eq!(std::fs::read_to_string(&lines).unwrap().lines().count(), 4);
    assert_eq!(files(folder.path()), ["pages.jsonl"], "no draft is left");
    let id = state["id"].as_str().unwrap();
    let out = folder.path().join("later");
    let again = [&["crawl", "--resume", id, "--output", out.to_str().unwrap()], at.as_slice()].concat();
    let output = run(&site, &again).await;
    assert!(output.status.success(), "{}", said(&output).1);
    assert_eq!(files(&out).len(), 4);
    let here = run(&site, &["crawl", "tea.test"]).await;
    assert!(said(&here).1.contains("--server URL"), "the data directory is the server's");
    let unknown = [&["crawl", "--resume", "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60"], at.as_slice()].concat();
    assert!(said(&run(&site, &unknown).await).1.contains("404"));
}

/// A page that comes, and one that does not before it is let.
async fn halting_world() -> (TestWeb, Arc<AtomicBool>) {
    let start = Page::html("<title>Start</title><p>Start. <a href=/slow>Slow</a>");
    let is_let = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&is_let);
    let slow = move |_: &ReceivedRequest| match asked.load(Ordering::SeqCst) {
        true => Page::html("<title>Slow</title><p>Slow."),
        false => Page::unresponsive(),
    };
    let world = TestWeb::builder().page("http://halt.test/", start).page_with("http://halt.test/slow", slow);
    (world.start().await, is_let)
}

/// Begins a command, tells it to stop when the second page is asked for, and returns how it ended and what it said.
async fn interrupted(site: &Site, world: &TestWeb, arguments: &[&str], name: &str) -> (ExitStatus, String) {
    let mut process: Child =
        site.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(process.stderr.take().unwrap());
    let begun = tokio::task::spawn_blocking(move || {
        let mut said = String::new();
        stderr.read_line(&mut said).unwrap();
        (stderr, said)
    });
    // Who says which job it is hears signals.
    let (mut stderr, mut said) = begun.await.unwrap();
    world.wait_for_request("http://halt.test/slow").await;
    signal(&process, name);
    let ended = tokio::task::spawn_blocking(move || {
        let status = wait(&mut process);
        stderr.read_to_string(&mut said).unwrap();
        (status, said)
    });
    ended.await.unwrap()
}

fn id_in(stderr: &str) -> String {
    stderr.split_once("--resume ").unwrap().1.chars().take(36).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_that_is_interrupted_or_killed_goes_on() {
    for (name, is_told) in [("INT", true), ("TERM", true), ("KILL", false)] {
        let (world, is_let) = halting_world().await;
        let site = Site::new(&world);
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().to_str().unwrap();
        let (status, stderr) =
            interrupted(&site, &world, &["crawl", "halt.test", "--output", out], name).await;
        assert!(!status.success(), "{name}: {stderr}");
        assert_eq!(stderr.contains("goes on with it"), is_told, "{name}: {stderr}");
        let id = match is_told {
            true => id_in(&stderr),
            // It is the first thing that is said.
            false => stderr.lines().find_map(|line| line.strip_prefix("crawl ")).unwrap().to_owned(),
        };
        assert_eq!(id.len(), 36, "{stderr}");
        // Another crawl does not go on with it.
        let other = run(&site, &["crawl", "halt.test", "--depth", "0", "--json"]).await;
        assert!(other.status.success(), "{}", said(&other).1);
        world.clear_requests();
        is_let.store(true, Ordering::SeqCst);
        let output = run(&site, &["crawl", "--resume", &id, "--output", out]).await;
        assert!(output.status.success(), "{name}: {}", said(&output).1);
        assert_eq!(files(folder.path()), ["halt.test/index.md", "halt.test/slow.md"]);
        assert_eq!(
            (world.count("http://halt.test/"), world.count("http://halt.test/slow")),
            (0, 1),
            "{name}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_crawl_of_a_server_is_cancelled_and_one_that_is_watched_goes_on() {
    let (world, _is_let) = halting_world().await;
    let site = Site::new(&world);
    let service = site.serve();
    let at = at(&service);
    let at: Vec<&str> = at.iter().map(String::as_str).collect();
    let begin = [&["crawl", "halt.test"], at.as_slice()].concat();
    let (status, stderr) = interrupted(&site, &world, &begin, "INT").await;
    assert!(!status.success() && stderr.contains("is cancelled"), "{stderr}");
    let status = service.get(&format!("/v2/crawl/{}", id_in(&stderr))).await.body;
    assert_eq!(status["status"], "cancelled", "{status}");
    world.clear_requests();
    let begun = service.post("/v2/crawl", r#"{"url": "http://halt.test/"}"#).await.body;
    let id = begun["id"].as_str().unwrap();
    let watch = [&["crawl", "--resume", id], at.as_slice()].concat();
    let (status, stderr) = interrupted(&site, &world, &watch, "TERM").await;
    assert!(!status.success() && stderr.contains("goes on at the server"), "{stderr}");
    let left = service.get(&format!("/v2/crawl/{id}")).await.body;
    assert_eq!((&left["status"], &left["completed"]), (&"scraping".into(), &1.into()), "{left}");
    crate::batch::delete(&service, &format!("/v2/crawl/{id}")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_come_as_pages_do() {
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
    until("the first line is there", || std::fs::read_to_string(&lines).unwrap().ends_with('\n')).await;
    assert!(process.try_wait().unwrap().is_none(), "the other page never comes");
    signal(&process, "TERM");
    assert!(!wait(&mut process).success());
}
