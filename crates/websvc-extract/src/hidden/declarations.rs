//! Effects of CSS declarations on the visibility of an element.

use crate::text::starts_with_ignore_case;

/// Farther to the left or the top than this, in pixels, nothing is seen; menus slide in from nearer.
const OFF_SCREEN: f32 = -500.0;

/// Lengths up to this, in pixels, show nothing.
const NOTHING: f32 = 1.0;

/// The statements of one style; `None` where it says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StyleDeclarations {
    /// `display`: whether it is `none`.
    pub(super) undisplayed: Option<bool>,
    /// `visibility`: whether it hides.
    pub(super) invisible: Option<bool>,
    /// True if the element is transparent, off screen, clipped to nothing, or has the color of its background.
    pub(super) unseen: Option<bool>,
    /// True if the element is collapsed to zero size, as expandable content is.
    pub(super) folded: bool,
    /// True if text directly in the element has size zero; child elements may have a size of their own.
    pub(super) tiny: bool,
}

impl StyleDeclarations {
    /// Tells whether it says anything at all.
    pub(super) fn is_silent(self) -> bool {
        self == StyleDeclarations::default()
    }

    /// Tells whether it says something by which the element does not show.
    pub(super) fn hides(self) -> bool {
        [self.undisplayed, self.invisible, self.unseen].contains(&Some(true)) || self.folded || self.tiny
    }

    /// Tells whether it says that the element shows.
    pub(super) fn shows(self) -> bool {
        [self.undisplayed, self.invisible, self.unseen].contains(&Some(false))
    }

    /// Returns what holds when `weaker` is said, too.
    pub(super) fn over(self, weaker: StyleDeclarations) -> StyleDeclarations {
        StyleDeclarations {
            undisplayed: self.undisplayed.or(weaker.undisplayed),
            invisible: self.invisible.or(weaker.invisible),
            unseen: self.unseen.or(weaker.unseen),
            folded: self.folded || weaker.folded,
            tiny: self.tiny || weaker.tiny,
        }
    }

    /// Reads declarations as they stand in a `style` attribute or between the braces of a rule.
    pub(super) fn read(declarations: &str) -> StyleDeclarations {
        let mut seen = DeclarationState::default();
        for declaration in declarations.split(';') {
            if let Some((property, value)) = declaration.split_once(':') {
                seen.declare(property.trim(), bare(value));
            }
        }
        seen.look()
    }
}

/// Returns a value without white space around it and without `!important`.
fn bare(value: &str) -> &str {
    let value = value.trim();
    value.split_once('!').map_or(value, |(value, _)| value.trim_end())
}

/// Relevant values of the declarations read so far.
#[derive(Debug, Default)]
struct DeclarationState<'a> {
    look: StyleDeclarations,
    opacity: Option<f32>,
    /// True if the element is animated, so that transparent or small is only its initial state.
    moves: bool,
    positioned: bool,
    away: bool,
    indented: bool,
    clipped: bool,
    cut: bool,
    overflow_hidden: bool,
    small: bool,
    color: Option<&'a str>,
    background: Option<&'a str>,
    /// True if the background shows through the letters.
    through: bool,
}

impl<'a> DeclarationState<'a> {
    fn declare(&mut self, property: &str, value: &'a str) {
        let is = |name: &str| property.eq_ignore_ascii_case(name);
        let says = |word: &str| value.eq_ignore_ascii_case(word);
        match property.bytes().next().map(|first| first.to_ascii_lowercase()) {
            Some(b'd') if is("display") => self.look.undisplayed = Some(says("none")),
            Some(b'v') if is("visibility") => {
                self.look.invisible = Some(says("hidden") || says("collapse"));
            }
            Some(b'o') if is("opacity") => self.opacity = number(value).map(|(opacity, _)| opacity),
            Some(b'o') if is("overflow") || is("overflow-x") || is("overflow-y") => {
                self.overflow_hidden |= says("hidden") || says("clip");
            }
            Some(b'p') if is("position") => self.positioned = says("absolute") || says("fixed"),
            Some(b'l' | b't' | b'r' | b'b') if is("left") || is("top") || is("right") || is("bottom") => {
                self.away |= is_far(value);
            }
            Some(b'm') if is("margin-left") || is("margin-top") => self.indented |= is_far(value),
            Some(b't') if is("text-indent") => self.indented |= is_far(value),
            Some(b't') if is("transform") => match value.find("-") {
                Some(minus) if starts_with_ignore_case(value, "translate") && is_far(&value[minus..]) => {
                    self.indented = true;
                }
                _ => self.moves |= !says("none"),
            },
            Some(b't') if is("transition") => self.moves = true,
            Some(b'a') if is("animation") || is("animation-name") => self.moves = true,
            Some(b'w') if is("will-change") => self.moves = true,
            Some(b'c') if is("clip") => self.clipped = is_empty_rectangle(value),
            Some(b'c') if is("clip-path") => self.cut = is_empty_path(value),
            Some(b'w' | b'h' | b'm')
                if is("width") || is("height") || is("max-width") || is("max-height") =>
            {
                self.small |= pixels(value).is_some_and(|length| (0.0..=NOTHING).contains(&length));
            }
            Some(b'f') if is("font-size") => {
                self.look.tiny = pixels(value).is_some_and(|size| (0.0..=NOTHING).contains(&size));
            }
            Some(b'c') if is("color") => self.color = Some(value),
            Some(b'b') if is("background") || is("background-color") => self.background = Some(value),
            Some(b'b' | b'-') if is("background-clip") || is("-webkit-background-clip") => {
                self.through |= says("text");
            }
            _ => {}
        }
    }

