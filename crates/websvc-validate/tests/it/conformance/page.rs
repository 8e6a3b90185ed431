//! The table as a page of the manual.

use std::fmt::Write;

use super::case::{Case, Expected};
use super::row::{Row, Section};

/// Where the page is, in the repository.
pub(crate) const PAGE: &str = "docs/conformance.md";

/// How a row stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Holds,
    Untested,
    Partly,
    Later,
}

/// Writes the page.
pub(crate) fn write(sections: &[Section]) -> String {
    let mut page = head(sections);
    for Section { number, title, rows } in sections {
        let _ = write!(page, "\n## {number} {title}\n\n| Row | Rule | Proof | Status |\n|---|---|---|---|\n");
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
         Every row, rule and limit of the specification with what proves it, to be ticked off against the \
         specification.\n\n\
         This page is generated from the table in `crates/websvc-validate/tests/it/conformance`, whose cases are run by \
         the tests; do not edit it. `UPDATE_FIXTURES=1 cargo test -p websvc-validate conformance` writes it anew, and \
         a test compares it.\n\n\
         {} rows: {} hold, {} hold in part, {} hold without a test of their own, {} come later. {cases} cases.\n\n\
         - *takes* lists values that are accepted, *reads* what a value becomes, *warns* what is accepted with a word \
         about it in `warning`, *refuses* what is answered with 400 (in parentheses the code in `details`, with the \
         place below the field where it is not the field itself), *forbids* what is answered with 403.\n\
         - A test is named by its crate and its function.\n\
         - *later* names the issue that brings what is missing.\n",
        rows().count(),
        count(Status::Holds),
        count(Status::Partly),
        count(Status::Untested),
        count(Status::Later),
    )
}

fn status(row: &Row) -> Status {
    let proven = !row.cases.is_empty() || !row.tests.is_empty();
    match (proven, row.untested.is_empty(), row.later.is_empty()) {
        (true, true, true) => Status::Holds,
        (_, false, true) => Status::Untested,
        (false, true, false) => Status::Later,
        (_, _, false) => Status::Partly,
        (false, true, true) => panic!("{} is proven by nothing", row.name),
    }
}

fn status_text(row: &Row) -> String {
    let later: Vec<String> =
        row.later.iter().map(|(issue, what)| format!("issue {issue}: {}", cell(what))).collect();
    let untested = row.untested.iter().map(|what| format!("no test: {}", cell(what)));
    let head = match status(row) {
        Status::Holds => "holds",
        Status::Untested => "holds, untested",
        Status::Partly => "in part",
        Status::Later => "later",
    };
    std::iter::once(head.to_owned()).chain(untested).chain(later).collect::<Vec<_>>().join("<br>")
}

fn proof(row: &Row) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |verb: &str, texts: Vec<String>| {
        if !texts.is_empty() {
            lines.push(format!("{verb} {}", texts.join(", ")));
        }
    };
    let cases = |wanted: fn(&Case) -> Option<String>| row.cases.iter().filter_map(wanted).collect::<Vec<_>>();
    add("takes", cases(|case| matches!(case.expected, Expected::Accepted).then(|| cell(&case.label))));
    add("reads", cases(read));
    add("warns of", cases(|case| matches!(case.expected, Expected::Warned(_)).then(|| cell(&case.label))));
    add("refuses", cases(refused));
    add("forbids", cases(|case| matches!(case.expected, Expected::Forbidden).then(|| cell(&case.label))));
    add("tests", row.tests.iter().map(|(in_crate, name)| format!("`{in_crate}` `{name}`")).collect());
    lines.join("<br>")
}

fn read(case: &Case) -> Option<String> {
    let Expected::Read { shown, .. } = &case.expected else { return None };
    Some(format!("{} as `{}`", cell(&case.label), cell(shown)))
}

fn refused(case: &Case) -> Option<String> {
    let what = match &case.expected {
        Expected::Unreadable => "as no JSON".to_owned(),
        Expected::Refused(rules) => {
            let rules: Vec<String> = rules
                .iter()
                .map(|(pointer, code)| {
                    let code = serde_json::to_value(code).expect("a code is a text");
                    let below = pointer.strip_prefix(&case.pointer).unwrap_or(pointer);
                    format!("{} {below}", code.as_str().unwrap_or_default()).trim_end().to_owned()
                })
                .collect();
            rules.join(", ")
        }
        Expected::Accepted | Expected::Warned(_) | Expected::Read { .. } | Expected::Forbidden => {
            return None;
        }
    };
    Some(format!("{} ({what})", cell(&case.label)))
}

/// Returns a text that stays in its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
