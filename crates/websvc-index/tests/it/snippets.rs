//! The descriptions of hits.

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
fn snippet_is_the_passage_with_the_query_words_at_any_depth() {
    let snippet = description(long_page(), "zebras river", SnippetMode::Passages);
    assert!(snippet.contains("The zebra crosses the river at dawn"), "{snippet}");
    assert!((160..=300).contains(&snippet.chars().count()), "{snippet}");
}

#[test]
fn snippet_is_the_page_description_on_request_or_without_a_passage() {
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
    let snippet = description(plain, "site:a.test", SnippetMode::Passages);
    assert!(snippet.starts_with("This sentence only fills"), "{snippet}");
}

#[test]
fn long_snippet_is_truncated_between_words() {
    let body = format!("{} needle {}", "hay ".repeat(300), "straw ".repeat(300));
    let snippet = description(page("a.test/", "T", &body), "needle", SnippetMode::Passages);
    assert!(snippet.contains("needle"), "{snippet}");
    assert!(snippet.chars().count() <= 301, "{snippet}");
}

#[test]
fn chinese_snippet_is_truncated_between_characters() {
    let body =
        format!("{}故宫博物院。{}", "一二三四五六七八九十，".repeat(200), "天地玄黄宇宙洪荒".repeat(200));
    let snippet = description(page("a.test/", "T", &body), "故宫", SnippetMode::Passages);
    assert!(snippet.contains("故宫"), "{snippet}");
    assert!(snippet.chars().count() <= 301, "{snippet}");
}
