//! A process is killed while it writes; whatever it had flushed is there afterwards.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use websvc_index::{Index, IndexConfig};

use crate::support::page;

const FOLDER: &str = "WEBSVC_INDEX_CRASH_FOLDER";

/// Not a test by itself: the process that [`a_killed_writer_loses_nothing_that_was_flushed`] kills.
#[test]
fn child_writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let config = IndexConfig { commit_after: Duration::from_millis(5), ..IndexConfig::default() };
    let index = Index::open(Path::new(&folder), config).expect("the index opens after a kill");
    let start = index.stats().expect("readable").documents;
    for number in start.. {
        let body = format!("document {number} {}", "filler text of some length ".repeat(50));
        index.add(page(&format!("a.test/{number}"), "Page", &body)).expect("adding goes on after a kill");
        if number % 7 == 0 {
            index.flush().expect("flushing goes on after a kill");
            println!("\nflushed {number}");
        }
    }
}

#[test]
fn a_killed_writer_loses_nothing_that_was_flushed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for round in 0..8 {
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
        std::thread::sleep(Duration::from_millis(3 * round as u64));
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
    }
}
