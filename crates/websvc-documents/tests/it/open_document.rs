//! Tests of OpenDocument files: lists, headings with numbers, notes, frames, formulas, hidden sheets and slides.

use websvc_documents::{DocumentKind, Limits, parse};

use crate::package_writer::package;

fn html(kind: DocumentKind, styles: &str, body: &str, others: &[(&str, &str)]) -> String {
    let content = format!(
        "<office:document-content><office:automatic-styles>{styles}</office:automatic-styles><office:body>{body}</office:body>\
         </office:document-content>"
    );
    let mut parts: Vec<(&str, &[u8])> =
        vec![("mimetype", kind.media_type().as_bytes()), ("content.xml", content.as_bytes())];
    parts.extend(others.iter().map(|(name, text)| (*name, text.as_bytes())));
    parse(kind, package(&parts), &Limits::default()).unwrap().html
}

#[test]
fn odt_lists_and_headings_have_their_numbers() {
    let styles = "<text:list-style style:name=\"L\"><text:list-level-style-number text:level=\"1\" style:num-format=\"1\" style:num-suffix=\".\"/>\
        <text:list-level-style-number text:level=\"2\" style:num-format=\"a\" style:num-prefix=\"(\" style:num-suffix=\")\"/>\
        </text:list-style>";
    let outline = "<s><text:outline-style><text:outline-level-style text:level=\"1\" style:num-format=\"1\"/>\
        <text:outline-level-style text:level=\"2\" style:num-format=\"1\" text:display-levels=\"2\"/></text:outline-style></s>";
    let body = "<text:h text:outline-level=\"1\">Scope</text:h><text:h text:outline-level=\"2\">Terms</text:h>\
        <text:list xml:id=\"x\" text:style-name=\"L\"><text:list-item><text:p>one</text:p><text:p>more</text:p>\
        <text:list><text:list-item><text:p>a</text:p></text:list-item></text:list></text:list-item></text:list>\
        <text:p>between</text:p>\
        <text:list text:continue-list=\"x\" text:style-name=\"L\"><text:list-item><text:p>two</text:p></text:list-item></text:list>";
    assert_eq!(
        html(DocumentKind::Odt, styles, body, &[("styles.xml", outline)]),
        "<h1>1. Scope</h1>\n<h2>1.1 Terms</h2>\n<ol><li>one<p>more</p>\n<ul><li>(a) a</li></ul>\n</li></ol>\n<p>between</p>\n\
         <ol start=\"2\"><li>two</li></ol>\n"
    );
}

#[test]
fn odt_styles_frames_and_notes_are_kept() {
    let styles = "<style:style style:name=\"T1\"><style:text-properties style:text-position=\"super 58%\"/></style:style>\
        <style:style style:name=\"T2\"><style:text-properties style:font-name=\"Courier New\"/></style:style>\
        <style:style style:name=\"P1\" style:parent-style-name=\"Title\"/><style:style style:name=\"P2\" style:parent-style-name=\"Quotations\"/>\
        <style:style style:name=\"T3\"><style:text-properties text:display=\"none\"/></style:style>";
    let body = "<text:p text:style-name=\"P1\">Name</text:p><text:p text:style-name=\"P2\">said</text:p>\
        <text:p>x<text:span text:style-name=\"T1\">2</text:span> <text:span text:style-name=\"T2\">ls</text:span>\
        <text:span text:style-name=\"T3\">hidden</text:span>\
        <text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>see <text:a xlink:href=\"https://tea.test/\">it</text:a>\
        </text:p></text:note-body></text:note></text:p>\
        <text:p>Text<draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame></text:p>\
        <text:p>Text<draw:custom-shape><text:p>shaped</text:p></draw:custom-shape> and more</text:p>\
        <text:p>So <draw:frame><draw:object xlink:href=\"./Object 1\"/><draw:image xlink:href=\"./r.png\"/></draw:frame> is</text:p>";
    let formula = "<math:math><math:semantics><math:mi onclick=\"x\">a</math:mi><math:annotation encoding=\"StarMath 5.0\">a</math:annotation></math:semantics></math:math>";
    assert_eq!(
        html(DocumentKind::Odt, styles, body, &[("Object 1/content.xml", formula)]),
        "<h1>Name</h1>\n<blockquote><p>said</p>\n</blockquote>\n<p>x<sup>2</sup> <code>ls</code><sup><a href=\"#fn1\">1</a></sup></p>\n\
         <p>Text</p>\n<p>boxed</p>\n<p>Text and more</p>\n<p>shaped</p>\n<p>So <math><semantics><mi>a</mi></semantics></math> is</p>\n\
         <ol><li id=\"fn1\">see <a href=\"https://tea.test/\">it</a></li>\n</ol>\n"
    );
}

