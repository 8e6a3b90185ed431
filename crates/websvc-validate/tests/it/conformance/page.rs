//! The table as a page of the manual.

use std::fmt::Write;

use super::case::{Case, Expected, Reading};
use super::row::{Row, Section};

/// Path of the page in the repository.
pub(crate) const PAGE: &str = "docs/conformance.md";

/// How a row stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Holds,
    Partly,
    Later,
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
         Every row, rule and limit of the specification with what proves it, to be ticked off against the \
         specification.\n\n\
         This page is generated from the table in `crates/websvc-validate/tests/it/conformance`, whose cases \
         are run by the tests; do not edit it. `UPDATE_FIXTURES=1 cargo test -p websvc-validate conformance` \
         writes it anew, and a test compares it.\n\n\
         {} rows: {} hold, {} hold in part, {} come later. {cases} cases.\n\n\
         - *takes* lists values that are accepted, *reads* what a value becomes, *warns* what is accepted with \
         a word about it in `warning`, *refuses* what is answered with 400 (in parentheses the code in \
         `details`, with the place below the field where it is not the field itself), *forbids* what is \
         answered with 403.\n\
         - A test is named by its crate and its function.\n\
         - Under *in part* and *later*, what is missing is named.\n",
        rows().count(),
        count(Status::Holds),
        count(Status::Partly),
        count(Status::Later),
    )
}

fn status(row: &Row) -> Status {
    let proven = !row.cases.is_empty() || !row.tests.is_empty();
    match (proven, row.later.is_empty()) {
        (true, true) => Status::Holds,
        (true, false) => Status::Partly,
        (false, false) => Status::Later,
        (false, true) => panic!("{} is proven by nothing", row.name),
    }
}

fn status_text(row: &Row) -> String {
    let head = match status(row) {
        Status::Holds => "holds",
        Status::Partly => "in part",
        Status::Later => "later",
    };
    let later = row.later.iter().map(|what| cell(what));
    std::iter::once(head.to_owned()).chain(later).collect::<Vec<_>>().join("<br>")
}

fn proof(row: &Row) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |verb: &str, texts: Vec<String>| {
        if !texts.is_empty() {
            lines.push(format!("{verb} {}", texts.join(", ")));
        }
    };
    let cases = |wanted: fn(&Case) -> Option<String>| row.cases.iter().filter_map(wanted).collect::<Vec<_>>();
    add("takes", cases(taken));
    add("reads", cases(read));
    add("warns of", cases(warned));
    add("refuses", cases(refused));
    add("forbids", cases(forbidden));
    add("tests", row.tests.iter().map(|(in_crate, name)| format!("`{in_crate}` `{name}`")).collect());
    lines.join("<br>")
}

fn taken(case: &Case) -> Option<String> {
    let Expected::Accepted { warning: None, reading: None } = &case.expected else { return None };
    Some(cell(case.label.as_ref()?))
}

fn read(case: &Case) -> Option<String> {
    let Expected::Accepted { reading: Some(Reading { shown, .. }), warning } = &case.expected else {
        return None;
    };
    let warning = if warning.is_some() { " with a warning" } else { "" };
    Some(format!("{} as `{}`{warning}", cell(case.label.as_ref()?), cell(shown)))
}

fn warned(case: &Case) -> Option<String> {
    let Expected::Accepted { warning: Some(_), reading: None } = &case.expected else { return None };
    Some(cell(case.label.as_ref()?))
}

fn forbidden(case: &Case) -> Option<String> {
    let Expected::Forbidden = &case.expected else { return None };
    Some(cell(case.label.as_ref()?))
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
        Expected::Accepted { .. } | Expected::Forbidden => return None,
    };
    Some(format!("{} ({what})", cell(case.label.as_ref()?)))
}

/// Returns a text that stays in its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
