//! The actions, one by one, by what they do to a page.

use std::time::Duration;

use serde_json::json;
use websvc_browser::{BrowserError, Direction, Matches, Returned, Step};
use websvc_testkit::{Page, TestWeb};

use crate::support::{stage, stage_of};

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

/// Asserts which action failed, and that its reason says something.
fn check_failed(
    outcome: &Result<websvc_browser::RenderedPage, BrowserError>,
    at: usize,
    name: &str,
    says: &str,
) {
    let Err(BrowserError::Step { index, action, reason }) = outcome else { panic!("{outcome:?}") };
    assert_eq!((*index, *action), (at, name), "{reason}");
    assert!(reason.contains(says), "{reason}");
}

#[tokio::test]
async fn wait_waits_for_a_time_or_an_element() {
    let html = "<p>some words that are enough for a page to be one</p><script>
        setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<b hidden id=late>late</b>'), 700);
        setTimeout(() => late.hidden = false, 1200)</script>";
    let Some(stage) = stage_of(html).await else { return };
    let seen = "Boolean(document.querySelector('#late:not([hidden])'))";
    assert_eq!(stage.after(vec![], seen).await, false, "the page itself is there before");
    assert_eq!(stage.after(vec![Step::Wait(Duration::from_millis(1500))], seen).await, true);
    assert_eq!(stage.after(vec![Step::WaitFor("#late".to_owned())], seen).await, true);
    stage.browser.stop().await;
}

#[tokio::test]
async fn wait_for_what_never_comes_fails_in_time_with_its_name() {
    let Some(stage) = stage_of("<p>x").await else { return };
    let mut request = crate::support::within("http://a.test/", Duration::from_secs(4));
    request.steps = vec![Step::WaitFor("#never".to_owned())];
    check_failed(&stage.open(&request).await, 0, "wait", "#never");
    stage.browser.stop().await;
}

#[tokio::test]
async fn click_is_a_click_of_the_mouse() {
    let html = "<div style='height: 3000px'></div><button id=b>go</button><script>
        b.onclick = (event) => document.title = [event.isTrusted, event.detail, event.clientX > 0]</script>";
    let Some(stage) = stage_of(html).await else { return };
    assert_eq!(stage.after(vec![click("#b")], "document.title").await, "true,1,true");
    stage.browser.stop().await;
}

#[tokio::test]
async fn click_reaches_what_is_covered_or_not_drawn() {
    let html = "<button class=b>one</button><button class=b hidden>two</button>
        <div style='position: fixed; inset: 0'></div><script>
        clicked = 0; for (const b of document.querySelectorAll('.b')) b.onclick = () => clicked++</script>";
    let Some(stage) = stage_of(html).await else { return };
    let all = Step::Click { selector: ".b".to_owned(), matches: Matches::All };
    assert_eq!(stage.after(vec![all], "clicked").await, 2);
    stage.browser.stop().await;
}

#[tokio::test]
async fn click_all_clicks_what_matched_and_is_content_with_nothing() {
    let html = "<i class=x>1</i><i class=x>2</i><i class=x>3</i><script>clicked = [];
        for (const e of document.querySelectorAll('.x')) e.onclick = () => { clicked.push(e.textContent); e.className = '' }
        </script>";
    let Some(stage) = stage_of(html).await else { return };
    let all = |selector: &str| Step::Click { selector: selector.to_owned(), matches: Matches::All };
    assert_eq!(stage.after(vec![all(".x"), all(".none")], "clicked").await, json!(["1", "2", "3"]));
    check_failed(&stage.act(vec![all(".x"), click(".none")]).await, 1, "click", ".none");
    check_failed(&stage.act(vec![click("p[")]).await, 0, "click", "p[");
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_click_that_leads_to_another_page_is_followed() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::html("<a href='/next'>next</a>"))
        .page("http://a.test/next", Page::html("<h1>the next page</h1>").delay(Duration::from_millis(300)));
    let Some(stage) = stage(world).await else { return };
    let rendered = stage.act(vec![click("a"), Step::Scrape]).await.unwrap();
    assert_eq!((rendered.url.as_str(), rendered.status), ("http://a.test/next", Some(200)));
    assert_eq!(rendered.scrapes[0].url, "http://a.test/next");
    assert!(rendered.scrapes[0].html.contains("the next page"));
    stage.browser.stop().await;
}

