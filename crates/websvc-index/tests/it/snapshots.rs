//! Copies of the files while somebody writes.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

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

fn copy(index: &Index, to: &Path) {
    let copied = index.each_file(|path, bytes, content: &mut dyn Read| -> Result<(), Failed> {
        let path = to.join(path);
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
fn a_copy_made_while_pages_come_and_go_is_a_whole_index() {
    let dir = tempfile::tempdir().unwrap();
    let config = IndexConfig { commit_after: Duration::from_millis(5), ..IndexConfig::default() };
    let index = Index::open(dir.path(), config).unwrap();
    (0..50).for_each(|number| index.add(document(number)).unwrap());
    index.flush().unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // The same pages again and again: parts are replaced, and their files removed.
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
            let to = tempfile::tempdir().unwrap();
            // Another handle, as another process has.
            copy(&Index::open(dir.path(), IndexConfig::default()).unwrap(), to.path());
            let copied = Index::open(to.path(), IndexConfig::default()).unwrap();
            for number in 0..50 {
                assert_eq!(found(&copied, &format!("word{number}")), 1, "page {number}");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_copy_can_be_written_to_and_forgets_the_files_that_it_replaces() {
    let (dir, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let index = Index::open(dir.path(), IndexConfig::default()).unwrap();
    (0..5).for_each(|number| index.add(document(number)).unwrap());
    index.flush().unwrap();
    copy(&index, to.path());
    let parts = || -> Vec<String> {
        let names = fs::read_dir(to.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".store")).collect()
    };
    let before = parts();
    let copied = Index::open(to.path(), IndexConfig::default()).unwrap();
    copied.add(document(7)).unwrap();
    copied.flush().unwrap();
    copied.optimize().unwrap();
    copied.close().unwrap();
    let copied = Index::open(to.path(), IndexConfig::default()).unwrap();
    assert_eq!((found(&copied, "word3"), found(&copied, "word7")), (1, 1));
    let after = parts();
    assert!(before.iter().all(|name| !after.contains(name)), "{before:?} are among {after:?}");
}
