//! Tests of Word documents: numbers, formulas, changes, code, quotes, frames, images.

use websvc_documents::{DocumentKind, Limits, parse};

use crate::package_writer::{docx, package};

/// Returns the HTML of a document with these parts.
fn html(body: &str, others: &[(&str, &str)]) -> String {
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let mut parts: Vec<(&str, &[u8])> = vec![("word/document.xml", document.as_bytes())];
    parts.extend(others.iter().map(|(name, text)| (*name, text.as_bytes())));
    parse(DocumentKind::Docx, package(&parts), &Limits::default()).unwrap().html
}

fn run(text: &str) -> String {
    format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>")
}

fn paragraph(properties: &str, text: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr>{}</w:p>", run(text))
}

fn item(list: u32, level: u32, text: &str) -> String {
    paragraph(&format!("<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{list}\"/></w:numPr>"), text)
}

fn level(index: u32, format: &str, text: &str, more: &str) -> String {
    format!(
        "<w:lvl w:ilvl=\"{index}\"><w:start w:val=\"1\"/>{more}<w:numFmt w:val=\"{format}\"/><w:lvlText w:val=\"{text}\"/></w:lvl>"
    )
}

/// Returns numbering with the definitions 1 (decimal, letters, Roman), 2 (multilevel) and 3 (a link to a style), and the
/// lists 1 to 4. List 4 has the definition of list 1 and its own start.
fn numbering() -> String {
    format!(
        "<w:numbering><w:abstractNum w:abstractNumId=\"1\">{}{}{}</w:abstractNum>\
         <w:abstractNum w:abstractNumId=\"2\">{}{}{}</w:abstractNum>\
         <w:abstractNum w:abstractNumId=\"3\"><w:numStyleLink w:val=\"Listed\"/></w:abstractNum>\
         <w:num w:numId=\"1\"><w:abstractNumId w:val=\"1\"/></w:num><w:num w:numId=\"2\"><w:abstractNumId w:val=\"2\"/></w:num>\
         <w:num w:numId=\"3\"><w:abstractNumId w:val=\"3\"/></w:num>\
         <w:num w:numId=\"4\"><w:abstractNumId w:val=\"1\"/><w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"7\"/></w:lvlOverride></w:num>\
         </w:numbering>",
        level(0, "decimal", "%1.", ""),
        level(1, "lowerLetter", "(%2)", ""),
        level(2, "lowerRoman", "%3.", ""),
        level(0, "decimal", "%1", "<w:pStyle w:val=\"Heading1\"/>"),
        level(1, "decimal", "%1.%2", "<w:pStyle w:val=\"Heading2\"/>"),
        level(2, "upperRoman", "Part %3:", "<w:isLgl/>"),
    )
}

const STYLES: &str = "<w:styles>\
    <w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"Normal\"><w:name w:val=\"Normal\"/></w:style>\
    <w:style w:styleId=\"Heading1\"><w:name w:val=\"heading 1\"/><w:pPr><w:numPr><w:numId w:val=\"2\"/></w:numPr></w:pPr></w:style>\
    <w:style w:styleId=\"Heading2\"><w:name w:val=\"heading 2\"/><w:basedOn w:val=\"Heading1\"/></w:style>\
    <w:style w:styleId=\"Own\"><w:name w:val=\"My heading\"/><w:basedOn w:val=\"Heading2\"/><w:pPr><w:numPr><w:numId w:val=\"0\"/></w:numPr></w:pPr></w:style>\
    <w:style w:styleId=\"Numbered\"><w:name w:val=\"List Number\"/><w:pPr><w:numPr><w:numId w:val=\"1\"/></w:numPr></w:pPr></w:style>\
    <w:style w:styleId=\"Listed\"><w:name w:val=\"Listed\"/><w:pPr><w:numPr><w:numId w:val=\"1\"/></w:numPr></w:pPr></w:style>\
    <w:style w:styleId=\"Cited\"><w:name w:val=\"Intense Quote\"/></w:style>\
    <w:style w:styleId=\"Listing\"><w:name w:val=\"Listing block\"/><w:rPr><w:rFonts w:ascii=\"Consolas\"/></w:rPr></w:style>\
    <w:style w:type=\"character\" w:styleId=\"Key\"><w:name w:val=\"Key\"/><w:rPr><w:b/><w:i/></w:rPr></w:style></w:styles>";

