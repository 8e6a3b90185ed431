//! The examples run to their end by themselves and show what they promise.

use std::path::PathBuf;
use std::process::Command;

/// Runs an example, which `cargo test` has built beside this test.
fn check(name: &str, expected: &[&str]) {
    let mut program: PathBuf = std::env::current_exe().unwrap();
    program.pop();
    program.pop();
    program.push("examples");
    program.push(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&program).output();
    let output = output
        .unwrap_or_else(|error| panic!("{}: {error}; build it by `cargo test -p websvc`", program.display()));
    let (said, failed) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{failed}");
    for part in expected {
        assert!(said.contains(part), "{part:?} is not in {said}");
    }
}

#[test]
fn schemas_are_shared() {
    check(
        "share_schemas",
        &[
            "\"maximum\":100",
            r#"request: {"query":"asyncio gather","limit":5,"scrapeOptions":{"formats":[{"type":"markdown"}]}}"#,
            "plan: 10 results of each of [Web, News] within 60s",
            "limt",
            "refused at /scrapeOptions/timeout",
        ],
    );
}

#[test]
fn a_service_uses_the_client() {
    check(
        "client_in_service",
        &[
            r#"200 {"links":[{"title":"asyncio","url":"https://docs.example/asyncio"}]}"#,
            "400 {\"error\":\"query must have at most 500 characters, not 501\"}",
        ],
    );
}

#[test]
fn a_server_is_embedded() {
    check("embed_server", &["found https://docs.example/asyncio asyncio", "stopped, 0 connections cut"]);
}