#[tokio::test]
async fn write_types_key_by_key_into_what_has_the_focus() {
    let html = "<input id=i maxlength=40><textarea id=t></textarea><div id=d contenteditable></div><script>
        keys = 0; onkeydown = (event) => keys += event.isTrusted</script>";
    let Some(stage) = stage_of(html).await else { return };
    let text = "Hello, World! 1+1=2";
    let steps = vec![click("#i"), write(text)];
    assert_eq!(stage.after(steps, "[i.value, keys]").await, json!([text, text.chars().count()]));
    let steps = vec![click("#t"), write("one\ntwo"), click("#d"), write("äöü 漢字 🦀")];
    assert_eq!(stage.after(steps, "[t.value, d.textContent]").await, json!(["one\ntwo", "äöü 漢字 🦀"]));
    stage.browser.stop().await;
}

#[tokio::test]
async fn write_without_a_focus_fails() {
    let Some(stage) = stage_of("<input id=i><input type=checkbox id=c>").await else { return };
    check_failed(&stage.act(vec![write("x")]).await, 0, "write", "focus");
    check_failed(&stage.act(vec![click("#c"), write("x")]).await, 1, "write", "focus");
    stage.browser.stop().await;
}

#[tokio::test]
async fn press_presses_keys_and_combinations() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::html("<form action=/found><input name=q id=q></form>"))
        .page("http://a.test/found", Page::html("<p>found"));
    let Some(stage) = stage(world).await else { return };
    let edit = vec![click("#q"), write("abcd"), press("ArrowLeft"), press("Backspace")];
    assert_eq!(stage.after(edit.clone(), "q.value").await, "abd");
    let replaced = [edit.clone(), vec![press("Control+A"), write("new")]].concat();
    assert_eq!(stage.after(replaced, "q.value").await, "new");
    let rendered = stage.act([edit, vec![press("Enter")]].concat()).await.unwrap();
    assert_eq!(rendered.url, "http://a.test/found?q=abd");
    check_failed(&stage.act(vec![press("Entr")]).await, 0, "press", "Entr");
    stage.browser.stop().await;
}

#[tokio::test]
async fn scroll_moves_the_page_or_an_element_by_its_visible_part() {
    let html = "<style>body { margin: 0 } #box { height: 200px; overflow: auto }</style>
        <div id=box><div style='height: 900px'></div></div><div style='height: 5000px'></div>";
    let Some(stage) = stage_of(html).await else { return };
    let scroll =
        |direction, selector: Option<&str>| Step::Scroll { direction, selector: selector.map(str::to_owned) };
    let down = scroll(Direction::Down, None);
    assert_eq!(stage.after(vec![down.clone(), down.clone()], "scrollY").await, 1600);
    assert_eq!(stage.after(vec![down, scroll(Direction::Up, None)], "scrollY").await, 0);
    assert_eq!(stage.after(vec![scroll(Direction::Down, Some("#box"))], "box.scrollTop").await, 200);
    check_failed(&stage.act(vec![scroll(Direction::Down, Some("#none"))]).await, 0, "scroll", "#none");
    stage.browser.stop().await;
}

#[tokio::test]
async fn scroll_finds_the_element_that_scrolls_instead_of_the_page() {
    let html = "<style>html, body { margin: 0; height: 100%; overflow: hidden } main { height: 100%; overflow: auto }</style>
        <main><div style='height: 5000px'></div></main>";
    let Some(stage) = stage_of(html).await else { return };
    let steps = vec![Step::Scroll { direction: Direction::Down, selector: None }];
    let moved = stage.after(steps, "document.querySelector('main').scrollTop").await;
    assert!(moved.as_f64().unwrap() > 100.0, "{moved}");
    stage.browser.stop().await;
}

