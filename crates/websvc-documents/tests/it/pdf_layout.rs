//! Tests of the layout of PDF: ligatures, narrow gutters, listings, lists, tables, initials and notes.

use crate::pdf_writer::{BOLD, MONO, Page, REGULAR, html, pdf_with, read, read_file, stream};

/// Returns a file with a font whose codes 1 to 3 are the ligatures ff, ffi and fl.
fn ligatures(content: &str) -> String {
    let map = b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n\
        1 begincodespacerange <0000> <ffff> endcodespacerange\n\
        5 beginbfchar <0001> <FB00> <0002> <FB03> <0003> <6600 6c00> <0004> <006f> <0005> <0065> endbfchar endcmap end end";
    let objects = [
        b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [11 0 R] /ToUnicode 12 0 R >>".to_vec(),
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 600 >>".to_vec(),
        stream("", map),
    ];
    let bytes = pdf_with(&[Page::default().raw(content)], "", &objects, "");
    let text = String::from_utf8_lossy(&bytes).replace("/F3 5 0 R >>", "/F9 10 0 R>>").into_bytes();
    read_file(text).html
}

#[test]
fn letters_of_a_ligature_are_not_shadows() {
    assert_eq!(ligatures("BT /F9 10 Tf 50 700 Td <0004000100050002> Tj ET"), "<p>offeffi</p>\n");
}

#[test]
fn ligature_with_swapped_bytes_is_read() {
    assert_eq!(ligatures("BT /F9 10 Tf 50 700 Td <000400030005> Tj ET"), "<p>ofle</p>\n");
}

#[test]
fn columns_with_a_gutter_of_6_points_are_read_one_after_the_other() {
    let words = ["tea", "the", "kettles", "of", "water", "boil", "and", "leaves", "open", "in", "a", "cup"];
    let text = |start: usize| {
        let mut text = String::new();
        while text.len() < 33 {
            text.push_str(words[(start * 5 + text.len()) % words.len()]);
            text.push(' ');
        }
        text.trim_end().to_owned()
    };
    let mut page = Page::default();
    for line in 0..12 {
        let y = 100.0 + 12.0 * line as f64;
        page = page.text(REGULAR, 10.0, 50.0, y, &format!("a{line} {}", text(line)));
        page = page.text(REGULAR, 10.0, 238.0, y, &format!("b{line} {}", text(line + 3)));
    }
    let html = html(page);
    assert!(html.find("a11 ").unwrap() < html.find("b0 ").unwrap(), "{html}");
}

#[test]
fn short_columns_are_no_table_if_their_sentences_continue() {
    let columns = [
        (
            50.0,
            [
                "A coarse rope of three strands",
                "keeps its shape in rain and is",
                "easy to splice. It is the kind",
                "that the harbour uses.",
            ],
        ),
        (
            230.0,
            [
                "A smooth rope of one braid is",
                "softer and runs without noise",
                "through blocks. It costs more",
                "but it lasts for longer.",
            ],
        ),
    ];
    let page = columns.iter().fold(Page::default(), |page, (x, lines)| page.lines(*x, 100.0, lines));
    let html = html(page);
    assert!(
        html.contains("three strands keeps its shape in rain and is easy to splice. It is the kind that"),
        "{html}"
    );
    assert!(!html.contains("<table>"), "{html}");
}

#[test]
fn long_table_without_lines_is_not_columns() {
    let names = ["tea", "kettle of iron", "spoon", "large cup", "pot", "tray of wood"];
    let mut page = Page::default();
    for row in 0..24 {
        let y = 100.0 + 14.0 * row as f64;
        page = page.text(REGULAR, 10.0, 50.0, y, &format!("{} {row}", names[row % 6]));
        page = page.text(REGULAR, 10.0, 150.0, y, &format!("{}", 300 + 7 * row));
        page = page.text(REGULAR, 10.0, 200.0, y, names[(row + 2) % 6]);
    }
    let html = html(page);
    assert!(html.contains("<tr><td>spoon 20</td><td>440</td><td>pot</td></tr>"), "{html}");
}

#[test]
fn table_that_continues_on_the_next_page_is_one_table() {
    let page = |rows: std::ops::Range<u32>, y0: f64| {
        let mut page = Page::default();
        let mut y = y0;
        let cells = |row: u32| {
            if row == 0 { ["Tea".into(), "Grams".into()] } else { [format!("t{row}"), format!("{row}0")] }
        };
        for row in std::iter::once(0).chain(rows) {
            let [left, right] = cells(row);
            page = page.rule(50.0, y, 250.0, y).text(REGULAR, 10.0, 55.0, y + 14.0, &left);
            page = page.text(REGULAR, 10.0, 155.0, y + 14.0, &right);
            y += 20.0;
        }
        page = page.rule(50.0, y, 250.0, y);
        [50.0, 150.0, 250.0].into_iter().fold(page, |page, x| page.rule(x, y0, x, y))
    };
    let html = read(&[page(1..4, 600.0), page(4..7, 60.0)]).html;
    assert_eq!(html.matches("<table>").count(), 1, "{html}");
    assert_eq!(html.matches("Grams").count(), 1, "{html}");
    assert!(html.contains("<tr><td>t3</td><td>30</td></tr>\n<tr><td>t4</td><td>40</td></tr>"), "{html}");
}

