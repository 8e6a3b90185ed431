//! The actions and their effects on a page.

use std::time::Duration;

use serde_json::json;
use websvc_browser::{BrowserError, Direction, Matches, ScriptValue, Step};
use websvc_testkit::{Page, TestWeb};

use crate::support::{setup, setup_page};

fn click(selector: &str) -> Step {
    Step::Click { selector: selector.to_owned(), matches: Matches::First }
}

fn write(text: &str) -> Step {
    Step::Write(text.to_owned())
}

fn press(key: &str) -> Step {
    Step::Press(key.to_owned())
}

fn script(script: &str) -> Step {
    Step::Script(script.to_owned())
}

/// Asserts that an action failed, its index and name, and a part of its reason.
fn check_failed(
    outcome: &Result<websvc_browser::RenderedPage, BrowserError>,
    expected_index: usize,
    name: &str,
    expected_reason: &str,
) {
    let Err(BrowserError::Step { index, action, reason }) = outcome else { panic!("{outcome:?}") };
    assert_eq!((*index, *action), (expected_index, name), "{reason}");
    assert!(reason.contains(expected_reason), "{reason}");
}

#[tokio::test]
async fn wait_waits_for_a_duration_or_a_visible_element() {
    let html = "<p>some words that are enough for a page to be one</p><script>
        setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<b hidden id=late>late</b>'), 700);
        setTimeout(() => late.hidden = false, 1200)</script>";
    let Some(setup) = setup_page(html).await else { return };
    let is_visible = "Boolean(document.querySelector('#late:not([hidden])'))";
    assert_eq!(setup.evaluate_after(vec![], is_visible).await, false, "the element is not visible at first");
    assert_eq!(setup.evaluate_after(vec![Step::Wait(Duration::from_millis(1500))], is_visible).await, true);
    assert_eq!(setup.evaluate_after(vec![Step::WaitFor("#late".to_owned())], is_visible).await, true);
    setup.browser.stop().await;
}

#[tokio::test]
async fn wait_for_missing_element_fails_before_the_deadline() {
    let Some(setup) = setup_page("<p>x").await else { return };
    let mut request = crate::support::request_within("http://a.test/", Duration::from_secs(4));
    request.steps = vec![Step::WaitFor("#never".to_owned())];
    check_failed(&setup.open(&request).await, 0, "wait", "#never");
    setup.browser.stop().await;
}

#[tokio::test]
async fn click_is_a_trusted_mouse_event() {
    let html = "<div style='height: 3000px'></div><button id=b>go</button><script>
        b.onclick = (event) => document.title = [event.isTrusted, event.detail, event.clientX > 0]</script>";
    let Some(setup) = setup_page(html).await else { return };
    assert_eq!(setup.evaluate_after(vec![click("#b")], "document.title").await, "true,1,true");
    setup.browser.stop().await;
}

#[tokio::test]
async fn click_reaches_covered_and_hidden_elements() {
    let html = "<button class=b>one</button><button class=b hidden>two</button>
        <div style='position: fixed; inset: 0'></div><script>
        clicked = 0; for (const b of document.querySelectorAll('.b')) b.onclick = () => clicked++</script>";
    let Some(setup) = setup_page(html).await else { return };
    let all = Step::Click { selector: ".b".to_owned(), matches: Matches::All };
    assert_eq!(setup.evaluate_after(vec![all], "clicked").await, 2);
    setup.browser.stop().await;
}

#[tokio::test]
async fn click_all_clicks_initial_matches_and_accepts_none() {
    let html = "<i class=x>1</i><i class=x>2</i><i class=x>3</i><script>clicked = [];
        for (const e of document.querySelectorAll('.x')) e.onclick = () => { clicked.push(e.textContent); e.className = '' }
        </script>";
    let Some(setup) = setup_page(html).await else { return };
    let all = |selector: &str| Step::Click { selector: selector.to_owned(), matches: Matches::All };
    assert_eq!(setup.evaluate_after(vec![all(".x"), all(".none")], "clicked").await, json!(["1", "2", "3"]));
    check_failed(&setup.run_steps(vec![all(".x"), click(".none")]).await, 1, "click", ".none");
    check_failed(&setup.run_steps(vec![click("p[")]).await, 0, "click", "p[");
    setup.browser.stop().await;
}

#[tokio::test]
async fn click_on_a_link_waits_for_the_next_page() {
    let web = TestWeb::builder()
        .page("http://a.test/", Page::html("<a href='/next'>next</a>"))
        .page("http://a.test/next", Page::html("<h1>the next page</h1>").delay(Duration::from_millis(300)));
    let Some(setup) = setup(web).await else { return };
    let rendered = setup.run_steps(vec![click("a"), Step::Scrape]).await.unwrap();
    assert_eq!((rendered.url.as_str(), rendered.status), ("http://a.test/next", Some(200)));
    assert_eq!(rendered.scrapes[0].url, "http://a.test/next");
    assert!(rendered.scrapes[0].html.contains("the next page"));
    setup.browser.stop().await;
}

