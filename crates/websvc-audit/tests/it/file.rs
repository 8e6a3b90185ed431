//! Lines in a file.

use std::io::Write;
use std::path::Path;

use serde_json::Value;
use websvc_audit::Sink;
use websvc_testkit::until;

use crate::support::{Delivering, number, record};

fn numbers(path: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|event| number(&event))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_renamed_is_gone_on_from_in_a_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let (path, rotated) = (dir.path().join("audit.jsonl"), dir.path().join("audit.jsonl.1"));
    let delivering = Delivering::start(vec![Sink::file(path.clone())]);
    record(&delivering.audit, 0..3);
    until("three lines are there", || numbers(&path).len() == 3).await;
    std::fs::rename(&path, &rotated).unwrap();
    record(&delivering.audit, 3..5);
    until("two more are in a new file", || numbers(&path).len() == 2).await;
    assert_eq!((numbers(&rotated), numbers(&path)), (vec![0, 1, 2], vec![3, 4]));
    // As `copytruncate` has it.
    std::fs::OpenOptions::new().write(true).truncate(true).open(&path).unwrap();
    record(&delivering.audit, 5..6);
    until("one more is there", || numbers(&path) == [5]).await;
    assert_eq!(delivering.audit.report().sinks[0].lost, 0);
    delivering.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_written_holds_up_no_other_and_gets_everything_later() {
    let dir = tempfile::tempdir().unwrap();
    let later = dir.path().join("later");
    let path = later.join("audit.jsonl");
    let delivering = Delivering::start(vec![Sink::file(path.clone())]);
    record(&delivering.audit, 0..50);
    until("it was tried", || delivering.audit.report().sinks[0].failure.is_some()).await;
    let report = delivering.audit.report();
    assert_eq!((report.sinks[0].backlog, report.sinks[0].lost), (50, 0));
    assert!(report.sinks[0].failure.as_deref().unwrap().contains("the file cannot be written"), "{report:?}");
    std::fs::create_dir(&later).unwrap();
    until("everything is there", || numbers(&path).len() == 50).await;
    assert_eq!(numbers(&path), Vec::from_iter(0..50));
    until("that is noted", || delivering.audit.report().sinks[0].failure.is_none()).await;
    delivering.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_process_left_of_a_line_stays_a_line_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    std::fs::File::create(&path).unwrap().write_all(br#"{"query":"1"#).unwrap();
    let delivering = Delivering::start(vec![Sink::file(path.clone())]);
    record(&delivering.audit, 7..8);
    delivering.end().await;
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("{\"query\":\"1\n{"), "{text}");
    assert_eq!(numbers(&path), [7]);
}

#[tokio::test]
async fn to_look_whether_a_file_can_be_written_leaves_nothing_behind() {
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
async fn nobody_else_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let delivering = Delivering::start(vec![Sink::file(path.clone())]);
    record(&delivering.audit, 0..1);
    delivering.end().await;
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}
