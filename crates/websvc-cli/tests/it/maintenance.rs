//! Tests of index maintenance: deletion, optimization and killed imports.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_index::{Index, IndexConfig};
use websvc_testkit::{TestWeb, scaled};

use crate::harness::{Site, signal, wait};

/// Imports a page for each URL.
fn import(site: &Site, urls: &[&str]) {
    let file = site.data_dir().join("pages.jsonl");
    let line =
        |url: &&str| json!({"url": url, "title": "Tea", "text": format!("quince at {url}")}).to_string();
    std::fs::write(&file, urls.iter().map(line).collect::<Vec<_>>().join("\n")).unwrap();
    site.succeed(&["index", "import", file.to_str().unwrap()]);
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn index_delete_removes_only_the_given_sites_and_urls() {
    let site = Site::new(&TestWeb::builder().start().await);
    import(
        &site,
        &[
            "https://a.test/1",
            "https://a.test/2",
            "https://deep.a.test/3",
            "https://nota.test/4",
            "https://b.test/5",
            "https://b.test/6",
        ],
    );
    let stdout = site.succeed(&["index", "delete", "--site", "A.test", "--json"]);
    assert_eq!(parsed(&stdout), json!({"documents": 3}));
    let urls = ["--url", "https://b.test/5", "--url", "https://b.test/none"];
    let stdout = site.succeed(&[&["index", "delete", "--json"][..], &urls].concat());
    assert_eq!(parsed(&stdout), json!({"documents": 1}));
    let stats = parsed(&site.succeed(&["index", "stats", "--json"]));
    assert_eq!(stats["documents"], json!(2));
    let found = site.succeed(&["search", "quince", "--json"]);
    assert!(found.contains("https://nota.test/4") && found.contains("https://b.test/6"), "{found}");
    assert!(
        !found.contains("//a.test") && !found.contains("deep.a.test") && !found.contains("/5\""),
        "{found}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn index_optimize_merges_to_one_segment() {
    let site = Site::new(&TestWeb::builder().start().await);
    import(&site, &["https://a.test/1", "https://a.test/2"]);
    import(&site, &["https://a.test/2", "https://a.test/3"]);
    let before = parsed(&site.succeed(&["index", "stats", "--json"]));
    assert!(before["segments"].as_u64() > Some(1), "the imports left a single segment: {before}");
    let stats = parsed(&site.succeed(&["index", "optimize", "--json"]));
    assert_eq!((&stats["documents"], &stats["segments"]), (&json!(3), &json!(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn index_delete_and_optimize_reject_invalid_use() {
    let site = Site::new(&TestWeb::builder().start().await);
    let error = |arguments: &[&str]| {
        let output = site.run(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(error(&["index", "delete"]).contains("--site"));
    assert!(
        error(&["index", "delete", "--site", "https://a.test/"]).contains("not a host name: https://a.test/")
    );
    assert!(error(&["index", "delete", "--url", "a.test"]).contains("not a URL: a.test"));
    let service = site.serve();
    for arguments in [&["index", "delete", "--site", "a.test"][..], &["index", "optimize"]] {
        let message = error(arguments);
        assert!(message.contains("in use by another websvc process: stop it first"), "{message}");
    }
    drop(service);
}

/// Documents of an import, enough that it takes longer than [`LATEST_MS`].
const DOCUMENTS: usize = 8_000;

/// The maximum time in milliseconds until an import is killed.
const LATEST_MS: u64 = 2_000;

/// The maximum time until an import commits documents.
const COMMIT_LIMIT: Duration = Duration::from_secs(120);

/// Returns how often an import is killed.
fn rounds() -> u64 {
    scaled(4, 60)
}

fn corpus() -> String {
    (0..DOCUMENTS).fold(String::new(), |mut lines, number| {
        let words =
            (number..number + 30).fold(String::new(), |words, word| format!("{words} w{}", word % 997));
        let text = format!("marker{number}{words}");
        writeln!(
            lines,
            "{}",
            json!({"url": format!("https://a.test/{number}"), "title": "Page", "text": text})
        )
        .unwrap();
        lines
    })
}

/// Returns the URLs of the committed documents, and checks that each exists once.
fn committed(index: &Index) -> BTreeSet<String> {
    index.reload().unwrap();
    let urls = index.urls(None, usize::MAX).unwrap();
    let distinct: BTreeSet<String> = urls.iter().cloned().collect();
    assert_eq!(urls.len(), distinct.len(), "a document is in two segments");
    assert_eq!(index.document_count(), distinct.len() as u64, "a document exists twice in a segment");
    distinct
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_import_loses_and_duplicates_no_document() {
    let site = Site::new(&TestWeb::builder().start().await);
    let file = site.data_dir().join("pages.jsonl");
    std::fs::write(&file, corpus()).unwrap();
    let arguments = ["index", "import", file.to_str().unwrap(), "--json"];
    let directory = site.data_dir().join("index");
    let (mut random, mut committed_urls, mut killed) = (0x2545_f491_4f6c_dd1d_u64, BTreeSet::new(), 0);
    for round in 0..rounds() {
        // Xorshift: irregular times that are the same in each run.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut import =
            site.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let reader = Index::open(&directory, IndexConfig::default()).unwrap();
        // On a busy machine an import may not commit anything in this time, so it is waited for in each second round.
        let delay = Duration::from_millis(random % LATEST_MS);
        let last_commit = || reader.stats().unwrap().last_commit;
        let (started, commit_before) = (Instant::now(), last_commit());
        let mut kill_at = (round % 2 == 0).then(|| started + delay);
        while kill_at.is_none_or(|time| Instant::now() < time) && import.try_wait().unwrap().is_none() {
            assert!(started.elapsed() < COMMIT_LIMIT, "the import committed nothing in {COMMIT_LIMIT:?}");
            reader.reload().unwrap();
            if reader.document_count() > committed_urls.len() as u64 {
                committed_urls = committed(&reader);
            }
            if kill_at.is_none() && last_commit() != commit_before {
                kill_at = Some(Instant::now() + delay / 4);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        signal(&import, "KILL");
        killed += usize::from(!wait(&mut import).success());

        let reopened = Index::open(&directory, IndexConfig::default()).unwrap();
        let recovered = committed(&reopened);
        assert!(
            committed_urls.is_subset(&recovered),
            "round {round}: {} documents were committed, {} are left",
            committed_urls.len(),
            recovered.len()
        );
        committed_urls = recovered;
    }
    assert!(
        killed > 0 && !committed_urls.is_empty(),
        "{killed} imports were killed, {} documents were committed",
        committed_urls.len()
    );

    site.succeed(&arguments);
    let index = Index::open(&directory, IndexConfig::default()).unwrap();
    assert_eq!(committed(&index).len(), DOCUMENTS);
    let found = site.succeed(&["search", &format!("marker{}", DOCUMENTS - 1), "--json"]);
    assert!(found.contains(&format!("https://a.test/{}", DOCUMENTS - 1)), "{found}");
}
