//! Effects of CSS declarations on the visibility of an element.

use crate::text::starts_with_ignore_case;

/// Offset in pixels beyond which an element is off screen. Menus slide in from nearer positions.
const OFF_SCREEN: f32 = -500.0;

/// Lengths up to this number of pixels show nothing.
const INVISIBLE_LENGTH: f32 = 1.0;

/// Effects of a style on visibility. `None` for a property that the style does not set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StyleDeclarations {
    /// True if `display` is `none`.
    pub(super) display_none: Option<bool>,
    /// True if `visibility` hides the element.
    pub(super) visibility_hidden: Option<bool>,
    /// True if the element is transparent, off screen, clipped to nothing, or has the color of its background.
    pub(super) unseen: Option<bool>,
    /// True if the element is collapsed to zero size, as expandable content is.
    pub(super) collapsed: bool,
    /// True if text directly in the element has size zero. Child elements may have a size of their own.
    pub(super) zero_size: bool,
}

impl StyleDeclarations {
    /// Returns whether the style has no declaration that affects visibility.
    pub(super) fn is_empty(self) -> bool {
        self == StyleDeclarations::default()
    }

    /// Returns whether a declaration hides the element.
    pub(super) fn hides(self) -> bool {
        [self.display_none, self.visibility_hidden, self.unseen].contains(&Some(true))
            || self.collapsed
            || self.zero_size
    }

    /// Returns whether a declaration shows the element.
    pub(super) fn shows(self) -> bool {
        [self.display_none, self.visibility_hidden, self.unseen].contains(&Some(false))
    }

    /// Returns the declarations of both styles. Those of `self` override those of `weaker`.
    pub(super) fn overriding(self, weaker: StyleDeclarations) -> StyleDeclarations {
        StyleDeclarations {
            display_none: self.display_none.or(weaker.display_none),
            visibility_hidden: self.visibility_hidden.or(weaker.visibility_hidden),
            unseen: self.unseen.or(weaker.unseen),
            collapsed: self.collapsed || weaker.collapsed,
            zero_size: self.zero_size || weaker.zero_size,
        }
    }

    /// Parses the declarations of a `style` attribute or of a rule.
    pub(super) fn read(declarations: &str) -> StyleDeclarations {
        let mut state = DeclarationState::default();
        for declaration in declarations.split(';') {
            if let Some((property, value)) = declaration.split_once(':') {
                state.declare(property.trim(), without_important(value));
            }
        }
        state.finish()
    }
}

/// Returns a value without surrounding white space and without `!important`.
fn without_important(value: &str) -> &str {
    let value = value.trim();
    value.split_once('!').map_or(value, |(value, _)| value.trim_end())
}

/// Values of the declarations that were parsed so far.
#[derive(Debug, Default)]
struct DeclarationState<'a> {
    style: StyleDeclarations,
    opacity: Option<f32>,
    /// True if the element is animated, so that transparent or small is only its initial state.
    is_animated: bool,
    is_positioned: bool,
    is_off_screen: bool,
    is_far_indented: bool,
    clipped: bool,
    has_empty_clip_path: bool,
    overflow_hidden: bool,
    has_zero_length: bool,
    color: Option<&'a str>,
    background: Option<&'a str>,
    /// True if the background is visible only inside the letters.
    clips_background_to_text: bool,
}

