//! Tests of the spool, including damaged files.

use std::fs::OpenOptions;

use tempfile::TempDir;

use super::*;

const LARGE: u64 = 1 << 30;

fn open(dir: &TempDir, max_bytes: u64, sinks: &[&'static str]) -> Spool {
    Spool::open(dir.path(), max_bytes, sinks).unwrap()
}

fn fill(spool: &Spool, numbers: std::ops::Range<u32>) {
    numbers.for_each(|number| {
        spool.append(number.to_string().as_bytes()).unwrap();
    });
}

/// Reads and commits all events that a sink has not received yet.
fn take(spool: &Spool, sink: usize) -> Vec<u32> {
    let mut numbers = Vec::new();
    loop {
        let batch = spool.read(sink).unwrap();
        if batch.is_empty() {
            return numbers;
        }
        let number = |event: &Vec<u8>| std::str::from_utf8(event).unwrap().parse::<u32>().unwrap();
        numbers.extend(batch.events.iter().map(number));
        spool.commit(sink, &batch).unwrap();
    }
}

fn files(dir: &TempDir) -> usize {
    segment::list(dir.path()).unwrap().len()
}

#[test]
fn sinks_receive_all_events_once_and_in_order_across_restarts() {
    let dir = tempfile::tempdir().unwrap();
    let sinks = &["file", "webhook"];
    let spool = open(&dir, LARGE, sinks);
    fill(&spool, 0..2500);
    assert_eq!(take(&spool, 0), Vec::from_iter(0..2500));
    fill(&spool, 2500..2510);
    drop(spool);
    let spool = open(&dir, LARGE, sinks);
    assert_eq!((spool.backlog_and_lost(0), spool.backlog_and_lost(1)), ((10, 0), (2510, 0)));
    fill(&spool, 2510..2520);
    assert_eq!(take(&spool, 0), Vec::from_iter(2500..2520));
    assert_eq!(take(&spool, 1), Vec::from_iter(0..2520));
    assert_eq!((take(&spool, 0), take(&spool, 1)), (vec![], vec![]));
}

#[test]
fn uncommitted_events_are_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let spool = open(&dir, LARGE, &["file"]);
    fill(&spool, 0..3);
    assert_eq!(spool.read(0).unwrap().events.len(), 3);
    drop(spool);
    assert_eq!(take(&open(&dir, LARGE, &["file"]), 0), [0, 1, 2]);
}

#[test]
fn halved_batch_is_committed_and_the_rest_is_read_next() {
    let dir = tempfile::tempdir().unwrap();
    let spool = open(&dir, LARGE, &["file"]);
    fill(&spool, 0..5);
    let mut batch = spool.read(0).unwrap();
    batch.halve();
    assert_eq!(batch.events, [b"0", b"1", b"2"]);
    spool.commit(0, &batch).unwrap();
    let mut one = spool.read(0).unwrap();
    (0..3).for_each(|_| one.halve());
    assert_eq!(one.events, [b"3"]);
    assert_eq!(take(&spool, 0), [3, 4]);
}

#[test]
fn full_spool_removes_its_oldest_events_and_counts_them_as_lost() {
    let dir = tempfile::tempdir().unwrap();
    let max_bytes = 64 * 1024;
    let spool = open(&dir, max_bytes, &["dead", "living"]);
    let mut living = Vec::new();
    for number in 0..20_000 {
        fill(&spool, number..number + 1);
        if number % 100 == 99 {
            living.extend(take(&spool, 1));
        }
    }
    assert_eq!(living, Vec::from_iter(0..20_000));
    assert_eq!(spool.backlog_and_lost(1), (0, 0));
    assert!(spool.bytes() <= max_bytes, "{}", spool.bytes());
    let (backlog, lost) = spool.backlog_and_lost(0);
    assert!(lost > 0 && backlog > 0 && backlog + lost == 20_000, "{backlog} {lost}");
    let first = u32::try_from(lost).unwrap();
    assert_eq!(take(&spool, 0), Vec::from_iter(first..20_000));
    assert_eq!(files(&dir), 1, "events that all sinks have received are removed");
}

#[test]
fn incomplete_event_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let spool = open(&dir, LARGE, &["file"]);
    fill(&spool, 0..3);
    drop(spool);
    let path = segment::path(dir.path(), 0);
    let length = std::fs::metadata(&path).unwrap().len();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(length - 1).unwrap();
    let spool = open(&dir, LARGE, &["file"]);
    fill(&spool, 3..5);
    assert_eq!((take(&spool, 0), spool.backlog_and_lost(0)), (vec![0, 1, 3, 4], (0, 0)));
}

#[test]
fn damaged_event_is_skipped_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let spool = open(&dir, LARGE, &["file"]);
    fill(&spool, 0..3);
    let path = segment::path(dir.path(), 0);
    let mut bytes = std::fs::read(&path).unwrap();
    let line = bytes.len() / 3;
    bytes[line + 3] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert_eq!((take(&spool, 0), spool.backlog_and_lost(0)), (vec![0, 2], (0, 1)));
}

#[test]
fn event_numbers_lost_in_a_power_failure_are_not_used_again() {
    let dir = tempfile::tempdir().unwrap();
    let spool = open(&dir, LARGE, &["slow", "quick"]);
    fill(&spool, 0..5);
    assert_eq!(take(&spool, 1).len(), 5);
    drop(spool);
    let path = segment::path(dir.path(), 0);
    let length = std::fs::metadata(&path).unwrap().len();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(length / 5 * 2).unwrap();
    let spool = open(&dir, LARGE, &["slow", "quick"]);
    fill(&spool, 5..7);
    assert_eq!((take(&spool, 1), spool.backlog_and_lost(1)), (vec![5, 6], (0, 0)));
    assert_eq!((take(&spool, 0), spool.backlog_and_lost(0)), (vec![0, 1, 5, 6], (0, 3)));
}

#[test]
fn new_sink_starts_at_the_end_and_sink_with_a_damaged_cursor_at_the_beginning() {
    let dir = tempfile::tempdir().unwrap();
    let spool = open(&dir, LARGE, &["file"]);
    fill(&spool, 0..3);
    drop(spool);
    let spool = open(&dir, LARGE, &["file", "webhook"]);
    fill(&spool, 3..4);
    assert_eq!(take(&spool, 1), [3]);
    drop(spool);
    std::fs::write(dir.path().join("cursor-webhook"), "?").unwrap();
    let spool = open(&dir, LARGE, &["file", "webhook"]);
    assert_eq!(take(&spool, 1), [0, 1, 2, 3]);
    drop(spool);
    let spool = open(&dir, LARGE, &["file"]);
    assert_eq!(spool.backlog_and_lost(0), (4, 0));
    assert!(!dir.path().join("cursor-webhook").exists());
}

#[test]
fn failed_write_is_an_error_and_the_next_event_is_complete() {
    let dir = tempfile::tempdir().unwrap();
    let spool = open(&dir, LARGE, &["file"]);
    fill(&spool, 0..2);
    spool.state.lock().file = Some(File::open(segment::path(dir.path(), 0)).unwrap());
    assert!(spool.append(b"9").is_err(), "the file cannot be written to");
    fill(&spool, 2..4);
    assert_eq!(take(&spool, 0), [0, 1, 2, 3]);
    spool.sync().unwrap();
    assert_eq!(spool.backlog_and_lost(0), (0, 0));
}
