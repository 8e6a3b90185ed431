//! Kills of a writing process. Flushed documents and their images survive a kill, and the next process applies pending
//! anchors. Documents that were added but not flushed are there after the next process recovered them.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use websvc_index::{Document, Image, Index, IndexConfig, Link, SearchOptions, Vertical};

use crate::support::page;

/// The index directory of the child process.
const DIR: &str = "WEBSVC_INDEX_CRASH_FOLDER";
/// Set for a child process that only adds documents and never flushes.
const ADD_ONLY: &str = "WEBSVC_INDEX_CRASH_ADDING";

/// Returns the number of kills: more for `cargo xtask proof`, which sets the variable.
fn rounds() -> usize {
    if std::env::var_os("WEBSVC_TEST_PROOF").is_some() { 100 } else { 10 }
}

/// Returns a page with an image and with links to the pages before and after it.
fn linked_page(number: u64) -> Document {
    let body = format!("document {number} {}", "filler text of some length ".repeat(50));
    let link = |target: u64, text: String| Link { url: format!("https://a.test/{target}"), text };
    Document {
        images: vec![Image {
            url: format!("https://a.test/{number}.jpg"),
            alt: "A picture".to_owned(),
            ..Image::default()
        }],
        links: vec![
            link(number.saturating_sub(1), format!("before{number}")),
            link(number + 1, format!("behind{number}")),
        ],
        ..page(&format!("a.test/{number}"), "Page", &body)
    }
}

/// The child process that [`killed_writer_loses_no_flushed_document`] and [`killed_writer_loses_no_added_document`]
/// kill; does nothing as a test.
#[test]
fn child_writes_until_it_is_killed() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    if std::env::var_os(ADD_ONLY).is_some() {
        return only_add(Path::new(&dir), |number| println!("\nadded {number}"));
    }
    let config = IndexConfig { commit_after: Duration::from_millis(5), ..IndexConfig::default() };
    let index = Index::open(Path::new(&dir), config).expect("the index opens after a kill");
    let start = index.stats().expect("readable").documents;
    for number in start.. {
        index.add(linked_page(number)).expect("adding works after a kill");
        if number % 7 == 0 {
            index.flush().expect("flushing works after a kill");
            println!("\nflushed {number}");
        }
        if number % 21 == 0 {
            index.apply_anchors().expect("applying anchors works after a kill");
        }
    }
}

#[test]
fn killed_writer_loses_no_flushed_document() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for round in 0..rounds() {
        let mut child = Command::new(std::env::current_exe().expect("the test binary"))
            .args(["crash::child_writes_until_it_is_killed", "--exact", "--nocapture", "--test-threads=1"])
            .env(DIR, dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the child starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut flushed = lines
            .by_ref()
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("flushed ").and_then(|number| number.parse::<u64>().ok()));
        let last = flushed.by_ref().nth(1 + round % 3).expect("the child flushes");
        // The kill hits the time between two flushes, a commit or a merge.
        std::thread::sleep(Duration::from_millis(3 * (round % 17) as u64));
        child.kill().expect("the child runs");
        child.wait().expect("the child ends");

        let index = Index::open(dir.path(), IndexConfig::default()).expect("the index opens after a kill");
        for number in 0..=last {
            let url = format!("https://a.test/{number}");
            assert!(index.contains(&url).expect("readable"), "round {round}: {url} is lost");
        }
        let urls = index.urls(None, usize::MAX).expect("readable");
        assert_eq!(
            urls.len() as u64,
            index.stats().expect("readable").documents,
            "a document is in the index twice"
        );
        check_images(&index);
    }
    check_end(dir.path());
}

/// Adds pages, removes every fifth again, never flushes, and calls `report` with the number of each added page.
fn only_add(dir: &Path, report: impl Fn(u64)) {
    let index = Index::open(dir, IndexConfig::default()).expect("the index opens after a kill");
    index.recover().expect("recovering works after a kill");
    let start = index.stats().expect("readable").documents * 2;
    for number in start.. {
        index.add(linked_page(number)).expect("adding works after a kill");
        if number % 5 == 4 {
            index.remove(&format!("https://a.test/{}", number - 2)).expect("removing works after a kill");
        }
        report(number);
    }
}

