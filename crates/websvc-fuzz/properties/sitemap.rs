//! Properties of the reader of sitemaps and feeds for any file.

use std::ops::ControlFlow;

use websvc_site::sitemap::{Item, MAX_ENTRIES, read};

/// Checks that all URLs are http or https URLs, that their number is the returned count, and that a visitor that stops
/// after some items receives the same first items.
pub(crate) fn check(data: &[u8]) {
    let (all, counted) = items(data, usize::MAX);
    assert_eq!(all.len(), counted);
    assert!(counted <= MAX_ENTRIES);
    for item in &all {
        let url = match item {
            Item::Page(page) => &page.url,
            Item::Sitemap(url) => url,
        };
        assert!(matches!(url.scheme(), "http" | "https") && url.has_host(), "{url}");
    }
    let half = all.len() / 2;
    let (some, _) = items(data, half);
    assert_eq!(some, all[..half], "the first items do not depend on when the visitor stops");
}

/// Returns the first `max` items of a file, and the count of the reader.
fn items(data: &[u8], max: usize) -> (Vec<Item>, usize) {
    let base = "http://a.test/dir/map.xml".parse().expect("the URL is valid");
    let mut items = Vec::new();
    let summary = read(data, &base, &mut |item| {
        if items.len() < max {
            items.push(item);
        }
        if items.len() < max { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    (items, summary.items)
}
