//! The operators: their names, and the rules of their arguments.

use std::str::FromStr;

use crate::ast::{Operator, Size, Term};
use crate::site::site;

/// The name of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
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

impl Name {
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

    /// Returns the operator called `name`, in any letter case.
    pub(crate) fn from_text(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(text, _)| text.eq_ignore_ascii_case(name)).map(|&(_, found)| found)
    }

    /// Says what the argument must be, for warnings.
    pub(crate) fn argument_error(self) -> &'static str {
        match self {
            Self::Site => "a host name, optionally with a port and a path",
            Self::FileType => "a file extension of 1 to 12 letters and digits",
            Self::InUrl | Self::InTitle => "a word",
            Self::AllInUrl | Self::AllInTitle => "words",
            Self::Related => "a host name",
            Self::ImageSize | Self::Larger => "a size in pixels such as 1920x1080",
        }
    }

    /// Tells whether `word`, which stands after a space, can be meant as the argument. In "the official site: rust book"
    /// the word is none: a host without a dot must touch the colon.
    pub(crate) fn takes_after_space(self, word: &str) -> bool {
        !matches!(self, Self::Site | Self::Related) || word.contains('.')
    }

    /// Builds the operator, or `None` when the argument breaks its rule.
    pub(crate) fn build(self, argument: Term) -> Option<Operator> {
        Some(match self {
            Self::Site => Operator::Site(site(argument.text())?),
            Self::FileType => Operator::FileType(extension(argument.text())?),
            Self::InUrl => Operator::InUrl(argument),
            Self::AllInUrl => Operator::AllInUrl(vec![argument]),
            Self::InTitle => Operator::InTitle(argument),
            Self::AllInTitle => Operator::AllInTitle(vec![argument]),
            Self::Related => Operator::Related(site(argument.text())?.host),
            Self::ImageSize => Operator::ImageSize(size(argument.text())?),
            Self::Larger => Operator::Larger(size(argument.text())?),
        })
    }
}

/// Reads a file extension of at most 12 ASCII letters and digits, with or without the dot.
fn extension(text: &str) -> Option<String> {
    let text = text.strip_prefix('.').unwrap_or(text);
    let ok = (1..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    ok.then(|| text.to_ascii_lowercase())
}

/// Reads `<width>x<height>`; `X`, `*` and the multiplication sign are understood too.
fn size(text: &str) -> Option<Size> {
    let (width, height) = text.split_once(['x', 'X', '*', '\u{d7}'])?;
    let pixels = |text| digits(text).filter(|&pixels| pixels > 0);
    Some(Size { width: pixels(width)?, height: pixels(height)? })
}

/// Reads a number of digits alone, without a sign.
pub(crate) fn digits<T: FromStr>(text: &str) -> Option<T> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}
