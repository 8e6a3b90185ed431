//! A JSON text that is parsed when it is needed. Messages may be large, and most of the largest are for a client of a session,
//! which gets them as they are.

use std::borrow::Cow;

use serde_json::Value;

use crate::surrogates;

/// A part of a message of the browser.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Json<'a>(&'a str);

impl<'a> Json<'a> {
    /// `text` is valid, except for lone surrogates.
    pub(super) fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// Returns the value. Lone surrogates become U+FFFD.
    pub(crate) fn parse(self) -> Value {
        serde_json::from_str(&self.text()).unwrap_or_else(|error| {
            tracing::warn!(%error, "invalid JSON in CDP message");
            Value::Null
        })
    }

    /// Returns the text. Lone surrogates become U+FFFD: some clients do not accept them.
    pub(crate) fn text(self) -> Cow<'a, str> {
        // Most texts have no escaped surrogates at all.
        if !self.0.contains("\\ud") && !self.0.contains("\\uD") {
            return self.0.into();
        }
        let mut repaired = self.0.as_bytes().to_vec();
        surrogates::replace_lone(&mut repaired);
        String::from_utf8(repaired).map_or(self.0.into(), Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_are_kept() {
        for (text, expected) in [
            (r#"{"a":"x"}"#, r#"{"a":"x"}"#),
            (r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"\ud83d\ude00"}"#),
            (r#"{"a":"\uD800x"}"#, r#"{"a":"\ufffdx"}"#),
            (r#"["\udc00", {"":0}]"#, r#"["\ufffd", {"":0}]"#),
        ] {
            assert_eq!(Json::new(text).text(), expected);
            assert_ne!(Json::new(text).parse(), Value::Null, "{text}");
        }
        assert!(matches!(Json::new("[1]").text(), Cow::Borrowed(_)), "it is not copied");
        assert_eq!(Json::new(r#""\ud83d\ude00""#).parse(), "\u{1f600}");
    }
}