#[test]
fn letters_in_wide_cells_are_a_listing() {
    let mut page = Page::default();
    for (row, line) in
        ["let total = items.sum();", "if total > limit {", "    return total;", "}"].iter().enumerate()
    {
        for (column, letter) in line.char_indices().filter(|(_, letter)| *letter != ' ') {
            // Courier is 0.6 em wide, the cells 0.75 em.
            page = page.text(
                MONO,
                10.0,
                50.0 + 7.4 * column as f64,
                100.0 + 12.0 * row as f64,
                &letter.to_string(),
            );
        }
    }
    let html = html(page);
    assert!(
        html.contains("<pre><code>let total = items.sum();\nif total &gt; limit {\n    return total;\n}\n"),
        "{html}"
    );
}

#[test]
fn numbers_of_the_lines_of_a_listing_are_left_out() {
    let mut page = Page::default();
    for (row, line) in ["fn main() {", "    boil();", "    wait();", "}"].iter().enumerate() {
        let y = 100.0 + 12.0 * row as f64;
        let indent = line.len() - line.trim_start().len();
        page = page.text(REGULAR, 6.0, 50.0, y, &(row + 1).to_string());
        page = page.text(MONO, 10.0, 70.0 + 6.0 * indent as f64, y, line.trim_start());
    }
    assert_eq!(html(page), "<pre><code>fn main() {\n    boil();\n    wait();\n}\n</code></pre>\n");
}

#[test]
fn number_in_parentheses_at_the_start_of_a_line_is_no_item() {
    let lines = [
        "The road was closed by an order of the county (PA",
        "873) and opened again in the next year by another",
        "one (see page",
        "12) of the same county.",
    ];
    let expected = lines.join(" ");
    assert_eq!(html(Page::default().lines(50.0, 100.0, &lines)), format!("<p>{expected}</p>\n"));
    let alone =
        Page::default().text(BOLD, 14.0, 50.0, 80.0, "Roads").lines(50.0, 110.0, &["87) was the number"]);
    assert!(html(alone).contains("<p>87) was the number</p>"));
}

#[test]
fn bullets_that_are_drawn_as_shapes_begin_items() {
    let circle = "62 703 m 62 704 61 705 60 705 c 59 705 58 704 58 703 c 58 702 59 701 60 701 c 61 701 62 702 62 703 c f";
    let page = Page::default().raw(circle).raw("58 685 4 4 re f").lines(70.0, 100.0, &["a kettle"]).lines(
        70.0,
        116.0,
        &["a cup"],
    );
    assert_eq!(html(page), "<ul><li>a kettle</li>\n<li>a cup</li></ul>\n");
}

#[test]
fn numbers_without_a_period_begin_items() {
    let mut page = Page::default();
    for (row, text) in ["boil the water", "wait for three minutes", "pour"].iter().enumerate() {
        let y = 100.0 + 14.0 * row as f64;
        page = page.text(REGULAR, 12.0, 50.0, y, &(row + 1).to_string()).text(REGULAR, 10.0, 70.0, y, text);
    }
    assert_eq!(
        html(page),
        "<ol><li>boil the water</li>\n<li>wait for three minutes</li>\n<li>pour</li></ol>\n"
    );
}

#[test]
fn large_initial_is_joined_with_its_word() {
    let page = Page::default()
        .text(REGULAR, 34.0, 50.0, 124.0, "T")
        .lines(74.0, 100.0, &["he leaves are steeped in water", "that has just boiled and nobody"])
        .lines(50.0, 124.0, &[])
        .text(REGULAR, 10.0, 74.0, 124.0, "should stir them while they are")
        .text(REGULAR, 10.0, 50.0, 136.0, "opening up because the taste is then");
    let html = html(page);
    assert!(html.starts_with("<p>The leaves are steeped in water that has"), "{html}");
    assert!(html.contains("they are opening up"), "{html}");
}

#[test]
fn exponents_and_marks_of_notes_are_superscripts() {
    let page = Page::default()
        .text(REGULAR, 10.0, 50.0, 100.0, "An area of ten m")
        .text(REGULAR, 6.5, 121.5, 96.5, "2")
        .text(REGULAR, 10.0, 128.0, 100.0, "is enough");
    assert_eq!(html(page), "<p>An area of ten m<sup>2</sup> is enough</p>\n");
}

