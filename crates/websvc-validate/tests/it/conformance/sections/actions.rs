//! Section 2.2.2: actions.

use serde_json::{Value, json};
use websvc_types::Action;
use websvc_types::ViolationCode::*;
use websvc_types::action::{Click, Direction, Paper, Pdf, Scroll, Wait};
use websvc_validate::SearchPlan;

use crate::conformance::row::{Row, item, option, page, row, typed};

pub(super) fn rows() -> Vec<Row> {
    vec![
        wait(),
        screenshot(),
        click(),
        text("2.2.2 write", "write", "text", "any text, the empty one too")
            .at(option("actions", "write", "text"))
            .ok(""),
        text("2.2.2 press", "press", "key", "a key; a space is one")
            .at(option("actions", "press", "key"))
            .ok(" ")
            .bad("", TooShort),
        scroll(),
        row("2.2.2 scrape", "no fields").at(item("actions")).ok(json!({ "type": "scrape" })).later(6, RUNS),
        text("2.2.2 executeJavascript", "executeJavascript", "script", "a script that says something")
            .at(option("actions", "executeJavascript", "script"))
            .bad(" ", TooShort),
        pdf(),
    ]
}

const RUNS: &str = "a browser runs it";

fn first(plan: &SearchPlan) -> Action {
    page(plan).actions()[0].clone()
}

/// Adds the cases of a CSS selector.
fn selectors(row: Row, kind: &str) -> Row {
    row.at(option("actions", kind, "selector"))
        .ok("#id")
        .ok("ul > li:nth-child(2) a[href^=\"/x\"], .b")
        .bad("", TooShort)
        .bad(" ", TooShort)
        .bad("a[", InvalidFormat)
        .bad("> >", InvalidFormat)
        .bad("//div", InvalidFormat)
        .bad(json!({}), InvalidType)
}

fn wait() -> Row {
    let ms = |milliseconds| Action::Wait(Wait { milliseconds: Some(milliseconds), selector: None });
    let for_selector = Action::Wait(Wait { milliseconds: None, selector: Some("#a".to_owned()) });
    let row = row("2.2.2 wait", "exactly one of milliseconds (whole, from 1, at most 60000 of our own) and selector (CSS); no other property")
        .at(item("actions"))
        .reads(typed("wait", "milliseconds", 1.0), first, ms(1))
        .reads(typed("wait", "selector", "#a"), first, for_selector)
        .reads(json!({ "type": "wait", "milliseconds": 5, "selector": null }), first, ms(5))
        .bad_in(json!({ "type": "wait" }), &[("", Missing)])
        .bad_in(json!({ "type": "wait", "milliseconds": null, "selector": null }), &[("", Missing)])
        .bad_in(json!({ "type": "wait", "milliseconds": 1, "selector": "#a" }), &[("", Conflict)])
        .bad_in(json!({ "type": "wait", "milliseconds": 1, "all": true }), &[("/all", UnknownField)])
        .bad_in(json!({ "type": "wait", "ms": 1 }), &[("", Missing), ("/ms", UnknownField)])
        .at(option("actions", "wait", "milliseconds"))
        .ok(1)
        .ok(60_000)
        .bad(0, TooSmall)
        .bad(-1, TooSmall)
        .bad(60_001, TooBig)
        .bad(1.5, InvalidType)
        .bad("1", InvalidType);
    selectors(row, "wait").later(6, RUNS)
}

fn screenshot() -> Row {
    row("2.2.2 screenshot", "fullPage, quality and viewport as the format screenshot has them")
        .at(item("actions"))
        .ok(json!({ "type": "screenshot" }))
        .ok(json!({ "type": "screenshot", "fullPage": true, "quality": 100, "viewport": { "width": 1, "height": 1 } }))
        .ok(json!({ "type": "screenshot", "fullPage": null, "quality": null, "viewport": null }))
        .bad_in(typed("screenshot", "quality", 0), &[("/quality", TooSmall)])
        .bad_in(typed("screenshot", "quality", 101), &[("/quality", TooBig)])
        .bad_in(typed("screenshot", "viewport", json!({ "width": 1 })), &[("/viewport/height", Missing)])
        .bad_in(typed("screenshot", "fullPage", "yes"), &[("/fullPage", InvalidType)])
        .later(6, RUNS)
}

