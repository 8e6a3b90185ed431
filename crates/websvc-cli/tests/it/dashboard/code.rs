//! Tests of the code that the playground shows: it runs and returns the same results.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{DashboardTest, start};
use crate::harness::skip;

/// A query that needs escaping in every language.
const QUERY: &str = r##"brewing -it's -"#quoted\\" -${HOME}"##;

/// The Rust program that the playground shows for a plain search. Cargo compiles it as an example.
const RUST: &str = include_str!("../../../../websvc/examples/dashboard.rs");

/// Runs a search in the playground, and returns the shown code by language and the response.
async fn shown_code(dashboard: &DashboardTest, query: &str, formats: bool) -> Value {
    let script = format!(
        r#"
        const query = await until("the form", () => document.querySelector("input[type=search]"));
        query.value = {query:?};
        document.querySelector("fieldset input[value=markdown]").checked = {formats};
        query.form.requestSubmit();
        await until("a result", () => document.querySelector(".result"));
        const parts = [...document.querySelectorAll("main details")].filter((part) => part.querySelector("pre"));
        return Object.fromEntries(parts.map((part) => [part.querySelector("summary").textContent, part.querySelector("pre").textContent]));
        "#
    );
    dashboard.run_signed_in(&script).await
}

/// Runs a program with code as its input, and returns its stdout; `None` if the program is not installed.
fn run(dashboard: &DashboardTest, program: &str, arguments: &[&str], code: &str) -> Option<String> {
    let child = Command::new(program)
        .args(arguments)
        .env("WEBSVC_API_KEY", &dashboard.key)
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
async fn playground_code_returns_the_shown_response() {
    let Some(dashboard) = start().await else { return };
    let shown = shown_code(&dashboard, QUERY, true).await;
    let code = |language: &str| shown[language].as_str().unwrap_or_else(|| panic!("{language}: {shown}"));
    let response: Value = serde_json::from_str(code("Response as JSON")).unwrap();
    let page = &response["data"]["web"][0];
    assert_eq!(page["url"], json!("http://tea.test/"), "{response}");
    let curl = run(
        &dashboard,
        "sh",
        &["-s"],
        &format!("set -e\n{}", code("curl").replacen("curl ", "curl -sS ", 1)),
    );
    let got: Value = serde_json::from_str(&curl.expect("sh is installed")).unwrap();
    assert_eq!(got["data"]["web"][0]["markdown"], page["markdown"], "{got}");
    for (language, program, arguments) in
        [("Python", "python3", &["-"][..]), ("JavaScript", "node", &["--input-type=module", "-"])]
    {
        match run(&dashboard, program, arguments, code(language)) {
            Some(printed) => assert!(printed.contains("Water of eighty degrees"), "{language}: {printed}"),
            None => skip(&format!("{program} is not installed")),
        }
    }
    let rust = code("Rust");
    assert!(
        rust.contains("r##\"{") && rust.contains("}\"##"),
        "a quote before a # must not end the raw string: {rust}"
    );
}

#[tokio::test]
async fn playground_rust_code_equals_the_compiled_example() {
    let Some(dashboard) = start().await else { return };
    let shown = shown_code(&dashboard, "brewing", false).await;
    let code = shown["Rust"].as_str().unwrap().replace(&dashboard.service.address, "http://127.0.0.1:3002");
    let program = code.find("use websvc").unwrap();
    let compiled = &RUST[RUST.find("use websvc").unwrap()..];
    assert_eq!(&code[program..], compiled);
    for dependency in ["serde_json", "tokio", "websvc"] {
        assert!(compiled.contains(&format!("{dependency}::")), "{dependency} is not used");
        assert!(code[..program].contains(&format!("\n// {dependency} = ")), "{dependency} is not declared");
    }
}