#[test]
fn chapters_without_dots_are_part_of_the_contents() {
    let page = Page::default()
        .text(BOLD, 10.0, 50.0, 100.0, "1 Tea")
        .text(BOLD, 10.0, 300.0, 100.0, "3")
        .text(REGULAR, 10.0, 50.0, 114.0, "1.1 Green . . . . . . . . . . . .")
        .text(REGULAR, 10.0, 300.0, 114.0, "4")
        .text(REGULAR, 10.0, 50.0, 128.0, "1.2 Black . . . . . . . . . . . .")
        .text(REGULAR, 10.0, 300.0, 128.0, "9");
    let html = html(page);
    assert!(
        html.contains("<li><strong>1 Tea 3</strong></li>\n<li>1.1 Green 4</li>\n<li>1.2 Black 9</li>"),
        "{html}"
    );
}

#[test]
fn number_of_a_single_page_is_left_out() {
    let page =
        Page::default().lines(50.0, 100.0, &["A letter of one page."]).text(REGULAR, 10.0, 300.0, 690.0, "1");
    assert_eq!(html(page), "<p>A letter of one page.</p>\n");
}

/// Lines of running text of about 36 letters, which begin with a number.
fn running_lines(count: usize) -> Vec<String> {
    let words = ["tea", "the", "kettles", "of", "water", "boil", "and", "leaves", "open", "in", "a", "cup"];
    let line = |number: usize| {
        let mut text = format!("n{number}");
        while text.len() < 36 {
            text.push(' ');
            text.push_str(words[(number * 5 + text.len()) % words.len()]);
        }
        text
    };
    (0..count).map(line).collect()
}

#[test]
fn short_last_column_is_read_after_the_others() {
    let lines = running_lines(44);
    let mut page = Page::default();
    for (index, line) in lines.iter().enumerate() {
        let (x, row) = if index < 38 { (50.0, index) } else { (260.0, index - 38) };
        page = page.text(REGULAR, 10.0, x, 100.0 + 12.0 * row as f64, line);
    }
    let html = html(page);
    assert!(!html.contains("<table>"), "{html}");
    assert!(html.find("n37 ").unwrap() < html.find("n38 ").unwrap(), "{html}");
}

#[test]
fn paragraphs_that_are_hardly_farther_apart_than_lines_are_separate() {
    // The items of the list have the distance of the paragraphs.
    let mut page = Page::default();
    let mut y = 100.0;
    for (index, line) in running_lines(12).iter().enumerate() {
        y += if index % 3 == 0 { 15.6 } else { 12.0 };
        page = page.text(REGULAR, 10.0, 50.0, y, line);
    }
    for item in 0..9 {
        page = page.text(REGULAR, 10.0, 50.0, y + 15.6 * f64::from(item + 1), &format!("- item {item}"));
    }
    let html = html(page);
    assert_eq!(html.matches("<p>").count(), 4, "{html}");
}

/// Reads lines of a right-to-left script: the x of the right edge, the y from the bottom, and the text in reading order.
fn right_to_left(lines: &[(usize, u32, &str)]) -> String {
    let (mut codes, mut content) = (Vec::new(), String::new());
    for (x1, y, text) in lines {
        let visual: Vec<String> =
            text.chars().rev().map(|letter| format!("{:04x}", u32::from(letter))).collect();
        content.push_str(&format!(
            "BT /F9 10 Tf {} {y} Td <{}> Tj ET\n",
            x1 - 6 * visual.len(),
            visual.concat()
        ));
        codes.extend(visual.iter().map(|code| format!("<{code}> <{code}>")));
    }
    codes.sort();
    codes.dedup();
    let map = format!(
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n\
        1 begincodespacerange <0000> <ffff> endcodespacerange\n\
        {} beginbfchar {} endbfchar endcmap end end",
        codes.len(),
        codes.join(" ")
    );
    let objects = [
        b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [11 0 R] /ToUnicode 12 0 R >>".to_vec(),
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 600 >>".to_vec(),
        stream("", map.as_bytes()),
    ];
    let bytes = pdf_with(&[Page::default().raw(&content)], "", &objects, "");
    let text = String::from_utf8_lossy(&bytes).replace("/F3 5 0 R >>", "/F9 10 0 R>>").into_bytes();
    read_file(text).html
}

#[test]
fn right_to_left_lines_begin_at_the_right_edge() {
    let html = right_to_left(&[
        (500, 700, "אבג דהו אבג דהו אבג דהו זחט"),
        (500, 688, "יכל."),
        (500, 664, "•"),
        (485, 664, "אב גד"),
        (500, 652, "•"),
        (485, 652, "הו זח"),
    ]);
    assert!(html.contains("זחט יכל.</p>"), "{html}");
    assert!(html.contains("<li>אב גד</li>") && html.contains("<li>הו זח</li>"), "{html}");
}

