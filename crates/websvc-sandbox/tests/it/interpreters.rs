//! Programs of real interpreters in the sandbox of bubblewrap, where it is installed.

use std::path::{Path, PathBuf};

use websvc_sandbox::{
    DEFAULT_INTERPRETER_MEMORY_BYTES, Interpreter, InterpreterConfig, InterpreterError, Language, Outcome,
    SandboxConfig,
};
use websvc_testkit::skip;

use crate::browser::{Browser, chromium};
use crate::channels::{FakeBrowser, program};
use crate::site;

/// The variable with the path of bubblewrap, set where its sandbox works.
const BUBBLEWRAP: &str = "WEBSVC_TEST_BUBBLEWRAP";

/// Returns the sandbox of the tests, with a hidden directory.
pub(crate) fn sandbox() -> Option<SandboxConfig> {
    let Some(bubblewrap) = std::env::var_os(BUBBLEWRAP).map(PathBuf::from) else {
        skip(&format!("no bubblewrap ({BUBBLEWRAP})"));
        return None;
    };
    Some(SandboxConfig {
        bubblewrap,
        program: PathBuf::from(env!("CARGO_BIN_EXE_websvc-sandbox-worker")),
        guest_arguments: Vec::new(),
        worker_arguments: Vec::new(),
        memory_bytes: DEFAULT_INTERPRETER_MEMORY_BYTES,
        hidden: vec!["/var/lib/websvc".into()],
    })
}

/// Returns the configuration of an interpreter of this machine.
fn config(language: Language) -> Option<InterpreterConfig> {
    let variable = |name: &str| {
        let value = std::env::var_os(name).map(PathBuf::from);
        if value.is_none() {
            skip(&format!("{name} is not set"));
        }
        value
    };
    let (program, library) = match language {
        Language::Python => (variable("WEBSVC_TEST_PLAYWRIGHT_PYTHON")?, None),
        Language::Node => (find_program("node")?, Some(variable("WEBSVC_TEST_PLAYWRIGHT")?)),
        Language::Bash => (find_program("bash")?, None),
    };
    Some(InterpreterConfig { language, program, library })
}

fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Returns an interpreter that has passed its check, if this machine has it.
pub(crate) async fn prepare(language: Language) -> Option<Interpreter> {
    let sandbox = sandbox()?;
    let config = config(language)?;
    Some(Interpreter::prepare(config, sandbox).await.unwrap())
}

/// Runs a program of a shell without a browser.
pub(crate) async fn run_shell(shell: &Interpreter, code: &str, seconds: u64) -> Outcome {
    let page = websvc_sandbox::PageTarget { target_id: "T".to_owned(), session_id: "S".to_owned() };
    shell.run(program(Language::Bash, code, seconds), page, Box::new(FakeBrowser::new())).await
}

#[tokio::test]
async fn python_drives_the_page_and_chooses_another() {
    let Some(chromium) = chromium() else { return skip("no Chromium (WEBSVC_TEST_CHROMIUM)") };
    let Some(python) = prepare(Language::Python).await else { return };
    assert!(python.version().starts_with("Python 3"), "{}", python.version());
    let web = site::start().await;
    let browser = Browser::start(chromium).await;
    let mut page = browser.first_page().await;
    for (code, stdout, exit_code) in [
        ("await page.set_content('<title>Tea</title><p>leaf')\nprint(await page.title())", "Tea\n", 0),
        ("print(await page.inner_text('p')); print(page.url)", "leaf\nabout:blank\n", 0),
        ("async def read():\n  return await page.title()\nprint(await read())", "Tea\n", 0),
        ("await page.goto('SITE/app/done')\nprint(await page.title())", "Done\n", 0),
        (
            "other = await context.new_page()\nawait other.set_content('<title>Other</title>')\npage = other",
            "",
            0,
        ),
        ("print(await page.title(), len(context.pages))", "Other 2\n", 0),
        ("import sys; print('a'); sys.exit(3)", "a\n", 3),
        ("import sys, os; print(sys.argv, input() if False else os.getcwd())", "['program.py'] /home\n", 0),
        ("print(1)\nraise ValueError('boom')", "1\n", 1),
        ("page.set_default_timeout(200)\nawait page.click('#missing')", "", 1),
        ("print('a'", "", 1),
        ("", "", 0),
    ] {
        let code = site::insert_addresses(code, &web);
        let outcome = page.interpret(&python, program(Language::Python, &code, 30)).await;
        assert_eq!((outcome.stdout.as_str(), outcome.exit_code), (stdout, exit_code), "{code}: {outcome:?}");
        assert_eq!(
            outcome.result.as_deref(),
            Some(stdout.trim()).filter(|text| !text.is_empty() && exit_code == 0)
        );
        for (part, text) in [
            ("ValueError", "File \"program.py\", line 2, in <module>\n    raise ValueError('boom')"),
            ("#missing", "Timeout 200ms exceeded"),
            ("print('a'", "SyntaxError"),
        ] {
            let is_affected = code.contains(part) && exit_code == 1 && !code.contains("await read");
            assert!(!is_affected || outcome.stderr.contains(text), "{code}: {}", outcome.stderr);
        }
    }
}

