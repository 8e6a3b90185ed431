//! Tests of office files and EPUB books, valid and hostile.

use proptest::prelude::*;
use websvc_documents::{DocumentError, DocumentKind, Limits, ParsedDocument, parse};

use crate::package_writer::{docx, package};

fn read(kind: DocumentKind, bytes: Vec<u8>) -> ParsedDocument {
    assert_eq!(DocumentKind::detect(&bytes, None), Some(kind));
    parse(kind, bytes, &Limits::default()).unwrap()
}

#[test]
fn docx_is_read_with_headings_lists_tables_links_and_notes() {
    let body = "<w:p><w:pPr><w:pStyle w:val=\"H2\"/></w:pPr><w:r><w:t>Green tea</w:t></w:r></w:p>\
        <w:p><w:r><w:rPr><w:b/></w:rPr><w:t>Steep</w:t></w:r><w:r><w:t xml:space=\"preserve\"> it &amp; wait</w:t></w:r>\
        <w:r><w:footnoteReference w:id=\"2\"/></w:r></w:p>\
        <w:p><w:hyperlink r:id=\"rId1\"><w:r><w:t>More</w:t></w:r></w:hyperlink></w:p>\
        <w:p><w:pPr><w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr></w:pPr><w:r><w:t>Boil</w:t></w:r></w:p>\
        <w:p><w:pPr><w:numPr><w:ilvl w:val=\"1\"/><w:numId w:val=\"1\"/></w:numPr></w:pPr><w:r><w:t>water</w:t></w:r></w:p>\
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>Tea</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Minutes</w:t></w:r></w:p></w:tc></w:tr>\
        <w:tr><w:tc><w:tcPr><w:gridSpan w:val=\"2\"/></w:tcPr><w:p><w:r><w:t>Both</w:t></w:r></w:p></w:tc></w:tr></w:tbl>\
        <w:p><w:r><w:delText>gone</w:delText></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>";
    let parsed = read(DocumentKind::Docx, docx(body));
    assert_eq!(
        parsed.html,
        "<h2>Green tea</h2>\n<p><strong>Steep</strong> it &amp; wait<sup><a href=\"#fn1\">1</a></sup></p>\n\
         <p><a href=\"https://tea.test/\">More</a></p>\n<ol><li>Boil<ul><li>water</li></ul>\n</li></ol>\n\
         <table>\n<tr><th>Tea</th><th>Minutes</th></tr>\n<tr><td colspan=\"2\">Both</td></tr>\n</table>\n\
         <ol><li id=\"fn1\">Or longer.</li>\n</ol>\n"
    );
    assert_eq!(parsed.metadata.title.as_deref(), Some("Tea"));
    assert_eq!(parsed.metadata.author.as_deref(), Some("Ada"));
    assert_eq!(parsed.metadata.created.as_deref(), Some("2024-01-02T03:04:05Z"));
}

#[test]
fn xlsx_visible_sheets_become_tables_of_displayed_text() {
    let bytes = package(&[
        (
            "xl/workbook.xml",
            b"<workbook><sheets><sheet name=\"Stock\" sheetId=\"1\" r:id=\"rId1\"/>\
              <sheet name=\"Secret\" state=\"hidden\" sheetId=\"2\" r:id=\"rId2\"/></sheets></workbook>",
        ),
        (
            "xl/_rels/workbook.xml.rels",
            b"<Relationships><Relationship Id=\"rId1\" Target=\"worksheets/sheet1.xml\"/></Relationships>",
        ),
        ("xl/sharedStrings.xml", b"<sst><si><t>Tea</t></si><si><r><t>Ass</t></r><r><t>am</t></r></si></sst>"),
        ("xl/styles.xml", b"<styleSheet><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"),
        (
            "xl/worksheets/sheet1.xml",
            b"<worksheet><sheetData><row><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"C1\" t=\"inlineStr\"><is><t>Since</t></is></c></row>\
              <row><c r=\"A2\" t=\"s\"><v>1</v></c><c r=\"B2\"><f>1+1</f><v>0.30000000000000004</v></c><c r=\"C2\" s=\"1\"><v>45292</v></c></row>\
              </sheetData></worksheet>",
        ),
    ]);
    let parsed = read(DocumentKind::Xlsx, bytes);
    assert_eq!(
        parsed.html,
        "<h2>Stock</h2>\n<table>\n<tr><th>Tea</th><th></th><th>Since</th></tr>\n\
         <tr><td>Assam</td><td>0.3</td><td>2024-01-01</td></tr>\n</table>\n"
    );
}

#[test]
fn xlsx_cell_in_the_last_row_and_column_is_skipped() {
    let sheet = b"<worksheet><sheetData><row><c r=\"XFD1048576\"><v>1</v></c></row><row><c r=\"A2\"><v>2</v></c></row></sheetData></worksheet>";
    let bytes = package(&[
        ("xl/workbook.xml", b"<workbook><sheets><sheet name=\"S\" r:id=\"r\"/></sheets></workbook>"),
        ("xl/_rels/workbook.xml.rels", b"<R><Relationship Id=\"r\" Target=\"s.xml\"/></R>"),
        ("xl/s.xml", sheet),
    ]);
    assert!(read(DocumentKind::Xlsx, bytes).html.contains("<p>2</p>"));
}

