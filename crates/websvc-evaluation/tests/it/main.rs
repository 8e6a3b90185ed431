//! Tests of the program `evaluate`, and of what is read from the PDF files of many producers.

mod producers;

use std::process::Command;

#[test]
fn wrong_options_end_with_the_usage() {
    for (arguments, reason) in
        [(vec!["poems"], "unknown evaluation"), (vec!["formats"], "--program is missing")]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_evaluate")).args(&arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(reason) && text.contains("usage: evaluate agent"), "{text}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn program_that_cannot_be_started_is_a_failure() {
    let arguments = ["formats", "--program", "/nowhere/websvc", "--without-model"];
    let output = Command::new(env!("CARGO_BIN_EXE_evaluate")).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nowhere/websvc cannot be started"));
}
