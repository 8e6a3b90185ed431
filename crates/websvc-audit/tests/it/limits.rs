//! The bounds of the spool, and its sinks beside each other.

use std::time::Duration;

use serde_json::Value;
use websvc_audit::Sink;
use websvc_testkit::until;

use crate::support::{Delivering, LARGE, client, number, open, record};

/// An address where nobody listens.
fn nobody() -> Sink {
    Sink::syslog(client(), "tcp://127.0.0.1:1".parse().unwrap(), None)
}

fn lines(path: &std::path::Path) -> Vec<u32> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| number(&serde_json::from_str::<Value>(line).unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_sink_holds_up_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let delivering = Delivering::start(vec![nobody(), Sink::file(path.clone())]);
    record(&delivering.audit, 0..100);
    until("the file has all", || lines(&path).len() == 100).await;
    until("the other was tried", || delivering.audit.report().sinks[0].failures > 0).await;
    let report = delivering.audit.report();
    assert_eq!((report.sinks[0].backlog, report.sinks[1].name), (100, "file"));
    // The dead one is tried once more at the end, and not waited for.
    tokio::time::timeout(Duration::from_secs(50), delivering.end()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_spool_counts_what_is_lost_and_says_so_of_each_sink() {
    let dir = tempfile::tempdir().unwrap();
    let max_bytes = 64 * 1024;
    let audit = open(dir.path(), max_bytes, vec![nobody()]);
    record(&audit, 0..2000);
    let report = audit.report();
    assert!(report.spool_bytes <= max_bytes, "{report:?}");
    assert_eq!((report.recorded, report.unwritten), (2000, 0));
    assert!(report.sinks[0].lost > 0, "{report:?}");
    assert_eq!(report.sinks[0].lost + report.sinks[0].backlog, 2000);
    drop(audit);
    // What is left goes to whoever takes it, the oldest first.
    let path = dir.path().join("audit.jsonl");
    let lost = u32::try_from(report.sinks[0].lost).unwrap();
    std::fs::rename(dir.path().join("cursor-syslog"), dir.path().join("cursor-file")).unwrap();
    let audit = open(dir.path(), max_bytes, vec![Sink::file(path.clone())]);
    audit.deliver(std::future::ready(()), Duration::from_secs(60)).await;
    assert_eq!(lines(&path), Vec::from_iter(lost..2000));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_recorded_is_delivered_by_the_next_process() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let sinks = || vec![Sink::file(path.clone())];
    let spool = dir.path().join("spool");
    record(&open(&spool, LARGE, sinks()), 0..10);
    assert!(!path.exists());
    let audit = open(&spool, LARGE, sinks());
    record(&audit, 10..12);
    audit.deliver(std::future::ready(()), Duration::from_secs(60)).await;
    assert_eq!(lines(&path), Vec::from_iter(0..12));
}

#[cfg(target_os = "linux")]
#[test]
fn an_event_that_cannot_be_written_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let audit = open(dir.path(), LARGE, vec![nobody()]);
    // The spool opens its file with the first event, and finds something else there.
    std::fs::create_dir(dir.path().join("00000000000000000000.events")).unwrap();
    record(&audit, 0..3);
    let report = audit.report();
    assert_eq!((report.recorded, report.unwritten, report.sinks[0].backlog), (3, 3, 0));
}
