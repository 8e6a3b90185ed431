//! Tests of what PDF files state about their text: structure trees, form fields, and wrong characters.

use crate::pdf_writer::{Page, REGULAR, pdf, pdf_with_catalog, read_file};

/// Reads a page with a structure tree, whose root is the object 10. The page is the object after the tree.
fn with_tree(page: Page, tree: &[&str]) -> String {
    let objects: Vec<Vec<u8>> = tree.iter().map(|object| object.as_bytes().to_vec()).collect();
    read_file(pdf_with_catalog(&[page], "", &objects, "", "/StructTreeRoot 10 0 R")).html
}

fn marked(page: Page, id: u32, x: f64, y: f64, text: &str) -> Page {
    page.raw(&format!("/P << /MCID {id} >> BDC")).text(REGULAR, 10.0, x, y, text).raw("EMC")
}

/// Returns a page of a heading, an item and a row of two cells, all of them in the same font.
fn tagged_page() -> Page {
    let page = marked(Page::default(), 0, 50.0, 300.0, "Kinds of tea");
    let page = marked(page, 1, 50.0, 100.0, "green and other");
    let page = marked(page, 2, 50.0, 140.0, "Sencha");
    marked(page, 3, 120.0, 140.0, "one minute")
}

const TREE: [&str; 8] = [
    "<< /Type /StructTreeRoot /K 11 0 R /RoleMap << /Headline /H2 >> >>",
    "<< /S /Document /K [12 0 R 13 0 R 15 0 R] >>",
    "<< /S /Headline /Pg 18 0 R /K 0 >>",
    "<< /S /L /K 14 0 R >>",
    "<< /S /LI /Pg 18 0 R /K [<< /Type /MCR /MCID 1 >>] >>",
    "<< /S /Table /K << /S /TR /K [16 0 R 17 0 R] >> >>",
    "<< /S /TD /Pg 18 0 R /K [2] >>",
    "<< /S /TD /Pg 18 0 R /K [3] >>",
];

#[test]
fn structure_tree_decides_about_headings_lists_tables_and_order() {
    let html = with_tree(tagged_page(), &TREE);
    assert!(html.starts_with("<h2>Kinds of tea</h2>\n<ul><li>green and other</li></ul>"), "{html}");
    assert!(html.contains("<tr><th>Sencha</th><th>one minute</th></tr>"), "{html}");
}

#[test]
fn implausible_or_cyclic_structure_tree_is_ignored() {
    let layout = read_file(pdf(&[tagged_page()])).html;
    for tree in [
        ["<< /Type /StructTreeRoot /K 11 0 R >>", "<< /S /Sect /K [11 0 R 11 0 R] >>"],
        ["<< /Type /StructTreeRoot /K [0 1 2 3 99999999999] >>", "<< /S /P >>"],
    ] {
        assert_eq!(with_tree(tagged_page(), &tree), layout);
    }
}

#[test]
fn values_of_fields_are_read_at_their_place() {
    let label = |page: Page, y: f64, text: &str| page.text(REGULAR, 10.0, 50.0, y, text);
    let page = label(
        label(label(label(Page::default(), 100.0, "Surname:"), 120.0, "Harbour:"), 140.0, "Member:"),
        160.0,
        "Guest:",
    );
    let widget =
        |y: u32, entries: &str| format!("/Subtype /Widget /Rect [110 {} 200 {}] {entries}", 796 - y, 808 - y);
    let fields = [
        widget(100, "/FT /Tx /V (Lindqvist)"),
        widget(120, "/FT /Ch /V (n) /Opt [[(s) (South)] [(n) (North)]]"),
        widget(140, "/FT /Btn /AS /Yes"),
        widget(160, "/FT /Btn /AS /Off"),
        widget(180, "/FT /Tx /F 2 /V (hidden)"),
        widget(200, "/FT /Tx /Ff 8192 /V (secret)"),
    ];
    let annotations = fields.map(|field| format!("<< {field} >>")).join(" ");
    let html = read_file(pdf(&[page.annotations(&annotations)])).html;
    let text = html.replace("</th><th>", " ").replace("</td><td>", " ");
    for expected in ["Surname: Lindqvist", "Harbour: North", "Member: ☑", "Guest: ☐"] {
        assert!(text.contains(expected), "{html}");
    }
    assert!(!html.contains("hidden") && !html.contains("secret"), "{html}");
}

