//! Tests that the examples run and print the expected results.

use std::path::PathBuf;
use std::process::Command;

/// Runs an example that `cargo test` has built, and checks that its output contains all `expected` parts.
fn check(name: &str, expected: &[&str]) {
    let mut program: PathBuf = std::env::current_exe().unwrap();
    program.pop();
    program.pop();
    program.push("examples");
    program.push(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&program).output();
    let output = output.unwrap_or_else(|error| {
        panic!("{}: {error}; build it with `cargo test -p websvc`", program.display())
    });
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    for part in expected {
        assert!(stdout.contains(part), "{part:?} is not in {stdout}");
    }
}

#[test]
fn share_schemas_runs() {
    check(
        "share_schemas",
        &[
            "\"maximum\":100",
            r#"request: {"query":"asyncio gather","limit":5,"scrapeOptions":{"formats":[{"type":"markdown"}]}}"#,
            "plan: 10 results of each of [Web, News] within 60s",
            "limt",
            "invalid /scrapeOptions/timeout",
        ],
    );
}

#[test]
fn client_in_service_runs() {
    check(
        "client_in_service",
        &[
            r#"200 {"links":[{"title":"asyncio","url":"https://docs.example/asyncio"}]}"#,
            "400 {\"error\":\"query must have at most 500 characters, not 501\"}",
        ],
    );
}

#[test]
fn embed_server_runs() {
    check("embed_server", &["found https://docs.example/asyncio asyncio", "stopped, 0 connections aborted"]);
}
