//! Tests that `docs/errors.md` agrees with the table of error codes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use websvc_types::{ErrorCode, ViolationCode};

/// Returns the cells of all table rows of the page.
fn rows() -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    let page = fs::read_to_string(path).expect("docs/errors.md is part of the repository");
    let rows = page.lines().filter(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn error_codes_match_the_documentation() {
    let documented: BTreeSet<(String, String, String)> = rows()
        .into_iter()
        .filter(|row| row[0].parse::<u16>().is_ok())
        .map(|row| (row[0].clone(), row[1].trim_matches('`').to_owned(), row[2].clone()))
        .collect();
    let known = ErrorCode::ALL
        .iter()
        .map(|code| (code.status().to_string(), code.as_str().to_owned(), code.meaning().to_owned()))
        .collect();
    assert_eq!(documented, known, "docs/errors.md (left) differs from the table in error.rs (right)");
}

#[test]
fn violation_codes_match_the_documentation() {
    let documented: BTreeSet<String> = rows()
        .into_iter()
        .filter(|row| row.len() == 2)
        .flat_map(|row| row[0].split(", ").map(|code| code.trim_matches('`').to_owned()).collect::<Vec<_>>())
        .filter(|cell| cell.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'))
        .collect();
    let schema = websvc_types::schema::response::<ViolationCode>().to_value();
    let known: BTreeSet<String> = schema["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["const"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(documented, known, "docs/errors.md (left) differs from ViolationCode (right)");
}
