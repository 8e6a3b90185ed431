//! Tests of PowerPoint presentations: notes, hidden slides, groups, reading order, numbers, tables, charts.

use websvc_documents::{DocumentKind, Limits, ParsedDocument, parse};

use crate::package_writer::package;

/// Reads a presentation with these slides, each with further parts.
fn slides(slides: &[&str], others: &[(&str, &str)]) -> ParsedDocument {
    let numbers = 1..=slides.len();
    let ids: String = numbers.clone().map(|number| format!("<p:sldId r:id=\"r{number}\"/>")).collect();
    let presentation = format!("<p:presentation>{ids}</p:presentation>");
    let targets: String = numbers
        .clone()
        .map(|number| format!("<Relationship Id=\"r{number}\" Target=\"slides/slide{number}.xml\"/>"))
        .collect();
    let relations = format!("<R>{targets}</R>");
    let names: Vec<String> = numbers.map(|number| format!("ppt/slides/slide{number}.xml")).collect();
    let mut parts: Vec<(&str, &[u8])> = vec![
        ("ppt/presentation.xml", presentation.as_bytes()),
        ("ppt/_rels/presentation.xml.rels", relations.as_bytes()),
    ];
    parts.extend(names.iter().zip(slides).map(|(name, slide)| (name.as_str(), slide.as_bytes())));
    parts.extend(others.iter().map(|(name, text)| (*name, text.as_bytes())));
    parse(DocumentKind::Pptx, package(&parts), &Limits::default()).unwrap()
}

/// Returns a shape with a text, at a position in centimetres.
fn shape(position: Option<(u32, u32)>, properties: &str, text: &str) -> String {
    let position = position.map_or(String::new(), |(x, y)| {
        format!("<a:off x=\"{}\" y=\"{}\"/><a:ext cx=\"720000\" cy=\"360000\"/>", x * 360_000, y * 360_000)
    });
    format!("<p:sp>{properties}{position}<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>")
}

#[test]
fn shapes_are_read_by_position_and_groups_as_a_whole() {
    let group = format!(
        "<p:grpSp><p:grpSpPr><a:off x=\"0\" y=\"3600000\"/><a:ext cx=\"3600000\" cy=\"720000\"/></p:grpSpPr>{}{}</p:grpSp>",
        shape(Some((9, 1)), "", "group 2"),
        shape(Some((1, 1)), "", "group 1"),
    );
    let slide = format!(
        "<p:sld>{group}{}{}{}{}</p:sld>",
        shape(Some((9, 5)), "", "right"),
        shape(Some((1, 5)), "", "left"),
        shape(Some((1, 9)), "<p:nvPr><p:ph type=\"title\"/></p:nvPr>", "Title"),
        shape(Some((1, 2)), "<p:cNvPr hidden=\"1\"/>", "secret"),
    );
    assert_eq!(
        slides(&[&slide], &[]).html,
        "<h2>Title</h2>\n<p>left</p>\n<p>right</p>\n<p>group 1</p>\n<p>group 2</p>\n"
    );
}

#[test]
fn placeholders_have_the_position_of_their_layout() {
    let slide = format!(
        "<p:sld>{}{}</p:sld>",
        shape(None, "<p:ph type=\"pic\" idx=\"2\"/>", "below"),
        shape(Some((1, 1)), "", "above")
    );
    let layout = "<p:sldLayout><p:sp><p:ph type=\"pic\" idx=\"2\"/><a:off x=\"0\" y=\"3600000\"/><a:ext cx=\"10\" cy=\"10\"/></p:sp></p:sldLayout>";
    let relations = "<R><Relationship Id=\"l\" Type=\"x/slideLayout\" Target=\"../layout.xml\"/></R>";
    let parsed =
        slides(&[&slide], &[("ppt/layout.xml", layout), ("ppt/slides/_rels/slide1.xml.rels", relations)]);
    assert_eq!(parsed.html, "<h2>Slide 1</h2>\n<p>above</p>\n<p>below</p>\n");
}

#[test]
fn notes_are_quotes_and_hidden_slides_are_left_out() {
    let title = |text: &str| shape(None, "<p:nvPr><p:ph type=\"ctrTitle\"/></p:nvPr>", text);
    let first = format!("<p:sld>{}</p:sld>", title("One"));
    let hidden = format!("<p:sld show=\"0\">{}</p:sld>", title("Hidden"));
    let notes = format!(
        "<p:notes>{}{}</p:notes>",
        shape(None, "<p:ph type=\"body\"/>", "Speak."),
        shape(None, "<p:ph type=\"sldNum\"/>", "1")
    );
    let relations = "<R><Relationship Id=\"n\" Type=\"x/notesSlide\" Target=\"../notes/n.xml\"/></R>";
    let parsed = slides(
        &[&first, &hidden],
        &[("ppt/notes/n.xml", &notes), ("ppt/slides/_rels/slide1.xml.rels", relations)],
    );
    assert_eq!(parsed.html, "<h2>One</h2>\n<blockquote><p>Notes: Speak.</p>\n</blockquote>\n");
    assert_eq!(parsed.pages.map(|pages| (pages.read, pages.total)), Some((1, 1)));
    assert!(parsed.warnings.is_empty());
}

