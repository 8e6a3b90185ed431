//! The parts of a format code.

/// A part of a section.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    Literal(String),
    /// A digit: `0`, `#` or `?`.
    Digit(char),
    Point,
    Comma,
    Percent,
    /// The exponent: `true` if it always has a sign.
    Exponent(bool),
    Slash,
    /// The text of the cell: `@`.
    Text,
    General,
    /// A part of a date, with the number of its letters.
    Date(char, usize),
    /// An elapsed time: hours, minutes or seconds, with the number of its letters.
    Elapsed(char, usize),
    /// The half of the day. `true` for `AM/PM`, `false` for `A/P`.
    Half(bool),
}
