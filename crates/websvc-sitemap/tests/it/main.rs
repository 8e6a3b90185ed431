//! Tests of sitemaps and feeds: valid, unusual and damaged.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod corpus;
mod examples;
mod property;

use std::io::Write;
use std::ops::ControlFlow;

use url::Url;
use websvc_sitemap::{Item, ReadSummary, read};

/// Returns what a file at `http://a.test/dir/map.xml` lists.
fn items(file: &[u8]) -> (Vec<Item>, ReadSummary) {
    let base = Url::parse("http://a.test/dir/map.xml").unwrap();
    let mut items = Vec::new();
    let reading = read(file, &base, &mut |item| {
        items.push(item);
        ControlFlow::Continue(())
    });
    (items, reading)
}

/// Returns the URLs of the pages, and those of further files behind `> `.
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
