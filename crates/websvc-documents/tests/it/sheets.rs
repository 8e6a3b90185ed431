//! Tests of Excel workbooks: displayed values, hidden parts, links, merged cells, several tables on a sheet.

use websvc_documents::{DocumentKind, Limits, parse};

use crate::package_writer::package;

/// Returns the HTML of a workbook with one sheet, without its heading.
fn sheet(content: &str, styles: &str) -> String {
    workbook(content, styles, "")
}

fn workbook(content: &str, styles: &str, properties: &str) -> String {
    let book = format!(
        "<workbook><workbookPr {properties}/><sheets><sheet name=\"S\" r:id=\"r\"/></sheets></workbook>"
    );
    let sheet = format!("<worksheet>{content}</worksheet>");
    let bytes = package(&[
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", b"<R><Relationship Id=\"r\" Target=\"s.xml\"/></R>"),
        ("xl/s.xml", sheet.as_bytes()),
        ("xl/styles.xml", styles.as_bytes()),
        (
            "xl/_rels/s.xml.rels",
            b"<R><Relationship Id=\"l\" Target=\"https://tea.test/\" TargetMode=\"External\"/></R>",
        ),
    ]);
    let html = parse(DocumentKind::Xlsx, bytes, &Limits::default()).unwrap().html;
    html.strip_prefix("<h2>S</h2>\n").unwrap().to_owned()
}

