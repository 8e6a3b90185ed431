//! The report of the script that reads computed styles in the browser (`read_styles.js` of `websvc-browser`).
//!
//! The page is untrusted, but the script is ours and limits every list and text. A report that does not have this form is
//! an error of the script.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::color::{Color, first_in_gradient};

/// Computed styles of a page.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct StyleReport {
    #[serde(rename = "w")]
    pub(crate) width: f64,
    #[serde(rename = "h")]
    pub(crate) height: f64,
    #[serde(rename = "dw")]
    pub(crate) document_width: f64,
    #[serde(rename = "dh")]
    pub(crate) document_height: f64,
    /// Classes and theme attributes of `html` and `body`.
    pub(crate) theme: String,
    /// The property `color-scheme` of `html`.
    #[serde(rename = "cs")]
    pub(crate) color_scheme: String,
    /// True if the browser prefers dark pages.
    #[serde(rename = "dark")]
    pub(crate) prefers_dark: bool,
    pub(crate) items: Vec<Item>,
    pub(crate) logos: Vec<LogoItem>,
    /// Custom properties of `body` whose names speak of a role of colors.
    #[serde(rename = "vars")]
    pub(crate) variables: BTreeMap<String, String>,
    /// Distinct classes and IDs.
    pub(crate) tokens: Vec<String>,
    /// True if a limit was reached.
    #[serde(rename = "cut")]
    pub(crate) is_cut: bool,
}

impl StyleReport {
    /// Parses the value that the script returned.
    ///
    /// # Errors
    /// An error of the script.
    pub fn parse(value: serde_json::Value) -> Result<StyleReport, serde_json::Error> {
        serde_json::from_value(value)
    }

    /// Returns whether only a part of a large page was examined.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(crate) fn of_kind(&self, kind: ItemKind) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| item.kind == kind && item.region != Region::Overlay)
    }

    /// Iterates over the items outside of banners and dialogs.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.region != Region::Overlay)
    }
}

/// The reason why an element was examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ItemKind {
    Root,
    H1,
    H2,
    H3,
    Button,
    Input,
    Text,
    Link,
    Code,
    Status,
    Box,
}

/// The part of the page that an element is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Region {
    #[default]
    #[serde(rename = "")]
    None,
    Header,
    Nav,
    Main,
    Footer,
    /// A cookie banner or dialog above the page.
    Overlay,
}

/// The place and size of an element in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(from = "[f64; 4]")]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl From<[f64; 4]> for Area {
    fn from([x, y, width, height]: [f64; 4]) -> Self {
        Self { x, y, width, height }
    }
}

impl Area {
    pub(crate) fn size(self) -> f64 {
        self.width * self.height
    }
}

/// An examined element.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Item {
    #[serde(rename = "k")]
    pub(crate) kind: ItemKind,
    #[serde(rename = "t")]
    pub(crate) tag: String,
    /// Classes and ID.
    #[serde(rename = "n", default)]
    pub(crate) names: String,
    #[serde(rename = "g", default)]
    pub(crate) region: Region,
    #[serde(rename = "r")]
    pub(crate) area: Area,
    #[serde(rename = "o", default = "one")]
    pub(crate) opacity: f64,
    /// Painted layers behind its content from the top, each with its opacity.
    #[serde(rename = "l", default)]
    pub(crate) layers: Vec<(String, f64)>,
    /// True if the first layer is its own.
    #[serde(rename = "own", default)]
    pub(crate) has_background: bool,
    #[serde(rename = "c", default)]
    pub(crate) color: String,
    #[serde(rename = "f", default)]
    pub(crate) font: String,
    #[serde(rename = "z", default)]
    pub(crate) font_size: String,
    #[serde(rename = "w", default)]
    pub(crate) font_weight: String,
    #[serde(rename = "lh", default)]
    pub(crate) line_height: String,
    /// Padding (top, right, bottom, left), margin (top, bottom) and gaps.
    #[serde(rename = "s", default)]
    pub(crate) distances: Vec<String>,
    /// Radii: top left, top right, bottom right, bottom left.
    #[serde(rename = "d", default)]
    pub(crate) radii: Vec<String>,
    #[serde(rename = "b", default)]
    pub(crate) border: Option<String>,
    #[serde(rename = "sh", default)]
    pub(crate) shadow: Option<String>,
    #[serde(rename = "x", default)]
    pub(crate) text: String,
    #[serde(rename = "off", default)]
    pub(crate) is_disabled: bool,
    /// True for a link directly in running text.
    #[serde(rename = "tx", default)]
    pub(crate) is_in_text: bool,
}

fn one() -> f64 {
    1.0
}

impl Item {
    /// Returns the color behind the content: the layers blended onto the color of the canvas. `None` above an image.
    pub(crate) fn background(&self, canvas: Color) -> Option<Color> {
        blend(&self.layers, canvas)
    }

    /// Returns the color behind the element itself.
    pub(crate) fn surroundings(&self, canvas: Color) -> Option<Color> {
        let own = usize::from(self.has_background);
        blend(self.layers.get(own..).unwrap_or_default(), canvas)
    }

