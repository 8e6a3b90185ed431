//! Anchors: link texts as words of the pages that the links lead to.

use std::time::{Duration, Instant};

use websvc_index::{Document, Image, Index, IndexConfig, Link, SearchOptions};

use crate::support::{Fixture, page, time};

/// Returns a page with these links: URL without scheme, and text.
fn linking(address: &str, links: &[(&str, &str)]) -> Document {
    let links =
        links.iter().map(|(url, text)| Link { url: format!("https://{url}"), text: (*text).to_owned() });
    Document { links: links.collect(), ..page(address, "Links", "a page that links to others") }
}

/// Returns an index of `documents` with all anchors applied.
fn with_anchors(documents: impl IntoIterator<Item = Document>) -> Fixture {
    let fixture = Fixture::new(documents);
    fixture.index.apply_anchors().expect("a working disk");
    fixture
}

const TEXT: &str =
    "Leaves are steamed, rolled and dried before they are sold in small tins of paper and metal.";

#[test]
fn page_is_found_by_words_of_links_to_it() {
    let fixture = with_anchors([
        page("tea.test/", "Drinks", TEXT),
        linking("b.test/1", &[("tea.test/#top", "The finest Gyokuro")]),
        linking("c.test/1", &[("elsewhere.test/", "gyokuro too")]),
    ]);
    fixture.check("gyokuro", &["tea.test/"]);
    fixture.check("gyokuros leaves", &["tea.test/"]);
    let hits = fixture.search("gyokuro", &SearchOptions::default()).hits;
    assert_eq!(hits[0].description, TEXT, "the snippet is a text of the page itself");
    assert!(fixture.search("gyokuro steamed", &SearchOptions::default()).hits[0].description == TEXT);
}

#[test]
fn anchors_match_neither_phrases_nor_titles_nor_urls() {
    let fixture = with_anchors([
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
fn links_of_other_hosts_have_more_weight_and_links_of_the_page_itself_have_none() {
    let copy = |address: &str| {
        let host = address.split('/').next().expect("a host");
        page(address, "Gyokuro", &format!("Of {host} there is gyokuro among {TEXT}"))
    };
    let own = linking("own.test/2", &[("own.test/1", "gyokuro")]);
    let self_link =
        Document { links: linking("", &[("self.test/1", "gyokuro")]).links, ..copy("self.test/1") };
    let fixture = with_anchors([
        self_link,
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
fn anchors_of_one_host_are_limited() {
    let sources = (0..60).map(|number| {
        let text = format!("word{number}");
        linking(
            &format!("loud.test/{number}"),
            &[("tea.test/", &text), ("tea.test/", "Read more"), ("tea.test/", "same")],
        )
    });
    let fixture = with_anchors([page("tea.test/", "Drinks", TEXT)].into_iter().chain(sources));
    let found = (0..60).filter(|number| {
        let hits = fixture.search(&format!("word{number}"), &SearchOptions::default()).hits;
        hits.iter().any(|hit| hit.url == "https://tea.test/")
    });
    assert!((1..=3).contains(&found.count()), "only a few texts of one host are indexed");
    fixture.check("read", &[]);
}

#[test]
fn anchors_follow_changed_and_removed_links() {
    let fixture = with_anchors([
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
fn page_added_after_its_links_has_anchors_and_keeps_them_when_replaced() {
    let fixture = Fixture::new([linking("b.test/1", &[("tea.test/", "gyokuro")])]);
    for text in [TEXT, "Another text that came with a later crawl."] {
        fixture.index.add(page("tea.test/", "Drinks", text)).expect("a valid document");
        fixture.index.flush().expect("a working disk");
        fixture.check("gyokuro", &["tea.test/"]);
    }
}

#[test]
fn applying_anchors_changes_only_anchors() {
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
    assert_eq!(after[0].date, before[0].date, "the time at which the page was first seen");
    fixture.check_images("leaf", SearchOptions::default(), &["tea.test/leaf.jpg"]);
    fixture.check_images("gyokuro", SearchOptions::default(), &[]);
    let stats = fixture.index.stats().expect("readable");
    assert_eq!((stats.documents, stats.images), (2, 1));
}

#[test]
fn anchors_are_applied_while_no_writes_happen() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = IndexConfig { commit_after: Duration::from_millis(20), ..IndexConfig::default() };
    let index = Index::open(dir.path(), config).expect("a new index");
    index.add(page("tea.test/", "Drinks", TEXT)).expect("a valid document");
    index.add(linking("b.test/1", &[("tea.test/", "gyokuro")])).expect("a valid document");
    let query = websvc_query::parse("gyokuro").query;
    let deadline = Instant::now() + Duration::from_secs(60);
    while index.search(&query, &SearchOptions::default()).expect("readable").hits.is_empty() {
        assert!(Instant::now() < deadline, "the anchor was not applied in 60 s");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn pending_anchors_are_applied_by_the_next_process() {
    let dir = tempfile::tempdir().expect("a temporary directory");
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
    assert_eq!(found(&index), 0, "closing does not apply anchors");
    index.optimize().expect("a working disk");
    assert_eq!(found(&index), 1);
    assert_eq!(index.stats().expect("readable").segments, 1);
}

#[test]
fn backlog_overflow_is_handled_by_a_sweep_of_all_pages() {
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
    let fixture = with_anchors(documents);
    fixture.check("gyokuro", &["tea.test/"]);
}
