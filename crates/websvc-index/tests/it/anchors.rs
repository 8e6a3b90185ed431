//! The texts of links count for the pages they lead to.

use std::time::{Duration, Instant};

use websvc_index::{Document, Image, Index, IndexConfig, Link, SearchOptions};

use crate::support::{Fixture, page, time};

/// A page whose links have these addresses and texts.
fn linking(address: &str, links: &[(&str, &str)]) -> Document {
    let links =
        links.iter().map(|(to, text)| Link { url: format!("https://{to}"), text: (*text).to_owned() });
    Document { links: links.collect(), ..page(address, "Links", "a page that links to others") }
}

fn applied(documents: impl IntoIterator<Item = Document>) -> Fixture {
    let fixture = Fixture::new(documents);
    fixture.index.apply_anchors().expect("a working disk");
    fixture
}

const TEXT: &str =
    "Leaves are steamed, rolled and dried before they are sold in small tins of paper and metal.";

#[test]
fn a_page_is_found_by_a_word_that_only_links_to_it_say() {
    let fixture = applied([
        page("tea.test/", "Drinks", TEXT),
        linking("b.test/1", &[("tea.test/#top", "The finest Gyokuro")]),
        linking("c.test/1", &[("elsewhere.test/", "gyokuro too")]),
    ]);
    fixture.check("gyokuro", &["tea.test/"]);
    fixture.check("gyokuros leaves", &["tea.test/"]);
    let hits = fixture.search("gyokuro", &SearchOptions::default()).hits;
    assert_eq!(hits[0].description, TEXT, "what is shown is the page's own");
    assert!(fixture.search("gyokuro steamed", &SearchOptions::default()).hits[0].description == TEXT);
}

#[test]
fn anchors_are_no_part_of_what_a_page_says() {
    let fixture = applied([
        page("tea.test/", "Drinks", TEXT),
        linking("b.test/1", &[("tea.test/", "green gyokuro"), ("tea.test/", "metal boxes")]),
        linking("c.test/1", &[("tea.test/", "yellow")]),
    ]);
    fixture.check("green gyokuro yellow", &["tea.test/"]);
    for query in [
        "\"green gyokuro\"",
        "\"gyokuro yellow\"",
        "\"metal green\"",
        "\"gyokuro\"",
        "intitle:gyokuro",
        "allintitle:green gyokuro",
        "inurl:gyokuro",
    ] {
        fixture.check(query, &[]);
    }
}

#[test]
fn links_of_other_hosts_count_more_and_links_to_itself_not_at_all() {
    let copy = |address: &str| {
        let host = address.split('/').next().expect("a host");
        page(address, "Gyokuro", &format!("Of {host} there is gyokuro among {TEXT}"))
    };
    let own = linking("own.test/2", &[("own.test/1", "gyokuro")]);
    let itself = Document { links: linking("", &[("self.test/1", "gyokuro")]).links, ..copy("self.test/1") };
    let fixture = applied([
        itself,
        copy("none.test/1"),
        copy("own.test/1"),
        copy("foreign.test/1"),
        own,
        linking("b.test/2", &[("foreign.test/1", "gyokuro")]),
    ]);
    let hits = fixture.search("gyokuro", &SearchOptions::default()).hits;
    let score = |host: &str| {
        let hit = hits.iter().find(|hit| hit.url == format!("https://{host}.test/1"));
        hit.map(|hit| hit.score).expect(host)
    };
    assert!(score("foreign") > score("own"), "{hits:#?}");
    assert!(score("own") > score("none"), "{hits:#?}");
    assert!((score("self") - score("none")).abs() < 1e-6, "{hits:#?}");
}

#[test]
fn a_host_that_repeats_itself_does_not_drown_the_page() {
    let loud = (0..60).map(|number| {
        let text = format!("word{number}");
        linking(
            &format!("loud.test/{number}"),
            &[("tea.test/", &text), ("tea.test/", "Read more"), ("tea.test/", "same")],
        )
    });
    let fixture = applied([page("tea.test/", "Drinks", TEXT)].into_iter().chain(loud));
    let found = (0..60).filter(|number| {
        let hits = fixture.search(&format!("word{number}"), &SearchOptions::default()).hits;
        hits.iter().any(|hit| hit.url == "https://tea.test/")
    });
    assert!((1..=3).contains(&found.count()), "few texts of one host count");
    fixture.check("read", &[]);
}

