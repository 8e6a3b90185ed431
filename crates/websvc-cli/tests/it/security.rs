//! Checks that the tests in the table of proofs in `docs/security.md` exist.

use std::collections::BTreeSet;
use std::path::Path;

const TABLE: &str = "## Proofs";

/// The threats (S) and the promises about data retention (Z) that need a proof.
const ROWS: [&str; 23] = [
    "S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S10", "S11", "S12", "S13", "S14", "S15", "S16", "S17",
    "S20", "S21", "S22", "S23", "Z1", "Z2", "Z3",
];

#[test]
fn every_cited_proof_is_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/security.md")).unwrap();
    let table = page.split_once(TABLE).unwrap().1.split("\n## ").next().unwrap();
    let mut rows = BTreeSet::new();
    for line in table.lines().filter(|line| line.starts_with("| S") || line.starts_with("| Z")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [names, _, proofs] = cells[..] else { panic!("expected three cells: {line}") };
        rows.extend(names.split(", ").map(str::to_owned));
        assert!(!proofs.is_empty(), "{line}");
        for proof in proofs.split("; ") {
            let (file, tests) =
                proof.split_once(": ").unwrap_or_else(|| panic!("expected `file`: `test` in {line}"));
            let file = root.join("crates").join(file.trim_matches('`'));
            let source =
                std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            for test in tests.split(", ") {
                let function = format!("fn {}(", test.trim_matches('`'));
                let (before, _) = source
                    .split_once(&function)
                    .unwrap_or_else(|| panic!("{} has no {function}", file.display()));
                let attributes = before.lines().rev().take(4);
                let is_test =
                    attributes.into_iter().any(|line| line.contains("test]") || line.contains("test("));
                assert!(is_test, "{test} is not a test");
            }
        }
    }
    for row in ROWS {
        assert!(rows.contains(row), "{row} has no proof");
    }
}