#[tokio::test]
async fn write_types_key_by_key_into_the_focused_element() {
    let html = "<input id=i maxlength=40><textarea id=t></textarea><div id=d contenteditable></div><script>
        keys = 0; onkeydown = (event) => keys += event.isTrusted</script>";
    let Some(setup) = setup_page(html).await else { return };
    let text = "Hello, World! 1+1=2";
    let steps = vec![click("#i"), write(text)];
    assert_eq!(setup.evaluate_after(steps, "[i.value, keys]").await, json!([text, text.chars().count()]));
    let steps = vec![click("#t"), write("one\ntwo"), click("#d"), write("äöü 漢字 🦀")];
    assert_eq!(
        setup.evaluate_after(steps, "[t.value, d.textContent]").await,
        json!(["one\ntwo", "äöü 漢字 🦀"])
    );
    setup.browser.stop().await;
}

#[tokio::test]
async fn write_without_focused_text_field_fails() {
    let Some(setup) = setup_page("<input id=i><input type=checkbox id=c>").await else { return };
    check_failed(&setup.run_steps(vec![write("x")]).await, 0, "write", "focus");
    check_failed(&setup.run_steps(vec![click("#c"), write("x")]).await, 1, "write", "focus");
    setup.browser.stop().await;
}

#[tokio::test]
async fn press_supports_keys_and_combinations() {
    let web = TestWeb::builder()
        .page("http://a.test/", Page::html("<form action=/found><input name=q id=q></form>"))
        .page("http://a.test/found", Page::html("<p>found"));
    let Some(setup) = setup(web).await else { return };
    let edit = vec![click("#q"), write("abcd"), press("ArrowLeft"), press("Backspace")];
    assert_eq!(setup.evaluate_after(edit.clone(), "q.value").await, "abd");
    let replaced = [edit.clone(), vec![press("Control+A"), write("new")]].concat();
    assert_eq!(setup.evaluate_after(replaced, "q.value").await, "new");
    let rendered = setup.run_steps([edit, vec![press("Enter")]].concat()).await.unwrap();
    assert_eq!(rendered.url, "http://a.test/found?q=abd");
    check_failed(&setup.run_steps(vec![press("Entr")]).await, 0, "press", "Entr");
    setup.browser.stop().await;
}

#[tokio::test]
async fn scroll_moves_page_or_element_by_its_visible_height() {
    let html = "<style>body { margin: 0 } #box { height: 200px; overflow: auto }</style>
        <div id=box><div style='height: 900px'></div></div><div style='height: 5000px'></div>";
    let Some(setup) = setup_page(html).await else { return };
    let scroll =
        |direction, selector: Option<&str>| Step::Scroll { direction, selector: selector.map(str::to_owned) };
    let down = scroll(Direction::Down, None);
    assert_eq!(setup.evaluate_after(vec![down.clone(), down.clone()], "scrollY").await, 1600);
    assert_eq!(setup.evaluate_after(vec![down, scroll(Direction::Up, None)], "scrollY").await, 0);
    assert_eq!(setup.evaluate_after(vec![scroll(Direction::Down, Some("#box"))], "box.scrollTop").await, 200);
    check_failed(&setup.run_steps(vec![scroll(Direction::Down, Some("#none"))]).await, 0, "scroll", "#none");
    setup.browser.stop().await;
}

#[tokio::test]
async fn scroll_reaches_the_element_that_scrolls_in_place_of_the_page() {
    let html = "<style>html, body { margin: 0; height: 100%; overflow: hidden } main { height: 100%; overflow: auto }</style>
        <main><div style='height: 5000px'></div></main>";
    let Some(setup) = setup_page(html).await else { return };
    let steps = vec![Step::Scroll { direction: Direction::Down, selector: None }];
    let moved = setup.evaluate_after(steps, "document.querySelector('main').scrollTop").await;
    assert!(moved.as_f64().unwrap() > 100.0, "{moved}");
    setup.browser.stop().await;
}

#[tokio::test]
async fn scrape_returns_the_page_at_that_time() {
    let Some(setup) = setup_page("<p id=p>first</p>").await else { return };
    let steps = vec![
        Step::Scrape,
        script("p.textContent = 'second'; history.pushState(0, '', '/second')"),
        Step::Scrape,
    ];
    let rendered = setup.run_steps(steps).await.unwrap();
    let snapshots: Vec<_> =
        rendered.scrapes.iter().map(|s| (s.url.as_str(), s.html.contains("first"))).collect();
    assert_eq!(snapshots, [("http://a.test/", true), ("http://a.test/second", false)]);
    assert_eq!(rendered.url, "http://a.test/second");
    setup.browser.stop().await;
}