#[tokio::test]
async fn scrape_takes_the_page_as_it_is_then() {
    let Some(stage) = stage_of("<p id=p>first</p>").await else { return };
    let steps = vec![
        Step::Scrape,
        script("p.textContent = 'second'; history.pushState(0, '', '/second')"),
        Step::Scrape,
    ];
    let rendered = stage.act(steps).await.unwrap();
    let taken: Vec<_> = rendered.scrapes.iter().map(|s| (s.url.as_str(), s.html.contains("first"))).collect();
    assert_eq!(taken, [("http://a.test/", true), ("http://a.test/second", false)]);
    assert_eq!(rendered.url, "http://a.test/second");
    stage.browser.stop().await;
}

#[tokio::test]
async fn scripts_return_values_by_their_types() {
    let Some(stage) = stage_of("<p>x").await else { return };
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
    let returns = stage.act(steps).await.unwrap().returns;
    for ((source, kind, value), returned) in cases.into_iter().zip(returns) {
        assert_eq!(returned, Returned { kind: kind.to_owned(), value }, "{source}");
    }
    stage.browser.stop().await;
}

#[tokio::test]
async fn script_values_that_json_lacks_have_a_text_form() {
    let Some(stage) = stage_of("<p id=p class=x>words</p>").await else { return };
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
    let rendered = stage.act(steps).await.unwrap();
    assert_eq!(rendered.returns.len(), cases.len());
    for ((source, kind, value), returned) in cases.into_iter().zip(rendered.returns) {
        assert_eq!(returned, Returned { kind: kind.to_owned(), value }, "{source}");
    }
    assert_eq!(rendered.warnings, [""; 0]);
    stage.browser.stop().await;
}

#[tokio::test]
async fn script_values_that_refer_to_themselves_are_given_as_far_as_they_go() {
    let Some(stage) = stage_of("<p>x").await else { return };
    let steps = vec![
        script("var a = {n: 1}; a.a = a; a"),
        script("var l = [1]; l.push({l}); l"),
        script("const same = {n: 1}; [same, same]"),
        script("let deep = {}; for (let i = 0; i < 5000; i++) deep = {deep}; deep"),
        script("Array(200000).fill(0)"),
    ];
    let rendered = stage.act(steps).await.unwrap();
    let values: Vec<_> = rendered.returns.iter().map(|returned| &returned.value).collect();
    assert_eq!(*values[0], json!({"n": 1, "a": "[Circular]"}));
    assert_eq!(*values[1], json!([1, {"l": "[Circular]"}]));
    assert_eq!(*values[2], json!([{"n": 1}, {"n": 1}]));
    assert!(values[3].to_string().contains("[Truncated]"));
    assert!((90_000..200_000).contains(&values[4].as_array().unwrap().len()));
    let about = |what: &str| rendered.warnings.iter().filter(|warning| warning.contains(what)).count();
    assert_eq!(
        (about("refers to itself"), about("too large or too deep")),
        (1, 1),
        "{:?}",
        rendered.warnings
    );
    stage.browser.stop().await;
}

#[tokio::test]
async fn scripts_that_fail_say_why() {
    let Some(stage) = stage_of("<p>x").await else { return };
    check_failed(
        &stage.act(vec![script("1"), script("nothing.at.all")]).await,
        1,
        "executeJavascript",
        "nothing is not defined",
    );
    check_failed(&stage.act(vec![script("if (")]).await, 0, "executeJavascript", "SyntaxError");
    check_failed(&stage.act(vec![script("throw 'a word'")]).await, 0, "executeJavascript", "a word");
    let mut request = crate::support::within("http://a.test/", Duration::from_secs(5));
    request.steps = vec![script("for (;;);")];
    check_failed(&stage.open(&request).await, 0, "executeJavascript", "terminated");
    stage.browser.stop().await;
}
