//! Snapshots of the files of an index during writes.

#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use websvc_index::{Document, Index, IndexConfig, IndexError, SearchOptions};

fn document(number: usize) -> Document {
    Document {
        url: format!("https://tea.test/{number}"),
        title: format!("Tea {number}"),
        body: format!("word{number} of a page about tea"),
        ..Document::default()
    }
}

#[derive(Debug)]
struct Failed;

impl From<IndexError> for Failed {
    fn from(error: IndexError) -> Self {
        panic!("{error}")
    }
}

fn copy(index: &Index, target: &Path) {
    let copied = index.each_file(|path, bytes, content: &mut dyn Read| -> Result<(), Failed> {
        let path = target.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut buffer = Vec::new();
        content.read_to_end(&mut buffer).unwrap();
        assert_eq!(buffer.len() as u64, bytes, "{}", path.display());
        fs::write(path, buffer).unwrap();
        Ok(())
    });
    copied.unwrap();
}

fn found(index: &Index, word: &str) -> usize {
    index.search(&websvc_query::parse(word).query, &SearchOptions::default()).unwrap().hits.len()
}

#[test]
fn snapshot_during_writes_is_a_complete_index() {
    let dir = tempfile::tempdir().unwrap();
    let config = IndexConfig { commit_after: Duration::from_millis(5), ..IndexConfig::default() };
    let index = Index::open(dir.path(), config).unwrap();
    (0..50).for_each(|number| index.add(document(number)).unwrap());
    index.flush().unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // Writing the same pages again replaces segments, whose files are removed.
            for round in 0.. {
                (0..50).for_each(|number| index.add(document(number)).unwrap());
                index.add(document(1_000 + round)).unwrap();
                index.flush().unwrap();
                if done.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        for _copy in 0..10 {
            let target = tempfile::tempdir().unwrap();
            // Another handle, like that of another process.
            copy(&Index::open(dir.path(), IndexConfig::default()).unwrap(), target.path());
            let copied = Index::open(target.path(), IndexConfig::default()).unwrap();
            for number in 0..50 {
                assert_eq!(found(&copied, &format!("word{number}")), 1, "page {number}");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn snapshot_can_be_written_to_and_removes_merged_files() {
    let (dir, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let index = Index::open(dir.path(), IndexConfig::default()).unwrap();
    (0..5).for_each(|number| index.add(document(number)).unwrap());
    index.flush().unwrap();
    copy(&index, target.path());
    let stores = || -> Vec<String> {
        let names = fs::read_dir(target.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".store")).collect()
    };
    let before = stores();
    let copied = Index::open(target.path(), IndexConfig::default()).unwrap();
    copied.add(document(7)).unwrap();
    copied.flush().unwrap();
    copied.optimize().unwrap();
    copied.close().unwrap();
    let copied = Index::open(target.path(), IndexConfig::default()).unwrap();
    assert_eq!((found(&copied, "word3"), found(&copied, "word7")), (1, 1));
    let after = stores();
    assert!(before.iter().all(|name| !after.contains(name)), "{before:?} were not removed: {after:?}");
}