#[test]
fn right_to_left_columns_and_cells_are_read_from_the_right() {
    let html = right_to_left(&[
        (500, 700, "אבג דהו"),
        (300, 700, "אבג"),
        (500, 686, "זחט יכל"),
        (300, 686, "דהו"),
        (500, 672, "מנס"),
        (300, 672, "זחט"),
    ]);
    assert!(html.contains("<td>זחט יכל</td><td>דהו</td>"), "{html}");
}

#[test]
fn last_column_of_three_lines_is_a_column_if_the_file_has_it_last() {
    let lines = running_lines(33);
    let widths = |line: usize| if line < 30 { (50.0, line) } else { (262.0, line - 30) };
    let page = |order: &[usize]| {
        order.iter().fold(Page::default(), |page, line| {
            let (x, row) = widths(*line);
            page.text(REGULAR, 10.0, x, 100.0 + 12.0 * row as f64, &lines[*line])
        })
    };
    let html = html(page(&(0..33).collect::<Vec<_>>()));
    assert!(html.find("n29 ").unwrap() < html.find("n30 ").unwrap() && !html.contains("<table>"), "{html}");
}

#[test]
fn numbers_of_notes_in_small_print_are_raised_and_not_those_of_a_list() {
    let lines = running_lines(6);
    let mut page = lines.iter().enumerate().fold(Page::default(), |page, (index, line)| {
        page.text(REGULAR, 10.0, 50.0, 100.0 + 12.0 * index as f64, line)
    });
    for (number, y) in [("3", 700.0), ("4", 710.0)] {
        page = page.text(REGULAR, 8.0, 50.0, y, number).text(REGULAR, 8.0, 66.0, y, "A note about tea.");
    }
    let html = html(page);
    assert!(
        html.ends_with("<p><sup>3</sup> A note about tea.</p>\n<p><sup>4</sup> A note about tea.</p>\n"),
        "{html}"
    );
}

#[test]
fn larger_line_between_rows_and_an_empty_row_end_a_table() {
    let mut page = Page::default();
    let mut y = 100.0;
    for (size, cells) in [
        (10.0, vec!["Name", "Ada"]),
        (10.0, vec!["Street", "Weir Lane"]),
        (10.0, vec!["Town", "Haddon"]),
        (12.5, vec!["Garden"]),
        (10.0, vec!["Area", "Meadow"]),
        (10.0, vec!["Size", "180"]),
        (10.0, vec!["Shed", "shared"]),
        (0.0, vec![]),
        (10.0, vec!["Tea", "Grams", "Price"]),
        (10.0, vec!["Sencha", "50", "4.20"]),
        (10.0, vec!["Assam", "100", "3.10"]),
    ] {
        for (index, cell) in cells.iter().enumerate() {
            page = page.text(REGULAR, size, 50.0 + 110.0 * index as f64, y, cell);
        }
        y += 14.0;
    }
    let html = html(page);
    assert!(html.contains("</table>\n<p>Garden</p>\n<table>"), "{html}");
    assert!(html.contains("<tr><td>Sencha</td><td>50</td><td>4.20</td></tr>"), "{html}");
    assert_eq!(html.matches("<table>").count(), 3, "{html}");
}

#[test]
fn number_of_a_page_with_its_word_is_left_out() {
    for (footer, is_left_out) in
        [("Page 1", true), ("Seite 1 von 3", true), ("1 / 3", true), ("Page 2", false), ("Tea 1", false)]
    {
        let page = Page::default()
            .lines(50.0, 100.0, &["Tea is made of leaves."])
            .text(REGULAR, 9.0, 280.0, 770.0, footer);
        assert_eq!(html(page).contains(footer), !is_left_out, "{footer}");
    }
}

#[test]
fn letters_below_a_scan_are_not_a_listing() {
    let font = |name: &str| {
        let font = format!(
            "<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding /FirstChar 32 /Widths [{}] >>",
            "600 ".repeat(95)
        );
        let content = "BT /F9 10 Tf 50 700 Td (the keeper of the mole) Tj 0 -12 Td (winds the clock) Tj ET";
        let bytes = pdf_with(&[Page::default().raw(content)], "", &[font.into_bytes()], "");
        read_file(String::from_utf8_lossy(&bytes).replace("/F3 5 0 R >>", "/F9 10 0 R>>").into_bytes()).html
    };
    assert!(font("Typewriter").contains("<pre>"), "{}", font("Typewriter"));
    assert_eq!(font("GlyphLessFont"), "<p>the keeper of the mole winds the clock</p>\n");
}
