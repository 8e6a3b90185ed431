//! Parser of CSS colors (CSS Color 4): hexadecimal, named, and the functions that computed values and variables have.

use super::Color;
use super::names::named;
use super::spaces;

/// The maximum length of a color.
const MAX_BYTES: usize = 200;

/// Parses a color; `None` for other texts, and for colors that depend on others, such as `var()`.
pub(super) fn color(text: &str) -> Option<Color> {
    if text.len() > MAX_BYTES || !text.is_ascii() {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix('#') {
        return hexadecimal(digits);
    }
    if let Some((function, rest)) = lower.split_once('(') {
        return call(function.trim(), rest.strip_suffix(')')?);
    }
    named(&lower).or_else(|| bare_channels(&lower))
}

/// Returns the first color of a gradient that is not transparent.
pub(crate) fn first_in_gradient(text: &str) -> Option<Color> {
    let inner = &text[text.find("gradient(")? + "gradient(".len()..];
    let (mut depth, mut start) = (0_usize, 0);
    let mut parts = Vec::new();
    for (index, byte) in inner.bytes().enumerate().take(2_000) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => {
                parts.push(&inner[start..index]);
                break;
            }
            b')' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(&inner[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.into_iter().filter_map(color_of_stop).find(|color| !color.is_transparent())
}

/// Returns the color of a stop such as `rgb(1, 2, 3) 40%`.
fn color_of_stop(stop: &str) -> Option<Color> {
    let stop = stop.trim();
    let end = stop.find(')').map_or_else(|| stop.find(' ').unwrap_or(stop.len()), |end| end + 1);
    color(stop[..end].trim())
}

fn hexadecimal(digits: &str) -> Option<Color> {
    let value = |range: std::ops::Range<usize>| u8::from_str_radix(digits.get(range)?, 16).ok();
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let channel = |index: usize| match digits.len() {
        3 | 4 => value(index..index + 1).map(|value| value * 17),
        6 | 8 => value(index * 2..index * 2 + 2),
        _ => None,
    };
    let alpha = if matches!(digits.len(), 4 | 8) { channel(3)? } else { 255 };
    let unit = |value: u8| f64::from(value) / 255.0;
    Some(Color {
        red: unit(channel(0)?),
        green: unit(channel(1)?),
        blue: unit(channel(2)?),
        alpha: unit(alpha),
    })
}

/// A component of a color function.
#[derive(Debug, Clone, Copy)]
enum Component {
    Number(f64),
    Percent(f64),
    None,
}

impl Component {
    fn parse(text: &str) -> Option<Component> {
        if text == "none" {
            return Some(Component::None);
        }
        if let Some(number) = text.strip_suffix('%') {
            return finite(number).map(Component::Percent);
        }
        let units = [("deg", 1.0), ("grad", 0.9), ("rad", 180.0 / std::f64::consts::PI), ("turn", 360.0)];
        let angle = units.iter().find_map(|(unit, factor)| Some(finite(text.strip_suffix(unit)?)? * factor));
        angle.or_else(|| finite(text)).map(Component::Number)
    }

    /// Returns the value, with `full` for 100%.
    fn scaled(self, full: f64) -> f64 {
        match self {
            Component::Number(number) => number,
            Component::Percent(percent) => percent / 100.0 * full,
            Component::None => 0.0,
        }
    }

    /// Returns a share of a percentage, which some functions also write as a number up to 100.
    fn share(self) -> f64 {
        (match self {
            Component::Number(number) => number / 100.0,
            Component::Percent(percent) => percent / 100.0,
            Component::None => 0.0,
        })
        .clamp(0.0, 1.0)
    }
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn call(function: &str, arguments: &str) -> Option<Color> {
    let separated = arguments.replace([',', '/'], " ");
    let mut words = separated.split_ascii_whitespace();
    let space = if function == "color" { Some(words.next()?) } else { None };
    let components: Vec<Component> = words.map(Component::parse).collect::<Option<_>>()?;
    let (a, b, c, alpha) = match components.as_slice() {
        [a, b, c] => (*a, *b, *c, 1.0),
        [a, b, c, alpha] => (*a, *b, *c, alpha.scaled(1.0).clamp(0.0, 1.0)),
        _ => return None,
    };
    let rgb = match function {
        "rgb" | "rgba" => [a, b, c].map(|channel| channel.scaled(255.0) / 255.0),
        "hsl" | "hsla" => spaces::hsl_to_srgb(a.scaled(360.0), b.share(), c.share()),
        "hwb" => spaces::hwb_to_srgb(a.scaled(360.0), b.share(), c.share()),
        "lab" => spaces::lab_to_srgb([a.scaled(100.0), b.scaled(125.0), c.scaled(125.0)]),
        "lch" => spaces::lab_to_srgb(spaces::from_polar(a.scaled(100.0), b.scaled(150.0), c.scaled(360.0))),
        "oklab" => spaces::oklab_to_srgb([a.scaled(1.0), b.scaled(0.4), c.scaled(0.4)]),
        "oklch" => spaces::oklab_to_srgb(spaces::from_polar(a.scaled(1.0), b.scaled(0.4), c.scaled(360.0))),
        "color" => spaces::space_to_srgb(space?, [a, b, c].map(|channel| channel.scaled(1.0)))?,
        _ => return None,
    };
    let [red, green, blue] = rgb.map(|channel| channel.clamp(0.0, 1.0));
    [red, green, blue].iter().all(|channel| channel.is_finite()).then_some(Color { red, green, blue, alpha })
}

/// Parses `222.2 47.4% 11.2%`, the channels of `hsl()`, and `13, 110, 253`, those of `rgb()`.
fn bare_channels(text: &str) -> Option<Color> {
    let words: Vec<&str> = text.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    let [first, second, third] = words.as_slice() else { return None };
    let is_percent = |word: &str| word.ends_with('%');
    match (is_percent(first), is_percent(second), is_percent(third)) {
        (false, true, true) => call("hsl", text),
        (false, false, false) if text.contains(',') => call("rgb", text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = Color::parse(text).map(|color| {
            if color.alpha < 1.0 { format!("{} {:.2}", color.hex(), color.alpha) } else { color.hex() }
        });
        assert_eq!(found.as_deref().unwrap_or("none"), expected, "{text}");
    }

    #[test]
    fn all_syntaxes_are_parsed() {
        check("#0af", "#00AAFF");
        check("#0AF8", "#00AAFF 0.53");
        check("#0d6efd", "#0D6EFD");
        check("#0d6efd80", "#0D6EFD 0.50");
        check("RebeccaPurple", "#663399");
        check("transparent", "#000000 0.00");
        check("rgb(13, 110, 253)", "#0D6EFD");
        check("rgb(13 110 253 / 50%)", "#0D6EFD 0.50");
        check("rgba(13,110,253,.25)", "#0D6EFD 0.25");
        check("rgb(100% 0% 50%)", "#FF0080");
        check("hsl(210deg 100% 50%)", "#0080FF");
        check("hsla(120, 100%, 25%, 0.5)", "#008000 0.50");
        check("hsl(0.5turn 100 50)", "#00FFFF");
        check("hwb(194 0% 0%)", "#00C3FF");
        check("lab(54.29 80.81 69.89)", "#FF0000");
        check("lch(54.29 106.84 40.86)", "#FF0000");
        check("oklab(0.628 0.2249 0.1258)", "#FF0000");
        check("oklch(0.623 0.214 259.815)", "#2B7FFF");
        check("color(srgb 0.2 0.4 0.6)", "#336699");
        check("color(srgb-linear 0.2158605 0.2158605 0.2158605)", "#808080");
        check("color(display-p3 0 1 0)", "#00FF00");
        check("color(xyz 0.9505 1 1.089)", "#FFFFFF");
        check("color(xyz-d50 0.9643 1 0.8251)", "#FFFFFF");
        check("222.2 47.4% 11.2%", "#0F172A");
        check("13, 110, 253", "#0D6EFD");
        check("rgb(none 0 0)", "#000000");
    }

    #[test]
    fn other_texts_are_no_colors() {
        for text in [
            "",
            "#12",
            "#12345g",
            "var(--x)",
            "rgb(1,2)",
            "rgb(1 2 3",
            "blueish",
            "10px 4px 2px",
            "color()",
            "1 2 3",
            "rgb(NaN, 0, 0)",
            "color(unknown 1 1 1)",
            "rgb(1e999 0 0)",
            "é",
        ] {
            check(text, "none");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_rejected(text in "(rgb|hsl|lab|oklch|color|linear-gradient|#)?[(]?[ -~é]{0,40}[)]?") {
            let _ = Color::parse(&text);
            let _ = first_in_gradient(&text);
        }

        #[test]
        fn written_color_is_parsed_again(red: u8, green: u8, blue: u8) {
            let text = format!("rgb({red}, {green}, {blue})");
            prop_assert_eq!(Color::parse(&text).unwrap().hex(), format!("#{red:02X}{green:02X}{blue:02X}"));
        }
    }

    #[test]
    fn gradient_has_its_first_opaque_color() {
        let first = |text| first_in_gradient(text).map(Color::hex);
        assert_eq!(
            first("linear-gradient(90deg, rgba(0, 0, 0, 0), rgb(255, 0, 128) 40%, rgb(0, 0, 255))")
                .as_deref(),
            Some("#FF0080")
        );
        assert_eq!(first("radial-gradient(circle at center, #123456, red)").as_deref(), Some("#123456"));
        assert_eq!(first("url(\"a.png\")"), None);
    }
}
