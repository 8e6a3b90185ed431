//! Designs of two sets of pages with what their style sheets say (`truth.json`): `tests/branding`, which the rules were
//! made with, and `tests/branding_held_out`, which was written after them.
//!
//! The tests print the score of each field: `cargo test -p websvc-cli --test it -- branding::sets --nocapture`.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb, is_proof, scaled};

use super::{BrandTest, with_images};

/// The fields of the truth, and their places in a design.
const FIELDS: [(&str, &str); 25] = [
    ("colorScheme", "/colorScheme"),
    ("brandName", "/brandName"),
    ("background", "/colors/background"),
    ("primary", "/colors/primary"),
    ("accent", "/colors/accent"),
    ("textPrimary", "/colors/textPrimary"),
    ("textSecondary", "/colors/textSecondary"),
    ("link", "/colors/link"),
    ("success", "/colors/success"),
    ("warning", "/colors/warning"),
    ("error", "/colors/error"),
    ("body", "/typography/fontFamilies/primary"),
    ("heading", "/typography/fontFamilies/heading"),
    ("code", "/typography/fontFamilies/code"),
    ("h1", "/typography/fontSizes/h1"),
    ("bodySize", "/typography/fontSizes/body"),
    ("baseUnit", "/spacing/baseUnit"),
    ("buttonBackground", "/components/buttonPrimary/background"),
    ("buttonText", "/components/buttonPrimary/textColor"),
    ("buttonRadius", "/components/buttonPrimary/borderRadius"),
    ("buttonSecondary", "/components/buttonSecondary/background"),
    ("inputRadius", "/components/input/borderRadius"),
    ("favicon", "/images/favicon"),
    ("ogImage", "/images/ogImage"),
    ("framework", "/designSystem/framework"),
];

/// Numbers of right values and of all of them.
#[derive(Debug, Default)]
struct Score {
    right: usize,
    all: usize,
}

#[expect(clippy::print_stdout, reason = "the test prints its figures for docs/benchmarks.md")]
fn print(line: &str) {
    println!("{line}");
}

/// Returns a logo as the truth names it: a path, `svg` for an SVG of the page, with the ID of its symbol if there is one.
fn logo(design: &Value) -> Value {
    let Some(logo) = design["images"]["logo"].as_str() else { return Value::Null };
    let Some(encoded) = logo.strip_prefix("data:image/svg+xml;base64,") else { return json!(path_of(logo)) };
    let svg = String::from_utf8(STANDARD.decode(encoded).unwrap()).unwrap();
    assert!(svg.starts_with("<svg") && !svg.contains("<script"), "{svg}");
    let symbol = svg.split("<symbol").nth(1).and_then(|rest| rest.split("id=\"").nth(1)?.split('"').next());
    json!(symbol.map_or("svg".to_owned(), |symbol| format!("svg:{symbol}")))
}

fn path_of(url: &str) -> &str {
    url.strip_prefix("http://pages.test").unwrap_or(url)
}

fn found(design: &Value, pointer: &str) -> Value {
    match design.pointer(pointer) {
        Some(Value::String(text)) => json!(path_of(text)),
        Some(value) => value.clone(),
        None => Value::Null,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn designs_of_the_development_set_are_read() {
    check("branding", 20, 95).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn designs_of_the_held_out_set_are_read() {
    check("branding_held_out", 8, 75).await;
}

/// Reads the pages of a folder, prints the scores and the mistakes, and checks the percentage of the values of each
/// field that are found.
async fn check(folder: &str, min_pages: usize, min_percent: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let truth: BTreeMap<String, Value> =
        serde_json::from_slice(&std::fs::read(folder.join("truth.json")).unwrap()).unwrap();
    assert!(truth.len() >= min_pages, "the set has only {} pages", truth.len());
    // In the gate, a few pages of each set, of which all values together count.
    let truth: BTreeMap<String, Value> = truth.into_iter().step_by(scaled(3, 1)).collect();
    let mut world = TestWeb::builder();
    for name in truth.keys() {
        let html = std::fs::read_to_string(folder.join(format!("{name}.html"))).unwrap();
        let url = format!("http://pages.test/{name}");
        world = with_images(world.page(&url, Page::html(html.clone())), &url, &html);
    }
    let Some(service) = BrandTest::start(world).await else { return };
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    let mut mistakes = Vec::new();
    for (name, expected) in &truth {
        let url = format!("http://pages.test/{name}");
        let document = service.scrape(json!({ "url": url, "formats": ["branding"] })).await;
        let design = &document["branding"];
        super::assert_shape(design, "");
        let values = FIELDS.into_iter().map(|(field, pointer)| (field, found(design, pointer)));
        for (field, value) in values.chain([("logo", logo(design))]) {
            let Some(expected) = expected.get(field) else { continue };
            let score = scores.entry(field).or_default();
            score.all += 1;
            if value == *expected {
                score.right += 1;
            } else {
                mistakes.push(format!("{name}: {field}: {value}, expected {expected}"));
            }
        }
    }
    print(&format!("{} pages\n{:20} right values", truth.len(), "field"));
    for (field, Score { right, all }) in &scores {
        print(&format!("{field:20} {right:5} {all:6}"));
    }
    print(&mistakes.join("\n"));
    if !is_proof() {
        let (right, all) =
            scores.values().fold((0, 0), |sum, score| (sum.0 + score.right, sum.1 + score.all));
        scores = BTreeMap::from([("all fields", Score { right, all })]);
    }
    for (field, Score { right, all }) in &scores {
        assert!(right * 100 >= all * min_percent, "{field}: {right} of {all}: {mistakes:#?}");
    }
}
