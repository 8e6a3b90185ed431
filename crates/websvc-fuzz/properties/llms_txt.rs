//! Properties of the writer of llms.txt for any documents of a crawl.

use websvc_types::limits::{LLMSTXT_FULL_MAX_BYTES, LLMSTXT_LINE_MAX_CHARS};

use super::text::LlmsTxtBuilder;

/// Checks that each page has one line with one link, that texts cannot leave their line, and that the full text has a
/// maximum size. The input has the start URL in the first line, then a document in each line.
pub(crate) fn check(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let start = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let mut builder = LlmsTxtBuilder::new(&start, true);
    let mut without_full_text = LlmsTxtBuilder::new(&start, false);
    let mut max_pages = 0;
    for line in lines {
        if builder.add(line).is_ok() {
            without_full_text.add(line).expect("the same document can be read twice");
            max_pages += 1;
        }
    }
    let (data, left_out) = builder.finish();
    let mut written = data.llmstxt.lines();
    assert!(written.next().is_some_and(|title| title.starts_with("# ")), "{:?}", data.llmstxt);
    assert_eq!(written.next(), Some(""));
    let items: Vec<&str> = written.collect();
    assert!(items.len() <= max_pages && left_out <= items.len(), "{} of {max_pages}", items.len());
    for item in items {
        check_item(item);
    }
    let full = data.llmsfulltxt.expect("the full text was requested");
    let headings = max_pages * (2 * LLMSTXT_LINE_MAX_CHARS * 4 + start.len() + 100);
    assert!(full.len() <= LLMSTXT_FULL_MAX_BYTES + headings + urls(&full), "{} bytes", full.len());
    let (short, left_out) = without_full_text.finish();
    assert_eq!((short.llmstxt, short.llmsfulltxt, left_out), (data.llmstxt, None, 0));
}

/// Checks that the first unescaped bracket that closes is the end of the title, that the URL behind it has no character
/// that ends a link, and that the rest is a description.
fn check_item(item: &str) {
    let title = item.strip_prefix("- [").unwrap_or_else(|| panic!("{item:?} is not a list item with a link"));
    let mut is_escaped = false;
    let end = title.char_indices().find(|(_, character)| {
        let ends = *character == ']' && !is_escaped;
        assert!(is_escaped || *character != '[', "{item:?} has a second link in its title");
        is_escaped = *character == '\\' && !is_escaped;
        ends
    });
    let (end, _) = end.unwrap_or_else(|| panic!("the title of {item:?} has no end"));
    let target = title[end + 1..].strip_prefix('(').unwrap_or_else(|| panic!("{item:?} has no URL"));
    let (url, rest) = target.split_once(')').unwrap_or_else(|| panic!("the URL of {item:?} has no end"));
    assert!(!url.contains(['(', '<', '>', ' ']), "{url:?}");
    assert!(rest.is_empty() || rest.starts_with(": "), "{rest:?}");
    assert!(rest.chars().count() <= LLMSTXT_LINE_MAX_CHARS + 3, "{} characters", rest.chars().count());
}

/// Returns an upper bound of the size of the URLs in headings, whose length has no limit of its own.
fn urls(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with("## [")).map(str::len).sum()
}
