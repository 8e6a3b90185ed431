//! Error type of time filters.

use std::borrow::Cow;
use std::fmt::{Display, Formatter};

use jiff::civil::Date;

/// Maximum length of a value in a message, in characters.
const DISPLAYED_MAX_CHARS: usize = 60;

/// Error of [`parse_tbs`](crate::parse_tbs): the `tbs` value is invalid (specification 2.4).
///
/// Every message contains the value, truncated to 60 characters, and the rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TbsError {
    /// An item has an unknown form.
    #[error(
        "unknown item \"{}\": expected qdr:[h|d|w|m|y], cdr:1, cd_min:MM/DD/YYYY, cd_max:MM/DD/YYYY or sbd:1",
        truncated(item)
    )]
    Unknown {
        /// The item as sent.
        item: String,
    },
    /// The unit or the count of `qdr:` is invalid.
    #[error(
        "bad range \"qdr:{}\": expected one of h, d, w, m, y, optionally followed by a count from 1 to 9999",
        truncated(value)
    )]
    BadRange {
        /// The text after `qdr:`.
        value: String,
    },
    /// A date is malformed or does not exist.
    #[error("bad date \"{}\" in {key}: expected an existing date as MM/DD/YYYY", truncated(value))]
    BadDate {
        /// `cd_min` or `cd_max`.
        key: &'static str,
        /// The text after the colon.
        value: String,
    },
    /// The first day is after the last day.
    #[error("cd_min:{} is after cd_max:{}", SlashDate(*min), SlashDate(*max))]
    Reversed {
        /// The first day.
        min: Date,
        /// The last day.
        max: Date,
    },
    /// The same key occurs twice.
    #[error("\"{key}\" is given twice")]
    Duplicate {
        /// The key.
        key: &'static str,
    },
    /// `qdr:` and `cdr:1` cannot be combined.
    #[error("\"qdr:{value}\" and a custom range (cdr:1) cannot be combined")]
    TwoRanges {
        /// The text after `qdr:`.
        value: String,
    },
    /// `cdr:1` has neither a first nor a last day.
    #[error("\"cdr:1\" needs cd_min, cd_max or both")]
    NoBounds,
    /// A bound, with or without a date, has no `cdr:1`.
    #[error("\"{key}\" needs cdr:1")]
    NoSwitch {
        /// `cd_min` or `cd_max`.
        key: &'static str,
    },
}

/// Truncates a text for a message.
pub(crate) fn truncated(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(DISPLAYED_MAX_CHARS) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// Prints a day as `MM/DD/YYYY`.
pub(crate) struct SlashDate(pub(crate) Date);

impl Display for SlashDate {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self(day) = self;
        write!(f, "{:02}/{:02}/{:04}", day.month(), day.day(), day.year())
    }
}