fn numbered(body: &str) -> String {
    html(body, &[("word/numbering.xml", &numbering()), ("word/styles.xml", STYLES)])
}

#[test]
fn items_have_the_numbers_that_word_shows() {
    let body = [
        item(1, 0, "one"),
        item(1, 1, "a"),
        item(1, 1, "b"),
        item(1, 2, "i"),
        item(1, 0, "two"),
        item(1, 1, "again a"),
        paragraph("", "between"),
        item(1, 0, "three"),
        item(4, 0, "seven"),
        item(4, 0, "eight"),
        paragraph("<w:pStyle w:val=\"Numbered\"/>", "nine by style"),
        item(3, 0, "ten by the link to a style"),
        item(9, 0, "unknown list"),
    ];
    assert_eq!(
        numbered(&body.concat()),
        "<ol><li>one<ul><li>(a) a</li>\n<li>(b) b<ul><li>i. i</li></ul>\n</li></ul>\n</li>\n<li>two<ul><li>(a) again a</li></ul>\n\
         </li></ol>\n<p>between</p>\n<ol start=\"3\"><li>three</li>\n<li value=\"7\">seven</li>\n<li>eight</li>\n<li>nine by style</li>\n\
         <li>ten by the link to a style</li></ol>\n<ul><li>unknown list</li></ul>\n"
    );
}

#[test]
fn levels_begin_again_after_the_levels_that_they_state() {
    let restart = |levels: u32| format!("<w:lvlRestart w:val=\"{levels}\"/>");
    let numbering = format!(
        "<w:numbering><w:abstractNum w:abstractNumId=\"1\">{}{}{}{}</w:abstractNum>\
         <w:num w:numId=\"1\"><w:abstractNumId w:val=\"1\"/></w:num></w:numbering>",
        level(0, "upperRoman", "%1.", ""),
        level(1, "decimal", "%1.%2", ""),
        level(2, "lowerLetter", "(%3)", &restart(1)),
        level(3, "decimalZero", "no. %4", &restart(0)),
    );
    let levels = [0, 1, 2, 3, 1, 2, 0, 1, 2, 3];
    let body: String = levels.iter().map(|level| item(1, *level, "x")).collect();
    let html = html(&body, &[("word/numbering.xml", &numbering)]);
    let shown: Vec<&str> = html.split("<li>").skip(1).filter_map(|item| item.split(" x").next()).collect();
    assert_eq!(shown, ["I.", "I.1", "(a)", "no. 01", "I.2", "(b)", "II.", "II.1", "(a)", "no. 02"]);
}

#[test]
fn headings_have_their_numbers() {
    let heading = |style: &str, text: &str| paragraph(&format!("<w:pStyle w:val=\"{style}\"/>"), text);
    let body = [
        heading("Heading1", "Scope"),
        heading("Heading2", "Terms"),
        heading("Heading2", "Rules"),
        heading("Own", "Without number"),
        heading("Heading1", "Use"),
        heading("Heading2", "First"),
        item(2, 2, "legal"),
    ];
    assert_eq!(
        numbered(&body.concat()),
        "<h1>1 Scope</h1>\n<h2>1.1 Terms</h2>\n<h2>1.2 Rules</h2>\n<h2>Without number</h2>\n<h1>2 Use</h1>\n<h2>2.1 First</h2>\n\
         <ul><li>Part 1: legal</li></ul>\n"
    );
}

#[test]
fn formulas_are_latex_in_the_text_or_on_their_own_line() {
    let square = "<m:oMath><m:sSup><m:e><m:r><m:t>a</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>";
    let body = format!(
        "<w:p>{}{square}{}</w:p><w:p><m:oMathPara>{square}</m:oMathPara></w:p>",
        run("Where "),
        run(" is.")
    );
    assert_eq!(
        html(&body, &[]),
        "<p>Where <math alttext=\"a^{2}\"><mtext>a^{2}</mtext></math> is.</p>\n\
         <p><math alttext=\"a^{2}\" display=\"block\"><mtext>a^{2}</mtext></math></p>\n"
    );
}

