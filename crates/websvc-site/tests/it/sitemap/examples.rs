//! Examples of files of sites.

use std::ops::ControlFlow;

use websvc_site::sitemap::{IncompleteReason, Item, MAX_BYTES, MAX_ENTRIES, read};

use super::{gzip, items, urls};

/// Returns `URL TITLE DATE IMAGE` of each page, with `-` for missing fields.
fn summaries(file: &str) -> Vec<String> {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let line = |item| match item {
        Item::Page(page) => {
            let image = or_dash(page.image.map(String::from));
            format!("{} {} {} {image}", page.url, or_dash(page.title), or_dash(page.date))
        }
        Item::Sitemap(url) => format!("> {url}"),
    };
    items(file.as_bytes()).0.into_iter().map(line).collect()
}

#[track_caller]
fn check_incomplete(file: &[u8], expected: Option<IncompleteReason>) {
    assert_eq!(
        items(file).1.incomplete,
        expected,
        "{}",
        String::from_utf8_lossy(&file[..file.len().min(200)])
    );
}

#[test]
fn sitemap_urls_are_read_with_references_resolved() {
    let text = "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
        <url><loc> http://a.test/x?a=1&amp;b=&#50;&#x33; </loc><lastmod>2026-01-01</lastmod></url>\
        <url><loc><![CDATA[http://a.test/y]]></loc></url><url><loc>mailto:a@a.test</loc></url>\
        <s:url xmlns:s='x'><s:loc>http://a.test/z</s:loc></s:url></urlset>";
    assert_eq!(urls(text.as_bytes()), ["http://a.test/x?a=1&b=23", "http://a.test/y", "http://a.test/z"]);
    check_incomplete(text.as_bytes(), None);
}

#[test]
fn sitemap_index_returns_sitemaps() {
    let text = "<sitemapindex><sitemap><loc>http://a.test/1.xml</loc></sitemap><sitemap><loc>2.xml.gz</loc>\
        </sitemap></sitemapindex>";
    assert_eq!(urls(text.as_bytes()), ["> http://a.test/1.xml", "> http://a.test/dir/2.xml.gz"]);
}

#[test]
fn relative_locations_are_resolved() {
    let text =
        "<urlset><url><loc>/x</loc></url><url><loc>y</loc></url><url><loc>//b.test/z</loc></url></urlset>";
    assert_eq!(urls(text.as_bytes()), ["http://a.test/x", "http://a.test/dir/y", "http://b.test/z"]);
}

#[test]
fn pages_in_other_languages_are_pages() {
    let text = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:xhtml='http://www.w3.org/1999/xhtml'>\
        <url><loc>/en/</loc><xhtml:link rel='alternate' hreflang='de' href='/de/'/>\
        <xhtml:link rel='alternate' hreflang='de' href='/de/'/>\
        <xhtml:link rel='alternate' media='(max-width: 640px)' href='http://m.a.test/en/'/></url>\
        <url><loc>/fr/</loc></url></urlset>";
    assert_eq!(urls(text.as_bytes()), ["http://a.test/en/", "http://a.test/de/", "http://a.test/fr/"]);
}

#[test]
fn text_file_lines_are_pages() {
    let text = "\u{feff}\n  http://a.test/1\r\n\nnot a url\nftp://a.test/x\nhttp://a.test/2";
    assert_eq!(urls(text.as_bytes()), ["http://a.test/1", "http://a.test/2"]);
    let long = format!("http://a.test/{}\nhttp://a.test/3", "x".repeat(100_000));
    assert_eq!(urls(long.as_bytes()), ["http://a.test/3"]);
}

#[test]
fn rss_items_are_read() {
    let text = "<?xml version='1.0'?><rss version='2.0'><channel><title>Tea</title><link>http://a.test/</link>\
        <image><url>http://a.test/logo.png</url><link>http://a.test/logo</link></image>\
        <item><title>A &amp; \n B</title><link> http://a.test/x?a=1&#38;b&#x3d;2 </link>\
        <pubDate>Fri, 02 Jan 2026 10:00:00 GMT</pubDate><enclosure url='/pot.jpg' type='image/jpeg'/></item>\
        <item><guid>http://a.test/y</guid><pubDate>once</pubDate><enclosure url='/a.mp3' type='audio/mpeg'/></item>\
        <item><guid isPermaLink='false'>7</guid></item><item><link><![CDATA[/z]]></link>\
        <media:thumbnail url='http://a.test/z.png'/></item></channel></rss>";
    let expected = [
        "http://a.test/x?a=1&b=2 A & B Fri, 02 Jan 2026 10:00:00 GMT http://a.test/pot.jpg",
        "http://a.test/y - once -",
        "http://a.test/z - - http://a.test/z.png",
    ];
    assert_eq!(summaries(text), expected);
}

#[test]
fn atom_entries_are_read() {
    let text = "<feed xmlns='http://www.w3.org/2005/Atom'><link href='http://a.test/'/><updated>2026-02-01T00:00:00Z\
        </updated><entry><link rel='self' href='/self'/><link href='x'/><updated>2026-01-03T00:00:00Z</updated>\
        <source><title>Elsewhere</title><link href='http://b.test/'/></source><title>Ours</title>\
        <published>2026-01-02T12:00:00+02:00</published></entry>\
        <entry><link rel='alternate' href='/y'/><updated>2026-01-03T00:00:00Z</updated></entry></feed>";
    let expected =
        ["http://a.test/dir/x Ours 2026-01-02T12:00:00+02:00 -", "http://a.test/y - 2026-01-03T00:00:00Z -"];
    assert_eq!(summaries(text), expected);
}

#[test]
fn extensions_describe_their_page_and_are_not_pages() {
    let text = "<urlset xmlns:image='http://www.google.com/schemas/sitemap-image/1.1' xmlns:n='x'>\
        <url><loc>http://a.test/1</loc><image:image><image:loc>http://cdn.test/a.jpg?x=1&amp;y=2</image:loc>\
        <image:title>Pot</image:title><image:caption>A pot of tea</image:caption></image:image>\
        <image:image><image:loc>data:x</image:loc></image:image></url>\
        <url><n:news><n:title>Tea</n:title><n:publication_date>2026-01-02</n:publication_date></n:news>\
        <loc>http://a.test/2</loc></url>\
        <url><loc>http://a.test/3</loc><video:video><video:title>Pouring</video:title><video:player_loc>\
        http://a.test/player</video:player_loc><video:publication_date>2026-01-02</video:publication_date>\
        </video:video></url></urlset>";
    let expected =
        ["http://a.test/1 - - -", "http://a.test/2 Tea 2026-01-02 -", "http://a.test/3 Pouring - -"];
    assert_eq!(summaries(text), expected);
    let (items, _) = items(text.as_bytes());
    let Item::Page(page) = &items[0] else { panic!("the item must be a page") };
    let images: Vec<_> = page.images.iter().map(|image| (image.url.as_str(), &*image.title)).collect();
    assert_eq!(images, [("http://cdn.test/a.jpg?x=1&y=2", "Pot")]);
    assert_eq!(page.images[0].caption, "A pot of tea");
}

#[test]
fn entries_before_the_damage_are_read() {
    for cut in [
        "<urlset><url><loc>http://a.test/1</loc></url><url><loc>http://a.test/2</lo",
        "<urlset><url><loc>http://a.test/1</loc></url><url></urlset",
        "<urlset><url><loc>http://a.test/1</loc>",
        "<rss><item><link>http://a.test/1</link><date>2026-01-02</date></item><item><link>http://a.test/2<",
    ] {
        assert_eq!(urls(cut.as_bytes()), ["http://a.test/1"], "{cut}");
    }
    check_incomplete(b"<urlset><url><loc>http://a.test/1</loc></url><url", Some(IncompleteReason::Broken));
}

#[test]
fn sloppy_markup_is_read() {
    let text = "<urlset><url><loc>http://a.test/?a=1&b=2</loc><url><loc>http://a.test/?c&copy;</loc></url></b>\
        <url><loc>http://a.test/3</LOC></url><loc>http://a.test/4</loc></urlset>";
    let expected = ["http://a.test/?a=1&b=2", "http://a.test/?c&copy;", "http://a.test/4"];
    assert_eq!(urls(text.as_bytes()), expected);
}

#[test]
fn entities_of_the_document_are_not_expanded() {
    let text = "<!DOCTYPE urlset [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'><!ENTITY x SYSTEM 'file:///etc/passwd'>]>\
        <urlset><url><loc>http://a.test/&b;</loc></url><url><loc>http://a.test/&x;</loc></url></urlset>";
    assert_eq!(urls(text.as_bytes()), ["http://a.test/&b;", "http://a.test/&x;"]);
}

#[test]
fn encodings_are_detected() {
    let text = "<?xml version='1.0' encoding='ENCODING'?><urlset><url><loc>http://a.test/\u{fc}</loc></url></urlset>";
    let expected = ["http://a.test/%C3%BC"];
    let utf16 = |order: fn(u16) -> [u8; 2]| {
        let text = text.replace("ENCODING", "UTF-16");
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(order).collect::<Vec<u8>>()
    };
    let latin: Vec<u8> =
        text.replace("ENCODING", "iso-8859-1").chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let marked = format!("\u{feff}{text}").replace("ENCODING", "iso-8859-1").into_bytes();
    for file in [utf16(u16::to_le_bytes), utf16(u16::to_be_bytes), latin, marked] {
        assert_eq!(urls(&file), expected);
        assert_eq!(urls(&gzip(&file)), expected);
    }
    // A declaration of UTF-16 that can be read as ASCII is wrong.
    assert_eq!(urls(text.replace("ENCODING", "UTF-16").as_bytes()), expected);
}

#[test]
fn gzip_files_are_decompressed_up_to_the_damage() {
    let compressed = gzip(b"http://a.test/1\n");
    assert_eq!(urls(&compressed), ["http://a.test/1"]);
    check_incomplete(&compressed, None);
    assert_eq!(urls(&compressed[..compressed.len() - 4]), ["http://a.test/1"]);
    check_incomplete(&compressed[..compressed.len() - 4], Some(IncompleteReason::Broken));
    let members = [compressed, gzip(b"http://a.test/2\n")].concat();
    assert_eq!(urls(&members), ["http://a.test/1", "http://a.test/2"]);
}

#[test]
fn other_files_are_reported_as_not_a_list() {
    for file in [
        "",
        " \n ",
        "Not found",
        "<!DOCTYPE html><html><body><a href='/x'>x</a><loc>http://a.test/1</loc></body></html>",
        "<HTML><head></head></HTML>",
        "{\"urls\": [\"http://a.test/\"]}",
        "<error><code>AccessDenied</code></error>",
    ] {
        assert_eq!(urls(file.as_bytes()), [""; 0], "{file}");
        check_incomplete(file.as_bytes(), Some(IncompleteReason::NotAList));
    }
    check_incomplete(b"<urlset></urlset>", None);
}

#[test]
fn size_and_entries_of_a_file_are_bounded() {
    let line = "http://a.test/0123456789\n";
    let many = line.repeat(MAX_ENTRIES + 1);
    assert_eq!(items(many.as_bytes()).1.items, MAX_ENTRIES);
    check_incomplete(many.as_bytes(), Some(IncompleteReason::TooMany));
    let mut bomb = b"<urlset><url><loc>http://a.test/1</loc></url>".to_vec();
    bomb.resize(usize::try_from(MAX_BYTES).unwrap() + 100, b' ');
    let compressed = gzip(&bomb);
    assert!(compressed.len() < 1_000_000);
    assert_eq!(urls(&compressed), ["http://a.test/1"]);
    check_incomplete(&compressed, Some(IncompleteReason::TooLong));
    let text = format!("<urlset><url><loc>http://a.test/{}</loc></url></urlset>", "x".repeat(1_000_000));
    assert!(urls(text.as_bytes()).iter().all(|url| url.len() < 10_000));
}

#[test]
fn visitor_can_stop_the_reader() {
    let file = "http://a.test/1\n".repeat(10);
    let mut count = 0;
    let summary = read(file.as_bytes(), &"http://a.test/".parse().unwrap(), &mut |_| {
        count += 1;
        if count == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((count, summary.items, summary.incomplete), (3, 3, None));
}
