//! Tests of PDF: reading order, columns, headings, lists, tables, links, hyphens, headers and footers.

use websvc_documents::{DocumentError, DocumentKind, Limits, parse};

use crate::pdf_writer::{BOLD, MONO, Page, REGULAR, html, pdf, pdf_with, read, read_file, stream};

const WORDS: [&str; 5] = [
    "The leaves are steeped in water that has just boiled",
    "and nobody should stir them while they are opening up",
    "because the taste would then become bitter and flat",
    "which is what most people complain about in the end",
    "when they have never been shown how to do it right.",
];

#[test]
fn pdf_lines_become_paragraphs_separated_by_gaps() {
    let page =
        Page::default().lines(50.0, 100.0, &WORDS).lines(50.0, 190.0, &["A second paragraph follows here."]);
    let joined = WORDS.join(" ");
    assert_eq!(html(page), format!("<p>{joined}</p>\n<p>A second paragraph follows here.</p>\n"));
}

#[test]
fn pdf_metadata_and_page_counts_are_returned() {
    let parsed = read(&[Page::default().lines(50.0, 100.0, &WORDS)]);
    assert_eq!(parsed.metadata.title.as_deref(), Some("A test"));
    assert_eq!(parsed.metadata.author.as_deref(), Some("Ada"));
    assert_eq!(parsed.metadata.language.as_deref(), Some("en-GB"));
    assert_eq!(parsed.metadata.created.as_deref(), Some("2024-02-03T04:05:06"));
    let pages = parsed.pages.unwrap();
    assert_eq!((pages.read, pages.total), (1, 1));
}

#[test]
fn pdf_columns_are_read_left_to_right_below_a_spanning_title() {
    let left: Vec<String> = (0..12).map(|n| format!("left line number {n} goes to the very edge")).collect();
    let right: Vec<String> =
        (0..12).map(|n| format!("right line number {n} goes to the very edge")).collect();
    let mut page =
        Page::default().text(BOLD, 18.0, 50.0, 60.0, "A title that goes across both columns of the page");
    // The lines of the two columns alternate in the file.
    for (n, (left, right)) in left.iter().zip(&right).enumerate() {
        let y = 100.0 + 12.0 * n as f64;
        page = page.text(REGULAR, 10.0, 50.0, y, left).text(REGULAR, 10.0, 310.0, y, right);
    }
    let html = html(page);
    let position = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text} is missing from {html}"));
    assert!(position("A title that goes across") < position("left line number 0 "), "{html}");
    assert!(position("left line number 11 ") < position("right line number 0 "), "{html}");
    assert!(html.starts_with("<h1>A title that goes across both columns of the page</h1>"), "{html}");
}

#[test]
fn pdf_larger_and_bold_lines_become_headings_ranked_by_size() {
    let page = Page::default()
        .text(BOLD, 20.0, 50.0, 60.0, "Tea")
        .lines(50.0, 100.0, &WORDS)
        .text(BOLD, 14.0, 50.0, 190.0, "Green tea")
        .lines(50.0, 220.0, &WORDS)
        .text(BOLD, 10.0, 50.0, 310.0, "Sencha")
        .lines(50.0, 330.0, &WORDS);
    let html = html(page);
    assert!(html.contains("<h1>Tea</h1>"), "{html}");
    assert!(html.contains("<h2>Green tea</h2>"), "{html}");
    assert!(html.contains("<h3>Sencha</h3>"), "{html}");
}

#[test]
fn pdf_bullets_become_nested_lists_by_indentation() {
    let page = Page::default()
        .lines(50.0, 100.0, &WORDS)
        .text(REGULAR, 10.0, 50.0, 180.0, "BULLET first point")
        .text(REGULAR, 10.0, 70.0, 192.0, "BULLET inner point")
        .text(REGULAR, 10.0, 50.0, 204.0, "BULLET last point");
    let page = Page::default().raw(&page.content.replace("BULLET", "\\225"));
    let html = html(page);
    let list = "<ul><li>first point<ul><li>inner point</li></ul>\n</li>\n<li>last point</li></ul>\n";
    assert!(html.contains(list), "{html}");
}

