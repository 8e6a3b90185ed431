//! Tests of fonts, typography and distances.

use serde_json::{Value, json};
use websvc_types::branding::FontRole;

use crate::report::{branding, item, report};

fn padded(paddings: &[&str]) -> Value {
    item("box", "div", json!({ "s": paddings }))
}

#[test]
fn unit_is_the_first_of_which_most_distances_are_multiples() {
    for (paddings, expected) in [
        (vec!["8px", "16px", "24px", "32px"], 4),
        (vec!["6px", "18px", "30px", "42px", "9px"], 6),
        (vec!["10px", "30px", "50px", "70px"], 10),
        (vec!["7px", "11px", "13px", "23px"], 8),
        (vec!["0px", "normal", "400px"], 8),
        (vec![], 8),
    ] {
        let spacing = branding(report(vec![padded(&paddings)], json!({}))).spacing;
        assert_eq!(spacing.base_unit, Some(expected), "{paddings:?}");
    }
}

#[test]
fn radius_is_the_median_without_round_elements() {
    let rounded = |radius: &str| {
        item(
            "box",
            "div",
            json!({ "own": true, "l": [["rgb(0, 0, 0)", 1]], "d": [radius, radius, radius, radius] }),
        )
    };
    let radius = |radii: &[&str]| {
        branding(report(radii.iter().map(|radius| rounded(radius)).collect(), json!({})))
            .spacing
            .border_radius
    };
    assert_eq!(radius(&["4px", "8px", "12px", "9999px", "50%", "0px"]).as_deref(), Some("8px"));
    assert_eq!(radius(&["0px"]).as_deref(), Some("0px"));
}

#[test]
fn fonts_are_counted_with_their_roles() {
    let text = |kind: &str, font: &str| item(kind, "p", json!({ "f": font, "x": "text" }));
    let fonts = branding(report(
        vec![
            text("text", "__Inter_d65c78, __Inter_Fallback_d65c78, sans-serif"),
            text("text", "Inter, sans-serif"),
            text("h1", "Lora, serif"),
            text("code", "\"Fira Code\", monospace"),
            text("link", "\"Font Awesome 6 Free\""),
            text("text", "sans-serif"),
        ],
        json!({}),
    ))
    .fonts;
    let fonts: Vec<_> =
        fonts.into_iter().map(|font| (font.family, font.role.unwrap(), font.count.unwrap())).collect();
    assert_eq!(
        fonts,
        [
            // With `body`.
            ("Inter".to_owned(), FontRole::Body, 3),
            ("Lora".to_owned(), FontRole::Heading, 1),
            ("Fira Code".to_owned(), FontRole::Monospace, 1),
        ]
    );
}

#[test]
fn typography_is_that_of_the_content() {
    let heading = |size: &str, region: &str| {
        item(
            "h1",
            "h1",
            json!({ "z": size, "g": region, "w": "700", "lh": "52.8px", "f": "Lora, serif", "x": "A" }),
        )
    };
    let paragraph = |size: &str, length: usize| {
        item(
            "text",
            "p",
            json!({ "z": size, "x": "x".repeat(length), "f": "\"PT Serif\", serif", "w": "400", "lh": "normal" }),
        )
    };
    let typography = branding(report(
        vec![heading("15px", "header"), heading("48px", ""), paragraph("18px", 150), paragraph("13px", 40)],
        json!({}),
    ))
    .typography;
    assert_eq!(json!(typography.font_sizes), json!({ "h1": "48px", "body": "18px" }));
    assert_eq!(json!(typography.line_heights), json!({ "h1": "52.8px" }));
    assert_eq!(json!(typography.font_weights), json!({ "h1": 700, "body": 400 }));
    assert_eq!(json!(typography.font_families), json!({ "heading": "Lora", "primary": "PT Serif" }));
    assert_eq!(typography.font_stacks["paragraph"], ["PT Serif", "serif"]);
}
