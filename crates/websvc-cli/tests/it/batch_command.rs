//! `websvc batch`: the pages of a list, here and through a server.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::crawl_command::{at, files, run, said};
use crate::harness::{Site, tea_world};

const LIST: &str = "# teas\nhttp://tea.test/green.html\n\ntea.test/oolong.html\nhttp://tea.test/green.html\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_list_becomes_files_here_and_through_a_server() {
    let world = tea_world().await;
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    std::fs::write(&list, LIST).unwrap();
    let site = Site::new(&world);
    let expected = ["coffee.test/index.md", "tea.test/green.html.md", "tea.test/oolong.html.md"];
    let (here, there) = (folder.path().join("here"), folder.path().join("there"));
    let batch = ["batch", "http://coffee.test/", "--urls", list.to_str().unwrap(), "--output"];
    let output = run(&site, &[batch.as_slice(), &[here.to_str().unwrap()]].concat()).await;
    assert!(output.status.success(), "{}", said(&output).1);
    assert_eq!(files(&here), expected);
    let service = site.serve();
    let at = at(&service);
    let at: Vec<&str> = at.iter().map(String::as_str).collect();
    let output = run(&site, &[batch.as_slice(), &[there.to_str().unwrap()], &at].concat()).await;
    assert!(output.status.success(), "{}", said(&output).1);
    assert_eq!(files(&there), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_read_from_stdin() {
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
    let (stdout, stderr) = said(&output);
    assert!(output.status.success(), "{stderr}");
    let mut titles: Vec<String> = stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["metadata"]["title"].as_str().unwrap().to_owned()
        })
        .collect();
    titles.sort();
    // The list names one of them twice.
    assert_eq!(titles, ["Green tea", "Green tea", "Oolong"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_cannot_be_had_are_named_and_fail_the_batch() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let inside: Vec<String> = (1..=12).map(|last| format!("http://192.168.0.{last}/")).collect();
    let inside: Vec<&str> = inside.iter().map(String::as_str).collect();
    let batch = [&["batch", "--json", "http://tea.test/", "ftp://tea.test/"], inside.as_slice()].concat();
    let output = run(&site, &batch).await;
    let (stdout, stderr) = said(&output);
    assert!(!output.status.success(), "{stderr}");
    assert!(stderr.contains("failed \"ftp://tea.test/\": it is no address of a page"), "{stderr}");
    assert!(stderr.contains("failed http://192.168.0.1/: "), "{stderr}");
    assert!(stderr.contains("and 3 more, which --errors names"), "{stderr}");
    assert!(stderr.ends_with("error: 13 pages could not be had\n"), "{stderr}");
    let state: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&state["status"], &state["completed"]), (&"completed".into(), &1.into()), "{state}");
    assert_eq!(state["errors"].as_array().unwrap().len(), 12);
    assert_eq!(state["invalidURLs"][0], "ftp://tea.test/");
    let (_, stderr) = said(&run(&site, &[batch.as_slice(), &["--errors"]].concat()).await);
    assert!(stderr.contains("192.168.0.12") && !stderr.contains("more, which"), "{stderr}");
    let none = run(&site, &["batch"]).await;
    assert_eq!(none.status.code(), Some(2), "{}", said(&none).1);
}
