//! The operators: their names, and the rules of their arguments.

use crate::ast::{Operator, Site, Size, Term};

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
    pub(crate) fn expects(self) -> &'static str {
        match self {
            Self::Site => "a host name, optionally with a path",
            Self::FileType => "a file extension",
            Self::InUrl | Self::InTitle => "a word",
            Self::AllInUrl | Self::AllInTitle => "words",
            Self::Related => "a host name",
            Self::ImageSize | Self::Larger => "a size such as 1920x1080",
        }
    }

    /// Tells whether the operator takes all the words that follow.
    pub(crate) fn takes_rest(self) -> bool {
        matches!(self, Self::AllInUrl | Self::AllInTitle)
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

/// Reads `host`, `host/path`, `host:port/path`, also behind `http://` or `https://`.
fn site(text: &str) -> Option<Site> {
    let text = strip_prefix_ignoring_case(text, "https://")
        .or_else(|| strip_prefix_ignoring_case(text, "http://"))
        .unwrap_or(text);
    let (authority, path) = text.find('/').map_or((text, ""), |slash| text.split_at(slash));
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port.parse().ok()?)),
        None => (authority, None),
    };
    let host = host.strip_prefix("*.").or_else(|| host.strip_prefix('.')).unwrap_or(host);
    let host = host.strip_suffix('.').unwrap_or(host).to_lowercase();
    let label_ok = |label: &str| {
        !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_' || is_mark(c))
    };
    // Lower-casing can change what a character is, so a second pass must find nothing to do.
    let stable = host.to_lowercase() == host;
    let path_ok = !path.contains(char::is_whitespace);
    if host.len() > 253 || !stable || !path_ok || !host.split('.').all(label_ok) {
        return None;
    }
    let path = path.trim_end_matches('/');
    Some(Site { host, port, path: (!path.is_empty()).then(|| path.to_owned()) })
}

/// Tells whether `c` is a combining mark that host names of some scripts need (Indic, Thai, Hebrew, Arabic).
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{670}' | '\u{900}'..='\u{eff}')
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Reads a file extension of at most 12 ASCII letters and digits, with or without the dot.
fn extension(text: &str) -> Option<String> {
    let text = text.strip_prefix('.').unwrap_or(text);
    let ok = (1..=12).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric());
    ok.then(|| text.to_ascii_lowercase())
}

/// Reads `<width>x<height>`; `X`, `*` and the multiplication sign are understood too.
fn size(text: &str) -> Option<Size> {
    let (width, height) = text.split_once(['x', 'X', '*', '\u{d7}'])?;
    let pixels = |text: &str| {
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        text.parse().ok().filter(|&pixels: &u32| digits && pixels > 0)
    };
    Some(Size { width: pixels(width)?, height: pixels(height)? })
}
