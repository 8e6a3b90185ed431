//! Tests of the main content of several kinds of pages.

use crate::page::{full, parse};
use websvc_extract::ContentOptions;

const PROSE: &str = "The kettle was invented twice, once by people who wanted tea and once by people who wanted to sell \
    kettles. Both groups agreed, for different reasons, that the spout should point away from the hand.";

fn article() -> String {
    let paragraphs = format!("<p>{PROSE}</p>").repeat(6);
    format!(
        "<html><head><title>Kettles | The Daily Pot</title></head><body><header><nav><ul><li><a href=/>Home</a><li><a \
         href=/news>News</a><li><a href=/shop>Shop</a></ul></nav></header><main><article><h1>Kettles</h1>{paragraphs}<pre>boil \
         --now</pre></article></main><aside class=sidebar><h4>Related</h4><ul><li><a href=/1>Ten best mugs</a><li><a \
         href=/2>Cups of the year</a></ul></aside><footer><p>© 2026 The Daily Pot. All rights reserved.</p><a \
         href=/privacy>Privacy policy</a></footer></body></html>"
    )
}

#[test]
fn article_is_without_navigation_sidebar_and_footer() {
    let text = parse(&article()).content(&ContentOptions::default()).text();
    assert!(text.contains("Both groups agreed"), "{text}");
    for boilerplate in ["Shop", "Ten best mugs", "Privacy policy", "All rights reserved"] {
        assert!(!text.contains(boilerplate), "{boilerplate} in {text}");
    }
}

#[test]
fn full_scope_has_all_visible_text() {
    let text = parse(&article()).content(&full()).text();
    assert!(text.contains("Shop") && text.contains("All rights reserved"), "{text}");
}

#[test]
fn all_formats_have_the_same_part() {
    let page = parse(&article());
    let content = page.content(&ContentOptions::default());
    assert!(!content.html().contains("Ten best mugs"));
    assert_eq!(content.links(), Vec::<String>::new());
    assert_eq!(content.headings(), ["Kettles"]);
}

#[test]
fn page_without_text_is_returned_in_full_with_a_warning() {
    let page = parse("<body><img src=/a.png alt=A></body>");
    let content = page.content(&ContentOptions::default());
    assert_eq!(content.markdown(), "![A](https://example.com/a.png)\n");
    assert_eq!(content.warnings(), ["no main content was found; the full page is returned"]);
}

#[test]
fn noscript_content_is_used_only_if_it_has_more_text() {
    let html = format!("<body><div id=app></div><noscript><h1>Thread</h1><p>{PROSE}</p></noscript></body>");
    assert!(parse(&html).content(&full()).text().contains("Both groups agreed"));
    let html = format!(
        "<body>{}<noscript><p>Turn scripts on.</p></noscript></body>",
        format!("<p>{PROSE}</p>").repeat(5)
    );
    assert!(!parse(&html).content(&full()).text().contains("Turn scripts on"));
}