    fn look(&self) -> StyleDeclarations {
        let mut look = self.look;
        let transparent = self.opacity.is_some_and(|opacity| opacity < 0.02);
        let tricks = [
            transparent && !self.moves,
            self.positioned && (self.away || self.clipped),
            self.indented,
            self.cut && !self.moves,
            !self.through && is_unreadable(self.color, self.background),
        ];
        if tricks.contains(&true) {
            look.unseen = Some(true);
        } else if self.opacity.is_some_and(|opacity| opacity >= 0.02) {
            look.unseen = Some(false);
        }
        look.folded = self.small && self.overflow_hidden;
        look
    }
}

/// Reads the number a value begins with, and what follows it.
fn number(value: &str) -> Option<(f32, &str)> {
    let end = value.bytes().position(|b| !(b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+')));
    let (number, unit) = value.split_at(end.unwrap_or(value.len()));
    Some((number.parse().ok()?, unit.trim_start()))
}

/// Returns a length in pixels, roughly; `None` for lengths that depend on what is around.
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

/// Tells whether an offset moves something off the screen. One of the width of the screen does so with menus, too.
fn is_far(value: &str) -> bool {
    let far = |(number, unit): (f32, &str)| unit.starts_with(['%', 'v']) && number <= OFF_SCREEN;
    pixels(value).is_some_and(|length| length <= OFF_SCREEN) || number(value).is_some_and(far)
}

/// Tells whether a `clip` leaves nothing: `rect(0, 0, 0, 0)` and the like.
fn is_empty_rectangle(value: &str) -> bool {
    let Some(inside) = inside(value, "rect") else { return false };
    let sides: Vec<Option<f32>> =
        inside.split([',', ' ']).filter(|side| !side.is_empty()).map(pixels).collect();
    let [Some(top), Some(right), Some(bottom), Some(left)] = sides[..] else { return false };
    right - left <= NOTHING || bottom - top <= NOTHING
}

/// Tells whether a `clip-path` leaves nothing.
fn is_empty_path(value: &str) -> bool {
    if let Some(inside) = inside(value, "inset") {
        return number(inside).is_some_and(|(inset, unit)| unit.starts_with('%') && inset >= 50.0);
    }
    inside(value, "circle").is_some_and(|inside| pixels(inside) == Some(0.0))
}

fn inside<'a>(value: &'a str, function: &str) -> Option<&'a str> {
    let rest = starts_with_ignore_case(value, function).then(|| value[function.len()..].trim_start())?;
    Some(rest.strip_prefix('(')?.split(')').next()?.trim())
}

/// Tells whether letters have no colour, or that of what they stand on.
fn is_unreadable(color: Option<&str>, background: Option<&str>) -> bool {
    let Some(color) = color.and_then(rgb) else { return false };
    match background {
        _ if color[3] == 0 => background.is_none_or(|value| !value.contains('(') || rgb(value).is_some()),
        Some(background) => rgb(background).is_some_and(|background| background == color),
        None => false,
    }
}

/// Reads a colour as red, green, blue and whether it covers; the ones with names that texts are hidden with.
fn rgb(value: &str) -> Option<[u8; 4]> {
    let value = value.trim().to_ascii_lowercase();
    let hex = |digits: &str| u8::from_str_radix(digits, 16).ok();
    if let Some(digits) = value.strip_prefix('#').filter(|digits| digits.is_ascii()) {
        let wide = |at: usize| hex(&digits[at..=at]).map(|digit| digit * 17);
        return match digits.len() {
            3 => Some([wide(0)?, wide(1)?, wide(2)?, 255]),
            6 => Some([hex(&digits[..2])?, hex(&digits[2..4])?, hex(&digits[4..])?, 255]),
            8 => Some([hex(&digits[..2])?, hex(&digits[2..4])?, hex(&digits[4..6])?, hex(&digits[6..])?]),
            _ => None,
        };
    }
    if let Some(inside) = inside(&value, "rgba").or_else(|| inside(&value, "rgb")) {
        let mut parts = inside.split([',', ' ', '/']).filter(|part| !part.is_empty());
        let mut side = || parts.next()?.parse::<u8>().ok();
        let sides = [side()?, side()?, side()?];
        let covers = parts.next().is_none_or(|alpha| number(alpha).is_none_or(|(alpha, _)| alpha > 0.02));
        return Some([sides[0], sides[1], sides[2], if covers { 255 } else { 0 }]);
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