#[test]
fn pptx_slides_are_read_in_order_with_titles_and_points() {
    let slide = |title: &str, point: &str| {
        format!(
            "<p:sld><p:sp><p:ph type=\"title\"/><p:txBody><a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:txBody></p:sp>\
             <p:sp><p:ph idx=\"1\"/><p:txBody><a:p><a:r><a:t>{point}</a:t></a:r></a:p><a:p><a:pPr lvl=\"1\"/><a:r><a:t>inner</a:t></a:r></a:p></p:txBody></p:sp>\
             <p:sp><p:ph type=\"sldNum\"/><p:txBody><a:p><a:r><a:t>7</a:t></a:r></a:p></p:txBody></p:sp></p:sld>"
        )
    };
    let bytes = package(&[
        (
            "ppt/presentation.xml",
            b"<p:presentation><p:sldIdLst><p:sldId id=\"256\" r:id=\"b\"/><p:sldId id=\"257\" r:id=\"a\"/></p:sldIdLst></p:presentation>",
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            b"<R><Relationship Id=\"a\" Target=\"slides/1.xml\"/><Relationship Id=\"b\" Target=\"slides/2.xml\"/></R>",
        ),
        ("ppt/slides/1.xml", slide("Second", "more").as_bytes()),
        ("ppt/slides/2.xml", slide("First", "point").as_bytes()),
    ]);
    let parsed = read(DocumentKind::Pptx, bytes);
    assert_eq!(
        parsed.html,
        "<h2>First</h2>\n<ul><li>point<ul><li>inner</li></ul>\n</li></ul>\n\
         <h2>Second</h2>\n<ul><li>more<ul><li>inner</li></ul>\n</li></ul>\n"
    );
    assert_eq!(parsed.pages.map(|pages| (pages.read, pages.total)), Some((2, 2)));
}

#[test]
fn odt_is_read_with_headings_lists_tables_links_and_notes() {
    let content = b"<office:document-content><office:automatic-styles><style:style style:name=\"T1\">\
        <style:text-properties fo:font-weight=\"bold\"/></style:style></office:automatic-styles><office:text>\
        <text:h text:outline-level=\"2\">Green tea</text:h><text:p><text:span text:style-name=\"T1\">Steep</text:span>\
        <text:s/>it<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Or longer.</text:p>\
        </text:note-body></text:note></text:p><text:p><text:a xlink:href=\"https://tea.test/\">More</text:a></text:p>\
        <text:list><text:list-item><text:p>Boil</text:p><text:list><text:list-item><text:p>water</text:p></text:list-item>\
        </text:list></text:list-item></text:list><table:table><table:table-row><table:table-cell><text:p>Tea</text:p>\
        </table:table-cell><table:table-cell table:number-columns-repeated=\"2\"><text:p>1</text:p></table:table-cell>\
        </table:table-row></table:table></office:text></office:document-content>";
    let bytes = package(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("content.xml", content),
        ("meta.xml", b"<m><dc:title>Tea</dc:title><dc:language>en</dc:language></m>"),
    ]);
    let parsed = read(DocumentKind::Odt, bytes);
    assert_eq!(
        parsed.html,
        "<h2>Green tea</h2>\n<p><strong>Steep</strong> it<sup><a href=\"#fn1\">1</a></sup></p>\n\
         <p><a href=\"https://tea.test/\">More</a></p>\n<ul><li>Boil<ul><li>water</li></ul>\n</li></ul>\n\
         <table>\n<tr><th>Tea</th><th>1</th><th>1</th></tr>\n</table>\n\
         <ol><li id=\"fn1\">Or longer.</li>\n</ol>\n"
    );
    assert_eq!(parsed.metadata.language.as_deref(), Some("en"));
}

#[test]
fn ods_repeated_empty_cells_and_rows_are_left_out() {
    let content = b"<d><table:table table:name=\"Stock\"><table:table-row><table:table-cell><text:p>Tea</text:p></table:table-cell>\
        <table:table-cell table:number-columns-repeated=\"16383\"/></table:table-row>\
        <table:table-row table:number-rows-repeated=\"1048575\"><table:table-cell table:number-columns-repeated=\"16384\"/>\
        </table:table-row></table:table></d>";
    let bytes =
        package(&[("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", content)]);
    assert_eq!(read(DocumentKind::Ods, bytes).html, "<h2>Stock</h2>\n<p>Tea</p>\n");
}