#[test]
fn tracked_changes_show_the_current_text_once() {
    let body = format!(
        "<w:p>{}<w:ins>{}</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:moveFrom>{}</w:moveFrom></w:p>\
         <w:p><w:moveTo>{}</w:moveTo></w:p>\
         <w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>{}</w:p><w:p>{}</w:p>\
         <w:tbl><w:tr><w:tc><w:p>{}</w:p></w:tc><w:tc><w:p>{}</w:p></w:tc></w:tr>\
         <w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p>{}</w:p></w:tc></w:tr></w:tbl>",
        run("Now "),
        run("new"),
        run("moved"),
        run("moved"),
        run("One "),
        run("paragraph"),
        run("a"),
        run("b"),
        run("deleted row"),
    );
    assert_eq!(
        html(&body, &[]),
        "<p>Now new</p>\n<p>moved</p>\n<p>One paragraph</p>\n<table role=\"table\">\n<tr><th>a</th><th>b</th></tr>\n</table>\n"
    );
}

#[test]
fn code_quotes_and_scripts_are_kept() {
    let styled = |properties: &str, text: &str| {
        format!("<w:r><w:rPr>{properties}</w:rPr><w:t xml:space=\"preserve\">{text}</w:t></w:r>")
    };
    let courier = "<w:rFonts w:ascii=\"Courier New\"/>";
    let body = [
        paragraph("<w:pStyle w:val=\"Listing\"/>", "if a &lt; b:"),
        paragraph("<w:pStyle w:val=\"Listing\"/>", "    go()"),
        format!("<w:p>{}</w:p>", styled(courier, "make")),
        format!("<w:p>{}{}{}</w:p>", run("Run "), styled(courier, "ls"), run(" now")),
        paragraph("<w:pStyle w:val=\"Cited\"/>", "said"),
        paragraph("<w:pStyle w:val=\"Cited\"/>", "and done"),
        format!("<w:p>{}{}</w:p>", run("x"), styled("<w:vertAlign w:val=\"superscript\"/>", "2")),
        format!("<w:p>{}</w:p>", styled("<w:rStyle w:val=\"Key\"/><w:i w:val=\"0\"/>", "key")),
    ];
    assert_eq!(
        numbered(&body.concat()),
        "<pre><code>if a &lt; b:\n    go()\nmake</code></pre>\n<p>Run <code>ls</code> now</p>\n\
         <blockquote><p>said</p>\n<p>and done</p>\n</blockquote>\n<p>x<sup>2</sup></p>\n<p><strong>key</strong></p>\n"
    );
}

#[test]
fn text_set_in_one_fixed_width_font_is_not_code() {
    let line = "<w:p><w:r><w:rPr><w:rFonts w:ascii=\"Courier New\"/></w:rPr><w:t>A page of a typewriter.</w:t></w:r></w:p>";
    let styled = paragraph("<w:pStyle w:val=\"Listing\"/>", "A page of a typewriter.");
    for line in [line, &styled] {
        let html = numbered(&line.repeat(40));
        assert!(
            html.starts_with("<p>A page of a typewriter.</p>\n<p>") && !html.contains("<code>"),
            "{html}"
        );
    }
}

#[test]
fn fields_show_their_results() {
    let field = |instruction: &str, result: &str| {
        format!(
            "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>{instruction}</w:instrText></w:r>\
             <w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>{}<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>",
            run(result)
        )
    };
    let greek = "<w:r><w:rPr><w:rFonts w:ascii=\"Symbol\"/></w:rPr><w:t>ab \u{f0b7}</w:t></w:r>";
    let body = format!(
        "<w:p>{}{}</w:p><w:p>{greek}</w:p><w:p><w:r><w:sym w:font=\"Wingdings\" w:char=\"F0FC\"/></w:r>{}<w:r><w:softHyphen/></w:r>{}</w:p>",
        field(" HYPERLINK \"https://tea.test/\" ", "link"),
        field(" PAGEREF x ", " page 3"),
        run(" soft"),
        run("ware"),
    );
    assert_eq!(
        html(&body, &[]),
        "<p><a href=\"https://tea.test/\">link</a> page 3</p>\n<p>αβ •</p>\n<p>✓ software</p>\n"
    );
}

