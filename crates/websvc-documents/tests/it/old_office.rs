//! Tests of office files that are not ZIP archives of XML: from before 2007, binary, encrypted or damaged.

use websvc_documents::{DocumentError, DocumentKind, Limits, ParsedDocument, parse};

use crate::compound_writer::{self, Node};
use crate::package_writer::package;

fn read(kind: DocumentKind, bytes: Vec<u8>) -> Result<ParsedDocument, DocumentError> {
    assert_eq!(DocumentKind::detect(&bytes, None), Some(kind));
    parse(kind, bytes, &Limits::default())
}

/// Returns the beginning of a compound file whose directory has streams with these names.
fn compound(streams: &[&str]) -> Vec<u8> {
    let mut file = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    file.resize(512, 0);
    for name in streams {
        let mut entry: Vec<u8> = name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect();
        let length = u16::try_from(entry.len()).unwrap();
        entry.resize(64, 0);
        entry.extend(length.to_le_bytes());
        entry.push(2);
        entry.resize(128, 0);
        file.extend(entry);
    }
    file
}

/// Returns a record of a binary workbook: the type, the length, the content.
fn record(kind: u16, content: &[u8]) -> Vec<u8> {
    let mut record = match kind {
        0..=0x7f => vec![kind as u8],
        _ => vec![(kind & 0x7f) as u8 | 0x80, (kind >> 7) as u8],
    };
    record.push(u8::try_from(content.len()).unwrap());
    record.extend(content);
    record
}

/// Returns a string of a binary workbook: the length in UTF-16 units, then the units.
fn wide_string(text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let length = u32::try_from(units.len()).unwrap().to_le_bytes();
    length.into_iter().chain(units.into_iter().flat_map(u16::to_le_bytes)).collect()
}

/// Returns a binary workbook with one sheet of these cells: row, column, text.
fn binary_workbook(cells: &[(u32, u32, &str)]) -> Vec<u8> {
    let sheet_name = [&[0; 4][..], &1_u32.to_le_bytes(), &wide_string("r1"), &wide_string("Stock")].concat();
    let book = [record(0x9c, &sheet_name), record(0x90, &[]), record(0x9d, &[0; 8])].concat();
    let mut sheet = [record(0x81, &[]), record(0x94, &[0; 16]), record(0x91, &[])].concat();
    for (row, column, text) in cells {
        sheet.extend(record(0, &row.to_le_bytes()));
        sheet.extend(record(6, &[&column.to_le_bytes()[..], &[0; 4], &wide_string(text)].concat()));
    }
    sheet.extend(record(0x92, &[]));
    let relations = b"<R><Relationship Id=\"r1\" Target=\"worksheets/sheet1.bin\"/></R>";
    package(&[
        ("xl/workbook.bin", &book),
        ("xl/_rels/workbook.bin.rels", relations),
        ("xl/worksheets/sheet1.bin", &sheet),
    ])
}

#[test]
fn xls_visible_sheets_become_tables() {
    let parsed = read(DocumentKind::Xls, include_bytes!("fixtures/stock.xls").to_vec()).unwrap();
    assert_eq!(
        parsed.html,
        "<h2>Stock</h2>\n<table>\n<tr><th>Tea</th><th>Grams</th><th></th><th>Since</th></tr>\n\
         <tr><td>Oolong &amp; more</td><td>40.5</td><td></td><td>2024-01-31</td></tr>\n\
         <tr><td>Sencha</td><td>TRUE</td></tr>\n</table>\n"
    );
    assert_eq!(parsed.pages.map(|pages| (pages.read, pages.total)), Some((1, 1)));
}

/// Returns a record of a workbook from before 2007: the type, the length, the content as numbers of 16 bits.
fn old_record(kind: u16, content: &[u16]) -> Vec<u8> {
    let bytes: Vec<u8> = content.iter().flat_map(|number| number.to_le_bytes()).collect();
    old_bytes(kind, &bytes)
}

fn old_bytes(kind: u16, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap();
    [&kind.to_le_bytes(), &length.to_le_bytes(), content].concat()
}

