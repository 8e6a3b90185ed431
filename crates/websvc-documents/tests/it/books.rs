//! Tests of EPUB books: notes, chapters outside of the reading order, formulas, images.

use websvc_documents::{DocumentKind, Limits, parse};

use crate::package_writer::package;

/// Returns the HTML of a book with these chapters: name, attributes of its place in the spine, body.
fn html(chapters: &[(&str, &str, &str)]) -> String {
    let item = |(name, ..): &(&str, &str, &str)| format!("<item id=\"{name}\" href=\"{name}\"/>");
    let place =
        |(name, attributes, _): &(&str, &str, &str)| format!("<itemref idref=\"{name}\" {attributes}/>");
    let items: String = chapters.iter().map(item).collect();
    let spine: String = chapters.iter().map(place).collect();
    let book = format!("<package><manifest>{items}</manifest><spine>{spine}</spine></package>");
    let pages: Vec<(String, String)> = chapters
        .iter()
        .map(|(name, _, body)| {
            (format!("OPS/{name}"), format!("<html><head><title>x</title></head><body>{body}</body></html>"))
        })
        .collect();
    let mut parts: Vec<(&str, &[u8])> = vec![
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", b"<c><rootfile full-path=\"OPS/book.opf\"/></c>"),
        ("OPS/book.opf", book.as_bytes()),
        ("OPS/img/a.gif", b"GIF89a"),
    ];
    parts.extend(pages.iter().map(|(name, text)| (name.as_str(), text.as_bytes())));
    parse(DocumentKind::Epub, package(&parts), &Limits::default()).unwrap().html
}

#[test]
fn notes_are_joined_with_their_references() {
    let chapter = "<p id=\"p\">Tea<a id=\"r1\" epub:type=\"noteref\" href=\"notes.xhtml#n1\">1</a> and <sup id=\"r2\"><a href=\"#n2\">2</a></sup>, \
        see <a href=\"notes.xhtml#other\">there</a>.</p><aside id=\"n2\" epub:type=\"footnote\"><p>Two.</p></aside>";
    let notes = "<p id=\"n1\"><a href=\"one.xhtml#r1\">1.</a> One.</p>";
    assert_eq!(
        html(&[("notes.xhtml", "linear=\"no\"", notes), ("one.xhtml", "", chapter)]),
        "<p>Tea<sup><a href=\"#c1-n1\">1</a></sup> and <sup><a href=\"#c0-n2\">2</a></sup>, see there.</p>\
         <aside id=\"c0-n2\"><p>Two.</p></aside>\n<p id=\"c1-n1\"> One.</p>\n"
    );
}

#[test]
fn formulas_images_and_spans_are_kept_and_page_numbers_dropped() {
    let chapter = "<p><span epub:type=\"pagebreak\" id=\"p12\">12</span>So <math><mi>a</mi><script>x</script></math> \
        <img src=\"img/a.gif\" alt=\"A cup\"/><img src=\"img/none.gif\" alt=\"gone\"/></p>\
        <table><tr><td colspan=\"2\" onclick=\"x\">w</td></tr></table><ol start=\"3\"><li>c</li></ol>";
    assert_eq!(
        html(&[("one.xhtml", "", chapter)]),
        "<p>So <math><mi>a</mi></math> <img src=\"data:image/gif;base64,R0lGODlh\" alt=\"A cup\">gone</p>\
         <table><tr><td colspan=\"2\">w</td></tr></table><ol start=\"3\"><li>c</li></ol>\n"
    );
}
