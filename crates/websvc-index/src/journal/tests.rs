//! Recovery by the next process after appends, truncation, damage, commits and syncs.

use jiff::Timestamp;

use super::*;
use crate::document::{Image, Link, News};

fn full_document() -> Document {
    let time = |second| Timestamp::new(second, 5).ok();
    Document {
        url: "https://a.test/x".to_owned(),
        title: "A title".to_owned(),
        headings: vec!["One".to_owned(), "Two".to_owned()],
        body: "A body of some words.\n".repeat(2_000),
        description: Some("A description".to_owned()),
        language: Some("en".to_owned()),
        published: time(1),
        modified: time(2),
        seen: time(3),
        content_type: Some("text/html".to_owned()),
        country: Some("AT".to_owned()),
        explicit: true,
        images: vec![Image {
            url: "https://a.test/x.png".to_owned(),
            alt: "An image".to_owned(),
            width: Some(1),
            ..Image::default()
        }],
        links: vec![Link { url: "https://b.test/".to_owned(), text: "B".to_owned() }],
        news: Some(News { image_url: Some("https://a.test/n.png".to_owned()) }),
    }
}

fn append(journal: &Journal, change: Change) -> u64 {
    let mut number = 0;
    journal
        .append(
            change,
            |error| error,
            |_, sent| {
                number = sent;
                Ok(())
            },
        )
        .unwrap();
    number
}

fn removal(url: &str) -> Change {
    Change::Remove(url.to_owned())
}

/// Returns the changes that the next process replays.
fn replayed(dir: &Path) -> Vec<Change> {
    let mut changes = Vec::new();
    for path in Journal::new(dir).unapplied().unwrap() {
        let mut segment = ChangeReader::open(&path).unwrap();
        while let Some(change) = segment.next().unwrap() {
            changes.push(change);
        }
    }
    changes
}

#[test]
fn journal_replays_changes_unchanged_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::new(dir.path());
    let empty = Document { url: "https://a.test/".to_owned(), ..Document::default() };
    let changes =
        [Change::Add(Box::new(full_document())), removal("https://b.test/"), Change::Add(Box::new(empty))];
    for (index, change) in changes.iter().enumerate() {
        assert_eq!(append(&journal, change.clone()), index as u64 + 1);
    }
    journal.sync().unwrap();
    assert_eq!(replayed(dir.path()), changes);
}

#[test]
fn truncated_or_damaged_record_ends_the_segment_at_any_offset() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::new(dir.path());
    append(&journal, removal("a"));
    append(&journal, removal("b"));
    let path = dir.path().join("journal-1");
    let segment = fs::read(&path).unwrap();
    let first_record_bytes = HEADER_BYTES + 2;
    for len in 0..segment.len() {
        fs::write(&path, &segment[..len]).unwrap();
        let expected = if len < first_record_bytes { vec![] } else { vec![removal("a")] };
        assert_eq!(replayed(dir.path()), expected, "truncated to {len} bytes");
    }
    for offset in first_record_bytes..segment.len() {
        let mut damaged = segment.clone();
        damaged[offset] ^= 0x40;
        fs::write(&path, &damaged).unwrap();
        assert_eq!(replayed(dir.path()), [removal("a")], "damaged at offset {offset}");
    }
}

#[test]
fn commit_removes_only_segments_that_it_includes() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::new(dir.path());
    let first = append(&journal, removal("a"));
    let second = append(&journal, removal("b"));
    journal.remove_committed(first).unwrap();
    assert_eq!(replayed(dir.path()), [removal("a"), removal("b")], "a segment is only removed as a whole");
    journal.remove_committed(second).unwrap();
    assert_eq!(replayed(dir.path()), []);
    let long = "c".repeat(SEGMENT_BYTES as usize);
    let third = append(&journal, removal(&long));
    let fourth = append(&journal, removal("d"));
    journal.remove_committed(second).unwrap();
    let fifth = append(&journal, removal("e"));
    assert_eq!(replayed(dir.path()).len(), 3);
    journal.remove_committed(third).unwrap();
    assert_eq!(replayed(dir.path()).len(), 3);
    journal.remove_committed(fourth).unwrap();
    assert_eq!(replayed(dir.path()), [removal("e")]);
    journal.remove_committed(fifth).unwrap();
    assert!(!journal.has_changes().unwrap());
}

#[test]
fn segments_of_the_previous_process_come_before_new_ones() {
    let dir = tempfile::tempdir().unwrap();
    append(&Journal::new(dir.path()), removal("a"));
    let journal = Journal::new(dir.path());
    assert!(journal.has_changes().unwrap());
    assert_eq!(journal.unapplied().unwrap().len(), 1);
    journal.mark_applied(1);
    let number = append(&journal, removal("b"));
    assert_eq!(replayed(dir.path()), [removal("a"), removal("b")]);
    assert_eq!(journal.unapplied().unwrap(), Vec::<PathBuf>::new(), "changes are applied once");
    journal.mark_unapplied();
    assert_eq!(journal.unapplied().unwrap().len(), 2, "changes are applied again after the writer lost them");
    journal.mark_applied(2);
    journal.remove_committed(number).unwrap();
    assert_eq!(replayed(dir.path()), []);
    assert_eq!(journal.recovered(), 3);
}

#[test]
fn changes_that_another_process_applied_meanwhile_are_not_applied_again() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::new(dir.path());
    append(&journal, removal("a"));
    journal.release().unwrap();
    assert_eq!(replayed(dir.path()), [removal("a")], "uncommitted changes stay");
    let other = Journal::new(dir.path());
    assert_eq!(other.unapplied().unwrap().len(), 1);
    other.mark_applied(1);
    other.remove_committed(0).unwrap();
    journal.mark_unapplied();
    assert_eq!(journal.unapplied().unwrap(), Vec::<PathBuf>::new());
    let number = append(&journal, removal("b"));
    assert_eq!(replayed(dir.path()), [removal("b")], "the change is written to an existing file");
    journal.remove_committed(number).unwrap();
    journal.release().unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn sync_flushes_all_segments() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::new(dir.path());
    append(&journal, removal(&"a".repeat(SEGMENT_BYTES as usize)));
    journal.remove_committed(0).unwrap();
    append(&journal, removal("b"));
    journal.sync().unwrap();
    assert_eq!(*journal.synced.lock(), 2);
    journal.sync().unwrap();
    assert_eq!(replayed(dir.path()).len(), 2);
}
