//! Programs of `agent-browser` commands.

use websvc_sandbox::{Language, Outcome};
use websvc_testkit::skip;

use crate::browser::{Browser, chromium};
use crate::channels::{program, run_alone};
use crate::site;

#[tokio::test]
async fn lines_that_need_a_shell_are_rejected() {
    for (code, error) in [
        ("open a.com | cat", "line 1: \"|\": pipes need a shell"),
        ("# comment\nget title > x", "line 2: \">\": redirections need a shell"),
        ("open $URL", "line 1: \"$\": variables need a shell"),
        ("open \"$(id)\"", "command substitutions need a shell"),
        ("open `id`", "command substitutions need a shell"),
        ("open a.com &", "background commands need a shell"),
        ("click 'x", "line 1: ' is not closed"),
        ("open a.com &&", "&& has no command after it"),
        ("&& open a.com", "&& has no command before it"),
    ] {
        let outcome = run_alone(program(Language::Bash, code, 20)).await;
        assert_eq!(outcome.exit_code, 2, "{code}: {outcome:?}");
        assert!(outcome.stderr.contains(error), "{code}: {outcome:?}");
        assert_eq!(outcome.stdout, "");
    }
}

#[tokio::test]
async fn chains_and_exit_codes_are_those_of_a_shell() {
    for (code, stdout, exit_code) in [
        ("echo a && echo b", "a\nb\n", 0),
        ("nonsense && echo b", "", 1),
        ("nonsense || echo b", "b\n", 0),
        ("nonsense\necho b", "b\n", 0),
        ("nonsense; echo 'b  c' \"d\\\"e\" f\\ g # comment", "b  c d\"e f g\n", 0),
        ("echo a &&\n  echo b", "a\nb\n", 0),
        ("echo a \\\n b", "a b\n", 0),
        ("echo a#b", "a#b\n", 0),
        ("", "", 0),
    ] {
        let outcome = run_alone(program(Language::Bash, code, 20)).await;
        assert_eq!((outcome.stdout.as_str(), outcome.exit_code), (stdout, exit_code), "{code}: {outcome:?}");
    }
}

#[tokio::test]
async fn unknown_command_names_the_closest() {
    for (code, error) in [
        ("agent-browser clik @e1", "unknown command \"clik\"; did you mean \"click\"?"),
        ("snapshott", "did you mean \"snapshot\"?"),
        ("get titel", "did you mean get title?"),
        ("agent-browser", "a command is missing"),
        ("scroll sideways", "expected one of up, down, left, right"),
        ("snapshot --deep", "unknown option --deep; options: -i, --interactive"),
        ("close", "the session opens and closes its browser"),
        ("rm -rf /", "unknown command \"rm\""),
    ] {
        let outcome = run_alone(program(Language::Bash, code, 20)).await;
        assert_eq!(outcome.exit_code, 1, "{code}: {outcome:?}");
        assert!(outcome.stderr.contains(error), "{code}: {outcome:?}");
    }
}

