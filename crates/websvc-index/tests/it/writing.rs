//! Adding, replacing and removing documents, and opening indexes.

use std::time::Duration;

use websvc_index::{Document, Index, IndexConfig, IndexError, SearchOptions};

use crate::support::{Fixture, page, time};

#[test]
fn document_replaces_the_one_with_the_same_url() {
    let fixture = Fixture::new([page("a.test/", "Old", "about cats"), page("a.test/", "New", "about dogs")]);
    fixture.check("cats", &[]);
    fixture.check("dogs", &["a.test/"]);
    fixture.index.add(page("a.test/", "Newest", "about birds")).expect("a valid document");
    fixture.index.flush().expect("a working disk");
    fixture.check("dogs", &[]);
    fixture.check("birds", &["a.test/"]);
    assert_eq!(fixture.index.stats().expect("readable").documents, 1);
}

#[test]
fn removed_document_is_not_found() {
    let fixture = Fixture::new([page("a.test/", "A", "cats"), page("b.test/", "B", "cats")]);
    fixture.index.remove("https://a.test/").expect("a working disk");
    fixture.index.flush().expect("a working disk");
    fixture.check("cats", &["b.test/"]);
    assert!(!fixture.index.contains("https://a.test/").expect("readable"));
    assert_eq!(fixture.index.urls(None, 10).expect("readable"), ["https://b.test/"]);
}

#[test]
fn fingerprint_changes_only_with_the_content() {
    let document = page("a.test/", "A", "cats");
    let fixture = Fixture::new([document.clone()]);
    let stored = |url: &str| fixture.index.fingerprint(url).expect("readable");
    assert_eq!(stored("https://a.test/"), Some(document.fingerprint()));
    assert_eq!(stored("https://b.test/"), None);
    let later = Document { seen: Some(time("2030-01-01T00:00:00Z")), ..document.clone() };
    assert_eq!(later.fingerprint(), document.fingerprint());
    assert_ne!(Document { title: "B".to_owned(), ..document.clone() }.fingerprint(), document.fingerprint());
}

#[test]
fn page_without_date_keeps_the_time_at_which_it_was_first_seen() {
    let seen = |date: &str| Document { seen: Some(time(date)), ..page("a.test/", "A", "cats") };
    let fixture = Fixture::new([seen("2020-05-01T00:00:00Z")]);
    fixture.index.add(seen("2024-05-01T00:00:00Z")).expect("a valid document");
    fixture.index.flush().expect("a working disk");
    let tbs = websvc_query::parse_tbs("cdr:1,cd_max:12/31/2020").expect("valid").expect("given");
    fixture.check_with("cats", &SearchOptions { time: tbs.range, ..SearchOptions::default() }, &["a.test/"]);
}

#[test]
fn urls_are_listed_by_host() {
    let fixture =
        Fixture::new([page("a.test/1", "", "x"), page("b.a.test/", "", "x"), page("c.test/", "", "x")]);
    assert_eq!(
        fixture.index.urls(Some("a.test"), 10).expect("readable"),
        ["https://a.test/1", "https://b.a.test/"]
    );
    assert_eq!(fixture.index.urls(None, 2).expect("readable").len(), 2);
}

#[test]
fn documents_become_searchable_without_flush() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = IndexConfig { commit_after: Duration::from_millis(20), ..IndexConfig::default() };
    let index = Index::open(dir.path(), config).expect("a new index");
    index.add(page("a.test/", "A", "cats")).expect("a valid document");
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while !index.contains("https://a.test/").expect("readable") {
        assert!(std::time::Instant::now() < deadline, "not committed in 20 s");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn dropped_index_is_committed_and_can_be_reopened() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for round in 1..=3u64 {
        let index = Index::open(dir.path(), IndexConfig::default()).expect("an index");
        assert_eq!(index.stats().expect("readable").documents, round - 1);
        index.add(page(&format!("a.test/{round}"), "A", "cats")).expect("a valid document");
    }
    let index = Index::open(dir.path(), IndexConfig::default()).expect("an index");
    assert_eq!(index.stats().expect("readable").documents, 3);
    index.optimize().expect("a working disk");
    assert_eq!(index.stats().expect("readable").segments, 1);
    index.close().expect("a working disk");
}

