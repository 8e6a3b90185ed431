//! A generated site of typical pages of about 12 kB, each of which links to three new pages.

use std::fmt::Write;
use std::time::Duration;

use websvc_testkit::{Page, TestWeb};

/// Start URL of the crawls.
pub(crate) const START: &str = "http://site.test/";

/// New pages that each page links to, besides those of its navigation.
const CHILDREN: usize = 3;

const WORDS: &[&str] = &[
    "kettle",
    "water",
    "leaf",
    "oxidised",
    "minute",
    "garden",
    "harvest",
    "steam",
    "porcelain",
    "morning",
    "valley",
    "roasted",
    "merchant",
    "degrees",
    "patience",
    "infusion",
    "bitter",
    "sweet",
    "mountain",
    "autumn",
];

/// Starts a site of `pages` pages that respond after `delay`.
pub(crate) async fn world(pages: usize, delay: Duration) -> TestWeb {
    let mut world = TestWeb::builder();
    for number in 0..pages {
        world = world.page_with(&url(number), move |_| Page::html(html(number, pages)).delay(delay));
    }
    world.start().await
}

/// Returns the URLs of the site.
pub(crate) fn urls(pages: usize) -> Vec<String> {
    (0..pages).map(url).collect()
}

fn url(number: usize) -> String {
    if number == 0 { START.to_owned() } else { format!("{START}page/{number}") }
}

/// Returns the HTML of a page of a site with `pages` pages.
pub(crate) fn html(number: usize, pages: usize) -> String {
    let mut html = format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>Page {number}</title>\
         <meta name=description content='Description of page {number}'></head><body><nav><ul>"
    );
    for entry in 0..20.min(pages) {
        write!(html, "<li><a href='{}' class='nav entry-{entry}'>Chapter {entry}</a></li>", url(entry))
            .unwrap();
    }
    write!(html, "</ul></nav><main><article><h1>Page {number}</h1>").unwrap();
    for section in 0..6 {
        write!(html, "<h2 id='s{section}'>Section {section} of {number}</h2>").unwrap();
        for paragraph in 0..4 {
            write!(html, "<p class='text'>{}.</p>", sentence(number, section * 4 + paragraph)).unwrap();
        }
        write!(html, "<pre><code>brew --leaf {number} --minutes {section}\npour {number}\n</code></pre>")
            .unwrap();
    }
    html.push_str("<table><tr><th>Leaf<th>Grams<th>Minutes</tr>");
    for row in 0..8 {
        write!(html, "<tr><td>{}<td>{}<td>{row}</tr>", WORDS[(number + row) % WORDS.len()], row * 3).unwrap();
    }
    html.push_str("</table><h2>Further</h2><ul>");
    let children = (1..=CHILDREN).map(|child| number * CHILDREN + child).filter(|child| *child < pages);
    for child in children.chain((1..10).map(|step| (number + step * 7) % pages)) {
        write!(html, "<li><a href='{}'>Page {child}</a></li>", url(child)).unwrap();
    }
    html.push_str("</ul></article></main><footer><p>Generated for a benchmark.</p></footer></body></html>");
    html
}

/// Returns 48 words, which differ for every page.
fn sentence(number: usize, index: usize) -> String {
    let mut state = number.wrapping_mul(2_654_435_761).wrapping_add(index * 40_503);
    let mut words = Vec::with_capacity(48);
    for _ in 0..48 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        words.push(WORDS[(state >> 33) % WORDS.len()]);
    }
    words.join(" ")
}
