//! Conformance table: every row, rule and limit of the specification with its tests, and the page generated from it.
//!
//! Each file of `sections` is a section of the specification. The rows have the names of the specification, so that a
//! reader can compare them.

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

/// Runs all cases of a section and reports the failed ones by row.
#[track_caller]
fn check(section: &Section) {
    let mut failures = Vec::new();
    for row in &section.rows {
        for case in &row.cases {
            if let Err(difference) = case.run() {
                let body: String = case.body.chars().take(300).collect();
                failures.push(format!("{}: {body}: {difference}", row.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} cases fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn conformance_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page::PAGE);
    let page = page::write(&sections::all());
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let first = page.lines().zip(written.lines()).find(|(new, old)| new != old);
    assert!(
        page == written,
        "{} is out of date: run with UPDATE_FIXTURES=1 to write it: {first:?}",
        page::PAGE
    );
}