fn click() -> Row {
    let click = |all| Action::Click(Click { selector: "a".to_owned(), all });
    let row = row("2.2.2 click", "selector (CSS) required; all default false")
        .at(item("actions"))
        .reads(typed("click", "selector", "a"), first, click(None))
        .reads(json!({ "type": "click", "selector": "a", "all": null }), first, click(None))
        .reads(json!({ "type": "click", "selector": "a", "all": true }), first, click(Some(true)))
        .bad_in(json!({ "type": "click" }), &[("/selector", Missing)])
        .bad_in(
            json!({ "type": "click", "selector": null, "all": 1 }),
            &[("/all", InvalidType), ("/selector", Missing)],
        );
    selectors(row, "click").tested("websvc-types", "defaults_are_those_of_the_specification").later(6, RUNS)
}

/// Returns the row of an action with one required text.
fn text(name: &'static str, kind: &str, field: &str, rule: &'static str) -> Row {
    let below = format!("/{field}");
    row(name, rule)
        .at(item("actions"))
        .ok(typed(kind, field, "Enter"))
        .bad_in(json!({ "type": kind }), &[(&below, Missing)])
        .bad_in(typed(kind, field, Value::Null), &[(&below, Missing)])
        .bad_in(typed(kind, field, 1), &[(&below, InvalidType)])
        .later(6, RUNS)
}

fn scroll() -> Row {
    let scroll = |direction, selector: Option<&str>| {
        Action::Scroll(Scroll { direction, selector: selector.map(str::to_owned) })
    };
    let row = row("2.2.2 scroll", "direction up or down, default down; selector (CSS) optional")
        .at(item("actions"))
        .reads(json!({ "type": "scroll" }), first, scroll(None, None))
        .reads(json!({ "type": "scroll", "direction": null, "selector": null }), first, scroll(None, None))
        .reads(typed("scroll", "direction", "up"), first, scroll(Some(Direction::Up), None))
        .reads(typed("scroll", "direction", "down"), first, scroll(Some(Direction::Down), None))
        .bad_in(typed("scroll", "direction", "left"), &[("/direction", UnknownValue)])
        .bad_in(typed("scroll", "direction", 1), &[("/direction", InvalidType)]);
    selectors(row, "scroll").tested("websvc-types", "defaults_are_those_of_the_specification").later(6, RUNS)
}

fn pdf() -> Row {
    let pdf = |format, landscape, scale| Action::Pdf(Pdf { format, landscape, scale });
    let papers = ["A0", "A1", "A2", "A3", "A4", "A5", "A6", "Letter", "Legal", "Tabloid", "Ledger"];
    let every: Vec<Value> = papers.iter().map(|paper| typed("pdf", "format", *paper)).collect();
    row("2.2.2 pdf", "format A0 to A6, Letter, Legal, Tabloid or Ledger, default Letter; landscape default false; scale, a number above 0, default 1")
        .at(item("actions"))
        .reads(json!({ "type": "pdf" }), first, pdf(None, None, None))
        .reads(json!({ "type": "pdf", "format": null, "landscape": null, "scale": null }), first, pdf(None, None, None))
        .reads(json!({ "type": "pdf", "format": "A4", "landscape": true, "scale": 2.0 }), first, pdf(Some(Paper::A4), Some(true), Some(2.0)))
        .reads(typed("pdf", "scale", 1), first, pdf(None, None, Some(1.0)))
        .at(crate::conformance::row::scrape("actions"))
        .ok(every)
        .at(item("actions"))
        .bad_in(typed("pdf", "format", "A7"), &[("/format", UnknownValue)])
        .bad_in(typed("pdf", "format", "a4"), &[("/format", UnknownValue)])
        .bad_in(typed("pdf", "landscape", 1), &[("/landscape", InvalidType)])
        .bad_in(typed("pdf", "scale", 0), &[("/scale", TooSmall)])
        .bad_in(typed("pdf", "scale", -0.5), &[("/scale", TooSmall)])
        .bad_in(typed("pdf", "scale", "1"), &[("/scale", InvalidType)])
        .tested("websvc-types", "defaults_are_those_of_the_specification")
        .later(6, RUNS)
}