impl<'a> DeclarationState<'a> {
    fn declare(&mut self, property: &str, value: &'a str) {
        let is = |name: &str| property.eq_ignore_ascii_case(name);
        let is_value = |word: &str| value.eq_ignore_ascii_case(word);
        match property.bytes().next().map(|first| first.to_ascii_lowercase()) {
            Some(b'd') if is("display") => self.style.display_none = Some(is_value("none")),
            Some(b'v') if is("visibility") => {
                self.style.visibility_hidden = Some(is_value("hidden") || is_value("collapse"));
            }
            Some(b'o') if is("opacity") => self.opacity = number(value).map(|(opacity, _)| opacity),
            Some(b'o') if is("overflow") || is("overflow-x") || is("overflow-y") => {
                self.overflow_hidden |= is_value("hidden") || is_value("clip");
            }
            Some(b'p') if is("position") => self.is_positioned = is_value("absolute") || is_value("fixed"),
            Some(b'l' | b't' | b'r' | b'b') if is("left") || is("top") || is("right") || is("bottom") => {
                self.is_off_screen |= is_far(value);
            }
            Some(b'm') if is("margin-left") || is("margin-top") => self.is_far_indented |= is_far(value),
            Some(b't') if is("text-indent") => self.is_far_indented |= is_far(value),
            Some(b't') if is("transform") => match value.find("-") {
                Some(minus) if starts_with_ignore_case(value, "translate") && is_far(&value[minus..]) => {
                    self.is_far_indented = true;
                }
                _ => self.is_animated |= !is_value("none"),
            },
            Some(b't') if is("transition") => self.is_animated = true,
            Some(b'a') if is("animation") || is("animation-name") => self.is_animated = true,
            Some(b'w') if is("will-change") => self.is_animated = true,
            Some(b'c') if is("clip") => self.clipped = is_empty_rectangle(value),
            Some(b'c') if is("clip-path") => self.has_empty_clip_path = is_empty_path(value),
            Some(b'w' | b'h' | b'm')
                if is("width") || is("height") || is("max-width") || is("max-height") =>
            {
                self.has_zero_length |=
                    pixels(value).is_some_and(|length| (0.0..=INVISIBLE_LENGTH).contains(&length));
            }
            Some(b'f') if is("font-size") => {
                self.style.zero_size =
                    pixels(value).is_some_and(|size| (0.0..=INVISIBLE_LENGTH).contains(&size));
            }
            Some(b'c') if is("color") => self.color = Some(value),
            Some(b'b') if is("background") || is("background-color") => self.background = Some(value),
            Some(b'b' | b'-') if is("background-clip") || is("-webkit-background-clip") => {
                self.clips_background_to_text |= is_value("text");
            }
            _ => {}
        }
    }

    fn finish(&self) -> StyleDeclarations {
        let mut style = self.style;
        let is_transparent = self.opacity.is_some_and(|opacity| opacity < 0.02);
        let hiding_tricks = [
            is_transparent && !self.is_animated,
            self.is_positioned && (self.is_off_screen || self.clipped),
            self.is_far_indented,
            self.has_empty_clip_path && !self.is_animated,
            !self.clips_background_to_text && is_unreadable(self.color, self.background),
        ];
        if hiding_tricks.contains(&true) {
            style.unseen = Some(true);
        } else if self.opacity.is_some_and(|opacity| opacity >= 0.02) {
            style.unseen = Some(false);
        }
        style.collapsed = self.has_zero_length && self.overflow_hidden;
        style
    }
}