/// Returns a workbook of Excel 97 with two sheets: a hidden one, and one of these records. Each of the formats is that of
/// the cell style with its index; the last style has the built-in format 14.
fn old_workbook(formats: &[&str], properties: &[u8], records: &[Vec<u8>]) -> Vec<u8> {
    let begin = |kind| old_record(0x0809, &[0x0600, kind, 0, 0, 0, 0, 0, 0]);
    let end = old_record(0x000a, &[]);
    let mut book = [begin(5).as_slice(), properties].concat();
    let ids = 164..164 + u16::try_from(formats.len()).unwrap();
    for (id, code) in ids.clone().zip(formats) {
        let units: Vec<u16> = code.encode_utf16().collect();
        let text: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let length = u16::try_from(units.len()).unwrap().to_le_bytes();
        book.extend(old_bytes(0x041e, &[&id.to_le_bytes()[..], &length, &[1], &text].concat()));
    }
    for id in ids.chain([14]) {
        book.extend(old_record(0x00e0, &[0, id, 0, 0, 0, 0, 0, 0, 0, 0]));
    }
    // The two records of the sheets have 13 bytes each.
    let start = book.len() + 26 + end.len();
    let hidden = [begin(16), old_number(0, 0, 0, 7.0), end.clone()].concat();
    for (position, state, name) in [(start, 1, b'H'), (start + hidden.len(), 0, b'S')] {
        let position = u32::try_from(position).unwrap().to_le_bytes();
        book.extend(old_bytes(0x0085, &[&position[..], &[state, 0, 1, 0, name]].concat()));
    }
    book.extend(end.clone());
    let mut stream = [book, hidden, begin(16), records.concat(), end].concat();
    // Smaller streams are in small sectors, which the writer does not write.
    stream.resize(stream.len().max(4096), 0);
    compound_writer::compound(vec![Node::Stream("Workbook".to_owned(), stream)])
}

fn old_number(row: u16, column: u16, style: u16, value: f64) -> Vec<u8> {
    let place = [row, column, style].map(u16::to_le_bytes).concat();
    old_bytes(0x0203, &[place, value.to_le_bytes().to_vec()].concat())
}

fn old_html(formats: &[&str], properties: &[u8], records: &[Vec<u8>]) -> String {
    read(DocumentKind::Xls, old_workbook(formats, properties, records)).unwrap().html
}

#[test]
fn numbers_of_xls_are_shown_in_the_format_of_their_cell() {
    let formats = [
        "#,##0.00 \"kr\"",
        "[h]:mm",
        "0.0%",
        "# ?/?",
        "dd/mm/yyyy h:mm",
        "[$€-407] #,##0.00",
        "d. mmm",
        "0;;",
    ];
    let values = [1234.5, 1.253_472_222_2, 0.125, 1.5, 45292.75, -3.0, 45292.0, -5.0, 45292.0];
    let cells: Vec<Vec<u8>> =
        (0..).zip(values).map(|(column, value)| old_number(0, column, column, value)).collect();
    let row = "<h2>S</h2>\n<table>\n<tr><th>1,234.50 kr</th><th>30:05</th><th>12.5%</th><th>1 1/2</th>\
               <th>2024-01-01 18:00</th><th>-€ 3.00</th><th>1. Jan</th><th></th><th>2024-01-01</th></tr>\n</table>\n";
    assert_eq!(old_html(&formats, &[], &cells).replace("td>", "th>"), row);
    // Compressed numbers: several with their own styles, in hundredths, and as whole numbers.
    let several = old_record(0x00bd, &[0, 0, 0, (125 << 2) | 3, 0, 1, (50 << 2) | 3, 0, 1]);
    let formula = [&[1, 1, 0].map(u16::to_le_bytes).concat()[..], &2.5_f64.to_le_bytes(), &[0; 8]].concat();
    let cells = [several, old_record(0x027e, &[1, 0, 1, (7 << 2) | 2, 0]), old_bytes(0x0006, &formula)];
    let html = old_html(&["0.000", "0%"], &[], &cells);
    for text in [">1.250<", ">50%<", ">700%<", ">2.500<"] {
        assert!(html.contains(text), "{text} {html}");
    }
    // Dates since 1904.
    let html = old_html(&[], &old_record(0x0022, &[1]), &[old_number(0, 0, 0, 1.0)]);
    assert!(html.contains("1904-01-02"), "{html}");
}

#[test]
fn hidden_rows_and_columns_of_xls_are_left_out_and_merged_cells_are_merged() {
    let numbers = (0..3)
        .flat_map(|row| (0..4).map(move |column| old_number(row, column, 0, f64::from(10 * row + column))));
    let mut records = vec![
        old_record(0x007d, &[1, 1, 2048, 0, 1, 0]),
        old_record(0x007d, &[2, 2, 2048, 0, 0, 0]),
        old_record(0x0208, &[1, 0, 4, 300, 0, 0, 0x20, 0]),
        old_record(0x0208, &[2, 0, 4, 300, 0, 0, 0, 0]),
    ];
    records.extend(numbers);
    // A chart on the sheet has cells of its own.
    records.extend([old_record(0x0809, &[0x0600, 0x20, 0, 0, 0, 0, 0, 0])]);
    records.extend([old_record(0x007d, &[0, 0, 2048, 0, 1, 0]), old_record(0x000a, &[])]);
    records.push(old_record(0x00e5, &[1, 2, 2, 2, 3]));
    let html = old_html(&["0"], &[], &records);
    assert_eq!(html.matches("<tr>").count(), 2, "{html}");
    for (text, is_shown) in [(">0<", true), (">1<", false), (">2<", true), (">10<", false), (">20<", true)] {
        assert_eq!(html.contains(text), is_shown, "{text} {html}");
    }
    assert!(html.contains("colspan=\"2\""), "{html}");
}