/// Checks the outputs of commands, in order, on one page. A step is a program and what it prints.
async fn check_steps(steps: &[(&str, &str)]) {
    let Some(chromium) = chromium() else { return skip("no Chromium (WEBSVC_TEST_CHROMIUM)") };
    let web = site::start().await;
    let browser = Browser::start(chromium).await;
    let mut page = browser.open_page().await;
    for (code, expected) in steps {
        let code = site::insert_addresses(code, &web);
        let outcome: Outcome = page.run(program(Language::Bash, &code, 60)).await;
        assert_eq!(outcome.stdout.trim(), site::insert_addresses(expected, &web), "{code}: {outcome:?}");
        assert_eq!(outcome.exit_code, 0, "{code}: {outcome:?}");
        assert_eq!(outcome.result.unwrap_or_default(), outcome.stdout.trim());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn references_of_a_snapshot_serve_the_next_programs() {
    check_steps(&[
        ("agent-browser open SITE/form.html", "✓ Form\n  SITE/form.html"),
        (
            "agent-browser snapshot -i",
            "- textbox \"Full name\" [ref=e1]\n- textbox \"Email\" [ref=e2]: old@example.com\n\
             - checkbox \"Accept the terms\" [ref=e3]\n- checkbox \"Newsletter\" [ref=e4] [checked]\n\
             - radio \"Small\" [ref=e5]\n- radio \"Large\" [ref=e6]\n- combobox \"Color\" [ref=e7]\n\
             - option \"Red\" [ref=e8] [selected]\n- option \"Green\" [ref=e9]\n- option \"Blue\" [ref=e10] [disabled]\n\
             - listbox \"Many\" [ref=e11]\n- option \"one\" [ref=e12]\n- option \"two\" [ref=e13]\n\
             - option \"three\" [ref=e14]\n- textbox \"Notes\" [ref=e15]: first line\n- textbox \"Day\" [ref=e16]\n\
             - spinbutton \"Age\" [ref=e17]\n- slider [ref=e18]\n- textbox [ref=e19] [disabled]: locked\n\
             - textbox [ref=e20]: read only\n- textbox \"Password\" [ref=e21]\n- textbox [ref=e22]: edit me\n\
             - button \"Send form\" [ref=e23]\n- button \"Disabled one\" [ref=e24] [disabled]",
        ),
        ("agent-browser fill @e1 'Ada Lovelace' && agent-browser get value @e1", "✓ Done\nAda Lovelace"),
        ("agent-browser type @e1 \" King\" && agent-browser get value ref=e1", "✓ Done\nAda Lovelace King"),
        ("agent-browser check @e3; agent-browser is checked @e3", "✓ Done\ntrue"),
        ("agent-browser select @e7 g && get value '#color'", "✓ Done\ng"),
        ("agent-browser is enabled @e24\nagent-browser is visible @e24", "false\ntrue"),
        ("agent-browser click @e23 && get title && get text h1", "✓ Done\nSubmitted\nThanks"),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn snapshot_has_the_content_of_frames() {
    check_steps(&[
        ("agent-browser open SITE/frames.html", "✓ Frames\n  SITE/frames.html"),
        (
            "agent-browser snapshot",
            "- heading \"Outer\" [ref=e1] [level=1]\n- iframe [ref=e2]\n\
             \u{20} - heading \"Inner page\" [ref=e4] [level=2]\n  - textbox \"in frame\" [ref=e5]\n\
             \u{20} - button \"Press\" [ref=e6]\n  - paragraph: Deep text\n\
             - iframe [ref=e3]\n  - paragraph: from srcdoc",
        ),
        ("agent-browser fill @e5 hello && agent-browser get value @e5", "✓ Done\nhello"),
        ("agent-browser click @e6 && agent-browser get text @e6", "✓ Done\nPressed"),
        (
            "agent-browser snapshot -i",
            "- textbox \"in frame\" [ref=e3]: hello\n- button \"Pressed\" [ref=e4]",
        ),
        // The same document, in frames of another site, which has a process of its own.
        (
            "eval \"new Promise(loaded => { const frame = document.createElement('iframe'); \
             frame.onload = () => loaded('loaded'); frame.src = 'OTHER/frames.html'; \
             document.body.replaceChildren(frame); })\" && snapshot -i",
            "loaded\n- textbox \"in frame\" [ref=e4]\n- button \"Press\" [ref=e5]",
        ),
        ("click @e5 && get text @e5 && snapshot -d 0", "✓ Done\nPressed\n- iframe [ref=e1]"),
        // Frames that are not shown come before it, more of them than a snapshot shows.
        (
            "eval \"new Promise(loaded => { const frame = () => document.createElement('iframe'); \
             const hidden = Array.from({ length: 60 }, () => Object.assign(frame(), { hidden: true })); \
             const onload = () => loaded('loaded'); \
             document.body.replaceChildren(...hidden, Object.assign(frame(), { srcdoc: '<button>Late</button>', onload })); \
             })\" && snapshot -i && click @e2",
            "loaded\n- button \"Late\" [ref=e2]\n✓ Done",
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_drive_a_page() {
    check_steps(&[
        (
            "open SITE/list.html\nget title; get url\nget count .product",
            "✓ Products\n  SITE/list.html\nProducts\nSITE/list.html\n3",
        ),
        (
            "get attr .product data-id && get html .price && get text '.product >> nth=1'",
            "1\n$20\nChair\n$45Buy",
        ),
        ("eval '1 + 1' && eval \"document.title\" && eval '({ a: 1 })'", "2\nProducts\n{\n  \"a\": 1\n}"),
        ("find text Next click && get url", "✓ Done\nSITE/list.html?p=2"),
        ("find role columnheader --name count text && find first .price text", "Count\n$20"),
    ])
    .await;
    check_steps(&[
        (
            "open SITE/clicks.html && click '#one' && get text '#clicks'",
            "✓ Clicks\n  SITE/clicks.html\n✓ Done\n1",
        ),
        ("scroll down 500 && eval 'scrollY'", "✓ Done\n500"),
        ("scroll up 200 && eval scrollY", "✓ Done\n300"),
        ("click '#add' && wait '#added' && get text '#added'", "✓ Done\n✓ Done\nHere now"),
        ("wait 10 && wait --load networkidle && wait --fn 'true'", "✓ Done\n✓ Done\n✓ Done"),
        (
            "open SITE/index.html && back && get title && forward && get title && reload",
            "✓ Home of tests\n  SITE/index.html\n✓ Done\nClicks\n✓ Done\nHome of tests\n✓ Done",
        ),
        ("find role link --name Form && get title", "✓ Done\nForm"),
        (
            "focus '#name' && press a && press Control+A && press b && get value '#name'",
            "✓ Done\n✓ Done\n✓ Done\n✓ Done\nb",
        ),
        ("cookies set a 1 && eval document.cookie && cookies clear", "✓ Done\na=1\n✓ Done"),
        ("storage local set k v && storage local k", "✓ Done\nv"),
        ("set viewport 500 400 && eval innerWidth", "✓ Done\n500"),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn current_tab_is_reported() {
    let Some(chromium) = chromium() else { return skip("no Chromium (WEBSVC_TEST_CHROMIUM)") };
    let web = site::start().await;
    let browser = Browser::start(chromium).await;
    let mut page = browser.open_page().await;
    let code = site::insert_addresses("open SITE/index.html && tab new SITE/list.html && tab", &web);
    let outcome = page.run(program(Language::Bash, &code, 60)).await;
    assert!(outcome.stdout.contains("→ [1] Products"), "{outcome:?}");
    assert!(outcome.page.is_some_and(|target| target != page.target.target_id));
    // Without a change, the page is the one of the session.
    let outcome = page.run(program(Language::Node, "context.pages().length + await page.title()", 60)).await;
    assert_eq!(outcome.result.as_deref(), Some("2Home of tests"), "{outcome:?}");
    assert_eq!(outcome.page, None);
    let outcome =
        page.run(program(Language::Node, "page = context.pages()[1]; await page.title()", 60)).await;
    assert_eq!(outcome.result.as_deref(), Some("Products"), "{outcome:?}");
    assert!(outcome.page.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_program_leaves_the_page_usable() {
    let Some(chromium) = chromium() else { return skip("no Chromium (WEBSVC_TEST_CHROMIUM)") };
    let web = site::start().await;
    let browser = Browser::start(chromium).await;
    let mut page = browser.open_page().await;
    for code in [
        "await page.goto('SITE/list.html'); for (;;) {}",
        // A dialog stays open.
        "page.on('dialog', () => { for (;;) {} }); await page.evaluate(() => alert('left open'))",
    ] {
        let outcome = page.run(program(Language::Node, &site::insert_addresses(code, &web), 3)).await;
        assert!(outcome.killed, "{outcome:?}");
        let outcome =
            page.run(program(Language::Node, "await page.evaluate(() => document.title)", 60)).await;
        assert_eq!(outcome.result.as_deref(), Some("Products"), "{outcome:?}");
    }
}
