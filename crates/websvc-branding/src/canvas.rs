//! The background and the color scheme of a page.

use websvc_types::branding::ColorScheme;

use crate::color::Color;
use crate::report::{Item, ItemKind, Region, StyleReport};

/// The part of the page that an element must cover to be its background in place of `body`.
const COVERS: f64 = 0.9;

/// The OKLab lightness up to which a background is clearly dark, and from which it is clearly light.
const DARK_BELOW: f64 = 0.45;
const LIGHT_ABOVE: f64 = 0.6;

/// Words of classes and theme attributes of `html` and `body` that name a scheme.
const DARK_WORDS: [&str; 8] =
    ["dark", "theme-dark", "dark-theme", "dark-mode", "darkmode", "is-dark", "night", "mode-dark"];
const LIGHT_WORDS: [&str; 7] =
    ["light", "theme-light", "light-theme", "light-mode", "lightmode", "is-light", "mode-light"];

/// The background of a page, and its scheme.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Canvas {
    pub(crate) background: Color,
    pub(crate) scheme: ColorScheme,
}

impl Canvas {
    /// Finds the background and the scheme.
    pub(crate) fn from_report(report: &StyleReport) -> Canvas {
        let default = default_canvas(report);
        let background = background(report, default);
        Canvas { background, scheme: scheme(report, background) }
    }
}

/// Returns the color that the browser paints below everything.
fn default_canvas(report: &StyleReport) -> Color {
    let allows = |word: &str| report.color_scheme.split_ascii_whitespace().any(|found| found == word);
    let is_dark = allows("dark") && (report.prefers_dark || !allows("light"));
    if is_dark { Color::DARK_CANVAS } else { Color::WHITE }
}

/// Returns the color of the page: of an element that covers all of it, else of `body` and `html`, else of the elements
/// that cover most of it, else a declared one.
fn background(report: &StyleReport, default: Color) -> Color {
    let page = (report.document_width * report.document_height).max(1.0);
    let boxes = || report.of_kind(ItemKind::Box).filter(|item| item.has_background && !is_footer(item));
    let share = |item: &Item| item.area.size() / page;
    // The deepest of the elements that cover the page is painted last.
    let cover = boxes().filter(|item| share(item) >= COVERS).last();
    if let Some(color) = cover.and_then(|item| item.background(default)) {
        return color;
    }
    let roots: Vec<&Item> = report.items.iter().filter(|item| item.kind == ItemKind::Root).collect();
    let painted = roots.iter().rev().find(|item| item.has_background);
    if let Some(color) = painted.and_then(|item| item.background(default)) {
        return color;
    }
    let mut areas: Vec<(Color, f64)> = Vec::new();
    for item in boxes() {
        let Some(color) = item.background(default) else { continue };
        match areas.iter_mut().find(|(known, _)| known.distance(color) < 0.02) {
            Some((_, area)) => *area += share(item),
            None => areas.push((color, share(item))),
        }
    }
    let largest = areas.into_iter().max_by(|one, other| one.1.total_cmp(&other.1));
    match largest {
        Some((color, area)) if area > 0.5 => color,
        _ => declared(report, default).unwrap_or(default),
    }
}

fn is_footer(item: &Item) -> bool {
    item.region == Region::Footer
}

/// Returns the background that a variable declares, if a page paints none: only one that fits its text.
fn declared(report: &StyleReport, default: Color) -> Option<Color> {
    let names =
        ["--background", "--bg", "--color-background", "--color-bg", "--background-color", "--body-bg"];
    let color = names.iter().find_map(|name| Color::parse(report.variables.get(*name)?))?;
    let text =
        report.items.iter().find(|item| item.tag == "body").and_then(|item| item.text_color(default))?;
    (color.alpha > 0.99 && color.contrast(text) >= 4.5 && default.contrast(text) < 3.0).then_some(color)
}

fn scheme(report: &StyleReport, background: Color) -> ColorScheme {
    let has = |words: &[&str]| {
        report
            .theme
            .split_ascii_whitespace()
            .any(|word| words.iter().any(|known| known.eq_ignore_ascii_case(word)))
    };
    match (has(&DARK_WORDS), has(&LIGHT_WORDS)) {
        (true, false) => return ColorScheme::Dark,
        (false, true) => return ColorScheme::Light,
        (true, true) | (false, false) => {}
    }
    let lightness = background.lightness();
    if lightness < DARK_BELOW {
        ColorScheme::Dark
    } else if lightness > LIGHT_ABOVE || !report.prefers_dark {
        ColorScheme::Light
    } else {
        ColorScheme::Dark
    }
}
