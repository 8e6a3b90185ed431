//! Tests of content kinds and charsets.

use crate::page::{full, parse_bytes};
use websvc_extract::{ContentKind, ContentOptions, Document, ExtractError, Source};

fn kind_of(bytes: &[u8], content_type: Option<&str>) -> Result<ContentKind, String> {
    let url = "https://example.com/".parse().unwrap();
    match Document::parse(Source { bytes, content_type, url: &url }) {
        Ok(page) => Ok(page.kind()),
        Err(ExtractError::Unsupported { kind }) => Err(kind),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn kind_is_detected_by_bytes_and_declared_type() {
    for (bytes, declared, expected) in [
        (&b"%PDF-1.7 x"[..], Some("text/html"), Err("pdf")),
        (b"\x89PNG\r\n\x1a\n....", None, Err("png")),
        (b"PK\x03\x04....", Some("application/octet-stream"), Err("zip")),
        (b"anything", Some("application/pdf"), Err("pdf")),
        (b"anything", Some("image/webp"), Err("webp")),
        (b"a\0b", None, Err("binary")),
        (b"<!DOCTYPE html><p>x", None, Ok(ContentKind::Html)),
        (b"<!-- c --><div>x", Some("application/octet-stream"), Ok(ContentKind::Html)),
        (b"<html", Some("application/xhtml+xml"), Ok(ContentKind::Xhtml)),
        (b"{\"a\": 1}", None, Ok(ContentKind::Json)),
        (b"x", Some("application/ld+json; charset=utf-8"), Ok(ContentKind::Json)),
        (b"<p>x", Some("text/plain"), Ok(ContentKind::Text)),
        (b"<?xml version='1.0'?><rss/>", Some("text/xml"), Ok(ContentKind::Xml)),
        (b"<feed>", None, Ok(ContentKind::Xml)),
        (b"", None, Ok(ContentKind::Text)),
    ] {
        let found = kind_of(bytes, declared);
        assert_eq!(
            found,
            expected.map_err(str::to_owned),
            "{declared:?} {:?}",
            String::from_utf8_lossy(bytes)
        );
    }
}

/// Returns bytes that look like compressed data.
fn noise() -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..8192).map(|_| next()).filter(|byte| *byte != 0).collect()
}

#[test]
fn binary_content_after_text_is_binary() {
    for beginning in ["<?xml version='1.0'?>", "<html><p>words", "{\"a\": 1}", "plain words"] {
        for declared in
            [None, Some("text/html"), Some("text/plain"), Some("application/xml"), Some("application/json")]
        {
            let bytes = [beginning.as_bytes(), &noise()].concat();
            assert_eq!(kind_of(&bytes, declared), Err("binary".to_owned()), "{beginning} {declared:?}");
        }
    }
    let japanese = b"<p>\x1b$B$3$s$K$A$O\x1b(B</p>".repeat(20);
    assert_eq!(kind_of(&japanese, Some("text/html; charset=iso-2022-jp")), Ok(ContentKind::Html));
    let formatted = "\x1b[1mA log\x1b[0m\t1\r\n\x0c".repeat(100);
    assert_eq!(kind_of(formatted.as_bytes(), Some("text/plain")), Ok(ContentKind::Text));
}

#[test]
fn charset_comes_from_bom_header_meta_or_detection() {
    for (bytes, declared, expected) in [
        (&b"\xef\xbb\xbf<p>\xc3\xa9"[..], "text/html; charset=latin1", "é"),
        (b"\xff\xfe<\0p\0>\0\xe9\0", "text/html", "é"),
        (b"<p>\xe9", "text/html; charset=\"ISO-8859-1\"", "é"),
        (b"<meta charset=windows-1251><p>\xe9", "text/html", "й"),
        (b"<p>\xc3\xa9", "text/html", "é"),
        (b"<p>\xc3\xa9t\xc3\xa9", "text/html; charset=iso-8859-1", "été"),
        (
            b"<p>\x93\xfa\x96{\x8c\xea\x82\xcc\x83y\x81[\x83W\x82\xc5\x82\xb7",
            "text/html",
            "日本語のページです",
        ),
    ] {
        assert_eq!(parse_bytes(bytes, declared).content(&full()).text().trim(), expected, "{declared}");
    }
}

#[test]
fn json_is_fenced_and_plain_text_is_verbatim() {
    let json = parse_bytes(b"{\"a\": [1]}\n", "application/json");
    assert_eq!(json.content(&full()).markdown(), "```json\n{\"a\": [1]}\n```\n");
    let text = parse_bytes(b"a *b*\n\n\n<c>", "text/plain");
    assert_eq!(text.content(&full()).markdown(), "a *b*\n\n\n<c>");
}