#[test]
fn odt_merged_cells_have_spans() {
    let cell = |attributes: &str, text: &str| {
        format!("<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>")
    };
    let body = format!(
        "<table:table><table:table-row>{}{}</table:table-row><table:table-row><table:covered-table-cell/>{}</table:table-row></table:table>",
        cell("table:number-rows-spanned=\"2\"", "both"),
        cell("", "a"),
        cell("", "b"),
    );
    assert_eq!(
        html(DocumentKind::Odt, "", &body, &[]),
        "<table>\n<tr><th rowspan=\"2\">both</th><th>a</th></tr>\n<tr><td>b</td></tr>\n</table>\n"
    );
}

#[test]
fn odt_nested_tables_are_lines_of_their_cell() {
    let inner = "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p>\
        </table:table-cell></table:table-row></table:table>";
    let body = format!(
        "<table:table><table:table-row><table:table-cell><text:p>x</text:p>{inner}</table:table-cell></table:table-row></table:table>"
    );
    assert_eq!(
        html(DocumentKind::Odt, "", &body, &[]),
        "<table role=\"table\">\n<tr><th>x<br>a b</th></tr>\n</table>\n"
    );
}

#[test]
fn ods_hidden_sheets_rows_and_columns_are_left_out() {
    let styles =
        "<style:style style:name=\"h\"><style:table-properties table:display=\"false\"/></style:style>";
    let cell = |text: &str| {
        format!("<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>")
    };
    let body = format!(
        "<table:table table:name=\"Secret\" table:style-name=\"h\"><table:table-row>{}</table:table-row></table:table>\
         <table:table table:name=\"Open\"><table:table-column/><table:table-column table:visibility=\"collapse\"/><table:table-column/>\
         <table:table-row>{}{}{}</table:table-row><table:table-row table:visibility=\"collapse\">{}</table:table-row>\
         <table:table-row>{}<table:table-cell/>{}</table:table-row></table:table>",
        cell("secret"),
        cell("a"),
        cell("hidden"),
        cell("c"),
        cell("hidden"),
        cell("x"),
        cell("y"),
    );
    assert_eq!(
        html(DocumentKind::Ods, styles, &body, &[]),
        "<h2>Open</h2>\n<table>\n<tr><th>a</th><th>c</th></tr>\n<tr><td>x</td><td>y</td></tr>\n</table>\n"
    );
}

#[test]
fn odp_titles_are_written_once_and_hidden_slides_left_out() {
    let styles = "<style:style style:name=\"h\"><style:drawing-page-properties presentation:visibility=\"hidden\"/></style:style>";
    let frame = |attributes: &str, text: &str| {
        format!(
            "<draw:frame {attributes}><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>"
        )
    };
    let body = format!(
        "<draw:page draw:name=\"page1\">{}{}{}<presentation:notes>{}{}</presentation:notes></draw:page>\
         <draw:page draw:name=\"page2\" draw:style-name=\"h\">{}</draw:page><draw:page draw:name=\"Prices\">{}</draw:page>",
        frame("svg:x=\"1cm\" svg:y=\"5cm\" svg:width=\"4cm\" svg:height=\"1cm\"", "lower"),
        frame("svg:x=\"1cm\" svg:y=\"30mm\" svg:width=\"4cm\" svg:height=\"1cm\"", "upper"),
        frame("presentation:class=\"title\"", "Plan"),
        frame("presentation:class=\"page\"", "1"),
        frame("presentation:class=\"notes\"", "Speak."),
        frame("", "hidden"),
        frame("", "text"),
    );
    assert_eq!(
        html(DocumentKind::Odp, styles, &body, &[]),
        "<h2>Plan</h2>\n<p>upper</p>\n<p>lower</p>\n<blockquote><p>Notes: Speak.</p>\n</blockquote>\n<h2>Prices</h2>\n<p>text</p>\n"
    );
}

#[test]
fn repetitions_and_spans_are_bounded() {
    let body = "<table:table table:name=\"S\"><table:table-row table:number-rows-repeated=\"64\"><table:table-cell \
        table:number-columns-repeated=\"64\" table:number-columns-spanned=\"9999999\" table:number-rows-spanned=\"9999999\"><text:p>x</text:p>\
        </table:table-cell></table:table-row></table:table>";
    for kind in [DocumentKind::Ods, DocumentKind::Odt] {
        assert!(html(kind, "", body, &[]).len() < 1_000_000);
    }
}

#[test]
fn deeply_nested_frames_and_tables_are_bounded() {
    let frames = "<text:p><draw:frame><draw:text-box>".repeat(165) + "<text:p>deep";
    let tables = "<table:table><table:table-row><table:table-cell>".repeat(165) + "<text:p>deep";
    for body in [frames, tables] {
        for kind in [DocumentKind::Odt, DocumentKind::Ods, DocumentKind::Odp] {
            assert!(html(kind, "", &body, &[]).len() < 100_000);
        }
    }
}
