//! Generation of the page `docs/conformance.md` from the table.

use std::fmt::Write;

use super::case::{Case, Expected, Reading};
use super::row::{Row, Section};

/// Path of the page in the repository.
pub(crate) const PAGE: &str = "docs/conformance.md";

/// Status of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Tested,
    Partial,
    Planned,
}

/// Writes the page.
pub(crate) fn write(sections: &[Section]) -> String {
    let mut page = head(sections);
    for Section { number, title, test, rows } in sections {
        let _ = write!(page, "\n## {number} {title}\n\n");
        if rows.iter().any(|row| !row.cases.is_empty()) {
            let _ = write!(page, "The cases are run by the test `{test}`.\n\n");
        }
        page.push_str("| Row | Rule | Proof | Status |\n|---|---|---|---|\n");
        for row in rows {
            let name = row.name.strip_prefix(number).unwrap_or(row.name).trim();
            let (rule, proof, status) = (row.rule, proof(row), status_text(row));
            let _ = writeln!(page, "| {} | {} | {proof} | {status} |", cell(name), cell(rule));
        }
    }
    page
}

fn head(sections: &[Section]) -> String {
    let rows = || sections.iter().flat_map(|section| &section.rows);
    let count = |status| rows().filter(|row| self::status(row) == status).count();
    let cases: usize = rows().map(|row| row.cases.len()).sum();
    format!(
        "# Conformance\n\n\
         This page lists every row, rule and limit of the specification with the tests that prove it.\n\n\
         It is generated from the table in `crates/websvc-validate/tests/it/conformance`. The tests run the cases \
         of the table. Do not edit this page: `UPDATE_FIXTURES=1 cargo test -p websvc-validate conformance` writes \
         it, and a test compares it.\n\n\
         {} rows: {} tested, {} tested in part, {} planned. {cases} cases.\n\n\
         - *accepts* lists valid values, *reads* the values in the plan, *warns about* values that are accepted \
         with a `warning`, *rejects* values that get 400 (with the code in `details`, and the path below the field \
         if it is not the field itself), *forbids* values that get 403.\n\
         - A test is named by its crate and its function.\n\
         - A row that is tested in part or planned names what is missing.\n",
        rows().count(),
        count(Status::Tested),
        count(Status::Partial),
        count(Status::Planned),
    )
}

fn status(row: &Row) -> Status {
    let is_tested = !row.cases.is_empty() || !row.tests.is_empty();
    match (is_tested, row.planned.is_empty()) {
        (true, true) => Status::Tested,
        (true, false) => Status::Partial,
        (false, false) => Status::Planned,
        (false, true) => panic!("{} has neither cases nor tests", row.name),
    }
}

fn status_text(row: &Row) -> String {
    let head = match status(row) {
        Status::Tested => "tested",
        Status::Partial => "in part",
        Status::Planned => "planned",
    };
    let planned = row.planned.iter().map(|part| cell(part));
    std::iter::once(head.to_owned()).chain(planned).collect::<Vec<_>>().join("<br>")
}

fn proof(row: &Row) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |verb: &str, texts: Vec<String>| {
        if !texts.is_empty() {
            lines.push(format!("{verb} {}", texts.join(", ")));
        }
    };
    let cases = |wanted: fn(&Case) -> Option<String>| row.cases.iter().filter_map(wanted).collect::<Vec<_>>();
    add("accepts", cases(accepted));
    add("reads", cases(read));
    add("warns about", cases(warned));
    add("rejects", cases(rejected));
    add("forbids", cases(forbidden));
    add("tests", row.tests.iter().map(|(in_crate, name)| format!("`{in_crate}` `{name}`")).collect());
    lines.join("<br>")
}

fn accepted(case: &Case) -> Option<String> {
    let Expected::Accepted { warning: None, reading: None } = &case.expected else { return None };
    Some(cell(case.label.as_ref()?))
}

fn read(case: &Case) -> Option<String> {
    let Expected::Accepted { reading: Some(Reading { label, .. }), warning } = &case.expected else {
        return None;
    };
    let warning = if warning.is_some() { " with a warning" } else { "" };
    Some(format!("{} as `{}`{warning}", cell(case.label.as_ref()?), cell(label)))
}

fn warned(case: &Case) -> Option<String> {
    let Expected::Accepted { warning: Some(_), reading: None } = &case.expected else { return None };
    Some(cell(case.label.as_ref()?))
}

fn forbidden(case: &Case) -> Option<String> {
    let Expected::Forbidden = &case.expected else { return None };
    Some(cell(case.label.as_ref()?))
}

fn rejected(case: &Case) -> Option<String> {
    let reason = match &case.expected {
        Expected::Malformed => "not JSON".to_owned(),
        Expected::Invalid(rules) => {
            let rules: Vec<String> = rules
                .iter()
                .map(|(pointer, code)| {
                    let code = serde_json::to_value(code).expect("a code is a string");
                    let below = pointer.strip_prefix(&case.pointer).unwrap_or(pointer);
                    format!("{} {below}", code.as_str().unwrap_or_default()).trim_end().to_owned()
                })
                .collect();
            rules.join(", ")
        }
        Expected::Accepted { .. } | Expected::Forbidden => return None,
    };
    Some(format!("{} ({reason})", cell(case.label.as_ref()?)))
}

/// Escapes a text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
