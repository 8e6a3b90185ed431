//! Colors: sRGB values with an alpha, blending, and the measures by which colors are compared.

mod names;
mod parse;
mod spaces;

pub(crate) use parse::first_in_gradient;

/// The channel spread below which a color counts as gray.
const MIN_SPREAD: f64 = 0.15;

/// A color in sRGB; all values are from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Color {
    pub(crate) red: f64,
    pub(crate) green: f64,
    pub(crate) blue: f64,
    pub(crate) alpha: f64,
}

impl Color {
    pub(crate) const WHITE: Color = Color { red: 1.0, green: 1.0, blue: 1.0, alpha: 1.0 };
    /// The canvas of Chromium in its dark color scheme.
    pub(crate) const DARK_CANVAS: Color = Color::opaque(18.0 / 255.0, 18.0 / 255.0, 18.0 / 255.0);

    pub(crate) const fn opaque(red: f64, green: f64, blue: f64) -> Color {
        Color { red, green, blue, alpha: 1.0 }
    }

    /// Parses a color of CSS, also the bare channels `222 47% 11%` that variables of component libraries have.
    pub(crate) fn parse(text: &str) -> Option<Color> {
        parse::color(text.trim())
    }

    /// Returns the color as `#RRGGBB`, without its alpha.
    pub(crate) fn hex(self) -> String {
        let byte = |value: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the value is 0 to 255"
            )]
            let byte = (value.clamp(0.0, 1.0) * 255.0).round() as u8;
            byte
        };
        format!("#{:02X}{:02X}{:02X}", byte(self.red), byte(self.green), byte(self.blue))
    }

    /// Returns this color blended onto an opaque one.
    pub(crate) fn over(self, below: Color) -> Color {
        let mix = |top: f64, bottom: f64| top * self.alpha + bottom * (1.0 - self.alpha);
        Color::opaque(mix(self.red, below.red), mix(self.green, below.green), mix(self.blue, below.blue))
    }

    /// Returns this color with its alpha multiplied.
    pub(crate) fn faded(self, opacity: f64) -> Color {
        Color { alpha: (self.alpha * opacity).clamp(0.0, 1.0), ..self }
    }

    pub(crate) fn is_transparent(self) -> bool {
        self.alpha < 0.02
    }

    /// Returns the lightness as of OKLab, 0 to 1.
    pub(crate) fn lightness(self) -> f64 {
        spaces::srgb_to_oklab([self.red, self.green, self.blue])[0]
    }

    /// Returns the relative luminance as of WCAG 2.
    pub(crate) fn luminance(self) -> f64 {
        let [red, green, blue] = spaces::linear([self.red, self.green, self.blue]);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// Returns the contrast ratio to another color as of WCAG 2, 1 to 21.
    pub(crate) fn contrast(self, other: Color) -> f64 {
        let (one, two) = (self.luminance() + 0.05, other.luminance() + 0.05);
        one.max(two) / one.min(two)
    }

    /// Returns the distance to another color in OKLab. Colors below 0.02 look the same side by side.
    pub(crate) fn distance(self, other: Color) -> f64 {
        let one = spaces::srgb_to_oklab([self.red, self.green, self.blue]);
        let two = spaces::srgb_to_oklab([other.red, other.green, other.blue]);
        one.iter().zip(two).map(|(one, two)| (one - two) * (one - two)).sum::<f64>().sqrt()
    }

    /// Returns whether the color has a hue: its channels differ clearly.
    pub(crate) fn is_chromatic(self) -> bool {
        self.spread() >= MIN_SPREAD
    }

    /// Returns the difference of the largest and the smallest channel, 0 to 1.
    pub(crate) fn spread(self) -> f64 {
        self.red.max(self.green).max(self.blue) - self.red.min(self.green).min(self.blue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn color(text: &str) -> Color {
        Color::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn translucent_colors_are_blended() {
        let check = |top: &str, below: &str, expected: &str| {
            assert_eq!(color(top).over(color(below)).hex(), expected, "{top} over {below}");
        };
        check("rgba(255, 0, 0, 0.5)", "#fff", "#FF8080");
        check("rgba(0, 0, 0, 0)", "#123456", "#123456");
        check("#000000cc", "white", "#333333");
        check("color(srgb 0 0 1 / 0.25)", "rgb(0, 0, 0)", "#000040");
    }

    #[test]
    fn measures_have_their_known_values() {
        assert!((color("#fff").contrast(color("#000")) - 21.0).abs() < 1e-9);
        assert!((color("#777").contrast(color("#fff")) - 4.48).abs() < 0.01);
        assert!((color("white").lightness() - 1.0).abs() < 1e-3);
        assert!(color("black").lightness().abs() < 1e-3);
        assert!(color("#0d6efd").is_chromatic() && !color("#6c757d").is_chromatic());
        assert!(color("#0d6efd").distance(color("#0c6dfc")) < 0.02);
        assert!(color("#0d6efd").distance(color("#198754")) > 0.2);
    }
}
