//! The specification as a table: every row, rule and limit with what proves it, and a page made from it.
//!
//! Each file of `sections` is a section of the specification. Its rows have the specification's own names, so
//! that a reader can tick the one off against the other.

mod case;
mod coverage;
mod json;
mod messages;
mod nulls;
mod page;
mod row;
mod sections;

use std::fs;
use std::path::Path;

use row::Section;

/// Runs every case of a section and reports all that fail, by their rows.
#[track_caller]
fn check(section: &Section) {
    let mut failures = Vec::new();
    for row in &section.rows {
        for case in &row.cases {
            if let Err(what) = case.run() {
                let body: String = case.body.chars().take(300).collect();
                failures.push(format!("{}: {body}: {what}", row.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} cases fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn the_page_is_as_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page::PAGE);
    let page = page::write(&sections::all());
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let first = page.lines().zip(written.lines()).find(|(new, old)| new != old);
    assert!(page == written, "{} is out of date: UPDATE_FIXTURES=1 writes it anew: {first:?}", page::PAGE);
}