#[test]
fn pdf_numbered_list_starts_at_its_first_number() {
    let page = Page::default().lines(50.0, 100.0, &["3. Boil the water", "4. Wait for three minutes"]);
    assert_eq!(html(page), "<ol start=\"3\"><li>Boil the water</li>\n<li>Wait for three minutes</li></ol>\n");
}

#[test]
fn pdf_monospace_lines_become_code_with_indentation() {
    let page = Page::default()
        .lines(50.0, 100.0, &WORDS)
        .text(MONO, 10.0, 50.0, 180.0, "fn main() {")
        .text(MONO, 10.0, 74.0, 192.0, "boil();")
        .text(MONO, 10.0, 50.0, 204.0, "}");
    let html = html(page);
    assert!(html.contains("<pre><code>fn main() {\n    boil();\n}\n</code></pre>"), "{html}");
}

#[test]
fn pdf_cells_between_drawn_lines_become_a_table() {
    let mut page = Page::default();
    for (row, cells) in [["Tea", "Minutes"], ["Sencha", "1"], ["Assam", "4"]].iter().enumerate() {
        let y = 100.0 + 20.0 * row as f64;
        page =
            page.text(REGULAR, 10.0, 55.0, y + 14.0, cells[0]).text(REGULAR, 10.0, 105.0, y + 14.0, cells[1]);
        page = page.rule(50.0, y, 150.0, y);
    }
    page = page.rule(50.0, 160.0, 150.0, 160.0);
    for x in [50.0, 100.0, 150.0] {
        page = page.rule(x, 100.0, x, 160.0);
    }
    assert_eq!(
        html(page),
        "<table>\n<tr><th>Tea</th><th>Minutes</th></tr>\n<tr><td>Sencha</td><td>1</td></tr>\n\
         <tr><td>Assam</td><td>4</td></tr>\n</table>\n"
    );
}

#[test]
fn pdf_aligned_cells_without_lines_become_a_table() {
    let mut page = Page::default().lines(
        50.0,
        60.0,
        &["Times that teas are steeped for, as far as they are known to us"],
    );
    let rows =
        [["Tea", "Minutes", "Degrees"], ["Sencha", "1", "70"], ["Assam", "4", "95"], ["Oolong", "2", "85"]];
    for (row, cells) in rows.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            page = page.text(REGULAR, 10.0, 50.0 + 100.0 * column as f64, 100.0 + 12.0 * row as f64, cell);
        }
    }
    let html = html(page);
    assert!(html.contains("<tr><th>Tea</th><th>Minutes</th><th>Degrees</th></tr>"), "{html}");
    assert!(html.contains("<tr><td>Oolong</td><td>2</td><td>85</td></tr>"), "{html}");
}

#[test]
fn pdf_web_links_are_written_and_javascript_links_are_dropped() {
    let page = Page::default()
        .text(REGULAR, 10.0, 50.0, 100.0, "See")
        .text(REGULAR, 10.0, 70.0, 100.0, "the manual")
        .text(REGULAR, 10.0, 50.0, 130.0, "Run this")
        .link(68.0, 90.0, 130.0, 104.0, "https://tea.test/?a=1&b=2")
        .link(48.0, 120.0, 130.0, 134.0, "javascript:alert\\(1\\)");
    assert_eq!(
        html(page),
        "<p>See <a href=\"https://tea.test/?a=1&amp;b=2\">the manual</a></p>\n<p>Run this</p>\n"
    );
}

#[test]
fn pdf_words_hyphenated_across_lines_are_joined() {
    let page = Page::default().lines(50.0, 100.0, &["A kettle of water for the cere-", "mony of tea"]);
    assert_eq!(html(page), "<p>A kettle of water for the ceremony of tea</p>\n");
}

#[test]
fn pdf_repeated_headers_and_footers_are_dropped() {
    let pages: Vec<Page> = (1..=6)
        .map(|n| {
            Page::default()
                .text(REGULAR, 8.0, 50.0, 30.0, "The book of tea")
                .text(REGULAR, 10.0, 50.0, 100.0, &format!("Page {n} tells its own story."))
                .text(REGULAR, 8.0, 290.0, 780.0, &n.to_string())
        })
        .collect();
    let html = read(&pages).html;
    assert!(!html.contains("The book of tea"), "{html}");
    assert!((1..=6).all(|n| html.contains(&format!("Page {n} tells its own story."))), "{html}");
    assert!(!html.contains("<p>3</p>"), "{html}");
}

