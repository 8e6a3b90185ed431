//! The colors of a page by role (operations.md, section 7.2).

use websvc_types::branding::{BrandColors, ColorScheme};

use crate::canvas::Canvas;
use crate::color::Color;
use crate::component::RankedButton;
use crate::report::{Item, ItemKind, Region, StyleReport};

/// The OKLab distance below which two painted colors are one.
const SAME: f64 = 0.025;

/// The OKLab distance from which two colors of the brand are distinct.
const DISTINCT: f64 = 0.1;

/// The maximum number of colors of a palette.
const MAX_COLORS: usize = 400;

/// The luminance below which a color is nearly black, with a light background.
const NEAR_BLACK: f64 = 0.01;

const SUCCESS: [&str; 1] = ["success"];
const WARNING: [&str; 1] = ["warning"];
const ERROR: [&str; 4] = ["error", "danger", "invalid", "destructive"];

/// The color of links that no style sheet sets in Chromium.
const DEFAULT_LINK: &str = "#0000EE";

/// Painted colors with their weights.
#[derive(Debug, Default)]
pub(crate) struct Palette {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    color: Color,
    weight: f64,
    /// True if more than text has this color.
    is_painted: bool,
}

impl Palette {
    /// Adds the color of an area, a border or a button.
    fn add(&mut self, color: Color, weight: f64) {
        self.add_entry(Entry { color, weight, is_painted: true });
    }

    fn add_text(&mut self, color: Color, weight: f64) {
        self.add_entry(Entry { color, weight, is_painted: false });
    }

    fn add_entry(&mut self, entry: Entry) {
        if let Some(known) = self.entries.iter_mut().find(|known| known.color.distance(entry.color) < SAME) {
            known.weight += entry.weight;
            known.is_painted |= entry.is_painted;
        } else if self.entries.len() < MAX_COLORS {
            self.entries.push(entry);
        }
    }

