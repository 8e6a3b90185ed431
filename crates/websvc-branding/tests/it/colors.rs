//! Tests of the colors by role.

use serde_json::{Value, json};
use websvc_extract::DeclaredBrand;

use crate::report::{branding, branding_with, button, item, merge, report};

fn area(color: &str, height: u32) -> Value {
    item("box", "section", json!({ "own": true, "l": [[color, 1]], "r": [0, 0, 1280, height] }))
}

fn text(tag: &str, color: &str, length: usize) -> Value {
    item("text", tag, json!({ "c": color, "x": "x".repeat(length), "l": [["rgb(255, 255, 255)", 1]] }))
}

fn link(color: &str, changes: Value) -> Value {
    let mut link = item("link", "a", json!({ "c": color, "x": "a link", "tx": true }));
    merge(&mut link, changes);
    link
}

#[track_caller]
fn check(items: Vec<Value>, primary: Option<&str>, accent: Option<&str>, secondary: Option<&str>) {
    let colors = branding(report(items, json!({}))).colors;
    let found = (colors.primary.as_deref(), colors.accent.as_deref(), colors.secondary.as_deref());
    assert_eq!(found, (primary, accent, secondary));
}

#[test]
fn call_to_action_outweighs_areas_and_areas_outweigh_links() {
    check(
        vec![
            area("rgb(0, 60, 120)", 300),
            button("Buy now", "rgb(255, 100, 0)", json!({})),
            link("rgb(0, 150, 80)", json!({})),
        ],
        Some("#FF6400"),
        Some("#003C78"),
        Some("#009650"),
    );
}

#[test]
fn single_color_is_also_the_accent() {
    check(vec![button("Buy", "rgb(255, 100, 0)", json!({}))], Some("#FF6400"), Some("#FF6400"), None);
}

#[test]
fn gray_nearly_black_and_status_colors_are_not_those_of_the_brand() {
    check(
        vec![
            area("rgb(240, 240, 240)", 900),
            area("rgb(10, 10, 40)", 500),
            item(
                "status",
                "div",
                json!({ "n": "alert-success", "own": true, "l": [["rgb(0, 160, 60)", 1]] }),
            ),
            button("Delete", "rgb(220, 30, 40)", json!({ "n": "btn btn-danger" })),
            link("rgb(0, 0, 238)", json!({})),
        ],
        Some("#DC1E28"),
        Some("#DC1E28"),
        None,
    );
    // Without any hue, the main button has the color of the brand.
    check(vec![button("Buy", "rgb(20, 20, 20)", json!({}))], Some("#141414"), Some("#141414"), None);
    check(vec![text("p", "rgb(0, 0, 0)", 50)], None, None, None);
}

#[test]
fn declared_color_counts_only_if_it_is_painted() {
    let items = || {
        vec![
            item("box", "div", json!({ "own": true, "l": [["rgb(200, 0, 0)", 1]], "r": [0, 0, 600, 200] })),
            item("box", "div", json!({ "own": true, "l": [["rgb(0, 0, 200)", 1]], "r": [0, 300, 500, 200] })),
        ]
    };
    let primary = |variables: Value, theme: Option<&str>| {
        let declared = DeclaredBrand { theme_color: theme.map(str::to_owned), ..DeclaredBrand::default() };
        branding_with(report(items(), json!({ "vars": variables })), &declared).colors.primary
    };
    assert_eq!(primary(json!({}), None).as_deref(), Some("#C80000"));
    assert_eq!(primary(json!({ "--color-primary": "#0000c8" }), None).as_deref(), Some("#0000C8"));
    assert_eq!(primary(json!({ "--primary": "#00c800" }), None).as_deref(), Some("#C80000"));
    assert_eq!(primary(json!({ "--primary-hover": "#0000c8" }), None).as_deref(), Some("#C80000"));
    assert_eq!(primary(json!({}), Some("#0000c8")).as_deref(), Some("#0000C8"));
}

#[test]
fn texts_and_links_have_their_most_frequent_colors() {
    let colors = branding(report(
        vec![
            text("p", "rgb(20, 20, 20)", 150),
            text("p", "rgb(110, 110, 110)", 60),
            item(
                "text",
                "p",
                json!({ "c": "rgb(255, 255, 255)", "x": "x".repeat(200), "l": [["rgb(0, 0, 0)", 1]] }),
            ),
            text("p", "rgba(20, 20, 20, 1)", 20),
            link("rgb(0, 90, 200)", json!({})),
            link("rgb(0, 90, 200)", json!({})),
            link("rgb(200, 0, 0)", json!({})),
            link("rgb(0, 0, 0)", json!({ "g": "nav" })),
            link("rgb(0, 0, 0)", json!({ "g": "footer" })),
        ],
        json!({}),
    ))
    .colors;
    assert_eq!(colors.text_primary.as_deref(), Some("#141414"));
    assert_eq!(colors.text_secondary.as_deref(), Some("#6E6E6E"));
    assert_eq!(colors.link.as_deref(), Some("#005AC8"));
}

#[test]
fn status_colors_are_painted_or_declared() {
    let colors = branding(report(
        vec![item(
            "status",
            "div",
            json!({ "n": "alert alert-success", "own": true, "l": [["rgb(209, 231, 221)", 1]], "c": "rgb(10, 54, 34)",
                "b": "rgb(25, 135, 84)" }),
        )],
        json!({ "vars": { "--bs-success": "#111", "--bs-warning": "#ffc107", "--ifm-color-danger": "#fa383e",
            "--text-error": "#00f", "--error-bg": "#0ff" } }),
    ))
    .colors;
    assert_eq!(colors.success.as_deref(), Some("#198754"));
    assert_eq!((colors.warning.as_deref(), colors.error.as_deref()), (Some("#FFC107"), Some("#FA383E")));
}
