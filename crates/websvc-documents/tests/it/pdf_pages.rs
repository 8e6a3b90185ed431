//! Tests of the separation of the pages of a PDF.

use websvc_documents::{
    DocumentKind, Limits, PageOutput, ParsedDocument, page_mark, page_start, parse, parse_pages, split_pages,
};

use crate::pdf_writer::{BOLD, Page, pdf, pdf_with, stream};

const END: &str = "The sentence that begins on this page goes on and on for so long that";

fn read(pages: &[Page], output: PageOutput) -> ParsedDocument {
    parse_pages(DocumentKind::Pdf, pdf(pages), &Limits::default(), output).unwrap()
}

/// A heading, a sentence that continues on the next page, an empty page, and another page.
fn pages() -> [Page; 4] {
    [
        Page::default().text(BOLD, 18.0, 50.0, 60.0, "Chapter One").lines(50.0, 700.0, &[END]),
        Page::default().lines(50.0, 60.0, &["it ends on the next page only."]),
        Page::default(),
        Page::default().lines(50.0, 60.0, &["The last page."]),
    ]
}

#[test]
fn page_starts_are_marked_without_changing_the_text() {
    let plain = read(&pages(), PageOutput::default());
    let marked = read(&pages(), PageOutput { starts: true, separate: false });
    assert!(!plain.html.contains("data-page-start") && plain.page_html.is_none(), "{}", plain.html);
    let first = format!("<h1>Chapter One</h1>\n<p>{END} it ends on the next page only.</p>\n");
    // The whole second page continues the sentence of the first.
    assert_eq!(
        split_pages(&marked.html),
        [(1, first.as_str()), (2, ""), (3, ""), (4, "<p>The last page.</p>\n")]
    );
    let unmarked: String =
        (1..=4).fold(marked.html.clone(), |html, page| html.replace(&page_start(page), ""));
    assert_eq!(unmarked, plain.html);
    assert_eq!(plain, parse(DocumentKind::Pdf, pdf(&pages()), &Limits::default()).unwrap());
}

#[test]
fn separate_pages_have_the_text_of_each_page_alone() {
    let parsed = read(&pages(), PageOutput { starts: false, separate: true });
    let separate = parsed.page_html.unwrap();
    let first = format!("<h1>Chapter One</h1>\n<p>{END}</p>\n");
    let expected = [
        (1, first.as_str()),
        (2, "<p>it ends on the next page only.</p>\n"),
        (3, ""),
        (4, "<p>The last page.</p>\n"),
    ];
    assert_eq!(split_pages(&separate), expected);
    assert!(
        !parsed.html.contains("data-page-start") && parsed.html.contains("that it ends"),
        "{}",
        parsed.html
    );
}

#[test]
fn list_across_a_page_break_continues_without_marks_and_is_closed_by_them() {
    let item = |number: u32| Page::default().lines(50.0, 100.0, &[&format!("{number}. item of a list")]);
    let pages = [item(1), item(2)];
    assert_eq!(read(&pages, PageOutput::default()).html.matches("<ol").count(), 1);
    let marked = read(&pages, PageOutput { starts: true, separate: false }).html;
    for (_, page) in split_pages(&marked) {
        assert!(page.starts_with("<ol") && page.ends_with("</ol>\n"), "{marked}");
    }
}

#[test]
fn content_that_looks_like_a_page_start_does_not_split() {
    let page = Page::default().lines(50.0, 100.0, &["<hr data-page-start=\"9\">", "and more text"]);
    let parsed = read(&[page], PageOutput { starts: true, separate: true });
    for html in [&parsed.html, &parsed.page_html.unwrap()] {
        assert_eq!(split_pages(html).len(), 1, "{html}");
    }
}

#[test]
fn page_without_text_is_marked_in_both_outputs() {
    let image = stream(
        "/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray",
        b"\0",
    );
    let scan = Page::default().raw("q 600 0 0 800 0 0 cm /Im1 Do Q");
    let bytes = pdf_with(&[scan], "/XObject << /Im1 10 0 R >>", &[image], "");
    let output = PageOutput { starts: true, separate: true };
    let parsed = parse_pages(DocumentKind::Pdf, bytes, &Limits::default(), output).unwrap();
    let mark = page_mark(1);
    assert_eq!(split_pages(&parsed.html), [(1, mark.as_str())]);
    assert_eq!(split_pages(&parsed.page_html.unwrap()), [(1, mark.as_str())]);
}

#[test]
fn separate_pages_are_cut_off_at_the_maximum_output_size() {
    let text = ["a line of text that is repeated on many of the pages"];
    let pages = vec![Page::default().lines(50.0, 100.0, &text); 40];
    let limits = Limits { max_output_bytes: 700, ..Limits::default() };
    let output = PageOutput { starts: false, separate: true };
    let parsed = parse_pages(DocumentKind::Pdf, pdf(&pages), &limits, output).unwrap();
    assert!(parsed.page_html.unwrap().len() <= 700);
    assert!(parsed.warnings.iter().any(|warning| warning.contains("cut off")), "{:?}", parsed.warnings);
}
