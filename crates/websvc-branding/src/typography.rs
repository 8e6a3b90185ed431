//! Typography and distances.

use std::collections::BTreeMap;

use websvc_types::branding::{BrandSpacing, BrandTypography};

use crate::fonts::{family, stack};
use crate::report::{Item, ItemKind, Region, StyleReport, pixels, px};

/// Units of which distances may be multiples.
const UNITS: [u16; 5] = [4, 6, 8, 10, 12];

/// The unit of a page without distances, or with arbitrary ones.
const DEFAULT_UNIT: u16 = 8;

/// The percentage of distances that must be multiples of a unit.
const MOST: usize = 60;

/// The maximum distance in pixels that says something about the unit.
const MAX_DISTANCE: f64 = 128.0;

/// Returns the fonts, sizes, line heights and weights of the page.
pub(crate) fn typography(report: &StyleReport) -> BrandTypography {
    let body = body_text(report);
    let heading = |kind| heading(report, kind);
    let headings =
        [("h1", heading(ItemKind::H1)), ("h2", heading(ItemKind::H2)), ("h3", heading(ItemKind::H3))];
    let first_heading = headings.iter().find_map(|(_, item)| *item);
    let code = report.of_kind(ItemKind::Code).next();
    let mut typography = BrandTypography::default();
    for (name, item) in [("primary", body), ("heading", first_heading), ("code", code)] {
        if let Some(family) = item.and_then(|item| family(&item.font)) {
            typography.font_families.insert(name.to_owned(), family);
        }
    }
    let root = report.items.iter().find(|item| item.tag == "body");
    let paragraph = report.of_kind(ItemKind::Text).find(|item| item.tag == "p");
    for (name, item) in [("body", root), ("heading", first_heading), ("paragraph", paragraph)] {
        if let Some(item) = item.filter(|item| !item.font.is_empty()) {
            typography.font_stacks.insert(name.to_owned(), stack(&item.font));
        }
    }
    for (name, item) in headings.into_iter().chain([("body", body)]) {
        let Some(item) = item else { continue };
        let insert = |map: &mut BTreeMap<String, String>, text: &str| {
            if let Some(value) = pixels(text) {
                map.insert(name.to_owned(), px(value));
            }
        };
        insert(&mut typography.font_sizes, &item.font_size);
        insert(&mut typography.line_heights, &item.line_height);
        if let Some(weight) =
            item.font_weight.parse::<f64>().ok().filter(|weight| (1.0..=1000.0).contains(weight))
        {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the value is 1 to 1000"
            )]
            typography.font_weights.insert(name.to_owned(), weight.round() as u16);
        }
    }
    typography
}

/// Returns the first heading of a level that is not in a header, footer or menu; else the first one.
fn heading(report: &StyleReport, kind: ItemKind) -> Option<&Item> {
    let is_content = |item: &&Item| !matches!(item.region, Region::Header | Region::Nav | Region::Footer);
    report.of_kind(kind).find(is_content).or_else(|| report.of_kind(kind).next())
}

/// Returns a text with the most frequent font and size of running text; `body` if there is none.
fn body_text(report: &StyleReport) -> Option<&Item> {
    let mut groups: Vec<(&Item, usize)> = Vec::new();
    let is_content = |item: &&Item| !matches!(item.region, Region::Header | Region::Nav | Region::Footer);
    for item in report.of_kind(ItemKind::Text).filter(is_content).filter(|item| !item.text.is_empty()) {
        let weight = item.text.chars().count() * if item.tag == "p" { 4 } else { 1 };
        match groups
            .iter_mut()
            .find(|(known, _)| known.font == item.font && known.font_size == item.font_size)
        {
            Some((_, total)) => *total += weight,
            None => groups.push((item, weight)),
        }
    }
    let most = groups.iter().rev().max_by_key(|(_, weight)| *weight).map(|(item, _)| *item);
    most.or_else(|| report.items.iter().find(|item| item.tag == "body"))
}

/// Returns the unit of the distances, and the median of the radii.
pub(crate) fn spacing(report: &StyleReport) -> BrandSpacing {
    BrandSpacing { base_unit: Some(base_unit(report)), border_radius: Some(px(median_radius(report))) }
}

fn base_unit(report: &StyleReport) -> u16 {
    let distances: Vec<f64> = report
        .items()
        .filter(|item| item.kind != ItemKind::Root)
        .flat_map(|item| (0..item.distances.len()).map(|index| item.distance(index)))
        .filter(|distance| (1.0..=MAX_DISTANCE).contains(distance))
        .collect();
    let is_multiple = |distance: &f64, unit: u16| {
        let rest = distance % f64::from(unit);
        rest < 0.05 || f64::from(unit) - rest < 0.05
    };
    let fits = |unit: &u16| {
        let multiples = distances.iter().filter(|distance| is_multiple(distance, *unit)).count();
        !distances.is_empty() && multiples * 100 >= distances.len() * MOST
    };
    UNITS.into_iter().find(|unit| fits(unit)).unwrap_or(DEFAULT_UNIT)
}

/// Returns the median of the radii in use. Round elements have none: their radius follows from their size.
fn median_radius(report: &StyleReport) -> f64 {
    let mut radii: Vec<f64> = report
        .items()
        .filter(|item| item.has_background || item.border.is_some() || item.kind == ItemKind::Input)
        .map(|item| (item.radii().into_iter().fold(0.0, f64::max), item.area))
        .filter(|(radius, area)| *radius > 0.0 && *radius < area.width.min(area.height) / 2.0)
        .map(|(radius, _)| radius)
        .collect();
    radii.sort_by(f64::total_cmp);
    radii.get(radii.len() / 2).copied().unwrap_or(0.0)
}
