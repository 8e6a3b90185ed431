//! Recovery by the next process after appends, cuts, damage, commits and syncs.

use jiff::Timestamp;

use super::*;
use crate::document::{Image, Link, News};

fn whole_document() -> Document {
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
            |_, given| {
                number = given;
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
fn left(dir: &Path) -> Vec<Change> {
    let mut changes = Vec::new();
    for path in Journal::new(dir).unapplied().unwrap() {
        let mut segment = Changes::open(&path).unwrap();
        while let Some(change) = segment.next().unwrap() {
            changes.push(change);
        }
    }
    changes
}

#[test]
fn changes_come_back_as_they_were_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::new(dir.path());
    let empty = Document { url: "https://a.test/".to_owned(), ..Document::default() };
    let changes =
        [Change::Add(Box::new(whole_document())), removal("https://b.test/"), Change::Add(Box::new(empty))];
    for (at, change) in changes.iter().enumerate() {
        assert_eq!(append(&journal, change.clone()), at as u64 + 1);
    }
    journal.sync().unwrap();
    assert_eq!(left(dir.path()), changes);
}

#[test]
fn a_record_that_was_cut_off_or_damaged_ends_the_segment_wherever_that_is() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::new(dir.path());
    append(&journal, removal("a"));
    append(&journal, removal("b"));
    let path = dir.path().join("journal-1");
    let whole = fs::read(&path).unwrap();
    let first = HEADER_BYTES + 2;
    for cut in 0..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let expected = if cut < first { vec![] } else { vec![removal("a")] };
        assert_eq!(left(dir.path()), expected, "cut at {cut}");
    }
    for at in first..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x40;
        fs::write(&path, &damaged).unwrap();
        assert_eq!(left(dir.path()), [removal("a")], "damaged at {at}");
    }
}

#[test]
fn a_commit_takes_away_what_it_holds_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::new(dir.path());
    let first = append(&journal, removal("a"));
    let second = append(&journal, removal("b"));
    journal.committed(first).unwrap();
    assert_eq!(left(dir.path()), [removal("a"), removal("b")], "a segment goes as a whole");
    journal.committed(second).unwrap();
    assert_eq!(left(dir.path()), []);
    let long = "c".repeat(SEGMENT_BYTES as usize);
    let third = append(&journal, removal(&long));
    let fourth = append(&journal, removal("d"));
    journal.committed(second).unwrap();
    let fifth = append(&journal, removal("e"));
    assert_eq!(left(dir.path()).len(), 3);
    journal.committed(third).unwrap();
    assert_eq!(left(dir.path()).len(), 3);
    journal.committed(fourth).unwrap();
    assert_eq!(left(dir.path()), [removal("e")]);
    journal.committed(fifth).unwrap();
    assert!(!journal.is_left().unwrap());
}

#[test]
fn the_segments_of_the_process_before_stand_before_new_ones() {
    let dir = tempfile::tempdir().unwrap();
    append(&Journal::new(dir.path()), removal("a"));
    let journal = Journal::new(dir.path());
    assert!(journal.is_left().unwrap());
    assert_eq!(journal.unapplied().unwrap().len(), 1);
    journal.applied(1);
    let number = append(&journal, removal("b"));
    assert_eq!(left(dir.path()), [removal("a"), removal("b")]);
    assert_eq!(journal.unapplied().unwrap(), Vec::<PathBuf>::new(), "they are applied once");
    journal.unapply();
    assert_eq!(journal.unapplied().unwrap().len(), 2, "and again when that was lost");
    journal.applied(2);
    journal.committed(number).unwrap();
    assert_eq!(left(dir.path()), []);
    assert_eq!(journal.recovered(), 3);
}

#[test]
fn what_another_process_applied_in_between_is_not_applied_again() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::new(dir.path());
    append(&journal, removal("a"));
    journal.release().unwrap();
    assert_eq!(left(dir.path()), [removal("a")], "what is not committed stays");
    let other = Journal::new(dir.path());
    assert_eq!(other.unapplied().unwrap().len(), 1);
    other.applied(1);
    other.committed(0).unwrap();
    journal.unapply();
    assert_eq!(journal.unapplied().unwrap(), Vec::<PathBuf>::new());
    let number = append(&journal, removal("b"));
    assert_eq!(left(dir.path()), [removal("b")], "it goes to a file that is there");
    journal.committed(number).unwrap();
    journal.release().unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_sync_covers_all_segments() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::new(dir.path());
    append(&journal, removal(&"a".repeat(SEGMENT_BYTES as usize)));
    journal.committed(0).unwrap();
    append(&journal, removal("b"));
    journal.sync().unwrap();
    assert_eq!(*lock(&journal.synced), 2);
    journal.sync().unwrap();
    assert_eq!(left(dir.path()).len(), 2);
}
