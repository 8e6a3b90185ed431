//! Names of the operators, and rules of their arguments.

use crate::ast::{Operator, Size, Term};
use crate::character::digits;
use crate::site::parse_site;

/// Name of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperatorName {
    Site,
    FileType,
    InUrl,
    AllInUrl,
    InTitle,
    AllInTitle,
    Related,
    ImageSize,
    Larger,
}

impl OperatorName {
    /// Names as typed, in lower case.
    const ALL: [(&'static str, Self); 10] = [
        ("site", Self::Site),
        ("filetype", Self::FileType),
        ("ext", Self::FileType),
        ("inurl", Self::InUrl),
        ("allinurl", Self::AllInUrl),
        ("intitle", Self::InTitle),
        ("allintitle", Self::AllInTitle),
        ("related", Self::Related),
        ("imagesize", Self::ImageSize),
        ("larger", Self::Larger),
    ];

    /// Returns the operator with this name, in any letter case.
    pub(crate) fn from_text(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(text, _)| text.eq_ignore_ascii_case(name)).map(|&(_, found)| found)
    }

    /// Returns a description of a valid argument, for warnings.
    pub(crate) fn expected_argument(self) -> &'static str {
        match self {
            Self::Site => "a host name, optionally with a port and a path",
            Self::FileType => "a file extension of 1 to 12 letters and digits",
            Self::InUrl | Self::InTitle => "a word",
            Self::AllInUrl | Self::AllInTitle => "words",
            Self::Related => "a host name",
            Self::ImageSize | Self::Larger => "a size in pixels such as 1920x1080",
        }
    }

    /// Returns whether `word`, which follows after a space, can be the argument. In `the official site: rust book`, it
    /// is not: a host without a dot must follow the colon directly.
    pub(crate) fn takes_after_space(self, word: &str) -> bool {
        !matches!(self, Self::Site | Self::Related) || word.contains('.')
    }

    /// Builds the operator, or returns `None` if the argument is invalid.
    pub(crate) fn build(self, argument: Term) -> Option<Operator> {
        Some(match self {
            Self::Site => Operator::Site(parse_site(argument.text())?),
            Self::FileType => Operator::FileType(extension(argument.text())?),
            Self::InUrl => Operator::InUrl(argument),
            Self::AllInUrl => Operator::AllInUrl(vec![argument]),
            Self::InTitle => Operator::InTitle(argument),
            Self::AllInTitle => Operator::AllInTitle(vec![argument]),
            Self::Related => Operator::Related(parse_site(argument.text())?.host),
            Self::ImageSize => Operator::ImageSize(size(argument.text())?),
            Self::Larger => Operator::Larger(size(argument.text())?),
        })
    }
}

/// Parses a file extension of at most 12 ASCII letters and digits, with or without the dot.
fn extension(text: &str) -> Option<String> {
    let text = text.strip_prefix('.').unwrap_or(text);
    let is_valid = (1..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_valid.then(|| text.to_ascii_lowercase())
}

/// Parses `<width>x<height>`; the separator may also be `X`, `*` or the multiplication sign.
fn size(text: &str) -> Option<Size> {
    let (width, height) = text.split_once(['x', 'X', '*', '\u{d7}'])?;
    let pixels = |text| digits(text).filter(|&pixels| pixels > 0);
    Some(Size { width: pixels(width)?, height: pixels(height)? })
}