#[test]
fn killed_writer_loses_no_added_document() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for round in 0..rounds() {
        let mut child = Command::new(std::env::current_exe().expect("the test binary"))
            .args(["crash::child_writes_until_it_is_killed", "--exact", "--nocapture", "--test-threads=1"])
            .env(DIR, dir.path())
            .env(ADD_ONLY, "yes")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the child starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut added = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("added ").and_then(|number| number.parse::<u64>().ok()));
        let first = added.next().expect("the child adds");
        let last = added.nth(round % 5 * 11).expect("the child adds");
        child.kill().expect("the child runs");
        child.wait().expect("the child ends");

        let index = Index::open(dir.path(), IndexConfig::default()).expect("the index opens after a kill");
        index.recover().expect("a working disk");
        for number in first..=last {
            let is_removed = number % 5 == 2 && number + 2 <= last;
            // The page to be removed next may be removed already.
            let url = format!("https://a.test/{number}");
            let is_present = index.contains(&url).expect("readable");
            assert!(
                if is_removed { !is_present } else { is_present || number + 2 > last },
                "round {round}: {url}"
            );
        }
        assert_eq!(index.recover().expect("readable"), 0, "recovered changes are committed");
        check_images(&index);
    }
}

#[test]
fn changes_of_a_killed_process_are_applied_before_new_changes() {
    let (killed, next) = (temporary_dir(), temporary_dir());
    let index = without_timed_commits(killed.path());
    index.add(page("a.test/", "Old", "about cats")).expect("a valid document");
    index.add(page("b.test/", "B", "about cows")).expect("a valid document");
    index.sync().expect("a working disk");
    copy_journal(killed.path(), next.path());
    let index = without_timed_commits(next.path());
    assert_eq!(index.document_count(), 0);
    index.add(page("a.test/", "New", "about dogs")).expect("a valid document");
    index.flush().expect("a working disk");
    let title = |url: &str| index.document(url).expect("readable").expect("there").title;
    assert_eq!((title("https://a.test/"), title("https://b.test/")), ("New".to_owned(), "B".to_owned()));
    assert_eq!(index.recover().expect("readable"), 0);
}

/// Asserts that every page has its image, and every image that is found has its page.
fn check_images(index: &Index) {
    let options = SearchOptions { vertical: Vertical::Images, limit: 100_000, ..SearchOptions::default() };
    let found = index.search(&websvc_query::parse("picture").query, &options).expect("readable").hits;
    for hit in &found {
        assert!(
            index.contains(&hit.url).expect("readable"),
            "{} has an image but is not in the index",
            hit.url
        );
    }
    assert_eq!(found.len() as u64, index.document_count(), "each page has its image");
}

/// Writes more pages without a kill, and asserts that no document is duplicated and that every page has its anchors.
fn check_end(dir: &Path) {
    let index = Index::open(dir, IndexConfig::default()).expect("an index");
    let documents = index.document_count();
    // Since images are committed before their pages, the images of the last pages may be in the index without them.
    let last = documents + 300;
    (documents..=last).for_each(|number| index.add(linked_page(number)).expect("a valid document"));
    index.apply_anchors().expect("a working disk");
    let stats = index.stats().expect("readable");
    assert_eq!((stats.documents, stats.images), (last + 1, last + 1), "an image is in the index twice");
    for number in (1..last).step_by(7) {
        for (text, target) in [("before", number - 1), ("behind", number + 1)] {
            let query = websvc_query::parse(&format!("{text}{number}")).query;
            let hits = index.search(&query, &SearchOptions::default()).expect("readable").hits;
            let found: Vec<_> = hits.iter().map(|hit| hit.url.clone()).collect();
            assert_eq!(found, [format!("https://a.test/{target}")], "{text}{number}");
        }
    }
}

#[test]
fn removing_a_site_removes_documents_that_a_killed_process_added() {
    let (killed, next) = (temporary_dir(), temporary_dir());
    let index = without_timed_commits(killed.path());
    index.add(page("a.test/", "A", "about cats")).expect("a valid document");
    copy_journal(killed.path(), next.path());
    let index = without_timed_commits(next.path());
    assert_eq!(index.remove_site("a.test").expect("a working disk"), 1);
    assert_eq!(index.document_count(), 0);
}

fn temporary_dir() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// Opens an index that only commits on request.
fn without_timed_commits(dir: &Path) -> Index {
    let config = IndexConfig { commit_after: Duration::from_secs(3_600), ..IndexConfig::default() };
    Index::open(dir, config).expect("an index")
}

/// Copies the journal of one index to the directory of another, which then looks as if its process had been killed.
fn copy_journal(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_owned();
        if name.to_string_lossy().starts_with("journal-") {
            std::fs::copy(&path, to.join(name)).expect("a working disk");
        }
    }
}