#[test]
fn xlsb_is_read_and_a_cell_in_the_last_column_is_skipped() {
    let bytes = binary_workbook(&[
        (0, 0, "Tea"),
        (0, 2, "Grams"),
        (1_048_575, 0, "Oolong"),
        (1_048_575, 16_383, "x"),
    ]);
    let parsed = read(DocumentKind::Xlsb, bytes).unwrap();
    assert_eq!(
        parsed.html,
        "<h2>Stock</h2>\n<table>\n<tr><th>Tea</th><th></th><th>Grams</th></tr>\n<tr><td>Oolong</td></tr>\n</table>\n"
    );
}

#[test]
fn doc_and_ppt_errors_name_the_program_and_the_supported_format() {
    let error = |kind, streams: &[&str]| read(kind, compound(streams)).unwrap_err().to_string();
    assert_eq!(
        error(DocumentKind::Doc, &["WordDocument", "1Table"]),
        "Word files from before 2007 (.doc) are not supported: save the file as .docx"
    );
    assert_eq!(
        error(DocumentKind::Ppt, &["PowerPoint Document"]),
        "PowerPoint files from before 2007 (.ppt) are not supported: save the file as .pptx"
    );
    // A Word file with an embedded workbook is still a Word file.
    assert!(error(DocumentKind::Doc, &["Workbook", "WordDocument"]).contains("(.doc)"));
    assert_eq!(DocumentKind::detect(&compound(&["Unknown"]), None), None);
    // A message with an attached Word file is a message.
    let message = compound(&["WordDocument", "__properties_version1.0"]);
    assert_eq!(DocumentKind::detect(&message, None), Some(DocumentKind::Msg));
}

#[test]
fn encrypted_office_file_is_an_encrypted_error() {
    let locked = include_bytes!("fixtures/locked.xlsx").to_vec();
    let declared = Some(DocumentKind::Xlsx.media_type());
    assert_eq!(DocumentKind::detect(&locked, declared), Some(DocumentKind::Protected));
    let error = read(DocumentKind::Protected, locked).unwrap_err();
    assert_eq!(error.to_string(), "the office file is encrypted and needs a password: save it without one");
}

#[test]
fn damaged_and_empty_files_are_damaged_errors_of_their_kind() {
    let stock = include_bytes!("fixtures/stock.xls");
    let half = stock[..stock.len() / 2].to_vec();
    let error = parse(DocumentKind::Xls, half, &Limits::default()).unwrap_err().to_string();
    assert!(error.starts_with("the xls file is damaged: "), "{error}");
    let book = crate::package_writer::docx("<w:p/>");
    let error = parse(DocumentKind::Docx, book[..book.len() - 40].to_vec(), &Limits::default()).unwrap_err();
    assert!(error.to_string().starts_with("the docx file is damaged: "), "{error}");
    for kind in DocumentKind::ALL {
        let empty = parse(kind, Vec::new(), &Limits::default());
        if kind == DocumentKind::Csv {
            assert_eq!(empty.unwrap().html, "");
        } else {
            assert_eq!(empty.unwrap_err().to_string(), format!("the {kind} file is damaged: it is empty"));
        }
    }
}

#[test]
fn epub_with_encrypted_chapters_is_rejected_and_with_obfuscated_fonts_is_read() {
    let book = |algorithm: &str| {
        let encryption = format!(
            "<encryption><EncryptedData><EncryptionMethod Algorithm=\"{algorithm}\"/></EncryptedData></encryption>"
        );
        package(&[
            ("mimetype", b"application/epub+zip"),
            (
                "META-INF/container.xml",
                b"<container><rootfiles><rootfile full-path=\"a.opf\"/></rootfiles></container>",
            ),
            ("META-INF/encryption.xml", encryption.as_bytes()),
            (
                "a.opf",
                b"<package><manifest><item id=\"c\" href=\"c.xhtml\" media-type=\"application/xhtml+xml\"/></manifest>\
                  <spine><itemref idref=\"c\"/></spine></package>",
            ),
            ("c.xhtml", b"<html><body><p>Tea</p></body></html>"),
        ])
    };
    let error = read(DocumentKind::Epub, book("http://www.w3.org/2001/04/xmlenc#aes128-cbc")).unwrap_err();
    assert_eq!(error.to_string(), "an epub file with copy protection cannot be read");
    assert!(
        read(DocumentKind::Epub, book("http://www.idpf.org/2008/embedding")).unwrap().html.contains("Tea")
    );
}
