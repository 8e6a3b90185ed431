//! Tests of `websvc demo`.

use std::process::Command;

#[test]
fn demo_prints_results_and_example_commands() {
    let output = Command::new(env!("CARGO_BIN_EXE_websvc")).args(["demo", "--once"]).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    for line in [
        "Crawling the website into a new index",
        "  1. ",
        "The first result's markdown:",
        "curl http://127.0.0.1",
        "from firecrawl import",
    ] {
        assert!(stdout.contains(line), "{line:?} is not in:\n{stdout}");
    }
}