#[track_caller]
fn check_feed(feed: &str, content_type: &str, expected: &str) {
    let page = parse_bytes(feed.as_bytes(), content_type);
    assert_eq!(page.kind(), ContentKind::Xml);
    assert_eq!(page.content(&full()).markdown(), expected);
    assert_eq!(page.content(&ContentOptions::default()).markdown(), expected);
}

const RSS: &str = r#"<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"
  xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
  <title>Tide &amp; times</title><atom:link rel="self" href="https://example.com/feed"/><link>https://example.com/</link>
  <description>All boats</description>
  <item><title>Owl &amp; Fox</title><link>/log/1</link><pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate>
  <description><![CDATA[<p>Two <b>boats</b> came.</p><ul><li>Owl]]></description>
  <content:encoded><![CDATA[<p>More <a href="a">here</a></p><!-- open <script>]]></content:encoded>
  <enclosure url="https://example.com/talk.mp3" type="audio/mpeg"/></item>
  <item><guid isPermaLink="true">https://example.com/log/2</guid><description>&lt;p&gt;No title&lt;/p&gt;</description></item>
  </channel></rss>"#;

const RSS_MARKDOWN: &str = "# [Tide & times](https://example.com/)\n\nAll boats\n\n\
    ## [Owl & Fox](https://example.com/log/1)\n\nMon, 02 Mar 2026 10:00:00 GMT\n\nTwo **boats** came.\n\n- Owl\n\n\
    More [here](https://example.com/log/a)\n\n[talk.mp3](https://example.com/talk.mp3)\n\n\
    ## [https://example.com/log/2](https://example.com/log/2)\n\nNo title\n";

#[test]
fn rss_has_a_heading_with_its_link_and_the_markup_of_each_entry() {
    check_feed(RSS, "application/rss+xml", RSS_MARKDOWN);
    check_feed(RSS, "text/xml", RSS_MARKDOWN);
    // Servers declare feeds as HTML, too.
    check_feed(RSS, "text/html; charset=utf-8", RSS_MARKDOWN);
    let page = parse_bytes(RSS.as_bytes(), "application/rss+xml");
    let links = ["", "log/1", "log/a", "talk.mp3", "log/2"].map(|path| format!("https://example.com/{path}"));
    assert_eq!(page.content(&full()).links(), links);
    assert_eq!(page.title().as_deref(), Some("Tide & times"));
}

#[test]
fn atom_and_rdf_are_read_as_rss() {
    let atom = r#"<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title><link href="https://example.com/"/>
        <entry><title type="html">Owl &amp;lt; &lt;b&gt;Fox&lt;/b&gt;</title><link rel="enclosure" href="/a.mp3"/>
        <link rel="alternate" href="/log/1"/><author><name>Ada</name></author><updated>2026-02-02</updated>
        <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Two <em>boats</em>.</p></div></content>
        <source><title>Other</title><id>x</id></source></entry></feed>"#;
    check_feed(
        atom,
        "application/atom+xml",
        "# [Log](https://example.com/)\n\n## [Owl < Fox](https://example.com/log/1)\n\n2026-02-02 · Ada\n\n\
         Two *boats*.\n\n[a.mp3](https://example.com/a.mp3)\n",
    );
    let rdf = r#"<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        xmlns="http://purl.org/rss/1.0/"><channel rdf:about="https://example.com/"><title>News</title>
        <link>https://example.com/</link></channel><image><title>Logo</title><link>https://example.com/i</link></image>
        <item><title>First</title><link>https://example.com/1</link><description>Text.</description></item></rdf:RDF>"#;
    check_feed(
        rdf,
        "application/rdf+xml",
        "# [News](https://example.com/)\n\n## [First](https://example.com/1)\n\nText.\n",
    );
}

#[test]
fn other_xml_is_returned_as_text() {
    let xml = b"<?xml version='1.0'?><!DOCTYPE note [<!ENTITY a 'b>'>]><note><to>One &amp; two</to><body a='>'><![CDATA[<p>Body</p>]]></body></note>";
    assert_eq!(parse_bytes(xml, "text/xml").content(&full()).markdown(), "One & two\nBody\n");
}

#[test]
fn careless_feeds_are_read_without_panic() {
    for end in 0..RSS.len() {
        if let Some(start) = RSS.get(..end) {
            parse_bytes(start.as_bytes(), "application/rss+xml").content(&full()).markdown();
        }
    }
    let deep = format!("<rss><channel>{}<item><title>x</title>", "<a>".repeat(50_000));
    parse_bytes(deep.as_bytes(), "text/xml").content(&full()).markdown();
    let many = format!("<rss><channel>{}", "<item><title>&amp;</item>".repeat(20_000));
    assert!(parse_bytes(many.as_bytes(), "text/xml").content(&full()).markdown().len() < 200_000);
}