    /// Weighs the colors that a page paints: by area, buttons and links more, calls to action most.
    pub(crate) fn from_report(report: &StyleReport, canvas: Canvas, buttons: &[RankedButton<'_>]) -> Palette {
        let mut palette = Palette::default();
        let window = (report.width * report.height).max(1.0);
        for button in buttons {
            let item = button.item;
            if is_status(item) {
                continue;
            }
            if item.has_background
                && let Some(color) = item.background(canvas.background)
            {
                palette.add(color, 2.0 + button.score.clamp(0.0, 12.0));
            } else if let Some(color) = item.text_color(canvas.background) {
                palette.add_text(color, 1.0);
            }
            if let Some(color) = item.border_color(canvas.background) {
                palette.add(color, 0.5);
            }
        }
        let add_text = |palette: &mut Palette, item: &Item, weight: f64| {
            if let Some(color) = item.text_color(canvas.background) {
                palette.add_text(color, weight);
            }
        };
        for item in report.items().filter(|item| !is_status(item)) {
            match item.kind {
                ItemKind::Box if item.has_background => {
                    if let Some(color) = item.background(canvas.background) {
                        palette.add(color, (item.area.size() / window).min(1.5) * 4.0);
                    }
                }
                ItemKind::Link => {
                    add_text(&mut palette, item, if item.region == Region::Footer { 0.1 } else { 0.4 });
                }
                ItemKind::H1 | ItemKind::H2 | ItemKind::H3 => add_text(&mut palette, item, 1.5),
                ItemKind::Text | ItemKind::Code => add_text(&mut palette, item, 0.1),
                ItemKind::Root | ItemKind::Button | ItemKind::Input | ItemKind::Status | ItemKind::Box => {}
            }
        }
        palette
    }

    /// Gives a painted color more weight that the page also declares as its own.
    pub(crate) fn support(&mut self, color: Color, weight: f64) {
        if let Some(known) = self.entries.iter_mut().find(|known| known.color.distance(color) < SAME) {
            known.weight += weight;
        }
    }

    /// Returns the colors with a hue that may be those of the brand, the most weighted first.
    pub(crate) fn brand_colors(&self, canvas: Canvas, text: Option<Color>) -> Vec<Color> {
        let default_link = Color::parse(DEFAULT_LINK);
        let is_only = |entry: &Entry, other: Option<Color>| {
            !entry.is_painted && other.is_some_and(|other| other.distance(entry.color) < SAME)
        };
        let mut colors: Vec<Entry> = self.entries.clone();
        colors.retain(|entry| {
            let color = entry.color;
            let is_near_black = canvas.scheme == ColorScheme::Light && color.luminance() < NEAR_BLACK;
            // The background itself, running text and links without a style are not those of the brand.
            let is_background = color.distance(canvas.background) < SAME;
            let is_plain = is_only(entry, text) || is_only(entry, default_link);
            color.is_chromatic() && !is_near_black && !is_background && !is_plain
        });
        colors.sort_by(|one, other| other.weight.total_cmp(&one.weight));
        let mut distinct: Vec<Color> = Vec::new();
        for Entry { color, .. } in colors {
            if distinct.iter().all(|known| known.distance(color) >= DISTINCT) {
                distinct.push(color);
            }
        }
        distinct
    }
}

fn is_status(item: &Item) -> bool {
    item.has_word(&SUCCESS) || item.has_word(&WARNING) || item.has_word(&ERROR)
}

/// Adds the weight of declared colors: variables named primary, brand or accent, and `theme-color`.
pub(crate) fn support_declared(palette: &mut Palette, report: &StyleReport, theme_color: Option<&str>) {
    for (name, value) in &report.variables {
        let words: Vec<&str> = name.split(['-', '_']).filter(|word| !word.is_empty()).collect();
        let is_derived = words.iter().any(|word| {
            matches!(
                *word,
                "hover"
                    | "active"
                    | "foreground"
                    | "text"
                    | "border"
                    | "shadow"
                    | "rgb"
                    | "subtle"
                    | "contrast"
            )
        });
        let has = |wanted: &str| words.iter().any(|word| word.eq_ignore_ascii_case(wanted));
        let weight = if has("primary") || has("brand") {
            2.0
        } else if has("accent") || has("secondary") {
            0.5
        } else {
            0.0
        };
        if weight > 0.0
            && !is_derived
            && let Some(color) = Color::parse(value)
        {
            palette.support(color, weight);
        }
    }
    if let Some(color) = theme_color.and_then(Color::parse) {
        palette.support(color, 1.5);
    }
}

/// Returns the colors by role. Without a color with a hue, the primary one is the background of the first button.
pub(crate) fn colors(
    report: &StyleReport,
    canvas: Canvas,
    brand: &[Color],
    texts: TextColors,
    first_button: Option<&Item>,
) -> BrandColors {
    let background = canvas.background;
    let monochrome =
        first_button.filter(|item| item.has_background).and_then(|item| item.background(background));
    let primary =
        brand.first().copied().or(monochrome.filter(|color| color.distance(background) >= DISTINCT));
    let accent = brand.get(1).copied().or(primary);
    let hex = |color: Option<Color>| color.map(Color::hex);
    BrandColors {
        primary: hex(primary),
        secondary: hex(brand.get(2).copied()),
        accent: hex(accent),
        background: Some(background.hex()),
        text_primary: hex(texts.primary),
        text_secondary: hex(texts.secondary),
        link: hex(link_color(report, background)),
        success: hex(status_color(report, background, &SUCCESS)),
        warning: hex(status_color(report, background, &WARNING)),
        error: hex(status_color(report, background, &ERROR)),
    }
}

/// The two most used colors of running text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextColors {
    pub(crate) primary: Option<Color>,
    secondary: Option<Color>,
}

