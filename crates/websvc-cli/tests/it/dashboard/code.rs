//! The code that the playground shows: it runs, and asks for just what was asked for.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Stage, stage};
use crate::harness::skip;

/// A search whose text is awkward in every language.
const QUERY: &str = r##"brewing -it's -"#quoted\\" -${HOME}"##;

/// The program that the page shows in Rust for its simplest search. Cargo compiles it as an example.
const RUST: &str = include_str!("../../../../websvc/examples/dashboard.rs");

/// Returns the code of the page by language, and what the page itself was answered.
async fn shown(stage: &Stage, query: &str, formats: bool) -> Value {
    let script = format!(
        r#"
        const query = await until("the form", () => document.querySelector("input[type=search]"));
        query.value = {query:?};
        document.querySelector("fieldset input[value=markdown]").checked = {formats};
        query.form.requestSubmit();
        await until("a result", () => document.querySelector(".result"));
        const parts = [...document.querySelectorAll("main details")].filter((one) => one.querySelector("pre"));
        return Object.fromEntries(parts.map((one) => [one.querySelector("summary").textContent, one.querySelector("pre").textContent]));
        "#
    );
    stage.signed_in(&script).await
}

/// Runs a program with a code as its input, and returns what it printed; `None` when there is no such program.
fn run(stage: &Stage, program: &str, arguments: &[&str], code: &str) -> Option<String> {
    let child = Command::new(program)
        .args(arguments)
        .env("WEBSVC_API_KEY", &stage.key)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => panic!("{program}: {error}"),
    };
    child.stdin.take().unwrap().write_all(code.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{program}: {}\n{code}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[tokio::test]
async fn the_code_of_the_playground_runs_and_gets_the_same_answer() {
    let test = "the_code_of_the_playground_runs_and_gets_the_same_answer";
    let Some(stage) = stage(test).await else { return };
    let shown = shown(&stage, QUERY, true).await;
    let code = |language: &str| shown[language].as_str().unwrap_or_else(|| panic!("{language}: {shown}"));
    let answer: Value = serde_json::from_str(code("Response as JSON")).unwrap();
    let page = &answer["data"]["web"][0];
    assert_eq!(page["url"], json!("http://tea.test/"), "{answer}");
    let curl =
        run(&stage, "sh", &["-s"], &format!("set -e\n{}", code("curl").replacen("curl ", "curl -sS ", 1)));
    let got: Value = serde_json::from_str(&curl.expect("there is a shell")).unwrap();
    assert_eq!(got["data"]["web"][0]["markdown"], page["markdown"], "{got}");
    for (language, program, arguments) in
        [("Python", "python3", &["-"][..]), ("JavaScript", "node", &["--input-type=module", "-"])]
    {
        match run(&stage, program, arguments, code(language)) {
            Some(printed) => assert!(printed.contains("Water of eighty degrees"), "{language}: {printed}"),
            None => skip(test, &format!("there is no {program}")),
        }
    }
    let rust = code("Rust");
    assert!(rust.contains("r##\"{") && rust.contains("}\"##"), "a quote before a # ends no string: {rust}");
}

#[tokio::test]
async fn the_rust_of_the_playground_is_a_program_that_is_compiled() {
    let test = "the_rust_of_the_playground_is_a_program_that_is_compiled";
    let Some(stage) = stage(test).await else { return };
    let shown = shown(&stage, "brewing", false).await;
    let here = shown["Rust"].as_str().unwrap().replace(&stage.service.address, "http://127.0.0.1:3002");
    let compiled = &RUST[RUST.find("use websvc").unwrap()..];
    assert_eq!(here, compiled);
}
