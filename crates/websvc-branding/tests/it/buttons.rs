//! Tests of buttons and fields.

use serde_json::{Value, json};

use crate::report::{branding, button, item, merge, report};

#[track_caller]
fn check(items: Vec<Value>, primary: Option<&str>, secondary: Option<&str>) {
    let components = branding(report(items, json!({}))).components;
    let background = |component: Option<&websvc_types::branding::BrandComponent>| {
        component.map(|component| component.background.clone())
    };
    let found =
        (background(components.button_primary.as_ref()), background(components.button_secondary.as_ref()));
    assert_eq!(found, (primary.map(str::to_owned), secondary.map(str::to_owned)));
}

fn link(label: &str, changes: Value) -> Value {
    let mut link = item(
        "link",
        "a",
        json!({ "x": label, "own": true, "l": [["rgb(0, 0, 200)", 1]], "s": ["8px", "16px", "8px", "16px"] }),
    );
    merge(&mut link, changes);
    link
}

#[test]
fn call_to_action_is_the_primary_button() {
    check(
        vec![
            button("Menu", "rgb(0, 0, 0)", json!({ "g": "header", "n": "navbar-toggler" })),
            button("Learn more", "rgb(230, 230, 230)", json!({})),
            button("Get started", "rgb(0, 128, 0)", json!({})),
            button("Sign up", "rgb(0, 128, 0)", json!({ "g": "footer" })),
        ],
        Some("#008000"),
        Some("#E6E6E6"),
    );
}

#[test]
fn banners_disabled_and_empty_buttons_are_not_primary() {
    check(
        vec![
            button("Accept all", "rgb(0, 200, 0)", json!({ "g": "overlay" })),
            button("", "rgb(200, 0, 0)", json!({})),
            button("Buy", "rgb(0, 0, 200)", json!({ "off": true, "g": "footer", "r": [0, 1500, 100, 40] })),
            button("Continue", "rgb(90, 0, 90)", json!({})),
        ],
        Some("#5A005A"),
        Some("#0000C8"),
    );
    check(vec![button("Accept all", "rgb(0, 200, 0)", json!({ "g": "overlay" }))], None, None);
}

#[test]
fn link_with_frame_padding_and_size_looks_like_a_button() {
    check(vec![link("Buy", json!({}))], Some("#0000C8"), None);
    check(vec![link("Buy", json!({ "s": ["0px", "0px", "0px", "0px"] }))], None, None);
    check(vec![link("Buy", json!({ "s": ["0px"], "n": "btn" }))], Some("#0000C8"), None);
    check(vec![link("Buy", json!({ "own": false }))], None, None);
    check(vec![link("Buy", json!({ "r": [0, 0, 1280, 300] }))], None, None);
}

#[test]
fn style_has_colors_radii_border_and_shadow() {
    let buy = button(
        "Buy",
        "rgba(0, 0, 0, 0.5)",
        json!({ "d": ["4px", "50%", "0px", "9999px"], "b": "rgba(255, 0, 0, 0.6)", "sh": "rgb(0, 0, 0) 0px 1px 2px 0px",
            "c": "rgb(255, 255, 255)", "l": [["rgba(0, 0, 0, 0.6)", 1], ["rgb(255, 255, 255)", 1]] }),
    );
    let style = branding(report(vec![buy], json!({}))).components.button_primary.unwrap();
    assert_eq!((style.background.as_str(), style.text_color.as_str()), ("#666666", "#FFFFFF"));
    assert_eq!(style.border_color.as_deref(), Some("#C22929"));
    assert_eq!(style.border_radius, "9999px");
    let corners = style.border_radius_corners;
    assert_eq!(
        [corners.top_left, corners.top_right, corners.bottom_right, corners.bottom_left],
        ["4px", "20px", "0px", "9999px"]
    );
    assert_eq!(style.shadow.as_deref(), Some("rgb(0, 0, 0) 0px 1px 2px 0px"));
}

#[test]
fn field_of_the_content_is_the_input() {
    let field = |color: &str, changes: Value| {
        let mut field = item("input", "input", json!({ "own": true, "l": [[color, 1]] }));
        merge(&mut field, changes);
        field
    };
    let input =
        |items: Vec<Value>| branding(report(items, json!({}))).components.input.map(|input| input.background);
    let found = input(vec![
        field("rgb(1, 1, 1)", json!({ "g": "header" })),
        field("rgb(2, 2, 2)", json!({ "g": "overlay" })),
        field("rgb(3, 3, 3)", json!({ "g": "main" })),
        field("rgb(4, 4, 4)", json!({ "g": "main", "t": "textarea" })),
    ]);
    assert_eq!(found.as_deref(), Some("#030303"));
    assert_eq!(input(vec![field("rgb(1, 1, 1)", json!({ "r": [0, 0, 10, 10] }))]), None);
}