#[test]
fn pdf_text_marked_as_artifact_is_dropped() {
    let page = Page::default()
        .raw("/Artifact BMC")
        .text(REGULAR, 10.0, 50.0, 30.0, "Printed on Monday")
        .raw("EMC")
        .lines(50.0, 100.0, &WORDS);
    assert!(!html(page).contains("Printed on Monday"));
}

#[test]
fn pdf_sentence_across_a_page_break_is_one_paragraph() {
    let end = "The sentence that begins on this page goes on and on for so long that";
    let first = Page::default().lines(50.0, 700.0, &[end]);
    let second = Page::default().lines(50.0, 60.0, &["it ends on the next page only."]);
    let html = read(&[first, second]).html;
    assert_eq!(html, format!("<p>{end} it ends on the next page only.</p>\n"));
}

#[test]
fn pdf_gaps_between_glyphs_become_spaces() {
    let page = Page::default().raw("BT /F1 10 Tf 50 700 Td [(green) -300 (tea) -20 (s)] TJ ET");
    assert_eq!(html(page), "<p>green teas</p>\n");
}

#[test]
fn pdf_max_pages_limits_the_pages_with_a_warning() {
    let pages: Vec<Page> =
        (0..5).map(|n| Page::default().lines(50.0, 100.0, &[&format!("text of page {n}")])).collect();
    let limits = Limits { max_pages: 2, ..Limits::default() };
    let parsed = parse(DocumentKind::Pdf, pdf(&pages), &limits).unwrap();
    let counts = parsed.pages.unwrap();
    assert_eq!((counts.read, counts.total), (2, 5));
    assert!(parsed.html.contains("text of page 1") && !parsed.html.contains("text of page 2"));
    assert_eq!(parsed.warnings, ["2 of 5 pages were read"]);
}

#[test]
fn pdf_reader_stops_when_stop_returns_true() {
    let pages = vec![Page::default().lines(50.0, 100.0, &WORDS); 60];
    let calls = std::cell::Cell::new(0);
    let stop = || {
        calls.set(calls.get() + 1);
        calls.get() > 10
    };
    let limits = Limits { stop: &stop, ..Limits::default() };
    let read = parse(DocumentKind::Pdf, pdf(&pages), &limits).unwrap().pages.unwrap().read;
    assert!((1..60).contains(&read), "{read}");
}

#[test]
fn pdf_output_is_cut_off_between_blocks() {
    let pages = vec![Page::default().lines(50.0, 100.0, &WORDS); 10];
    let limits = Limits { max_output_bytes: 700, ..Limits::default() };
    let parsed = parse(DocumentKind::Pdf, pdf(&pages), &limits).unwrap();
    assert!(parsed.html.len() <= 700 && parsed.html.ends_with("</p>\n"), "{}", parsed.html);
    assert!(parsed.warnings.iter().any(|warning| warning.contains("cut off")), "{:?}", parsed.warnings);
}

#[test]
fn pdf_page_of_images_is_counted_and_marked_as_without_text() {
    let image = stream(
        "/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray",
        b"\0",
    );
    let scan = Page::default().raw("q 600 0 0 800 0 0 cm /Im1 Do Q");
    let text = Page::default().lines(50.0, 100.0, &WORDS);
    let bytes = pdf_with(&[text, scan], "/XObject << /Im1 10 0 R >>", &[image], "");
    let parsed = read_file(bytes);
    assert_eq!(parsed.pages.unwrap().without_text, [2]);
    assert!(parsed.html.contains(&websvc_documents::page_mark(2)), "{}", parsed.html);
}