#[test]
fn text_boxes_follow_their_paragraph_and_frames_are_not_tables() {
    let body = format!(
        "<w:p>{}<w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p>{}</w:p></w:txbxContent></mc:Choice>\
         <mc:Fallback><w:txbxContent><w:p>{}</w:p></w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>\
         <w:tbl><w:tr><w:tc>{}{}</w:tc></w:tr></w:tbl>",
        run("Text"),
        run("boxed"),
        run("boxed"),
        paragraph("", "framed"),
        item(1, 0, "item"),
    );
    assert_eq!(numbered(&body), "<p>Text</p>\n<p>boxed</p>\n<p>framed</p>\n<ol><li>item</li></ol>\n");
}

#[test]
fn cells_over_several_rows_have_spans() {
    let cell = |properties: &str, text: &str| {
        format!("<w:tc><w:tcPr>{properties}</w:tcPr><w:p>{}</w:p></w:tc>", run(text))
    };
    let body = format!(
        "<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}</w:tr></w:tbl>",
        cell("<w:vMerge w:val=\"restart\"/>", "both"),
        cell("", "a"),
        cell("<w:vMerge/>", ""),
        cell("", "b"),
    );
    assert_eq!(
        html(&body, &[]),
        "<table>\n<tr><th rowspan=\"2\">both</th><th>a</th></tr>\n<tr><td>b</td></tr>\n</table>\n"
    );
}

#[test]
fn nested_tables_are_lines_of_their_cell() {
    let cells =
        |texts: [&str; 2]| texts.map(|text| format!("<w:tc><w:p>{}</w:p></w:tc>", run(text))).concat();
    let inner =
        format!("<w:tbl><w:tr>{}</w:tr><w:tr>{}</w:tr></w:tbl>", cells(["a", "b"]), cells(["c", "d"]));
    let body = format!(
        "<w:tbl><w:tr><w:tc>{inner}<w:p>{}</w:p></w:tc><w:tc><w:p>{}</w:p></w:tc></w:tr></w:tbl>",
        run("after"),
        run("outer")
    );
    assert_eq!(
        html(&body, &[]),
        "<table role=\"table\">\n<tr><th>a b<br>c d<br>after</th><th>outer</th></tr>\n</table>\n"
    );
}

#[test]
fn images_are_data_and_charts_are_tables() {
    let relations = "<Relationships><Relationship Id=\"p\" Target=\"media/a.png\"/><Relationship Id=\"e\" Target=\"media/a.emf\"/>\
        <Relationship Id=\"w\" Target=\"https://tea.test/b.png\" TargetMode=\"External\"/>\
        <Relationship Id=\"c\" Target=\"charts/c.xml\"/><Relationship Id=\"d\" Target=\"d.xml\"/></Relationships>";
    let diagram = "<dgm:dataModel><dgm:pt><dgm:t><a:p><a:r><a:t>Step</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>";
    let chart = "<c:chartSpace><c:chart><c:title><a:t>Sales</a:t></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:strCache><c:pt idx=\"0\">\
        <c:v>2025</c:v></c:pt></c:strCache></c:tx><c:cat><c:strCache><c:pt idx=\"0\"><c:v>East</c:v></c:pt></c:strCache></c:cat>\
        <c:val><c:numCache><c:formatCode>0%</c:formatCode><c:pt idx=\"0\"><c:v>0.25</c:v></c:pt></c:numCache></c:val></c:ser>\
        </c:barChart></c:plotArea></c:chart></c:chartSpace>";
    let drawing = |alternative: &str, blip: &str| {
        format!("<w:p><w:r><w:drawing><wp:docPr descr=\"{alternative}\"/>{blip}</w:drawing></w:r></w:p>")
    };
    let body = [
        drawing("A cup", "<a:blip r:embed=\"p\"/>"),
        drawing("On the web", "<a:blip r:link=\"w\"/>"),
        drawing("An old drawing", "<a:blip r:embed=\"e\"/>"),
        drawing("", "<c:chart r:id=\"c\"/>"),
        drawing("", "<dgm:relIds r:dm=\"d\"/>"),
    ];
    let html = html(
        &body.concat(),
        &[
            ("word/_rels/document.xml.rels", relations),
            ("word/media/a.emf", "emf"),
            ("word/charts/c.xml", chart),
            ("word/d.xml", diagram),
        ],
    );
    // The alternative text stands for an image that cannot be shown.
    assert_eq!(
        html,
        "<p>A cup</p>\n<p><img src=\"https://tea.test/b.png\" alt=\"On the web\"></p>\n<p>An old drawing</p>\n\
         <p>Sales</p>\n<table>\n<tr><th></th><th>2025</th></tr>\n<tr><td>East</td><td>25%</td></tr>\n</table>\n<ul><li>Step</li></ul>\n"
    );
    let png = b"\x89PNG\r\n\x1a\n";
    let document = format!("<w:document><w:body>{}</w:body></w:document>", body[0]);
    let bytes = package(&[
        ("word/document.xml", document.as_bytes()),
        ("word/_rels/document.xml.rels", relations.as_bytes()),
        ("word/media/a.png", png),
    ]);
    let parsed = parse(DocumentKind::Docx, bytes, &Limits::default()).unwrap();
    assert_eq!(parsed.html, "<p><img src=\"data:image/png;base64,iVBORw0KGgo=\" alt=\"A cup\"></p>\n");
}

