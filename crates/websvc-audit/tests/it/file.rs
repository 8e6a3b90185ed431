//! The file sink.

use std::io::Write;

use websvc_audit::Sink;
use websvc_testkit::until;

use crate::support::{Delivering, numbers, record};

#[tokio::test(flavor = "multi_thread")]
async fn delivery_continues_in_a_new_file_after_rotation() {
    let dir = tempfile::tempdir().unwrap();
    let (path, rotated) = (dir.path().join("audit.jsonl"), dir.path().join("audit.jsonl.1"));
    let delivering = Delivering::start(vec![Sink::file(path.clone())]);
    record(&delivering.audit, 0..3);
    until("three lines are written", || numbers(&path).len() == 3).await;
    std::fs::rename(&path, &rotated).unwrap();
    record(&delivering.audit, 3..5);
    until("two more are in a new file", || numbers(&path).len() == 2).await;
    assert_eq!((numbers(&rotated), numbers(&path)), (vec![0, 1, 2], vec![3, 4]));
    // This is how `copytruncate` rotates.
    std::fs::OpenOptions::new().write(true).truncate(true).open(&path).unwrap();
    record(&delivering.audit, 5..6);
    until("one more line is written", || numbers(&path) == [5]).await;
    assert_eq!(delivering.audit.metrics().sinks[0].lost, 0);
    delivering.stop_and_wait().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unwritable_file_gets_all_events_when_it_becomes_writable() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    let path = missing.join("audit.jsonl");
    let delivering = Delivering::start(vec![Sink::file(path.clone())]);
    record(&delivering.audit, 0..50);
    until("an attempt failed", || delivering.audit.metrics().sinks[0].failure.is_some()).await;
    let metrics = delivering.audit.metrics();
    assert_eq!((metrics.sinks[0].backlog, metrics.sinks[0].lost), (50, 0));
    assert!(
        metrics.sinks[0].failure.as_deref().unwrap().contains("the file cannot be written"),
        "{metrics:?}"
    );
    std::fs::create_dir(&missing).unwrap();
    until("all events are written", || numbers(&path).len() == 50).await;
    assert_eq!(numbers(&path), Vec::from_iter(0..50));
    until("the failure is cleared", || delivering.audit.metrics().sinks[0].failure.is_none()).await;
    delivering.stop_and_wait().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn incomplete_line_of_a_killed_process_stays_a_separate_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    std::fs::File::create(&path).unwrap().write_all(br#"{"query":"1"#).unwrap();
    let delivering = Delivering::start(vec![Sink::file(path.clone())]);
    record(&delivering.audit, 7..8);
    delivering.stop_and_wait().await;
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("{\"query\":\"1\n{"), "{text}");
    assert_eq!(numbers(&path), [7]);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_recorded_just_before_the_stop_are_delivered() {
    let dir = tempfile::tempdir().unwrap();
    // The read of the empty spool, with which a delivery begins, is at another point in each round.
    for round in 0..100 {
        let path = dir.path().join(format!("{round}.jsonl"));
        let delivering = Delivering::start(vec![Sink::file(path.clone())]);
        for _ in 0..round % 10 {
            tokio::task::yield_now().await;
        }
        record(&delivering.audit, round..round + 1);
        delivering.stop_and_wait().await;
        assert_eq!(numbers(&path), [round]);
    }
}

#[tokio::test]
async fn check_of_a_file_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    Sink::file(path.clone()).check().await.unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    std::fs::write(&path, "{").unwrap();
    Sink::file(path.clone()).check().await.unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{");
    let missing = Sink::file(dir.path().join("missing/audit.jsonl")).check().await.unwrap_err();
    assert!(missing.to_string().starts_with("the file cannot be written: "), "{missing}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn file_is_readable_only_by_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let delivering = Delivering::start(vec![Sink::file(path.clone())]);
    record(&delivering.audit, 0..1);
    delivering.stop_and_wait().await;
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}