#[test]
fn epub_chapters_are_read_in_spine_order_without_scripts() {
    let bytes = package(&[
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", b"<c><rootfile full-path=\"OPS/book.opf\"/></c>"),
        (
            "OPS/book.opf",
            b"<package><metadata><dc:title>The book of tea</dc:title><dc:creator>Okakura</dc:creator></metadata><manifest>\
              <item id=\"one\" href=\"text/1%20a.xhtml\"/><item id=\"two\" href=\"text/2.xhtml\"/>\
              <item id=\"toc\" href=\"toc.xhtml\" properties=\"nav\"/></manifest>\
              <spine><itemref idref=\"toc\"/><itemref idref=\"two\"/><itemref idref=\"one\"/></spine></package>",
        ),
        ("OPS/text/1 a.xhtml", b"<html><body><p>Then &nbsp;this.</p></body></html>"),
        (
            "OPS/text/2.xhtml",
            b"<html><head><title>x</title></head><body onload=\"a()\"><h1>One</h1><script>alert(1)</script>\
              <p class=\"c\">First <a href=\"1.xhtml\">there</a>, <a href=\"https://tea.test/\">here</a>.</p></body></html>",
        ),
    ]);
    let parsed = read(DocumentKind::Epub, bytes);
    assert_eq!(
        parsed.html,
        "<h1>One</h1><p>First there, <a href=\"https://tea.test/\">here</a>.</p>\n<p>Then \u{a0}this.</p>\n"
    );
    assert_eq!(parsed.metadata.author.as_deref(), Some("Okakura"));
}

#[test]
fn zip_bomb_is_too_large() {
    let zeros = vec![b' '; 20_000_000];
    let bytes = package(&[("word/document.xml", &zeros)]);
    assert!(bytes.len() < 30_000, "the archive must be small for this test");
    let limits = Limits { max_inflated_bytes: 1_000_000, ..Limits::default() };
    let error = parse(DocumentKind::Docx, bytes, &limits).unwrap_err();
    assert!(matches!(error, DocumentError::TooLarge { kind: DocumentKind::Docx, .. }), "{error}");
}

#[test]
fn nested_xml_entities_are_not_expanded() {
    let mut document = "<!DOCTYPE d [<!ENTITY a0 \"tea\">".to_owned();
    for n in 1..40 {
        document.push_str(&format!("<!ENTITY a{n} \"&a{0};&a{0};\">", n - 1));
    }
    document
        .push_str("]><w:document><w:body><w:p><w:r><w:t>one&a39;two</w:t></w:r></w:p></w:body></w:document>");
    let bytes = package(&[("word/document.xml", document.as_bytes())]);
    assert_eq!(parse(DocumentKind::Docx, bytes, &Limits::default()).unwrap().html, "<p>onetwo</p>\n");
}

#[test]
fn deeply_nested_xml_is_too_large() {
    let deep = "<w:p>".repeat(100_000);
    let error = parse(DocumentKind::Docx, docx(&deep), &Limits::default()).unwrap_err();
    assert!(matches!(error, DocumentError::TooLarge { .. }), "{error}");
}

#[test]
fn archive_without_main_part_is_damaged() {
    let bytes = package(&[("xl/workbook.xml.not", b"")]);
    let error = parse(DocumentKind::Xlsx, bytes, &Limits::default()).unwrap_err();
    assert!(matches!(error, DocumentError::Damaged { kind: DocumentKind::Xlsx, .. }), "{error}");
}

fn any_kind() -> impl Strategy<Value = DocumentKind> {
    prop::sample::select(DocumentKind::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_do_not_panic(kind in any_kind(), bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(kind, bytes, &Limits::default());
    }

    #[test]
    fn arbitrary_parts_do_not_panic(kind in any_kind(), text in "(<[a-z/:]{0,6}( r:id=\"a\")?>|&[a-z]{1,4};|[ -~]){0,60}") {
        let parts = [
            "word/document.xml", "xl/workbook.xml", "ppt/presentation.xml", "content.xml", "META-INF/container.xml",
        ];
        let parts: Vec<(&str, &[u8])> = parts.iter().map(|name| (*name, text.as_bytes())).collect();
        let limits = Limits { max_output_bytes: 2000, ..Limits::default() };
        if let Ok(parsed) = parse(kind, package(&parts), &limits) {
            prop_assert!(parsed.html.len() <= 2000);
        }
    }

    #[test]
    fn mutated_docx_does_not_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        let mut bytes = docx("<w:p><w:r><w:t>text</w:t></w:r></w:p>");
        for (position, value) in changes {
            let index = position.index(bytes.len());
            bytes[index] = value;
        }
        let _ = parse(DocumentKind::Docx, bytes, &Limits::default());
    }

    #[test]
    fn arbitrary_rtf_does_not_panic(text in "(\\{|\\}|\\\\[a-z]{1,8}-?[0-9]{0,6} ?|\\\\'[0-9a-f]{2}|[ -~]){0,80}") {
        let _ = parse(DocumentKind::Rtf, format!("{{\\rtf1 {text}").into_bytes(), &Limits::default());
    }
}