/// Returns the colors of running text.
pub(crate) fn text_colors(report: &StyleReport, background: Color) -> TextColors {
    let mut colors: Vec<(Color, f64)> = Vec::new();
    for item in report.of_kind(ItemKind::Text) {
        // Text on another background, such as in a dark section, has another color for that reason.
        let own = item.background(background);
        let is_on_page = own.is_none_or(|own| (own.lightness() - background.lightness()).abs() < 0.25);
        let Some(color) = item.text_color(background).filter(|_| is_on_page && item.region != Region::Footer)
        else {
            continue;
        };
        #[expect(clippy::cast_precision_loss, reason = "texts have at most 200 characters")]
        let weight = item.text.chars().count() as f64;
        add_weight(&mut colors, color, weight);
    }
    colors.sort_by(|one, other| other.1.total_cmp(&one.1));
    let total: f64 = colors.iter().map(|(_, weight)| weight).sum();
    let root = || {
        let body = report.items.iter().find(|item| item.kind == ItemKind::Root && item.tag == "body");
        body.and_then(|item| item.text_color(background))
    };
    let primary = colors.first().map(|(color, _)| *color).or_else(root);
    let secondary = primary.and_then(|primary| {
        let found = colors.iter().skip(1).find(|(color, weight)| {
            color.distance(primary) >= 0.08 && *weight >= 0.05 * total && !color.is_chromatic()
        });
        found.map(|(color, _)| *color)
    });
    // The stronger of the two is the primary one, also if there is more of the other.
    match (primary, secondary) {
        (Some(one), Some(other)) if other.contrast(background) > one.contrast(background) * 1.2 => {
            TextColors { primary: Some(other), secondary: Some(one) }
        }
        _ => TextColors { primary, secondary },
    }
}

/// Returns the most frequent color of links in running text.
fn link_color(report: &StyleReport, background: Color) -> Option<Color> {
    let is_outside = |item: &&Item| matches!(item.region, Region::Header | Region::Nav | Region::Footer);
    let links: Vec<&Item> = report
        .of_kind(ItemKind::Link)
        .filter(|item| !item.has_background && item.border.is_none())
        .filter(|item| !is_outside(item))
        .collect();
    let in_text: Vec<&&Item> = links.iter().filter(|item| item.is_in_text).collect();
    let mut colors: Vec<(Color, f64)> = Vec::new();
    let chosen: Vec<&Item> = if in_text.is_empty() { links } else { in_text.into_iter().copied().collect() };
    for color in chosen.iter().filter_map(|item| item.text_color(background)) {
        add_weight(&mut colors, color, 1.0);
    }
    colors.iter().rev().max_by(|one, other| one.1.total_cmp(&other.1)).map(|(color, _)| *color)
}

/// Adds the weight of a color to that of the color that looks the same.
fn add_weight(colors: &mut Vec<(Color, f64)>, color: Color, weight: f64) {
    match colors.iter_mut().find(|(known, _)| known.distance(color) < SAME) {
        Some((_, total)) => *total += weight,
        None => colors.push((color, weight)),
    }
}

/// Returns the color of messages of a kind: of an element with such a class, else of a variable with such a name.
fn status_color(report: &StyleReport, background: Color, words: &[&str]) -> Option<Color> {
    let items = report
        .items()
        .filter(|item| matches!(item.kind, ItemKind::Status | ItemKind::Button) && item.has_word(words));
    let painted = items.filter_map(|item| {
        let colors = [
            item.background(background).filter(|_| item.has_background),
            item.border_color(background),
            item.text_color(background),
        ];
        // The clearest of them: messages often have a pale background and a strong border or text.
        colors
            .into_iter()
            .flatten()
            .filter(|color| color.is_chromatic())
            .max_by(|one, other| one.spread().total_cmp(&other.spread()))
    });
    painted.into_iter().next().or_else(|| declared_status(report, words))
}

fn declared_status(report: &StyleReport, words: &[&str]) -> Option<Color> {
    // Libraries put a short prefix of their own in front: `--bs-success`, `--ifm-color-success`.
    let is_prefix =
        |part: &str| part.len() <= 4 && !matches!(part, "text" | "fg" | "bg" | "on" | "pale" | "soft");
    let is_plain = |name: &str| {
        let name = name.trim_start_matches('-');
        let name = name.split_once('-').filter(|(first, _)| is_prefix(first)).map_or(name, |(_, rest)| rest);
        let mut parts = name.split(['-', '_']).filter(|part| !part.is_empty());
        parts.clone().any(|part| words.contains(&part))
            && parts.all(|part| {
                words.contains(&part)
                    || matches!(
                        part,
                        "color" | "colors" | "c" | "clr" | "theme" | "base" | "main" | "default" | "500"
                    )
            })
    };
    let mut names: Vec<&String> = report.variables.keys().filter(|name| is_plain(name)).collect();
    names.sort_by_key(|name| (name.len(), (*name).clone()));
    names
        .into_iter()
        .filter_map(|name| Color::parse(&report.variables[name]))
        .find(|color| color.is_chromatic())
}
