//! Properties of the design of a page for any report of its styles, and any answer of a model.

use serde_json::Value;
use websvc_branding::{PageDesign, StyleReport, design};
use websvc_extract::DeclaredBrand;
use websvc_types::branding::{BrandColors, BrandComponent, BrandComponents, PageBranding};

/// Maximum length of a text for a model.
const MAX_DESCRIPTION_BYTES: usize = 100_000;

/// Checks that a design has only valid colors, that an answer that is refused changes nothing, and that a design is
/// valid after an answer. The input is an object with `report` and `answer`, or a report alone.
pub(crate) fn check(data: &[u8]) {
    let Ok(mut input) = serde_json::from_slice::<Value>(data) else { return };
    let answer = input.get_mut("answer").map(Value::take).unwrap_or_default();
    let report = input.get_mut("report").map(Value::take).unwrap_or(input);
    let Ok(report) = StyleReport::parse(report) else { return };
    let url = "https://a.test/".parse().expect("the URL is valid");
    let PageDesign { mut branding, choices } = design(&report, &DeclaredBrand::default(), &url);
    check_branding(&branding);
    if data.len() <= MAX_DESCRIPTION_BYTES / 10 {
        assert!(choices.describe(&branding).len() <= MAX_DESCRIPTION_BYTES);
    }
    let before = branding.clone();
    match choices.apply(&mut branding, answer) {
        Ok(()) => check_branding(&branding),
        Err(reason) => {
            assert!(!reason.is_empty());
            assert_eq!(branding, before, "an answer that was refused changed the design");
        }
    }
}

fn check_branding(branding: &PageBranding) {
    let BrandColors {
        primary,
        secondary,
        accent,
        background,
        text_primary,
        text_secondary,
        link,
        success,
        warning,
        error,
    } = &branding.colors;
    let colors =
        [primary, secondary, accent, background, text_primary, text_secondary, link, success, warning, error];
    colors.into_iter().flatten().for_each(|color| check_color(color));
    let BrandComponents { button_primary, button_secondary, input } = &branding.components;
    [button_primary, button_secondary, input].into_iter().flatten().for_each(check_component);
    assert!(branding.fonts.iter().all(|font| !font.family.trim().is_empty()), "{:?}", branding.fonts);
    serde_json::to_value(branding).expect("a design can be written as JSON");
}

fn check_component(component: &BrandComponent) {
    let BrandComponent { background, text_color, border_color, border_radius, .. } = component;
    [Some(text_color), border_color.as_ref()].into_iter().flatten().for_each(|color| check_color(color));
    assert!(background == "transparent" || is_color(background), "{background:?}");
    assert!(!border_radius.is_empty());
}

fn check_color(color: &str) {
    assert!(is_color(color), "{color:?} is not a color");
}

fn is_color(color: &str) -> bool {
    let digits = color.strip_prefix('#').unwrap_or_default();
    [6, 8].contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