#[test]
fn anchors_go_with_the_links() {
    let fixture = applied([
        page("tea.test/", "Drinks", TEXT),
        linking("b.test/1", &[("tea.test/", "gyokuro")]),
        linking("c.test/1", &[("tea.test/", "sencha")]),
    ]);
    fixture.check("gyokuro", &["tea.test/"]);
    fixture.index.remove("https://b.test/1").expect("it can be removed");
    fixture.index.add(linking("c.test/1", &[("tea.test/", "bancha")])).expect("a valid document");
    fixture.index.apply_anchors().expect("a working disk");
    fixture.check("gyokuro", &[]);
    fixture.check("sencha", &[]);
    fixture.check("bancha", &["tea.test/"]);
}

#[test]
fn a_page_that_comes_later_has_its_anchors_at_once_and_keeps_them() {
    let fixture = Fixture::new([linking("b.test/1", &[("tea.test/", "gyokuro")])]);
    for text in [TEXT, "Another text that came with a later crawl."] {
        fixture.index.add(page("tea.test/", "Drinks", text)).expect("a valid document");
        fixture.index.flush().expect("a working disk");
        fixture.check("gyokuro", &["tea.test/"]);
    }
}

#[test]
fn applying_anchors_changes_nothing_else() {
    let image =
        Image { url: "https://tea.test/leaf.jpg".to_owned(), alt: "leaf".to_owned(), ..Image::default() };
    let document = Document {
        seen: Some(time("2023-05-06T07:08:09.5Z")),
        headings: vec!["One".to_owned()],
        images: vec![image],
        ..page("tea.test/", "Drinks", TEXT)
    };
    let fixture = Fixture::new([document.clone()]);
    let fingerprint = fixture.index.fingerprint(&document.url).expect("readable");
    let before = fixture.search("steamed", &SearchOptions::default()).hits;
    fixture.index.add(linking("b.test/1", &[("tea.test/", "gyokuro")])).expect("a valid document");
    fixture.index.apply_anchors().expect("a working disk");
    fixture.check("gyokuro", &["tea.test/"]);
    assert_eq!(fixture.index.document(&document.url).expect("readable"), Some(document.clone()));
    assert_eq!(fixture.index.fingerprint(&document.url).expect("readable"), fingerprint);
    let after = fixture.search("steamed", &SearchOptions::default()).hits;
    assert_eq!(after[0].date, before[0].date, "it was first seen when it was");
    fixture.check_images("leaf", SearchOptions::default(), &["tea.test/leaf.jpg"]);
    fixture.check_images("gyokuro", SearchOptions::default(), &[]);
    let stats = fixture.index.stats().expect("readable");
    assert_eq!((stats.documents, stats.images), (2, 1));
}

#[test]
fn anchors_are_applied_when_writing_pauses() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = IndexConfig { commit_after: Duration::from_millis(20), ..IndexConfig::default() };
    let index = Index::open(dir.path(), config).expect("a fresh index");
    index.add(page("tea.test/", "Drinks", TEXT)).expect("a valid document");
    index.add(linking("b.test/1", &[("tea.test/", "gyokuro")])).expect("a valid document");
    let query = websvc_query::parse("gyokuro").query;
    let deadline = Instant::now() + Duration::from_secs(60);
    while index.search(&query, &SearchOptions::default()).expect("readable").hits.is_empty() {
        assert!(Instant::now() < deadline, "the anchor is applied");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_a_process_did_not_apply_another_does() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let open = || Index::open(dir.path(), IndexConfig::default()).expect("an index");
    let index = open();
    index.add(page("tea.test/", "Drinks", TEXT)).expect("a valid document");
    index.add(linking("b.test/1", &[("tea.test/", "gyokuro")])).expect("a valid document");
    index.close().expect("a working disk");
    let index = open();
    let found = |index: &Index| {
        let query = websvc_query::parse("gyokuro site:tea.test").query;
        index.search(&query, &SearchOptions::default()).expect("readable").hits.len()
    };
    assert_eq!(found(&index), 0, "closing is quick and leaves anchors for later");
    index.optimize().expect("a working disk");
    assert_eq!(found(&index), 1);
    assert_eq!(index.stats().expect("readable").segments, 1);
}

#[test]
fn more_links_than_are_remembered_by_name_are_found_by_looking_at_all_pages() {
    let mut documents = vec![page("tea.test/", "Drinks", TEXT)];
    for number in 0..60 {
        let mut source = linking(&format!("many.test/{number}"), &[("tea.test/", "gyokuro")]);
        source.links.extend(
            (0..480).map(|link| Link {
                url: format!("https://away.test/{number}/{link}"),
                text: "away".to_owned(),
            }),
        );
        documents.push(source);
    }
    let fixture = applied(documents);
    fixture.check("gyokuro", &["tea.test/"]);
}