#[test]
fn idle_writer_releases_the_lock() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = IndexConfig { writer_idle: Duration::from_millis(20), ..IndexConfig::default() };
    let first = Index::open(dir.path(), config.clone()).expect("an index");
    first.add(page("a.test/", "A", "cats")).expect("a valid document");
    first.flush().expect("a working disk");
    let second = Index::open(dir.path(), config).expect("an index");
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while let Err(error) = second.add(page("b.test/", "B", "cats")) {
        assert!(matches!(error, IndexError::Locked { .. }), "{error}");
        assert!(std::time::Instant::now() < deadline, "the lock was not released in 20 s");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn second_writer_is_rejected_with_the_directory_in_the_error() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let first = Index::open(dir.path(), IndexConfig::default()).expect("an index");
    first.add(page("a.test/", "A", "cats")).expect("a valid document");
    let second = Index::open(dir.path(), IndexConfig::default()).expect("reading is allowed");
    let error = second.add(page("b.test/", "B", "cats")).expect_err("the lock is held");
    assert!(matches!(error, IndexError::Locked { .. }), "{error}");
    assert!(error.to_string().contains(&dir.path().display().to_string()), "{error}");
}

#[test]
fn concurrent_opens_create_one_index() {
    const OPENERS: usize = 8;
    for _ in 0..50 {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let start = std::sync::Barrier::new(OPENERS);
        let open = || {
            start.wait();
            Index::open(dir.path(), IndexConfig::default())
        };
        let opened: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..OPENERS).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let indexes: Vec<_> = opened.into_iter().map(|index| index.expect("each open works")).collect();
        indexes[0].add(page("a.test/", "A", "cats")).expect("a valid document");
        indexes[0].flush().expect("a working disk");
        for index in &indexes {
            index.reload().expect("readable");
            assert_eq!(index.document_count(), 1);
        }
    }
}

#[test]
fn other_format_is_rejected_with_a_remedy() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    // The format without images, news and labels.
    std::fs::write(dir.path().join("format"), "websvc-index 1\n").expect("a working disk");
    let error = Index::open(dir.path(), IndexConfig::default()).expect_err("an old format").to_string();
    assert!(error.contains("\"websvc-index 1\"") && error.contains("crawl or import again"), "{error}");
    assert!(!dir.path().join("images").exists(), "opening does not write to an index of another format");
    std::fs::remove_file(dir.path().join("format")).expect("a working disk");
    std::fs::write(dir.path().join("meta.json"), "{}").expect("a working disk");
    let error = Index::open(dir.path(), IndexConfig::default()).expect_err("an index of another program");
    assert!(matches!(error, IndexError::Incompatible { .. }), "{error}");
}

#[test]
fn url_without_host_is_rejected() {
    let fixture = Fixture::new([]);
    for url in ["", "/relative", "mailto:a@b.c", "data:text/plain,x"] {
        let error = fixture.index.add(Document { url: url.to_owned(), ..Document::default() });
        assert!(matches!(error, Err(IndexError::InvalidUrl { .. })), "{url}");
    }
}

#[test]
fn unusual_documents_are_indexed() {
    let fixture = Fixture::new([
        page("a.test/empty", "", ""),
        page("a.test/long", &"title ".repeat(500), &"x".repeat(200_000)),
        page("a.test/nul", "a\0b", "c\0d \u{feff} \u{202e} needle"),
        page("a.test/marks", "\u{301}\u{301}", "\u{301} e\u{301}\u{301} '''"),
    ]);
    assert_eq!(fixture.index.stats().expect("readable").documents, 4);
    fixture.check("needle", &["a.test/nul"]);
}

#[test]
fn merged_segments_are_removed_when_the_writer_is_idle() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = IndexConfig { writer_idle: Duration::from_millis(10), ..IndexConfig::default() };
    let index = Index::open(dir.path(), config).expect("a new index");
    for address in ["a.test/", "b.test/", "c.test/"] {
        index.add(page(address, "Cats", "about cats")).expect("a valid document");
        index.flush().expect("a working disk");
    }
    let stores = || {
        let files = std::fs::read_dir(dir.path()).expect("a readable directory");
        let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
        names.filter(|name| name.ends_with(".store")).count()
    };
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while stores() != 1 {
        assert!(std::time::Instant::now() < deadline, "{} segments are on disk after 60 s", stores());
        std::thread::yield_now();
    }
    assert_eq!(index.stats().expect("readable").documents, 3);
}