#[tokio::test]
async fn script_values_have_their_types() {
    let Some(setup) = setup_page("<p>x").await else { return };
    let cases = [
        ("1 + 1", "number", json!(2)),
        ("'text'", "string", json!("text")),
        ("return document.title + 'x'", "string", json!("x")),
        ("const a = 1; a", "number", json!(1)),
        ("const b = await Promise.resolve(7); return b", "number", json!(7)),
        ("Promise.resolve([1, {a: null}])", "array", json!([1, {"a": null}])),
        ("({a: 1})", "object", json!({"a": 1})),
        ("null", "null", json!(null)),
        ("undefined", "undefined", json!(null)),
        ("1 > 0", "boolean", json!(true)),
        ("0 / 0", "number", json!("NaN")),
        ("10n", "bigint", json!("10n")),
    ];
    let steps = cases.iter().map(|(source, ..)| script(source)).collect();
    let returns = setup.run_steps(steps).await.unwrap().returns;
    for ((source, kind, value), returned) in cases.into_iter().zip(returns) {
        assert_eq!(returned, ScriptValue { kind: kind.to_owned(), value }, "{source}");
    }
    setup.browser.stop().await;
}

#[tokio::test]
async fn script_values_that_json_lacks_have_a_text_form() {
    let Some(setup) = setup_page("<p id=p class=x>words</p>").await else { return };
    let cases = [
        ("new Date(0)", "object", json!("1970-01-01T00:00:00.000Z")),
        ("new Date(NaN)", "object", json!("Invalid Date")),
        ("new TypeError('no tea')", "object", json!("TypeError: no tea")),
        ("/tea+/g", "object", json!("/tea+/g")),
        ("document.getElementById('p')", "object", json!("<p id=\"p\" class=\"x\">words</p>")),
        ("p.firstChild", "object", json!("words")),
        ("document.querySelectorAll('p')", "array", json!(["<p id=\"p\" class=\"x\">words</p>"])),
        ("document", "object", json!("[Document http://a.test/]")),
        ("window", "object", json!("[Window http://a.test/]")),
        ("(function brew() {})", "function", json!("[Function brew]")),
        ("Symbol('tea')", "symbol", json!("Symbol(tea)")),
        ("new Map([['tea', 1n]])", "array", json!([["tea", "1n"]])),
        ("new Set([1, 2])", "array", json!([1, 2])),
        ("new Uint8Array([1, 2])", "array", json!([1, 2])),
        (
            "({a: undefined, list: [undefined], b: NaN, c: -Infinity, d: 5n, e: () => 1, f: new Date(0)})",
            "object",
            json!({
                "list": [null], "b": "NaN", "c": "-Infinity", "d": "5n", "e": "[Function e]",
                "f": "1970-01-01T00:00:00.000Z",
            }),
        ),
        (
            "({get tea() { throw new Error('cold') }, b: 1})",
            "object",
            json!({"tea": "[Threw Error: cold]", "b": 1}),
        ),
        ("JSON.parse('{\"__proto__\": 1}')", "object", json!({"__proto__": 1})),
    ];
    let steps = cases.iter().map(|(source, ..)| script(source)).collect();
    let rendered = setup.run_steps(steps).await.unwrap();
    assert_eq!(rendered.returns.len(), cases.len());
    for ((source, kind, value), returned) in cases.into_iter().zip(rendered.returns) {
        assert_eq!(returned, ScriptValue { kind: kind.to_owned(), value }, "{source}");
    }
    assert_eq!(rendered.warnings, [""; 0]);
    setup.browser.stop().await;
}

#[tokio::test]
async fn script_values_with_cycles_or_beyond_limits_are_truncated_with_a_warning() {
    let Some(setup) = setup_page("<p>x").await else { return };
    let steps = vec![
        script("var a = {n: 1}; a.a = a; a"),
        script("var l = [1]; l.push({l}); l"),
        script("const same = {n: 1}; [same, same]"),
        script("let deep = {}; for (let i = 0; i < 5000; i++) deep = {deep}; deep"),
        script("Array(200000).fill(0)"),
    ];
    let rendered = setup.run_steps(steps).await.unwrap();
    let values: Vec<_> = rendered.returns.iter().map(|returned| &returned.value).collect();
    assert_eq!(*values[0], json!({"n": 1, "a": "[Circular]"}));
    assert_eq!(*values[1], json!([1, {"l": "[Circular]"}]));
    assert_eq!(*values[2], json!([{"n": 1}, {"n": 1}]));
    assert!(values[3].to_string().contains("[Truncated]"));
    assert!((90_000..200_000).contains(&values[4].as_array().unwrap().len()));
    let count = |text: &str| rendered.warnings.iter().filter(|warning| warning.contains(text)).count();
    assert_eq!(
        (count("refers to itself"), count("too large or too deep")),
        (1, 1),
        "{:?}",
        rendered.warnings
    );
    setup.browser.stop().await;
}

#[tokio::test]
async fn script_errors_are_reported() {
    let Some(setup) = setup_page("<p>x").await else { return };
    check_failed(
        &setup.run_steps(vec![script("1"), script("nothing.at.all")]).await,
        1,
        "executeJavascript",
        "nothing is not defined",
    );
    check_failed(&setup.run_steps(vec![script("if (")]).await, 0, "executeJavascript", "SyntaxError");
    check_failed(&setup.run_steps(vec![script("throw 'a word'")]).await, 0, "executeJavascript", "a word");
    let mut request = crate::support::request_within("http://a.test/", Duration::from_secs(5));
    request.steps = vec![script("for (;;);")];
    check_failed(&setup.open(&request).await, 0, "executeJavascript", "terminated");
    setup.browser.stop().await;
}
