//! Atom feeds.

use quick_xml::Reader;
use quick_xml::events::Event;
use url::Url;
use uuid::Uuid;
use websvc_notify::{AtomFeed, CheckReport, DiffMode, MonitorPageStatus, PageCounts, PageReport};

use crate::support::{empty_report, page, report, time};

fn write(reports: &[CheckReport], max_bytes: usize) -> String {
    let self_url = Url::parse("https://websvc.example/feed?token=a&x=1").unwrap();
    let dashboard_url = Url::parse("https://websvc.example/dashboard").unwrap();
    let feed = AtomFeed {
        monitor_id: Uuid::from_u128(1),
        monitor_name: "Prices & more",
        updated_at: time(),
        self_url: &self_url,
        dashboard_url: Some(&dashboard_url),
        diffs: DiffMode::Include,
    };
    feed.write(reports, max_bytes)
}

/// Returns the texts of all elements with this name.
fn texts(xml: &str, name: &str) -> Vec<String> {
    let mut reader = Reader::from_str(xml);
    let mut texts = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) if start.name().as_ref() == name => {
                let text = reader.read_text(start.name()).unwrap();
                texts.push(quick_xml::escape::unescape(&text).unwrap().into_owned());
            }
            Event::Eof => return texts,
            _ => {}
        }
    }
}

#[test]
fn feed_has_the_required_elements_and_stable_ids() {
    let xml = write(&[report()], 1_000_000);
    let ids =
        ["urn:uuid:00000000-0000-0000-0000-000000000001", "urn:uuid:00000000-0000-0000-0000-000000000002"];
    assert_eq!(texts(&xml, "id"), ids);
    assert_eq!(
        texts(&xml, "title"),
        ["Prices & more", "Prices: 2 pages changed, 1 new, 1 removed, 1 failed"]
    );
    assert_eq!(texts(&xml, "updated"), ["2026-11-25T18:59:22Z"; 2]);
    assert_eq!(texts(&xml, "name"), ["websvc"]);
    assert!(xml.contains(
        "<link rel=\"self\" type=\"application/atom+xml\" href=\"https://websvc.example/feed?token=a&amp;x=1\"/>"
    ));
    let content = texts(&xml, "content").remove(0);
    assert!(content.contains(">+6 EUR</pre>") && content.contains("Tea &amp; more</a>"), "{content}");
    assert_eq!(write(&[report()], 1_000_000), xml);
}

#[test]
fn feed_without_entries_is_valid() {
    let xml = write(&[], 0);
    assert_eq!(texts(&xml, "updated"), ["2026-11-25T18:59:22Z"]);
    assert_eq!(texts(&xml, "entry").len(), 0);
}

#[test]
fn feed_is_bounded_by_shorter_and_then_fewer_entries() {
    let large = |index: u128| CheckReport {
        check_id: Uuid::from_u128(index),
        counts: PageCounts { changed: 1, ..PageCounts::default() },
        pages: vec![PageReport {
            diff: Some(format!("@@ -1 +1 @@\n{}", "+line\n".repeat(40))),
            ..page("https://shop.example/", MonitorPageStatus::Changed)
        }],
        ..empty_report()
    };
    let reports: Vec<CheckReport> = (1..=100).map(large).collect();
    let all = write(&reports, usize::MAX);
    assert_eq!(texts(&all, "entry").len(), 50);
    let one = write(&reports[..1], usize::MAX);
    for max_bytes in [one.len() - 1, one.len(), one.len() * 2, one.len() * 5] {
        let xml = write(&reports, max_bytes);
        assert!(xml.len() <= max_bytes, "{} of {max_bytes}", xml.len());
        let contents = texts(&xml, "content");
        assert!(!contents.is_empty());
        assert_eq!(contents[0].contains("+line"), max_bytes >= one.len());
    }
    assert_eq!(texts(&write(&reports, 1_000), "entry").len(), 0);
}
