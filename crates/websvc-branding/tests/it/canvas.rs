//! Tests of the background and the color scheme.

use serde_json::{Value, json};
use websvc_types::branding::ColorScheme;

use crate::report::{branding, item, report};

#[track_caller]
fn check(report: Value, background: &str, scheme: ColorScheme) {
    let found = branding(report);
    assert_eq!((found.colors.background.as_deref(), found.color_scheme), (Some(background), Some(scheme)));
}

fn body(layers: Value, changes: Value) -> Value {
    let has_background = !layers.as_array().unwrap().is_empty();
    let mut report = report(Vec::new(), changes);
    report["items"][0]["l"] = layers;
    report["items"][0]["own"] = json!(has_background);
    report
}

#[test]
fn class_of_the_page_decides_the_scheme_before_its_lightness() {
    check(body(json!([["rgb(255, 255, 255)", 1]]), json!({})), "#FFFFFF", ColorScheme::Light);
    check(body(json!([["rgb(10, 10, 20)", 1]]), json!({})), "#0A0A14", ColorScheme::Dark);
    check(
        body(json!([["rgb(10, 10, 20)", 1]]), json!({ "theme": "js light x" })),
        "#0A0A14",
        ColorScheme::Light,
    );
    check(
        body(json!([["rgb(250, 250, 250)", 1]]), json!({ "theme": "a dark" })),
        "#FAFAFA",
        ColorScheme::Dark,
    );
    // Parts of other words, and both words, decide nothing.
    check(
        body(json!([["rgb(250, 250, 250)", 1]]), json!({ "theme": "no-dark darkness" })),
        "#FAFAFA",
        ColorScheme::Light,
    );
    check(body(json!([["rgb(9, 9, 9)", 1]]), json!({ "theme": "dark light" })), "#090909", ColorScheme::Dark);
    // Between light and dark, the browser decides.
    check(body(json!([["rgb(119, 119, 119)", 1]]), json!({})), "#777777", ColorScheme::Light);
    check(body(json!([["rgb(110, 110, 110)", 1]]), json!({ "dark": true })), "#6E6E6E", ColorScheme::Dark);
}

#[test]
fn page_without_a_background_shows_the_canvas() {
    check(body(json!([]), json!({})), "#FFFFFF", ColorScheme::Light);
    check(body(json!([]), json!({ "cs": "dark" })), "#121212", ColorScheme::Dark);
    check(body(json!([]), json!({ "cs": "light dark" })), "#FFFFFF", ColorScheme::Light);
    check(body(json!([]), json!({ "cs": "light dark", "dark": true })), "#121212", ColorScheme::Dark);
}

#[test]
fn element_that_covers_the_page_is_its_background() {
    let wrapper = |height: u32, region: &str| {
        item(
            "box",
            "div",
            json!({ "own": true, "l": [["rgb(16, 16, 20)", 1]], "r": [0, 0, 1280, height], "g": region }),
        )
    };
    check(report(vec![wrapper(1600, "")], json!({})), "#101014", ColorScheme::Dark);
    check(report(vec![wrapper(800, "")], json!({})), "#FFFFFF", ColorScheme::Light);
    check(report(vec![wrapper(1600, "overlay")], json!({})), "#FFFFFF", ColorScheme::Light);
    // Half of the page is enough if nothing else is painted.
    let mut unpainted = report(vec![wrapper(900, "")], json!({}));
    unpainted["items"][0]["l"] = json!([]);
    unpainted["items"][0]["own"] = json!(false);
    check(unpainted, "#101014", ColorScheme::Dark);
}

#[test]
fn translucent_background_is_blended_onto_the_canvas() {
    check(body(json!([["rgba(0, 0, 255, 0.4)", 1]]), json!({})), "#9999FF", ColorScheme::Light);
}