/// Splits a value into the number that it begins with, and the rest.
fn number(value: &str) -> Option<(f32, &str)> {
    let end = value.bytes().position(|b| !(b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+')));
    let (number, unit) = value.split_at(end.unwrap_or(value.len()));
    Some((number.parse().ok()?, unit.trim_start()))
}

/// Returns a length in pixels, roughly. `None` for lengths that depend on other elements.
fn pixels(value: &str) -> Option<f32> {
    let (number, unit) = number(value)?;
    let unit = unit.get(..3).unwrap_or(unit).to_ascii_lowercase();
    match unit.trim_end_matches([')', ',', ' ']) {
        "px" | "" => Some(number),
        "em" | "rem" | "ch" | "ex" => Some(number * 16.0),
        "pt" => Some(number * 4.0 / 3.0),
        "cm" => Some(number * 38.0),
        "in" => Some(number * 96.0),
        _ if number == 0.0 => Some(0.0),
        _ => None,
    }
}

/// Returns whether an offset moves an element off the screen. An offset of one screen width is not enough: menus have
/// it, too.
fn is_far(value: &str) -> bool {
    let is_far_relative = |(number, unit): (f32, &str)| unit.starts_with(['%', 'v']) && number <= OFF_SCREEN;
    pixels(value).is_some_and(|length| length <= OFF_SCREEN) || number(value).is_some_and(is_far_relative)
}

/// Returns whether a `clip` leaves nothing: `rect(0, 0, 0, 0)` and similar.
fn is_empty_rectangle(value: &str) -> bool {
    let Some(arguments) = function_arguments(value, "rect") else { return false };
    let sides: Vec<Option<f32>> =
        arguments.split([',', ' ']).filter(|side| !side.is_empty()).map(pixels).collect();
    let [Some(top), Some(right), Some(bottom), Some(left)] = sides[..] else { return false };
    right - left <= INVISIBLE_LENGTH || bottom - top <= INVISIBLE_LENGTH
}

/// Returns whether a `clip-path` leaves nothing.
fn is_empty_path(value: &str) -> bool {
    if let Some(arguments) = function_arguments(value, "inset") {
        return number(arguments).is_some_and(|(inset, unit)| unit.starts_with('%') && inset >= 50.0);
    }
    function_arguments(value, "circle").is_some_and(|arguments| pixels(arguments) == Some(0.0))
}

fn function_arguments<'a>(value: &'a str, function: &str) -> Option<&'a str> {
    let rest = starts_with_ignore_case(value, function).then(|| value[function.len()..].trim_start())?;
    Some(rest.strip_prefix('(')?.split(')').next()?.trim())
}

/// Returns whether text is transparent, or has the color of its background.
fn is_unreadable(color: Option<&str>, background: Option<&str>) -> bool {
    let Some(color) = color.and_then(rgb) else { return false };
    match background {
        _ if color[3] == 0 => background.is_none_or(|value| !value.contains('(') || rgb(value).is_some()),
        Some(background) => rgb(background).is_some_and(|background| background == color),
        None => false,
    }
}

/// Parses a color to red, green, blue and opacity (0 or 255). Of the named colors only those are known that hidden
/// texts use.
fn rgb(value: &str) -> Option<[u8; 4]> {
    let value = value.trim().to_ascii_lowercase();
    let hex = |digits: &str| u8::from_str_radix(digits, 16).ok();
    if let Some(digits) = value.strip_prefix('#').filter(|digits| digits.is_ascii()) {
        let short_digit = |at: usize| hex(&digits[at..=at]).map(|digit| digit * 17);
        return match digits.len() {
            3 => Some([short_digit(0)?, short_digit(1)?, short_digit(2)?, 255]),
            6 => Some([hex(&digits[..2])?, hex(&digits[2..4])?, hex(&digits[4..])?, 255]),
            8 => Some([hex(&digits[..2])?, hex(&digits[2..4])?, hex(&digits[4..6])?, hex(&digits[6..])?]),
            _ => None,
        };
    }
    if let Some(arguments) = function_arguments(&value, "rgba").or_else(|| function_arguments(&value, "rgb"))
    {
        let mut parts = arguments.split([',', ' ', '/']).filter(|part| !part.is_empty());
        let mut channel = || parts.next()?.parse::<u8>().ok();
        let [red, green, blue] = [channel()?, channel()?, channel()?];
        let is_opaque = parts.next().is_none_or(|alpha| number(alpha).is_none_or(|(alpha, _)| alpha > 0.02));
        return Some([red, green, blue, if is_opaque { 255 } else { 0 }]);
    }
    match value.as_str() {
        "white" => Some([255, 255, 255, 255]),
        "black" => Some([0, 0, 0, 255]),
        "red" => Some([255, 0, 0, 255]),
        "yellow" => Some([255, 255, 0, 255]),
        "blue" => Some([0, 0, 255, 255]),
        "gray" | "grey" => Some([128, 128, 128, 255]),
        "transparent" => Some([0, 0, 0, 0]),
        _ => None,
    }
}
