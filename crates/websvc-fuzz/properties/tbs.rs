//! Properties of the parser for any time filter.

use jiff::Timestamp;
use websvc_query::{TbsRange, parse_tbs};

/// Checks that a valid filter is equal after it is printed and parsed, and that its times are in order.
pub(crate) fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let tbs = match parse_tbs(&text) {
        Ok(Some(tbs)) => tbs,
        Ok(None) => return assert!(text.trim().is_empty(), "{text:?} is not blank"),
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let printed = tbs.to_string();
    assert_eq!(parse_tbs(&printed), Ok(Some(tbs)), "{text:?} is printed as {printed:?}");
    let Some(range) = tbs.range else { return };
    let (first, last) = range.seconds(Timestamp::UNIX_EPOCH);
    match range {
        TbsRange::Last { .. } => assert!(first.is_some_and(|first| first < 0) && last.is_none()),
        TbsRange::Between { min, max } => {
            assert_eq!((first.is_some(), last.is_some()), (min.is_some(), max.is_some()));
            assert!(
                first.zip(last).is_none_or(|(first, last)| first < last),
                "the range of {text:?} is not empty"
            );
        }
    }
}
