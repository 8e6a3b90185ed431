//! Properties of reading any file as a sitemap or a feed.

use std::ops::ControlFlow;

use websvc_sitemap::{Item, MAX_ENTRIES, read};

/// Checks that only URLs of the web are handed over, as many as are counted, the same each time, and that whoever has
/// enough after some of them gets just these.
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
    assert_eq!(some, all[..half], "the reading depends on who reads");
}

/// Returns the first items of a file, and how many the reader has counted.
fn items(data: &[u8], most: usize) -> (Vec<Item>, usize) {
    let base = "http://a.test/dir/map.xml".parse().expect("it is a URL");
    let mut items = Vec::new();
    let reading = read(data, &base, &mut |item| {
        if items.len() < most {
            items.push(item);
        }
        if items.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    (items, reading.items)
}