#[tokio::test]
async fn node_returns_the_value_of_the_last_expression() {
    let Some(chromium) = chromium() else { return skip("no Chromium (WEBSVC_TEST_CHROMIUM)") };
    let Some(node) = prepare(Language::Node).await else { return };
    let browser = Browser::start(chromium).await;
    let mut page = browser.first_page().await;
    for (code, result, exit_code) in [
        ("await page.setContent('<title>Tea</title>'); await page.title()", Some("Tea"), 0),
        ("const x = await Promise.resolve(5); x", Some("5"), 0),
        ("({ title: await page.title(), list: [1, null] })", Some(r#"{"title":"Tea","list":[1,null]}"#), 0),
        ("return 3", Some("3"), 0),
        ("Buffer.from('hi')", Some("aGk="), 0),
        ("10n", Some("10n"), 0),
        ("undefined", None, 0),
        ("console.log(require('node:os').platform())", Some("linux"), 0),
        ("page = await context.newPage(); await page.setContent('<title>Other</title>'); 1", Some("1"), 0),
        ("await page.title()", Some("Other"), 0),
        ("throw new TypeError('boom')", None, 1),
        ("process.exit(4)", None, 4),
        ("let x = ;", None, 1),
    ] {
        let outcome = page.interpret(&node, program(Language::Node, code, 30)).await;
        assert_eq!(
            (outcome.result.as_deref(), outcome.exit_code),
            (result, exit_code),
            "{code}: {outcome:?}"
        );
        assert!(!code.contains("boom") || outcome.stderr.contains("TypeError: boom"), "{}", outcome.stderr);
    }
}

#[tokio::test]
async fn shell_has_agent_browser_and_the_tools_of_the_system() {
    let Some(chromium) = chromium() else { return skip("no Chromium (WEBSVC_TEST_CHROMIUM)") };
    let Some(shell) = prepare(Language::Bash).await else { return };
    let web = site::start().await;
    let browser = Browser::start(chromium).await;
    let mut page = browser.first_page().await;
    for (code, stdout, exit_code) in [
        ("agent-browser open SITE/app/done > /dev/null && agent-browser get title", "Done\n", 0),
        ("title=$(agent-browser get title); echo \"$title\" | tr a-z A-Z", "DONE\n", 0),
        (
            "agent-browser eval 'document.title = `it'\"'\"'s`' > /dev/null; agent-browser get title",
            "it's\n",
            0,
        ),
        (
            "agent-browser eval 'document.body.innerHTML = \"<button>Go</button>\"' > /dev/null\nagent-browser snapshot -i",
            "- button \"Go\" [ref=e1]\n",
            0,
        ),
        ("agent-browser click @e1 > /dev/null && echo clicked", "clicked\n", 0),
        ("agent-browser tab new > /dev/null; agent-browser get url", "about:blank\n", 0),
        ("agent-browser get title; exit 7", "\n", 7),
        ("agent-browser nonsense 2> /dev/null || echo failed", "failed\n", 0),
        ("for n in 1 2 3; do echo $n; done | sort -r | head -n 1", "3\n", 0),
    ] {
        let code = site::insert_addresses(code, &web);
        let outcome = page.interpret(&shell, program(Language::Bash, &code, 30)).await;
        assert_eq!((outcome.stdout.as_str(), outcome.exit_code), (stdout, exit_code), "{code}: {outcome:?}");
    }
}

#[tokio::test]
async fn configuration_that_cannot_work_is_refused_with_its_reason() {
    let Some(sandbox) = sandbox() else { return };
    let bash = find_program("bash").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let interpreter =
        |language, program: &Path| InterpreterConfig { language, program: program.into(), library: None };
    let failing = folder.path().join("failing");
    std::fs::write(&failing, "#!/bin/sh\necho broken >&2; exit 1\n").unwrap();
    std::fs::set_permissions(&failing, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let without = SandboxConfig { bubblewrap: "/nowhere/bwrap".into(), ..sandbox.clone() };
    let hidden = SandboxConfig { hidden: vec!["/usr/share/websvc".into()], ..sandbox.clone() };
    let library =
        InterpreterConfig { library: Some(folder.path().into()), ..interpreter(Language::Node, &bash) };
    for (config, sandbox, error) in [
        (
            interpreter(Language::Bash, &bash),
            &without,
            "/nowhere/bwrap is not the absolute path of the program bwrap",
        ),
        (
            interpreter(Language::Bash, Path::new("bash")),
            &sandbox,
            "bash is not the absolute path of an interpreter",
        ),
        (
            interpreter(Language::Bash, &bash),
            &hidden,
            "/usr/share/websvc would be visible to programs, because /usr is",
        ),
        (library, &sandbox, "is not the absolute path of the folder of the npm package playwright-core"),
        (interpreter(Language::Python, &failing), &sandbox, "failing does not run: broken"),
        (interpreter(Language::Bash, &failing), &sandbox, "a first program failed in the sandbox: broken"),
    ] {
        let refused: Result<Interpreter, InterpreterError> =
            Interpreter::prepare(config, sandbox.clone()).await;
        let text = refused.unwrap_err().to_string();
        assert!(text.contains(error), "{text}, expected {error}");
    }
}
