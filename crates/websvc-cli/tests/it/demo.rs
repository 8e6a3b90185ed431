//! The tour for a newcomer.

use std::process::Command;

#[test]
fn the_tour_ends_with_results_and_lines_to_copy() {
    let output = Command::new(env!("CARGO_BIN_EXE_websvc")).args(["demo", "--once"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    for line in [
        "crawled into a fresh index",
        "  1. ",
        "The first result's markdown:",
        "curl http://127.0.0.1",
        "from firecrawl import",
    ] {
        assert!(said.contains(line), "{line:?} is not in:\n{said}");
    }
}