    /// Returns the color of the text, blended onto its background.
    pub(crate) fn text_color(&self, canvas: Color) -> Option<Color> {
        let color = Color::parse(&self.color)?.faded(self.opacity);
        if color.is_transparent() {
            return None;
        }
        Some(color.over(self.background(canvas).unwrap_or(canvas)))
    }

    /// Returns the color of the visible border, blended onto the background.
    pub(crate) fn border_color(&self, canvas: Color) -> Option<Color> {
        let color = Color::parse(self.border.as_deref()?)?.faded(self.opacity);
        (!color.is_transparent()).then(|| color.over(self.background(canvas).unwrap_or(canvas)))
    }

    /// Returns the radii in pixels: top left, top right, bottom right, bottom left.
    pub(crate) fn radii(&self) -> [f64; 4] {
        let radius = |index: usize| {
            let text = self.radii.get(index).map_or("", |text| text.split(' ').next().unwrap_or(""));
            let radius = match text.strip_suffix('%') {
                Some(percent) => {
                    percent.parse::<f64>().unwrap_or(0.0) / 100.0 * self.area.width.min(self.area.height)
                }
                None => pixels(text).unwrap_or(0.0),
            };
            radius.clamp(0.0, 10_000.0)
        };
        [radius(0), radius(1), radius(2), radius(3)]
    }

    /// Returns the distance with this index in pixels.
    pub(crate) fn distance(&self, index: usize) -> f64 {
        self.distances.get(index).and_then(|text| pixels(text)).unwrap_or(0.0)
    }

    /// Returns whether the classes and the ID have one of these words.
    pub(crate) fn has_word(&self, words: &[&str]) -> bool {
        has_word(&self.names, words)
    }
}

/// Returns whether a text has one of these words in lower case, separated by other characters than letters and digits.
pub(crate) fn has_word(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|found| words.iter().any(|word| word.eq_ignore_ascii_case(found)))
}

fn is_color(layer: &str) -> bool {
    layer != "url" && !layer.contains("gradient(")
}

/// Blends layers, the top one first, onto the canvas. `None` if an image hides the colors below.
fn blend(layers: &[(String, f64)], canvas: Color) -> Option<Color> {
    let mut above = Vec::new();
    let mut below = canvas;
    for (layer, opacity) in layers {
        if layer == "url" {
            if above.is_empty() {
                return None;
            }
            break;
        }
        let color = if is_color(layer) { Color::parse(layer) } else { first_in_gradient(layer) };
        let Some(color) = color.map(|color| color.faded(*opacity)) else { continue };
        if color.alpha > 0.99 {
            below = color;
            break;
        }
        above.push(color);
    }
    Some(above.into_iter().rev().fold(Color { alpha: 1.0, ..below }, |below, color| color.over(below)))
}

/// Parses a length such as `12.5px`.
pub(crate) fn pixels(text: &str) -> Option<f64> {
    text.strip_suffix("px")?.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Writes a length in pixels without needless decimals.
pub(crate) fn px(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    format!("{rounded}px")
}

/// An image that may be the logo.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LogoItem {
    #[serde(rename = "t")]
    pub(crate) tag: String,
    pub(crate) url: String,
    /// The image itself, if it is an SVG in the page.
    pub(crate) svg: String,
    pub(crate) alt: String,
    #[serde(rename = "r")]
    pub(crate) area: Area,
    #[serde(rename = "g")]
    pub(crate) region: Region,
    /// Classes and IDs of the image and the elements around it.
    #[serde(rename = "n")]
    pub(crate) names: String,
    /// Target of the link around it.
    pub(crate) href: String,
    /// Label of the link around it.
    pub(crate) label: String,
    /// Numbers of images in the elements around it, from the inside.
    #[serde(rename = "i")]
    pub(crate) image_counts: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(layers: &[(&str, f64)], expected: Option<&str>) {
        let layers: Vec<(String, f64)> =
            layers.iter().map(|(text, opacity)| ((*text).to_owned(), *opacity)).collect();
        assert_eq!(blend(&layers, Color::WHITE).map(Color::hex).as_deref(), expected, "{layers:?}");
    }

    #[test]
    fn layers_are_blended_from_below() {
        check(&[], Some("#FFFFFF"));
        check(&[("rgb(1, 2, 3)", 1.0), ("url", 1.0)], Some("#010203"));
        check(&[("rgba(255, 0, 0, 0.5)", 1.0), ("rgb(0, 0, 255)", 1.0)], Some("#800080"));
        check(&[("rgb(0, 0, 0)", 0.5)], Some("#808080"));
        check(&[("rgba(0, 0, 0, 0.5)", 1.0), ("rgba(0, 0, 0, 0.5)", 1.0)], Some("#404040"));
        check(&[("linear-gradient(rgb(9, 9, 9), red)", 1.0)], Some("#090909"));
        check(&[("url", 1.0), ("rgb(0, 0, 255)", 1.0)], None);
    }

    #[test]
    fn lengths_are_written_without_needless_decimals() {
        assert_eq!(
            (px(8.0), px(13.3333), px(0.0)),
            ("8px".to_owned(), "13.33px".to_owned(), "0px".to_owned())
        );
        assert_eq!((pixels("12.5px"), pixels("normal"), pixels("infpx")), (Some(12.5), None, None));
    }
}
