//! Errors of time filters.

use std::borrow::Cow;

use jiff::civil::Date;

use crate::tbs::SlashDate;

/// Longer values are cut where a sentence shows them, in characters.
const SHOWN_CHARS: usize = 60;

/// The reason why a `tbs` value was refused (specification 2.4). Every message names the value, cut to 60 characters,
/// and the rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TbsError {
    /// An item is none of the known forms.
    #[error(
        "unknown item \"{}\": expected qdr:[h|d|w|m|y], cdr:1, cd_min:MM/DD/YYYY, cd_max:MM/DD/YYYY or sbd:1",
        shortened(item)
    )]
    Unknown {
        /// The item as sent.
        item: String,
    },
    /// `qdr:` has a unit or count that does not exist.
    #[error(
        "bad range \"qdr:{}\": expected one of h, d, w, m, y, optionally followed by a count from 1 to 9999",
        shortened(value)
    )]
    BadRange {
        /// The text after `qdr:`.
        value: String,
    },
    /// A date is malformed or does not exist in the calendar.
    #[error("bad date \"{}\" in {key}: expected an existing date as MM/DD/YYYY", shortened(value))]
    BadDate {
        /// `cd_min` or `cd_max`.
        key: &'static str,
        /// The text after the colon.
        value: String,
    },
    /// The first day lies after the last.
    #[error("cd_min:{} lies after cd_max:{}", SlashDate(*min), SlashDate(*max))]
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
    /// A predefined and a custom range exclude each other.
    #[error("\"qdr:{value}\" and a custom range (cdr:1) cannot be combined")]
    TwoRanges {
        /// The text after `qdr:`.
        value: String,
    },
    /// `cdr:1` came without a bound.
    #[error("\"cdr:1\" needs cd_min, cd_max or both")]
    NoBounds,
    /// A bound came without `cdr:1`, even one without a date.
    #[error("\"{key}\" needs cdr:1")]
    NoSwitch {
        /// `cd_min` or `cd_max`.
        key: &'static str,
    },
}

/// Returns a text short enough for a sentence.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN_CHARS) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}
