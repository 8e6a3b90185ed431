//! Extraction ends for all input, and its output is well formed.

use crate::page::full;
use proptest::prelude::*;
use websvc_extract::{ContentOptions, Document, Selectors, Source};

fn exercise(bytes: &[u8], content_type: Option<&str>) {
    let url = "https://example.com/dir/page".parse().unwrap();
    let Ok(page) = Document::parse(Source { bytes, content_type, url: &url }) else { return };
    for options in [full(), ContentOptions::default()] {
        let content = page.content(&options);
        let markdown = content.markdown();
        if page.kind().is_html() && !markdown.contains("```") {
            assert!(!markdown.contains("\n\n\n"), "{markdown:?}");
        }
        drop((content.html(), content.text(), content.links(), content.headings()));
    }
    drop((page.product(), page.menu()));
    drop((page.metadata(), page.images(), page.anchors(), page.refresh(), page.robots()));
}

/// Returns markup of random tags that are opened and closed in any order.
fn markup() -> impl Strategy<Value = String> {
    let tags = [
        "p",
        "div",
        "ul",
        "ol",
        "li",
        "table",
        "tr",
        "td",
        "th",
        "pre",
        "code",
        "a href=x",
        "b",
        "em",
        "h2",
        "blockquote",
        "br",
        "img src=i alt=t",
        "dl",
        "dt",
        "dd",
        "sup",
        "math",
        "mfrac",
        "svg",
        "template",
        "noscript",
        "details",
        "summary",
        "form",
        "select",
        "option",
        "script",
        "button",
        "del",
        "q",
        "hr",
        "caption",
        "figure",
        "span hidden",
    ];
    let word = prop_oneof!["[a-z*_`<>&#|\\[\\]()!~$. -]{0,12}", "\\PC{0,6}"];
    let piece = (0..tags.len(), 0..4_u8, word).prop_map(move |(tag, kind, word)| match kind {
        0 => format!("</{}>", tags[tag].split(' ').next().unwrap_or("")),
        1 => word,
        _ => format!("<{}>{word}", tags[tag]),
    });
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_extracted(bytes in proptest::collection::vec(any::<u8>(), 0..400), declared in any::<bool>()) {
        exercise(&bytes, declared.then_some("text/html"));
    }

    #[test]
    fn random_markup_is_extracted(html in markup()) {
        exercise(html.as_bytes(), Some("text/html"));
    }

    #[test]
    fn random_selector_is_accepted_or_rejected(selector in "[a-z.#>+~*:()\\[\\]=\"' ,0-9n-]{0,20}") {
        let _ = Selectors::parse(&[selector]);
    }

    #[test]
    fn plain_words_are_in_the_markdown(words in proptest::collection::vec("[a-zA-Z0-9_*`#.<>-]{1,8}", 1..12)) {
        let html = words.iter().map(|w| w.replace('<', "&lt;")).collect::<Vec<_>>().join(" ");
        let url = "https://example.com/".parse().unwrap();
        let html = format!("<p>{html}</p>");
        let page = Document::parse(Source { bytes: html.as_bytes(), content_type: Some("text/html"), url: &url }).unwrap();
        let markdown = page.content(&full()).markdown();
        let unescaped = markdown.replace('\\', "");
        prop_assert_eq!(unescaped.trim_end(), words.join(" "));
    }
}
