//! The recipes of the manual pages, which tests run against the program and a shop.

use std::path::Path;

use tempfile::TempDir;
use tokio::process::Command;

use crate::harness::{KEY, skip};

/// Returns the shell that runs a recipe of a page in an empty directory, with the addresses of the test; `None` if a
/// program that it needs is missing.
pub(crate) fn shell(page: &str, title: &str, service: &str) -> Option<(Command, TempDir)> {
    for program in ["bash", "curl", "jq"] {
        if std::process::Command::new(program).arg("--version").output().is_err() {
            skip(&format!("{program} is not installed"));
            return None;
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let mut bash = Command::new("bash");
    bash.args(["-c", &script(page, title, service)])
        .current_dir(directory.path())
        .env("KEY", KEY)
        .kill_on_drop(true);
    Some((bash, directory))
}

/// Returns the commands of a recipe of a page, with the addresses of the test.
fn script(page: &str, title: &str, service: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let (_, recipes) = text.split_once("\n## Recipes\n").unwrap();
    let recipes = recipes.split("\n## ").next().unwrap();
    let mut sections = recipes.split("\n### ");
    let functions = code(sections.next().unwrap());
    let section = sections.find(|section| section.lines().next() == Some(title));
    let commands = code(section.unwrap_or_else(|| panic!("{page} has no recipe {title:?}")));
    let script = format!("set -euo pipefail\n{functions}{commands}");
    assert!(script.contains("http://127.0.0.1:3002") && script.contains("https://shop.example"));
    script.replace("http://127.0.0.1:3002", service).replace("https://shop.example", "http://shop.test")
}

/// Returns the lines in the shell blocks of a section.
fn code(section: &str) -> String {
    let blocks = section.split("```sh\n").skip(1);
    let code: String = blocks.map(|block| block.split("```").next().unwrap()).collect();
    assert!(!code.is_empty(), "no commands in {section}");
    code
}
