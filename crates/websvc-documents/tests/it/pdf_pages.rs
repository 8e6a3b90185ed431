//! Tests of the separation of the pages of a PDF.

use websvc_documents::{
    BlockKind, DocumentKind, Limits, PageOutput, ParsedDocument, page_mark, page_start, parse, parse_pages,
    split_layout, split_pages,
};

use crate::pdf_writer::{BOLD, MONO, Page, REGULAR, pdf, pdf_with, stream};

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
    let marked = read(&pages(), PageOutput { starts: true, ..PageOutput::default() });
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
    let parsed = read(&pages(), PageOutput { separate: true, ..PageOutput::default() });
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
    let marked = read(&pages, PageOutput { starts: true, ..PageOutput::default() }).html;
    for (_, page) in split_pages(&marked) {
        assert!(page.starts_with("<ol") && page.ends_with("</ol>\n"), "{marked}");
    }
}

#[test]
fn content_that_looks_like_a_page_start_does_not_split() {
    let page = Page::default().lines(50.0, 100.0, &["<hr data-page-start=\"9\">", "and more text"]);
    let parsed = read(&[page], PageOutput { starts: true, separate: true, layout: true });
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
    let output = PageOutput { starts: true, separate: true, layout: true };
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
    let output = PageOutput { separate: true, ..PageOutput::default() };
    let parsed = parse_pages(DocumentKind::Pdf, pdf(&pages), &limits, output).unwrap();
    assert!(parsed.page_html.unwrap().len() <= 700);
    assert!(parsed.warnings.iter().any(|warning| warning.contains("cut off")), "{:?}", parsed.warnings);
}

#[test]
fn layout_has_kinds_and_places_of_blocks() {
    let first = Page::default()
        .text(BOLD, 24.0, 60.0, 80.0, "Chapter One")
        .text(REGULAR, 10.0, 60.0, 160.0, "A paragraph of text.")
        .text(REGULAR, 10.0, 60.0, 240.0, "1. an item of a list")
        .text(MONO, 10.0, 60.0, 320.0, "let tea = 1;")
        .text(MONO, 10.0, 60.0, 332.0, "let cup = 2;");
    let mut second = Page::default();
    for (row, y) in [(0, 120.0), (1, 140.0), (2, 160.0), (3, 180.0)] {
        second = second.text(REGULAR, 10.0, 60.0, y, &format!("name {row}")).text(
            REGULAR,
            10.0,
            300.0,
            y,
            &format!("{row}0 grams"),
        );
    }
    let parsed = read(&[first, second], PageOutput { layout: true, ..PageOutput::default() });
    let html = parsed.layout_html.unwrap();
    let pages = split_layout(&html);
    let kinds: Vec<Vec<BlockKind>> =
        pages.iter().map(|page| page.blocks.iter().map(|block| block.kind).collect()).collect();
    let expected = [BlockKind::Title, BlockKind::Text, BlockKind::ListItem, BlockKind::Code];
    assert_eq!(kinds, [expected.to_vec(), vec![BlockKind::Table]], "{html}");
    assert_eq!((pages[0].page, pages[0].size, pages[0].recognized), (1, Some((600.0, 800.0)), ""));
    assert_eq!(pages[0].blocks[0].html, "<h1>Chapter One</h1>\n");
    for (block, baseline) in pages[0].blocks.iter().zip([80.0, 160.0, 240.0, 320.0]) {
        let [x0, y0, x1, y1] = block.area.unwrap();
        assert!((x0 - 0.1).abs() < 0.01 && x1 > x0 && x1 < 0.6, "{block:?}");
        assert!(y0 < baseline / 800.0 && y1 >= (baseline - 1.0) / 800.0 && y1 - y0 < 0.06, "{block:?}");
    }
    let [x0, _, x1, _] = pages[1].blocks[0].area.unwrap();
    assert!(x0 < 0.11 && x1 > 0.5, "{:?}", pages[1]);
}

#[test]
fn text_that_is_not_upright_has_no_place() {
    let page = Page::default().raw("BT /F1 10 Tf 0 1 -1 0 300 200 Tm (text that climbs up the page) Tj ET");
    let html = read(&[page], PageOutput { layout: true, ..PageOutput::default() }).layout_html.unwrap();
    let pages = split_layout(&html);
    assert_eq!(pages[0].blocks.iter().map(|block| block.area).collect::<Vec<_>>(), [None], "{html}");
}