fn text(cell: &str, text: &str) -> String {
    format!("<c r=\"{cell}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
}

fn number(cell: &str, value: &str) -> String {
    format!("<c r=\"{cell}\"><v>{value}</v></c>")
}

fn row(number: u32, cells: &[String]) -> String {
    format!("<row r=\"{number}\">{}</row>", cells.concat())
}

#[test]
fn numbers_are_shown_in_the_format_of_their_cell() {
    let codes = ["#,##0.00 &quot;kr&quot;", "[h]:mm", "0.0%", "# ?/?", "yyyy-mm-dd", "&quot;No. &quot;@"];
    let formats: String = codes
        .iter()
        .enumerate()
        .map(|(index, code)| format!("<numFmt numFmtId=\"{}\" formatCode=\"{code}\"/>", 164 + index))
        .collect();
    let cells: String = (0..codes.len()).map(|index| format!("<xf numFmtId=\"{}\"/>", 164 + index)).collect();
    let styles = format!("<styleSheet><numFmts>{formats}</numFmts><cellXfs>{cells}</cellXfs></styleSheet>");
    let values = ["1234.5", "1.2534722222", "0.125", "1.5", "45292", "7"];
    let row: String = values
        .iter()
        .enumerate()
        .map(|(index, value)| {
            let kind = if index == 5 { " t=\"str\"" } else { "" };
            format!("<c s=\"{index}\"{kind}><v>{value}</v></c>")
        })
        .collect();
    assert_eq!(
        sheet(&format!("<sheetData><row>{row}</row></sheetData>"), &styles),
        "<table>\n<tr><th>1,234.50 kr</th><th>30:05</th><th>12.5%</th><th>1 1/2</th><th>2024-01-01</th><th>No. 7</th></tr>\n</table>\n"
    );
}

#[test]
fn dates_since_1904_are_shifted() {
    let styles = "<styleSheet><cellXfs><xf numFmtId=\"14\"/></cellXfs></styleSheet>";
    let data = "<sheetData><row><c s=\"0\"><v>43830</v></c><c t=\"s\"><v>9</v></c></row></sheetData>";
    assert!(workbook(data, styles, "date1904=\"1\"").contains("2024-01-01"));
}

#[test]
fn hidden_rows_and_columns_are_left_out_and_links_and_breaks_kept() {
    let data = [
        row(1, &[text("A1", "site"), text("B1", "hidden"), text("C1", "one&#10;two")]),
        format!("<row r=\"2\" hidden=\"1\">{}</row>", text("A2", "secret")),
        row(3, &[text("A3", "x"), number("C3", "1")]),
        row(
            4,
            &["<c r=\"A4\" t=\"str\"><f>HYPERLINK(\"https://a.test/\",\"go\")</f><v>go</v></c>".to_owned()],
        ),
    ];
    let content = format!(
        "<cols><col min=\"2\" max=\"2\" hidden=\"1\"/></cols><sheetData>{}</sheetData>\
         <hyperlinks><hyperlink ref=\"A1\" r:id=\"l\"/></hyperlinks>",
        data.concat()
    );
    assert_eq!(
        sheet(&content, ""),
        "<table>\n<tr><th><a href=\"https://tea.test/\">site</a></th><th>one<br>two</th></tr>\n<tr><td>x</td><td>1</td></tr>\n\
         <tr><td><a href=\"https://a.test/\">go</a></td></tr>\n</table>\n"
    );
}

#[test]
fn merged_cells_have_spans() {
    let data =
        [row(1, &[text("A1", "both"), text("B1", "wide")]), row(2, &[text("B2", "b"), text("C2", "c")])];
    let content = format!(
        "<sheetData>{}</sheetData><mergeCells><mergeCell ref=\"A1:A2\"/><mergeCell ref=\"B1:C1\"/></mergeCells>",
        data.concat()
    );
    assert_eq!(
        sheet(&content, ""),
        "<table>\n<tr><th rowspan=\"2\">both</th><th colspan=\"2\">wide</th></tr>\n<tr><td>b</td><td>c</td></tr>\n</table>\n"
    );
}

#[test]
fn tables_of_a_sheet_are_separated() {
    let data = [
        row(1, &[text("A1", "Prices of 2026")]),
        row(2, &[text("A2", "Tea"), text("B2", "Price"), text("D2", "Town"), text("E2", "Shops")]),
        row(3, &[text("A3", "Assam"), number("B3", "3"), text("D3", "Oslo"), number("E3", "4")]),
        row(5, &[text("A5", "Sum"), number("B5", "3")]),
        row(8, &[text("A8", "Name"), text("B8", "Age"), text("C8", "Team")]),
        row(9, &[text("A9", "Ann"), number("B9", "30"), text("C9", "x")]),
        row(12, &[text("A12", "a remark")]),
    ];
    let table = |rows: &[&[&str]]| {
        let rows = rows.iter().enumerate().map(|(index, cells)| {
            let tag = if index == 0 { "th" } else { "td" };
            let cells: String = cells.iter().map(|cell| format!("<{tag}>{cell}</{tag}>")).collect();
            format!("<tr>{cells}</tr>\n")
        });
        format!("<table>\n{}</table>\n", rows.collect::<String>())
    };
    let expected = [
        "<p>Prices of 2026</p>\n".to_owned(),
        table(&[&["Tea", "Price"], &["Assam", "3"], &["Sum", "3"]]),
        table(&[&["Town", "Shops"], &["Oslo", "4"]]),
        table(&[&["Name", "Age", "Team"], &["Ann", "30", "x"]]),
        "<p>a remark</p>\n".to_owned(),
    ];
    assert_eq!(sheet(&format!("<sheetData>{}</sheetData>", data.concat()), ""), expected.concat());
}

#[test]
fn huge_ranges_are_bounded() {
    let data = row(1, &[text("A1", "a"), text("XFD1", "b")]) + &row(1_048_576, &[number("B1048576", "1")]);
    let content = format!(
        "<cols><col min=\"3\" max=\"16384\" hidden=\"1\"/></cols><sheetData>{data}</sheetData>\
         <mergeCells><mergeCell ref=\"A1:XFD1048576\"/><mergeCell ref=\"A1:A1048576\"/></mergeCells>"
    );
    let html = sheet(&content, "");
    assert!(html.contains('a') && html.len() < 1000, "{html}");
}

#[test]
fn first_rows_of_a_table_that_does_not_fit_are_written() {
    let rows: String = (1..2000)
        .map(|number| row(number, &[text(&format!("A{number}"), "tea"), text(&format!("B{number}"), "cup")]))
        .collect();
    let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    let bytes = package(&[
        ("xl/workbook.xml", b"<workbook><sheets><sheet name=\"S\" r:id=\"r\"/></sheets></workbook>"),
        ("xl/_rels/workbook.xml.rels", b"<R><Relationship Id=\"r\" Target=\"s.xml\"/></R>"),
        ("xl/s.xml", sheet.as_bytes()),
    ]);
    let limits = Limits { max_output_bytes: 5000, ..Limits::default() };
    let parsed = parse(DocumentKind::Xlsx, bytes, &limits).unwrap();
    assert!(
        parsed.html.len() <= 5000 && parsed.html.contains("<td>cup</td></tr>\n</table>\n"),
        "{}",
        parsed.html
    );
    assert_eq!(parsed.warnings.len(), 1);
}