#[test]
fn notes_keep_their_markup() {
    let notes = "<w:footnotes><w:footnote w:id=\"1\"><w:p><w:r><w:rPr><w:b/></w:rPr><w:t>Bold</w:t></w:r></w:p>\
        <w:p><w:r><w:t>two</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let ends =
        "<w:endnotes><w:endnote w:id=\"1\"><w:p><w:r><w:t>end</w:t></w:r></w:p></w:endnote></w:endnotes>";
    let body = format!(
        "<w:p>{}<w:r><w:endnoteReference w:id=\"1\"/></w:r>{}<w:r><w:footnoteReference w:id=\"1\"/></w:r></w:p>",
        run("a"),
        run("b")
    );
    assert_eq!(
        html(&body, &[("word/footnotes.xml", notes), ("word/endnotes.xml", ends)]),
        "<p>a<sup><a href=\"#fn1\">1</a></sup>b<sup><a href=\"#fn2\">2</a></sup></p>\n\
         <ol><li id=\"fn1\">end</li>\n<li id=\"fn2\"><p><strong>Bold</strong></p><p>two</p></li>\n</ol>\n"
    );
}

#[test]
fn styles_and_lists_that_refer_to_each_other_end() {
    let styles = "<w:styles><w:style w:styleId=\"A\"><w:basedOn w:val=\"B\"/></w:style><w:style w:styleId=\"B\"><w:basedOn w:val=\"A\"/>\
        <w:pPr><w:numPr><w:numId w:val=\"1\"/></w:numPr></w:pPr></w:style></w:styles>";
    let numbering = "<w:numbering><w:abstractNum w:abstractNumId=\"1\"><w:numStyleLink w:val=\"B\"/></w:abstractNum>\
        <w:num w:numId=\"1\"><w:abstractNumId w:val=\"1\"/></w:num></w:numbering>";
    let body = paragraph("<w:pStyle w:val=\"A\"/>", "text");
    let html = html(&body, &[("word/styles.xml", styles), ("word/numbering.xml", numbering)]);
    assert_eq!(html, "<ul><li>text</li></ul>\n");
}

#[test]
fn nested_formulas_and_boxes_are_bounded() {
    let deep = "<w:p><w:r><m:oMath>".to_owned() + &"<m:f><m:num>".repeat(400) + "<m:r><m:t>1</m:t></m:r>";
    assert!(parse(DocumentKind::Docx, docx(&deep), &Limits::default()).is_err());
    let boxes = "<w:p><w:r><w:txbxContent>".repeat(160);
    let _ = parse(DocumentKind::Docx, docx(&boxes), &Limits::default());
}
