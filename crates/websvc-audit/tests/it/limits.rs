//! The limits of the spool, and the independence of the sinks.

use std::time::Duration;

use websvc_audit::Sink;
use websvc_testkit::until;

use crate::support::{Delivering, LARGE, client, numbers, open, record};

/// Returns a sink with an address that accepts no connections.
fn dead_sink() -> Sink {
    Sink::syslog(client(), "tcp://127.0.0.1:1".parse().unwrap(), None)
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_sink_does_not_delay_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let delivering = Delivering::start(vec![dead_sink(), Sink::file(path.clone())]);
    record(&delivering.audit, 0..100);
    until("the file has all events", || numbers(&path).len() == 100).await;
    until("the other sink was tried", || delivering.audit.metrics().sinks[0].failures > 0).await;
    let metrics = delivering.audit.metrics();
    assert_eq!((metrics.sinks[0].backlog, metrics.sinks[1].name), (100, "file"));
    // The dead sink is tried once more at shutdown, and not waited for.
    tokio::time::timeout(Duration::from_secs(50), delivering.stop_and_wait()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn full_spool_counts_lost_events_per_sink() {
    let dir = tempfile::tempdir().unwrap();
    let max_bytes = 64 * 1024;
    let audit = open(dir.path(), max_bytes, vec![dead_sink()]);
    record(&audit, 0..2000);
    let metrics = audit.metrics();
    assert!(metrics.spool_bytes <= max_bytes, "{metrics:?}");
    assert_eq!((metrics.recorded, metrics.unwritten), (2000, 0));
    assert!(metrics.sinks[0].lost > 0, "{metrics:?}");
    assert_eq!(metrics.sinks[0].lost + metrics.sinks[0].backlog, 2000);
    drop(audit);
    // The remaining events are delivered, the oldest first.
    let path = dir.path().join("audit.jsonl");
    let lost = u32::try_from(metrics.sinks[0].lost).unwrap();
    std::fs::rename(dir.path().join("cursor-syslog"), dir.path().join("cursor-file")).unwrap();
    let audit = open(dir.path(), max_bytes, vec![Sink::file(path.clone())]);
    audit.deliver(std::future::ready(()), Duration::from_secs(60)).await;
    assert_eq!(numbers(&path), Vec::from_iter(lost..2000));
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_events_are_delivered_by_the_next_process() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let sinks = || vec![Sink::file(path.clone())];
    let spool = dir.path().join("spool");
    record(&open(&spool, LARGE, sinks()), 0..10);
    assert!(!path.exists());
    let audit = open(&spool, LARGE, sinks());
    record(&audit, 10..12);
    audit.deliver(std::future::ready(()), Duration::from_secs(60)).await;
    assert_eq!(numbers(&path), Vec::from_iter(0..12));
}

#[cfg(target_os = "linux")]
#[test]
fn events_that_cannot_be_written_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let audit = open(dir.path(), LARGE, vec![dead_sink()]);
    // The spool opens its file with the first event, and finds a directory there.
    std::fs::create_dir(dir.path().join("00000000000000000000.events")).unwrap();
    record(&audit, 0..3);
    let metrics = audit.metrics();
    assert_eq!((metrics.recorded, metrics.unwritten, metrics.sinks[0].backlog), (3, 3, 0));
}
