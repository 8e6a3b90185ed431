//! Tests of the description of hits.

use websvc_index::{Document, SearchOptions, SnippetMode};

use crate::support::{Fixture, page};

fn description(document: Document, query: &str, highlights: SnippetMode) -> String {
    let fixture = Fixture::new([document]);
    let hits = fixture.search(query, &SearchOptions { highlights, ..SearchOptions::default() }).hits;
    hits[0].description.clone()
}

fn long_page() -> Document {
    let filler = "This sentence only fills the page with ordinary text about nothing. ".repeat(400);
    let body = format!("{filler}The zebra crosses the river at dawn, they say. {filler}");
    Document {
        description: Some("What the page says about itself.".to_owned()),
        ..page("a.test/", "Title", &body)
    }
}

#[test]
fn the_passage_with_the_words_is_shown_however_deep() {
    let shown = description(long_page(), "zebras river", SnippetMode::Passages);
    assert!(shown.contains("The zebra crosses the river at dawn"), "{shown}");
    assert!((160..=300).contains(&shown.chars().count()), "{shown}");
}

#[test]
fn the_page_description_is_shown_on_request_or_without_a_passage() {
    assert_eq!(
        description(long_page(), "zebra", SnippetMode::PageDescription),
        "What the page says about itself."
    );
    assert_eq!(
        description(long_page(), "intitle:title", SnippetMode::PageDescription),
        "What the page says about itself."
    );
    assert_eq!(
        description(long_page(), "site:a.test", SnippetMode::Passages),
        "What the page says about itself."
    );
    let plain = Document { description: None, ..long_page() };
    let shown = description(plain, "site:a.test", SnippetMode::Passages);
    assert!(shown.starts_with("This sentence only fills"), "{shown}");
}

#[test]
fn long_lines_are_cut_between_words() {
    let body = format!("{} needle {}", "hay ".repeat(300), "straw ".repeat(300));
    let shown = description(page("a.test/", "T", &body), "needle", SnippetMode::Passages);
    assert!(shown.contains("needle"), "{shown}");
    assert!(shown.chars().count() <= 301, "{shown}");
}

#[test]
fn chinese_text_is_cut_between_characters() {
    let body =
        format!("{}故宫博物院。{}", "一二三四五六七八九十，".repeat(200), "天地玄黄宇宙洪荒".repeat(200));
    let shown = description(page("a.test/", "T", &body), "故宫", SnippetMode::Passages);
    assert!(shown.contains("故宫"), "{shown}");
    assert!(shown.chars().count() <= 301, "{shown}");
}
