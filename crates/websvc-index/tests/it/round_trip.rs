//! Reading documents back as they were added.

use std::collections::HashMap;
use std::fmt::Write;

use jiff::Timestamp;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use websvc_index::{Document, Image, Index, IndexConfig, IndexError, Link, News};

use crate::support::{Fixture, page, time};

/// Any text: letters, control characters, all kinds of white space, characters of several bytes.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "\\PC{0,40}", "(?s).{0,60}", "[ \\n\\t\u{a0}\u{2028}\u{3000}a.]{0,80}"]
}

/// Texts with many passages and with the white space of real pages.
fn body() -> impl Strategy<Value = String> {
    let word = prop_oneof!["[a-z]{1,12}", "\\PC{1,6}", "[ \\r\\n\\t\u{a0}]{1,5}", Just(". ".to_owned())];
    prop_oneof![text(), vec(word, 0..900).prop_map(|words| words.join(" "))]
}

fn timestamp() -> impl Strategy<Value = Option<Timestamp>> {
    option::of((-3_000_000_000_i64..9_000_000_000, -999_999_999_i32..1_000_000_000))
        .prop_map(|time| time.and_then(|(seconds, nanoseconds)| Timestamp::new(seconds, nanoseconds).ok()))
}

fn image() -> impl Strategy<Value = Image> {
    (text(), text(), text(), text(), option::of(any::<u32>()), option::of(any::<u32>())).prop_map(
        |(url, alt, caption, context, width, height)| Image { url, alt, caption, context, width, height },
    )
}

fn document() -> impl Strategy<Value = Document> {
    let links = vec((text(), text()).prop_map(|(url, text)| Link { url, text }), 0..6);
    let news = option::of(option::of(text()).prop_map(|image_url| News { image_url }));
    let texts = (text(), vec(text(), 0..5), body(), option::of(text()), option::of(text()));
    let times = (timestamp(), timestamp(), timestamp());
    let rest =
        (option::of(text()), option::of(text()), any::<bool>(), vec(image(), 0..4), links, news, 0..9u8);
    (texts, times, rest).prop_map(|(texts, (published, modified, seen), rest)| {
        let (title, headings, body, description, language) = texts;
        let (content_type, country, explicit, images, links, news, number) = rest;
        Document {
            url: format!("https://a.test/{number}"),
            title,
            headings,
            body,
            description,
            language,
            published,
            modified,
            seen,
            content_type,
            country,
            explicit,
            images,
            links,
            news,
        }
    })
}

#[test]
fn document_is_read_back_as_it_was_added() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let index = Index::open(dir.path(), IndexConfig::default()).expect("a new index");
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(16) });
    let check = |documents: Vec<Document>| {
        let last: HashMap<String, Document> =
            documents.iter().map(|document| (document.url.clone(), document.clone())).collect();
        documents.into_iter().for_each(|document| index.add(document).expect("a valid document"));
        index.flush().expect("a working disk");
        for (url, document) in last {
            prop_assert_eq!(index.document(&url).expect("readable"), Some(document));
        }
        Ok(())
    };
    runner.run(&vec(document(), 6), check).expect("every document is read back");
}

#[test]
fn document_of_many_megabytes_is_read_back_completely() {
    let mut body = String::new();
    let space = " ".repeat(200);
    for number in 0..25_000 {
        write!(body, "Line {number};\tit goes on.\r\n{space}").expect("writing to a string");
    }
    assert!(body.len() > 5 << 20, "longer than the searchable part: {}", body.len());
    body.push_str(&" \n".repeat(200_000));
    body.push_str(&"w".repeat(200_000));
    let document = page("a.test/long", "Long", &body);
    let fixture = Fixture::new([document.clone(), page("a.test/space", "", &"\u{3000} ".repeat(5_000))]);
    assert_eq!(fixture.index.document(&document.url).expect("readable"), Some(document));
    let space = fixture.index.document("https://a.test/space").expect("readable").expect("it was added");
    assert_eq!(space.body, "\u{3000} ".repeat(5_000));
}

#[test]
fn snippet_has_collapsed_white_space() {
    let body = "The first\r\n\tline ends here and is long enough to be a passage of its own.\n\n\nThe quince   \
                stands\u{a0}in the\nsecond.";
    let fixture = Fixture::new([page("a.test/1", "Fruit", body)]);
    let hits = fixture.search("quince", &websvc_index::SearchOptions::default()).hits;
    assert_eq!(
        hits[0].description,
        "The first line ends here and is long enough to be a passage of its own. The quince stands in the second."
    );
}

#[test]
fn each_document_visits_one_commit_in_url_order() {
    let urls = ["b.test/2", "a.test/1", "deep.a.test/3", "nota.test/4"];
    let fixture = Fixture::new([page("z.test/0", "Old", "text")]);
    let index = &fixture.index;
    for url in urls {
        index.add(page(url, url, "text")).expect("a valid document");
        index.flush().expect("a segment for each document");
    }
    index.remove("https://z.test/0").expect("it can be removed");
    index.flush().expect("a working disk");
    let visit = |host| {
        let mut seen = Vec::new();
        let visited = index.each_document(host, |document| -> Result<(), IndexError> {
            // Writes during the iteration are not visible to it.
            index.add(page("c.test/new", "New", "text"))?;
            index.remove("https://nota.test/4")?;
            index.optimize()?;
            seen.push(document.title);
            Ok(())
        });
        visited.expect("readable");
        seen
    };
    assert_eq!(visit(None), ["a.test/1", "b.test/2", "deep.a.test/3", "nota.test/4"]);
    assert_eq!(visit(Some("a.test")), ["a.test/1", "deep.a.test/3"]);
    assert_eq!(visit(None), ["a.test/1", "b.test/2", "New", "deep.a.test/3"]);
}

#[test]
fn unknown_url_returns_no_document() {
    let fixture =
        Fixture::new([Document { seen: Some(time("2024-01-01T00:00:00Z")), ..page("a.test/1", "A", "b") }]);
    assert_eq!(fixture.index.document("https://a.test/2").expect("readable"), None);
}

#[test]
fn index_of_the_previous_format_is_rejected_with_both_formats() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(dir.path().join("format"), "websvc-index 2\n").expect("a working disk");
    let error = Index::open(dir.path(), IndexConfig::default()).expect_err("another format").to_string();
    assert!(error.contains("\"websvc-index 2\"") && error.contains("websvc-index 3"), "{error}");
}
