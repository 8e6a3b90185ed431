//! Tests of markdown by fixture: `fixtures/<case>.html` must become `fixtures/<case>.md`.

use crate::page::{full, parse};
use std::path::Path;

/// Compares one case. With `UPDATE_FIXTURES=1` it writes the expectation instead, which has to be reviewed before a
/// commit.
fn check(case: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures");
    let html = std::fs::read_to_string(folder.join(format!("{case}.html"))).unwrap();
    let markdown = parse(&html).content(&full()).markdown();
    let expected = folder.join(format!("{case}.md"));
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        std::fs::write(&expected, &markdown).unwrap();
    }
    assert_eq!(markdown, std::fs::read_to_string(&expected).unwrap(), "case {case}");
}

#[test]
fn emphasis_does_not_break_words_and_text_is_escaped() {
    check("emphasis");
}

#[test]
fn links_are_absolute_and_permalinks_are_dropped() {
    check("links");
}

#[test]
fn lists_are_nested_and_numbered() {
    check("lists");
}

#[test]
fn data_tables_become_gfm_and_layout_tables_blocks() {
    check("tables");
}

#[test]
fn code_has_its_language_and_no_line_numbers() {
    check("code");
}

#[test]
fn footnotes_become_references_and_notes() {
    check("footnotes");
}

#[test]
fn lazy_images_have_their_real_urls() {
    check("images");
}

#[test]
fn hidden_text_is_dropped_unless_readers_can_open_it() {
    check("hidden");
}

#[test]
fn formulas_become_latex() {
    check("math");
}

#[test]
fn headings_keep_their_level_on_one_line() {
    let page = parse("<h1>A<br>b</h1><h3><div>deep</div></h3><h2></h2>");
    assert_eq!(page.content(&full()).markdown(), "# A b\n\n### deep\n");
}

#[test]
fn code_of_several_generators_has_no_line_numbers_and_buttons() {
    check("code_generators");
}

#[test]
fn table_cells_keep_their_columns_with_any_content() {
    check("tables_more");
}

#[test]
fn inline_marks_are_written_only_where_they_are_valid() {
    check("inline");
}

#[test]
fn list_items_can_contain_blocks_and_lists() {
    check("lists_more");
}

#[test]
fn callouts_become_quotes_with_their_kind() {
    check("callouts");
}

#[test]
fn formulas_are_found_in_each_representation() {
    check("formulas");
}

#[test]
fn images_have_their_real_urls() {
    check("images_more");
}

#[test]
fn videos_become_links() {
    check("embeds");
}

#[test]
fn footnotes_of_several_generators_are_recognized() {
    check("footnotes_more");
}

#[test]
fn ruby_readings_are_in_brackets() {
    check("ruby");
}

#[test]
fn lists_without_an_item_of_their_own_belong_to_the_item_before() {
    check("lists_direct");
}

#[test]
fn code_in_table_cells_keeps_its_lines() {
    check("code_in_cells");
}

#[test]
fn styles_make_blocks_lines_and_cells_of_other_elements() {
    check("displays");
}

#[test]
fn several_notes_of_a_block_and_notes_inside_the_text_are_apart() {
    check("footnotes_shared");
}

#[test]
fn headings_with_blocks_end_before_them() {
    check("heading_blocks");
}

#[test]
fn roles_make_headings_and_tables() {
    check("aria");
}

#[test]
fn labels_of_controls_around_code_are_left_out() {
    check("code_toolbars");
}

#[test]
fn titles_of_cards_have_the_link_of_the_card() {
    check("cards");
}

#[test]
fn header_of_several_rows_is_joined() {
    check("header_rows");
}

#[test]
fn line_breaks_in_inline_elements_keep_words_apart() {
    check("breaks");
}

#[test]
fn lines_that_look_like_markup_are_escaped() {
    check("line_starts");
}

#[test]
fn line_breaks_alone_in_inline_elements_are_main_content() {
    let text =
        "The morning train left the valley on time, and nobody expected the line to close before noon. "
            .repeat(4);
    let page = parse(&format!(
        "<main><h1>Train</h1><p>{text}</p><p>one<b><i><br></i></b>two</p><p>{text}</p></main>"
    ));
    let markdown = page.content(&websvc_extract::ContentOptions::default()).markdown();
    assert!(markdown.contains("one  \ntwo"), "{markdown}");
}

#[test]
fn lines_of_signs_between_paragraphs_are_main_content() {
    let text =
        "The morning train left the valley on time, and nobody expected the line to close before noon. "
            .repeat(4);
    let page = parse(&format!(
        "<nav><a href=/a>Home</a> | <a href=/b>News</a></nav><main><h1>Train</h1><p>{text}</p><p>~~~</p><p>{text}</p>\
         <blockquote>===</blockquote><p>{text}</p></main><footer><a href=/c>Imprint</a> | <a href=/d>Terms</a></footer>"
    ));
    let markdown = page.content(&websvc_extract::ContentOptions::default()).markdown();
    assert!(markdown.contains("\n\n\\~\\~\\~\n\n") && markdown.contains("> \\==="), "{markdown}");
    assert!(!markdown.contains('|'), "{markdown}");
}
