//! A process is killed while it writes; whatever it had flushed is there afterwards, with its images, and what it had
//! not come to is made up for. What was added and not flushed is there when the next process has recovered it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use websvc_index::{Document, Image, Index, IndexConfig, Link, SearchOptions, Vertical};

use crate::support::page;

const FOLDER: &str = "WEBSVC_INDEX_CRASH_FOLDER";
/// Set for a process that never commits by itself.
const ADDING: &str = "WEBSVC_INDEX_CRASH_ADDING";

/// How often the writer is killed; the variable is for more than a gate has time for.
fn rounds() -> usize {
    std::env::var("WEBSVC_KILL_ROUNDS").map_or(10, |rounds| rounds.parse().expect("a number of rounds"))
}

/// A page with an image that links to the one before and the one behind.
fn linked_page(number: u64) -> Document {
    let body = format!("document {number} {}", "filler text of some length ".repeat(50));
    let link = |to: u64, text: String| Link { url: format!("https://a.test/{to}"), text };
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

/// Not a test by itself: the process that [`a_killed_writer_loses_nothing_that_was_flushed`] kills.
#[test]
fn child_writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    if std::env::var_os(ADDING).is_some() {
        return only_add(Path::new(&folder), |number| println!("\nadded {number}"));
    }
    let config = IndexConfig { commit_after: Duration::from_millis(5), ..IndexConfig::default() };
    let index = Index::open(Path::new(&folder), config).expect("the index opens after a kill");
    let start = index.stats().expect("readable").documents;
    for number in start.. {
        index.add(linked_page(number)).expect("adding goes on after a kill");
        if number % 7 == 0 {
            index.flush().expect("flushing goes on after a kill");
            println!("\nflushed {number}");
        }
        if number % 21 == 0 {
            index.apply_anchors().expect("applying goes on after a kill");
        }
    }
}

#[test]
fn a_killed_writer_loses_nothing_that_was_flushed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for round in 0..rounds() {
        let mut child = Command::new(std::env::current_exe().expect("the test binary"))
            .args(["crash::child_writes_until_it_is_killed", "--exact", "--nocapture", "--test-threads=1"])
            .env(FOLDER, dir.path())
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
        // Somewhere between two flushes, in a commit, or in a merge.
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
            "a document is there twice"
        );
        check_images(&index);
    }
    check_end(dir.path());
}

/// Adds pages, and removes every fifth again, without a commit that it waits for.
fn only_add(folder: &Path, tell: impl Fn(u64)) {
    let index = Index::open(folder, IndexConfig::default()).expect("the index opens after a kill");
    index.recover().expect("recovering goes on after a kill");
    let start = index.stats().expect("readable").documents * 2;
    for number in start.. {
        index.add(linked_page(number)).expect("adding goes on after a kill");
        if number % 5 == 4 {
            index.remove(&format!("https://a.test/{}", number - 2)).expect("removing goes on after a kill");
        }
        tell(number);
    }
}

#[test]
fn a_killed_writer_loses_nothing_that_was_added() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for round in 0..rounds() {
        let mut child = Command::new(std::env::current_exe().expect("the test binary"))
            .args(["crash::child_writes_until_it_is_killed", "--exact", "--nocapture", "--test-threads=1"])
            .env(FOLDER, dir.path())
            .env(ADDING, "yes")
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
            // The one removed next may be gone already.
            let url = format!("https://a.test/{number}");
            let is_there = index.contains(&url).expect("readable");
            assert!(
                if is_removed { !is_there } else { is_there || number + 2 > last },
                "round {round}: {url}"
            );
        }
        assert_eq!(index.recover().expect("readable"), 0, "what was recovered is committed");
        check_images(&index);
    }
}

#[test]
fn what_was_left_behind_is_applied_before_what_is_added_next() {
    let (one, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let index = never_committing(one.path());
    index.add(page("a.test/", "Old", "about cats")).expect("a valid document");
    index.add(page("b.test/", "B", "about cows")).expect("a valid document");
    index.sync().expect("a working disk");
    copy_journal(one.path(), other.path());
    let index = never_committing(other.path());
    assert_eq!(index.document_count(), 0);
    index.add(page("a.test/", "New", "about dogs")).expect("a valid document");
    index.flush().expect("a working disk");
    let title = |url: &str| index.document(url).expect("readable").expect("there").title;
    assert_eq!((title("https://a.test/"), title("https://b.test/")), ("New".to_owned(), "B".to_owned()));
    assert_eq!(index.recover().expect("readable"), 0);
}

/// Every image that is found is of a page that is there.
fn check_images(index: &Index) {
    let options = SearchOptions { vertical: Vertical::Images, limit: 100_000, ..SearchOptions::default() };
    let found = index.search(&websvc_query::parse("picture").query, &options).expect("readable").hits;
    for hit in &found {
        assert!(index.contains(&hit.url).expect("readable"), "{} has an image and is not there", hit.url);
    }
    assert_eq!(found.len() as u64, index.document_count(), "each page has its image");
}

/// When writing goes on to an orderly end, nothing is twice, and every page has the anchors of those that link to it.
fn check_end(dir: &Path) {
    let index = Index::open(dir, IndexConfig::default()).expect("an index");
    let documents = index.document_count();
    // Images are committed before their pages: those of the last pages may be there alone.
    let last = documents + 300;
    (documents..=last).for_each(|number| index.add(linked_page(number)).expect("a valid document"));
    index.apply_anchors().expect("a working disk");
    let stats = index.stats().expect("readable");
    assert_eq!((stats.documents, stats.images), (last + 1, last + 1), "an image is there twice");
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
fn a_site_is_removed_with_what_a_killed_process_has_left_of_it() {
    let (one, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let index = never_committing(one.path());
    index.add(page("a.test/", "A", "about cats")).expect("a valid document");
    copy_journal(one.path(), other.path());
    let index = never_committing(other.path());
    assert_eq!(index.remove_site("a.test").expect("a working disk"), 1);
    assert_eq!(index.document_count(), 0);
}

/// An index whose writing thread commits only when it is asked to.
fn never_committing(dir: &Path) -> Index {
    let config = IndexConfig { commit_after: Duration::from_secs(3_600), ..IndexConfig::default() };
    Index::open(dir, config).expect("an index")
}

/// Leaves the journal of one index in the directory of another, as a process that is killed leaves it.
fn copy_journal(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_owned();
        if name.to_string_lossy().starts_with("journal-") {
            std::fs::copy(&path, to.join(name)).expect("a working disk");
        }
    }
}
