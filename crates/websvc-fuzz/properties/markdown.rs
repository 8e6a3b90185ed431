//! Properties of the markdown of any page and any feed.

use websvc_extract::{ContentOptions, ContentScope, Document, Source};

/// Maximum size of the markdown per byte of the page: a cell may be repeated in each row that it spans, and a relative
/// link becomes an absolute one. And the size that every page may reach.
const MAX_MARKDOWN_PER_BYTE: usize = 100;
const MARKDOWN_ALLOWANCE: usize = 10_000;

/// Checks that reading and writing end, that no input makes the markdown many times longer than the page, and that no
/// more than one blank line is between blocks.
pub(crate) fn check(data: &[u8]) {
    let url = "http://a.test/dir/page".parse().expect("the URL is valid");
    for content_type in ["text/html; charset=utf-8", "application/rss+xml"] {
        let source = Source { bytes: data, content_type: Some(content_type), url: &url };
        let Ok(page) = Document::parse(source) else { continue };
        for scope in [ContentScope::Main, ContentScope::Full] {
            let content = page.content(&ContentOptions { scope, ..ContentOptions::default() });
            let markdown = content.markdown();
            let limit = data.len() * MAX_MARKDOWN_PER_BYTE + MARKDOWN_ALLOWANCE;
            assert!(markdown.len() <= limit, "{} bytes of {}", markdown.len(), data.len());
            let has_code = markdown.contains("```") || !page.kind().is_html();
            assert!(has_code || !markdown.contains("\n\n\n"), "{markdown:?}");
            drop((content.html(), content.text(), content.links()));
        }
    }
}
