//! A process is killed while it writes; whatever it had flushed is there afterwards, with its images, and what it had
//! not come to is made up for.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use websvc_index::{Document, Image, Index, IndexConfig, Link, SearchOptions, Vertical};

use crate::support::page;

const FOLDER: &str = "WEBSVC_INDEX_CRASH_FOLDER";

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
