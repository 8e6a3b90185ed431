//! The recipes of the manual page: each test runs the text of the page against the program, a shop and a scripted model.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, TestWeb};

use super::{MODEL, decision, serve, step};
use crate::harness::{Service, Site, assert_fields};
use crate::recipe;

/// The pages of `shop.example` in the manual.
fn shop() -> websvc_testkit::TestWebBuilder {
    let page = |title: &str, text: &str| {
        Page::html(format!(
            "<!DOCTYPE html><title>{title}</title><main><h1>{title}</h1><p>{text}</p>\
             <p><a href=/coffee>All about coffee</a></p></main>"
        ))
    };
    TestWeb::builder()
        .page(
            "http://shop.test/teas",
            page("Teas", "A tin of sencha costs 9 euros.</p><p>A tin of rooibos costs 5 euros."),
        )
        .page("http://shop.test/sencha", page("Sencha", "A tin of sencha costs 9 euros."))
        .page("http://shop.test/rooibos", page("Rooibos", "A tin of rooibos costs 5 euros."))
        .page("http://shop.test/coffee", page("Coffee", "A bag of arabica costs 12 euros."))
}

/// Collects all pages, and answers with their prices, or with the cheapest tea of an earlier turn.
fn model(body: &Value) -> Page {
    let text = FakeModel::prompt_text(body);
    if let Some(number) = step(body) {
        let is_cheapest = text.contains("## Task\nWhich of them is the cheapest?");
        let pages = text.lines().filter(|line| line.starts_with('p') && line.contains(" passages")).count();
        let next = usize::try_from(number).unwrap();
        return if next <= pages && !is_cheapest {
            decision("collect", &format!("p{next}"), "")
        } else {
            decision("done", "", "")
        };
    }
    let section = |name: &str| -> Option<Value> {
        let line = text.split(&format!("## {name}\n")).nth(1)?.lines().next()?;
        serde_json::from_str(line).ok()
    };
    if text.contains("## Task\nWhich of them is the cheapest?") {
        let earlier = section("Earlier results").expect("the run knows the data of its earlier turn");
        let teas = earlier["teas"].as_array().unwrap();
        let cheapest = teas.iter().min_by_key(|tea| tea["price"].as_u64()).unwrap();
        return FakeModel::json(cheapest);
    }
    match section("Draft") {
        Some(draft) if text.contains("## Answer") => FakeModel::json(&draft),
        _ => FakeModel::json(&json!({ "teas": prices(&text) })),
    }
}

/// Returns the prices that a text states.
fn prices(text: &str) -> Vec<Value> {
    let sentences = text.split("A tin of ").skip(1).filter_map(|rest| {
        let (name, rest) = rest.split_once(" costs ")?;
        let price: u64 = rest.split(' ').next()?.parse().ok()?;
        Some(json!({ "name": name, "price": price }))
    });
    sentences.collect()
}

struct Recipe {
    world: TestWeb,
    lines: Vec<String>,
}

/// Runs a recipe, and returns the lines that it prints on stdout.
async fn run(title: &str) -> Option<Recipe> {
    let world = FakeModel::with_responder(model).serve(shop(), MODEL).start().await;
    let site = Site::new(&world);
    let service: Service = serve(&site, &[]);
    let (mut bash, _directory) = recipe::shell("agent.md", title, &service.address)?;
    let programs = Path::new(env!("CARGO_BIN_EXE_websvc")).parent().unwrap();
    bash.env("PATH", format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default()));
    let Output { status, stdout, stderr } = bash.output().await.unwrap();
    let (stdout, stderr) =
        (String::from_utf8(stdout).unwrap(), String::from_utf8_lossy(&stderr).into_owned());
    assert!(status.success(), "{status} {stdout} {stderr}");
    Some(Recipe { world, lines: stdout.lines().map(str::to_owned).collect() })
}

const TEAS: [&str; 2] = [r#"{"name":"sencha","price":9}"#, r#"{"name":"rooibos","price":5}"#];

#[tokio::test(flavor = "multi_thread")]
async fn recipe_writes_a_price_list() {
    let Some(recipe) = run("Write a price list to a file").await else { return };
    assert_eq!(recipe.lines, TEAS);
}

#[tokio::test(flavor = "multi_thread")]
async fn recipe_reads_only_the_given_pages() {
    let Some(recipe) = run("Read only the pages that you name").await else { return };
    assert_eq!(recipe.lines, [format!("[{}]", TEAS.join(","))]);
    for (page, count) in [("sencha", 1), ("rooibos", 1), ("teas", 0), ("coffee", 0)] {
        assert_eq!(recipe.world.count(&format!("http://shop.test/{page}")), count, "{page}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn recipe_shows_sources() {
    let Some(recipe) = run("See where each value comes from").await else { return };
    let price = recipe.lines.iter().find(|line| line.starts_with("/teas/0/price ")).unwrap();
    assert!(price.contains("http://shop.test/sencha") && price.contains("costs 9 euros"), "{price}");
}

#[tokio::test(flavor = "multi_thread")]
async fn recipe_asks_a_follow_up_question() {
    let Some(recipe) = run("Ask a follow-up question").await else { return };
    assert_eq!(recipe.lines, [TEAS[1]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn recipe_uses_partial_data() {
    let Some(recipe) = run("Limit the costs, and use what was collected").await else { return };
    let run: Value = serde_json::from_str(&recipe.lines[0]).unwrap();
    assert_fields(&run, &json!({ "stopReason": "credit_limit_reached", "creditsUsed": 0 }));
    assert_eq!(run["partial"]["teas"][0]["name"], "sencha", "{run}");
}