#[test]
fn pdf_page_without_text_is_detected_by_text_and_image_area() {
    let image = stream(
        "/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray",
        b"\0",
    );
    let scan = |width: u32, height: u32| format!("q {width} 0 0 {height} 20 20 cm /Im1 Do Q");
    let stamp = "Downloaded from the library of Hob on 3 May.";
    let outlines = "10 10 m 20 20 30 30 40 40 c f\n".repeat(300);
    let cases = [
        // The image covers a fifth of the page.
        (Page::default().raw(&scan(300, 320)), true),
        (Page::default().raw(&scan(100, 80)), true),
        (Page::default().raw(&scan(300, 320)).text(REGULAR, 8.0, 290.0, 780.0, "Page 3"), true),
        (Page::default().raw(&scan(600, 800)).text(REGULAR, 8.0, 50.0, 780.0, stamp), true),
        (Page::default().raw(&outlines), true),
        (Page::default().raw(&scan(600, 800)).lines(50.0, 100.0, &WORDS), false),
        (Page::default().raw(&scan(300, 320)).text(REGULAR, 8.0, 50.0, 780.0, stamp), false),
        // An ornament on an empty page, a page with only a line, and an empty page.
        (Page::default().raw(&scan(20, 20)), false),
        (Page::default().rule(50.0, 50.0, 500.0, 50.0), false),
        (Page::default(), false),
    ];
    let pages: Vec<Page> = cases.iter().map(|(page, _)| page.clone()).collect();
    let bytes = pdf_with(&pages, "/XObject << /Im1 10 0 R >>", &[image], "");
    let parsed = read_file(bytes);
    let expected: Vec<u32> =
        (1..).zip(&cases).filter(|(_, (_, lacks_text))| *lacks_text).map(|(page, _)| page).collect();
    assert_eq!(parsed.pages.unwrap().without_text, expected);
}

#[test]
fn pdf_font_with_to_unicode_map_is_decoded_with_it() {
    let map = b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n\
        1 begincodespacerange <0000> <ffff> endcodespacerange\n\
        3 beginbfchar <0001> <8336> <0002> <0066006c> <0003> <FB01> endbfchar endcmap end end";
    let objects = [
        b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [11 0 R] /ToUnicode 12 0 R >>".to_vec(),
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 1000 >>".to_vec(),
        stream("", map),
    ];
    let page = Page::default().raw("BT /F9 10 Tf 50 700 Td <000100020003> Tj ET");
    let bytes = pdf_with(&[page], "", &objects, "");
    let bytes = replace(&bytes, b"/F3 5 0 R >>", b"/F9 10 0 R>>");
    let parsed = read_file(bytes);
    assert_eq!(parsed.html, "<p>茶flfi</p>\n");
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let start = bytes.windows(from.len()).position(|window| window == from).unwrap();
    bytes[start..start + to.len()].copy_from_slice(to);
    bytes
}

#[test]
fn pdf_text_in_a_form_xobject_is_read() {
    let form = stream(
        "/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >>",
        b"BT /F1 10 Tf 50 700 Td (inside a form) Tj ET",
    );
    let bytes = pdf_with(&[Page::default().raw("/Fm1 Do")], "/XObject << /Fm1 10 0 R >>", &[form], "");
    assert_eq!(read_file(bytes).html, "<p>inside a form</p>\n");
}

#[test]
fn pdf_with_password_is_an_encrypted_error() {
    let trailer = "/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Encrypt << /Filter /Standard \
        /V 2 /R 3 /Length 128 /P -44 /O <0000000000000000000000000000000000000000000000000000000000000000> \
        /U <1111111111111111111111111111111111111111111111111111111111111111> >>";
    let bytes = pdf_with(&[Page::default().lines(50.0, 100.0, &WORDS)], "", &[], trailer);
    let error = parse(DocumentKind::Pdf, bytes, &Limits::default()).unwrap_err();
    assert_eq!(error, DocumentError::Encrypted { kind: DocumentKind::Pdf });
}

#[test]
fn pdf_without_xref_is_repaired_and_rubbish_is_a_damaged_error() {
    let whole = pdf(&[Page::default().lines(50.0, 100.0, &WORDS)]);
    let end = whole.windows(4).rposition(|window| window == b"xref").unwrap() - 20;
    let parsed = read_file(whole[..end].to_vec());
    assert!(parsed.html.contains(WORDS[0]), "{}", parsed.html);
    let error = parse(DocumentKind::Pdf, b"%PDF-1.7\nrubbish".to_vec(), &Limits::default()).unwrap_err();
    assert!(matches!(error, DocumentError::Damaged { kind: DocumentKind::Pdf, .. }), "{error}");
}
