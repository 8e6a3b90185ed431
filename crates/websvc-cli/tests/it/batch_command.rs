//! Tests of `websvc batch`, locally and through a server.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::crawl_command::{files, run, server_args, stdout_and_stderr};
use crate::harness::{Site, tea_world};

const LIST: &str = "# teas\nhttp://tea.test/green.html\n\ntea.test/oolong.html\nhttp://tea.test/green.html\n";

#[tokio::test(flavor = "multi_thread")]
async fn batch_command_writes_files_locally_and_through_a_server() {
    let world = tea_world().await;
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    std::fs::write(&list, LIST).unwrap();
    let site = Site::new(&world);
    let expected = ["coffee.test/index.md", "tea.test/green.html.md", "tea.test/oolong.html.md"];
    let (local, remote) = (folder.path().join("local"), folder.path().join("remote"));
    let batch = ["batch", "http://coffee.test/", "--urls", list.to_str().unwrap(), "--output"];
    let output = run(&site, &[batch.as_slice(), &[local.to_str().unwrap()]].concat()).await;
    assert!(output.status.success(), "{}", stdout_and_stderr(&output).1);
    assert_eq!(files(&local), expected);
    let service = site.serve();
    let server_args = server_args(&service);
    let server_args: Vec<&str> = server_args.iter().map(String::as_str).collect();
    let output = run(&site, &[batch.as_slice(), &[remote.to_str().unwrap()], &server_args].concat()).await;
    assert!(output.status.success(), "{}", stdout_and_stderr(&output).1);
    assert_eq!(files(&remote), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_command_reads_urls_from_stdin() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let mut process = site
        .command(&["batch", "--urls", "-", "--jsonl", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    process.stdin.take().unwrap().write_all(LIST.as_bytes()).unwrap();
    let output = tokio::task::spawn_blocking(move || process.wait_with_output().unwrap()).await.unwrap();
    let (stdout, stderr) = stdout_and_stderr(&output);
    assert!(output.status.success(), "{stderr}");
    let mut titles: Vec<String> = stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["metadata"]["title"].as_str().unwrap().to_owned()
        })
        .collect();
    titles.sort();
    // One URL is listed twice.
    assert_eq!(titles, ["Green tea", "Green tea", "Oolong"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_command_prints_failed_pages_and_fails() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let private: Vec<String> = (1..=12).map(|number| format!("http://192.168.0.{number}/")).collect();
    let private: Vec<&str> = private.iter().map(String::as_str).collect();
    let batch = [&["batch", "--json", "http://tea.test/", "ftp://tea.test/"], private.as_slice()].concat();
    let output = run(&site, &batch).await;
    let (stdout, stderr) = stdout_and_stderr(&output);
    assert!(!output.status.success(), "{stderr}");
    assert!(stderr.contains("failed \"ftp://tea.test/\": not a valid URL"), "{stderr}");
    assert!(stderr.contains("failed http://192.168.0.1/: "), "{stderr}");
    assert!(stderr.contains("and 3 more; --errors lists all"), "{stderr}");
    assert!(stderr.ends_with("error: 13 pages could not be scraped\n"), "{stderr}");
    let state: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&state["status"], &state["completed"]), (&"completed".into(), &1.into()), "{state}");
    assert_eq!(state["errors"].as_array().unwrap().len(), 12);
    assert_eq!(state["invalidURLs"][0], "ftp://tea.test/");
    let (_, stderr) = stdout_and_stderr(&run(&site, &[batch.as_slice(), &["--errors"]].concat()).await);
    assert!(stderr.contains("192.168.0.12") && !stderr.contains(" more;"), "{stderr}");
    let without_urls = run(&site, &["batch"]).await;
    assert_eq!(without_urls.status.code(), Some(2), "{}", stdout_and_stderr(&without_urls).1);
}
