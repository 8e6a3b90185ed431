//! Tests of content kinds and charsets.

use crate::page::{full, parse_bytes};
use websvc_extract::{ContentKind, Document, ExtractError, Source};

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

#[test]
fn feed_is_returned_as_text() {
    let feed = b"<rss><item><title>One &amp; two</title><description><![CDATA[<p>Body</p>]]></description></item></rss>";
    assert_eq!(parse_bytes(feed, "application/rss+xml").content(&full()).markdown(), "One & two\nBody\n");
}