#[test]
fn points_have_their_bullets_and_numbers() {
    let point = |properties: &str, text: &str| {
        format!("<a:p><a:pPr{properties}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>")
    };
    let slide = format!(
        "<p:sld><p:sp><p:ph idx=\"1\"/><p:txBody>{}{}{}{}{}{}</p:txBody></p:sp></p:sld>",
        point("><a:buNone/>", "plain"),
        point(">", "bullet"),
        point("><a:buAutoNum type=\"arabicPeriod\" startAt=\"3\"/>", "three"),
        point(" lvl=\"1\"><a:buAutoNum type=\"alphaLcParenR\"/>", "a"),
        point("><a:buAutoNum type=\"arabicPeriod\" startAt=\"3\"/>", "four"),
        point("><a:buAutoNum type=\"romanUcPeriod\"/>", "I"),
    );
    assert_eq!(
        slides(&[&slide], &[]).html,
        "<h2>Slide 1</h2>\n<p>plain</p>\n<ul><li>bullet</li></ul>\n<ol start=\"3\"><li>three<ul><li>a) a</li></ul>\n</li>\n\
         <li>four</li></ol>\n<ul><li>I. I</li></ul>\n"
    );
}

#[test]
fn tables_charts_and_diagrams_are_read() {
    let cell = |attributes: &str, text: &str| {
        format!("<a:tc{attributes}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>")
    };
    let table = format!(
        "<p:graphicFrame><a:tbl><a:tr>{}{}</a:tr><a:tr>{}{}</a:tr></a:tbl></p:graphicFrame>",
        cell(" gridSpan=\"2\"", "wide"),
        cell(" hMerge=\"1\"", ""),
        cell("", "a"),
        cell("", "b"),
    );
    let slide = format!(
        "<p:sld>{table}<p:graphicFrame><c:chart r:id=\"c\"/></p:graphicFrame><p:graphicFrame><dgm:relIds r:dm=\"d\"/></p:graphicFrame></p:sld>"
    );
    let chart = "<c:chart><c:plotArea><c:ser><c:val><c:pt idx=\"0\"><c:v>1.5</c:v></c:pt></c:val></c:ser></c:plotArea></c:chart>";
    let diagram = "<dgm:dataModel><dgm:pt type=\"pres\"><dgm:t><a:p><a:r><a:t>no</a:t></a:r></a:p></dgm:t></dgm:pt>\
        <dgm:pt><dgm:t><a:p><a:r><a:t>Step</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>";
    let relations =
        "<R><Relationship Id=\"c\" Target=\"../c.xml\"/><Relationship Id=\"d\" Target=\"../d.xml\"/></R>";
    let parsed = slides(
        &[&slide],
        &[("ppt/c.xml", chart), ("ppt/d.xml", diagram), ("ppt/slides/_rels/slide1.xml.rels", relations)],
    );
    assert_eq!(
        parsed.html,
        "<h2>Slide 1</h2>\n<table>\n<tr><th colspan=\"2\">wide</th></tr>\n<tr><td>a</td><td>b</td></tr>\n</table>\n\
         <table role=\"table\">\n<tr><th></th><th>1.5</th></tr>\n</table>\n<ul><li>Step</li></ul>\n"
    );
}

#[test]
fn series_with_x_values_of_their_own_are_tables_of_their_own() {
    let numbers = |name: &str, values: [&str; 2]| {
        let points = (0..2).map(|index| format!("<c:pt idx=\"{index}\"><c:v>{}</c:v></c:pt>", values[index]));
        format!("<c:{name}>{}</c:{name}>", points.collect::<String>())
    };
    let series = |name: &str, x: [&str; 2], y: [&str; 2]| {
        let name = format!("<c:tx><c:v>{name}</c:v></c:tx>");
        format!("<c:ser>{name}{}{}</c:ser>", numbers("xVal", x), numbers("yVal", y))
    };
    let chart = format!(
        "<c:chart><c:plotArea>{}{}{}</c:plotArea></c:chart>",
        series("A", ["1", "2"], ["10", "20"]),
        series("B", ["1", "2"], ["30", "40"]),
        series("C", ["5", "6"], ["50", "60"])
    );
    let relations = "<R><Relationship Id=\"c\" Target=\"../c.xml\"/></R>";
    let slide = "<p:sld><p:graphicFrame><c:chart r:id=\"c\"/></p:graphicFrame></p:sld>";
    let parsed = slides(&[slide], &[("ppt/c.xml", &chart), ("ppt/slides/_rels/slide1.xml.rels", relations)]);
    let row =
        |cells: &str| cells.replace("[", "<tr><td>").replace("]", "</td></tr>\n").replace("|", "</td><td>");
    let html = parsed.html.replace("th>", "td>");
    for rows in ["[|A|B][1|10|30][2|20|40]", "[|C][5|50][6|60]"] {
        assert!(html.contains(&row(rows)), "{rows}: {html}");
    }
}

#[test]
fn deeply_nested_groups_are_bounded() {
    let slide = "<p:sld>".to_owned() + &"<p:grpSp>".repeat(480) + &shape(None, "", "deep");
    let _ = slides(&[&slide], &[]).html;
}
