//! Tests of sitemaps and feeds: valid, unusual and damaged.

mod corpus;
mod examples;
mod property;

use std::io::Write;
use std::ops::ControlFlow;

use url::Url;
use websvc_site::sitemap::{Item, ReadSummary, read};

/// Reads a file from `http://a.test/dir/map.xml`.
fn items(file: &[u8]) -> (Vec<Item>, ReadSummary) {
    let base = Url::parse("http://a.test/dir/map.xml").unwrap();
    let mut items = Vec::new();
    let summary = read(file, &base, &mut |item| {
        items.push(item);
        ControlFlow::Continue(())
    });
    (items, summary)
}

/// Returns the URLs of the items, those of sitemaps with the prefix `> `.
fn urls(file: &[u8]) -> Vec<String> {
    let line = |item| match item {
        Item::Page(page) => String::from(page.url),
        Item::Sitemap(url) => format!("> {url}"),
    };
    items(file).0.into_iter().map(line).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