#[test]
fn shifted_characters_are_decoded_with_a_warning() {
    let text = "Wkh txduwhuob lqyhqwrub ri wkh kduerxu zdv wdnhq eb wzr fohunv dqg doo wkh odpsv duh iloohg zlwk fohdq rlo";
    let more =
        "wkh fhuwlilfdwh ri wkh qruwkhuq fudqh hasluhv lq wkh dxwxpq dqg lwv uhqhzdo qhhgv wkuhh vljqdwxuhv";
    let parsed = read_file(pdf(&[Page::default().lines(50.0, 100.0, &[text, more])]));
    assert!(parsed.html.contains("inventory of the harbour was taken"), "{}", parsed.html);
    assert!(
        parsed.warnings.iter().any(|warning| warning.contains("wrong characters")),
        "{:?}",
        parsed.warnings
    );
}

#[test]
fn label_before_text_that_belongs_to_the_item_itself_is_its_marker() {
    let page = marked(Page::default(), 0, 50.0, 100.0, "1.");
    let page = marked(page, 1, 70.0, 100.0, "Boil the water");
    let page = marked(page, 2, 50.0, 120.0, "2.");
    let page = marked(page, 3, 70.0, 120.0, "Add the leaves");
    let tree = [
        "<< /Type /StructTreeRoot /K 11 0 R >>",
        "<< /S /Document /K << /S /L /K [12 0 R 13 0 R] >> >>",
        "<< /S /LI /Pg 16 0 R /K [14 0 R 1] >>",
        "<< /S /LI /Pg 16 0 R /K [15 0 R 3] >>",
        "<< /S /Lbl /Pg 16 0 R /K 0 >>",
        "<< /S /Lbl /Pg 16 0 R /K 2 >>",
    ];
    let html = with_tree(page, &tree);
    assert!(html.contains("<ol><li>Boil the water</li>\n<li>Add the leaves</li></ol>"), "{html}");
}

#[test]
fn deeper_list_after_a_list_is_nested_in_it() {
    let page = marked(Page::default(), 0, 50.0, 100.0, "Boil the water");
    let page = marked(page, 1, 70.0, 120.0, "in a kettle");
    let page = marked(page, 2, 50.0, 140.0, "Add the leaves");
    let tree = [
        "<< /Type /StructTreeRoot /K 11 0 R >>",
        "<< /S /Document /K [12 0 R 13 0 R 14 0 R] >>",
        "<< /S /L /K << /S /LI /Pg 15 0 R /K 0 >> >>",
        "<< /S /L /K << /S /LI /Pg 15 0 R /K 1 >> >>",
        "<< /S /L /K << /S /LI /Pg 15 0 R /K 2 >> >>",
    ];
    let html = with_tree(page, &tree);
    assert!(html.contains("<ul><li>Boil the water<ul><li>in a kettle</li></ul>"), "{html}");
}

#[test]
fn table_that_is_tagged_as_text_of_the_document_is_read_by_the_layout() {
    let mut page = marked(Page::default(), 0, 50.0, 80.0, "Prices of the harbour");
    for (row, cells) in
        [["Boat", "Hours"], ["Anna", "24"], ["Berta", "36"], ["Clara", "7"]].iter().enumerate()
    {
        let y = 110.0 + 14.0 * row as f64;
        page = marked(page, 1, 50.0, y, cells[0]);
        page = marked(page, 1, 150.0, y, cells[1]);
    }
    let tree = [
        "<< /Type /StructTreeRoot /K 11 0 R >>",
        "<< /S /Document /K [12 0 R 13 0 R] >>",
        "<< /S /P /Pg 14 0 R /K 0 >>",
        "<< /S /NonStruct /Pg 14 0 R /K 1 >>",
    ];
    let html = with_tree(page, &tree);
    assert!(html.contains("<tr><td>Berta</td><td>36</td></tr>"), "{html}");
}
