//! Programs without a browser: results, errors, and the end of a program.

use websvc_sandbox::Language;

use crate::channels::{program, run_alone};

#[tokio::test]
async fn results_and_exit_codes() {
    for (code, result, exit_code) in [
        ("1 + 1", Some("2"), 0),
        ("'text'", Some("text"), 0),
        ("({ a: [1, null] })", Some(r#"{"a":[1,null]}"#), 0),
        ("null", Some("null"), 0),
        ("undefined", None, 0),
        ("console.log(' printed '); undefined", Some("printed"), 0),
        ("const x = await Promise.resolve(5); x", Some("5"), 0),
        ("return 3", Some("3"), 0),
        ("if (true) { return await Promise.resolve('early'); } 'late'", Some("early"), 0),
        ("Promise.resolve({ a: 1 })", Some(r#"{"a":1}"#), 0),
        ("Buffer.from('hi')", Some("aGk="), 0),
        ("10n", Some("10n"), 0),
        ("page", Some("Page { url: 'about:blank' }"), 0),
        ("page.locator('a').first()", Some("Locator@locator('a').first()"), 0),
        ("process.exit(3)", None, 3),
        ("try { process.exit(0) } finally { console.log('never') }", None, 0),
        ("throw new Error('boom')", None, 1),
        (
            "setTimeout(() => { throw new Error('late') }, 1); await new Promise(r => setTimeout(r, 1000))",
            None,
            1,
        ),
        ("Promise.reject(new Error('forgotten')); await new Promise(r => setTimeout(r, 1000))", None, 1),
        ("let x = ;", None, 1),
    ] {
        let outcome = run_alone(program(Language::Node, code, 20)).await;
        let printed = code.contains("finally");
        assert_eq!(outcome.exit_code, exit_code, "{code}: {outcome:?}");
        assert!(printed || outcome.result.as_deref() == result, "{code}: {outcome:?}");
        assert_eq!(outcome.error.is_some(), exit_code == 1, "{code}: {outcome:?}");
    }
}

#[tokio::test]
async fn uncaught_error_is_in_standard_error_with_its_line() {
    let code = "console.log('before');\nfunction fail() {\n  throw new TypeError('boom');\n}\nfail();";
    let outcome = run_alone(program(Language::Node, code, 20)).await;
    assert_eq!(outcome.stdout, "before\n");
    assert_eq!(outcome.error.as_deref(), Some("TypeError: boom"));
    assert!(outcome.stderr.starts_with("TypeError: boom\n    at fail (program.js:3"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("library.js"), "{}", outcome.stderr);
}

#[tokio::test]
async fn missing_method_names_the_closest() {
    for (code, error) in [
        ("page.clik('a')", "page.clik does not exist; did you mean page.click?"),
        ("page.locatr('a')", "page.locatr does not exist; did you mean page.locator?"),
        ("await page.locator('a').clickk()", "locator.clickk does not exist; did you mean locator.click?"),
        ("page.getByTxt('a')", "page.getByTxt does not exist; did you mean page.getByText?"),
        ("page.keybord.press('a')", "page.keybord does not exist; did you mean page.keyboard?"),
        ("page.keyboard.pres('a')", "keyboard.pres does not exist; did you mean keyboard.press?"),
        ("context.cookie()", "browserContext.cookie does not exist; did you mean browserContext.cookies?"),
        ("browser.contextes()", "browser.contextes does not exist; did you mean browser.contexts?"),
        ("page.waitForXPath('//a')", "page.waitForXPath does not exist; did you mean page.waitFor"),
        (
            "page.route('**', r => r.abort())",
            "page.route is not available in this sandbox: requests cannot be intercepted",
        ),
        (
            "page.locator('input').setInputFiles('x')",
            "locator.setInputFiles: programs have no files: pass { name, mimeType, buffer }, with a Buffer",
        ),
        (
            "page.setInputFiles('a', { name: 'a', buffer: Buffer.alloc(2 * 1024 * 1024 + 1) })",
            "page.setInputFiles: the files have more than 2 MiB together",
        ),
        ("require('fs')", "Cannot find module 'fs'"),
        ("import fs from 'fs'", "a program cannot import modules"),
        ("page.screenshot({ path: 'x.png' })", "page.screenshot: path: programs have no files"),
    ] {
        let outcome = run_alone(program(Language::Node, code, 20)).await;
        let found = outcome.error.clone().unwrap_or_default();
        assert!(outcome.exit_code == 1 && found.contains(error), "{code}: {outcome:?}");
    }
}

#[tokio::test]
async fn refusal_of_the_channel_is_an_error_of_the_program() {
    let outcome =
        run_alone(program(Language::Node, "await page.setViewportSize({ width: 1, height: 1 })", 20)).await;
    let expected = "page.setViewportSize: Protocol error (Emulation.setDeviceMetricsOverride): \
                    Emulation.setDeviceMetricsOverride is not allowed";
    assert_eq!(outcome.error.as_deref(), Some(format!("Error: {expected}").as_str()));
}
