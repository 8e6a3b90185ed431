//! Markdown by fixture: `fixtures/<case>.html` must become `fixtures/<case>.md`.

use crate::page::{full, parse};
use std::path::Path;

/// Compares one case; with `UPDATE_FIXTURES=1` writes the expectation instead, to be read before it is committed.
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
fn emphasis_never_breaks_words_and_text_never_becomes_markup() {
    check("emphasis");
}

#[test]
fn links_are_absolute_and_permalink_signs_are_dropped() {
    check("links");
}

#[test]
fn lists_nest_and_count() {
    check("lists");
}

#[test]
fn data_tables_are_tables_and_layout_tables_are_not() {
    check("tables");
}

#[test]
fn code_keeps_its_language_and_loses_line_numbers() {
    check("code");
}

#[test]
fn footnotes_are_references_and_notes() {
    check("footnotes");
}

#[test]
fn images_are_found_behind_lazy_loading() {
    check("images");
}

#[test]
fn what_is_hidden_is_left_out_unless_it_can_be_opened() {
    check("hidden");
}

#[test]
fn formulas_are_latex() {
    check("math");
}

#[test]
fn headings_keep_their_level_and_stay_on_one_line() {
    let page = parse("<h1>A<br>b</h1><h3><div>deep</div></h3><h2></h2>");
    assert_eq!(page.content(&full()).markdown(), "# A b\n\n### deep\n");
}

#[test]
fn code_is_told_from_line_numbers_and_buttons_whoever_wrote_the_page() {
    check("code_generators");
}

#[test]
fn cells_keep_their_columns_whatever_is_in_them() {
    check("tables_more");
}

#[test]
fn marks_and_links_stand_only_where_they_are_read_as_such() {
    check("inline");
}

#[test]
fn lists_hold_blocks_and_lists() {
    check("lists_more");
}

#[test]
fn callouts_are_quotes_of_their_kind() {
    check("callouts");
}

#[test]
fn formulas_are_found_wherever_pages_keep_them() {
    check("formulas");
}

#[test]
fn images_have_their_real_addresses() {
    check("images_more");
}

#[test]
fn videos_are_links() {
    check("embeds");
}

#[test]
fn footnotes_of_several_generators_are_told() {
    check("footnotes_more");
}

#[test]
fn readings_stand_in_brackets() {
    check("ruby");
}
