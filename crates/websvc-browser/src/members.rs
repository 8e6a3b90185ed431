//! The members of a JSON object whose values are not parsed: a client may send many values, and each would take many times
//! its size as a tree.

use std::borrow::Cow;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Deserializer;
use thiserror::Error;

/// The maximum number of members. No command and no object in a command of the protocol has as many.
const MAX_MEMBERS: usize = 64;

/// The reason why a text was not read as an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum MembersError {
    #[error("is not JSON")]
    Syntax,
    #[error("is not an object")]
    NotAnObject,
    #[error("has more than {MAX_MEMBERS} members")]
    TooMany,
    #[error("has a member twice")]
    Repeated,
}

/// The members of an object, in their order: each name with the JSON text of its value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Members<'a>(Vec<(String, Cow<'a, str>)>);

impl<'a> Members<'a> {
    /// Reads an object. All of the text is checked to be JSON.
    pub(crate) fn parse(text: &'a str) -> Result<Self, MembersError> {
        let mut rest = Rest(text);
        if !rest.skip('{') {
            let is_json = rest.value::<IgnoredAny>().is_ok() && rest.is_empty();
            return Err(if is_json { MembersError::NotAnObject } else { MembersError::Syntax });
        }
        let mut members = Self::default();
        if !rest.skip('}') {
            loop {
                let (name, _) = rest.value::<String>()?;
                if !rest.skip(':') {
                    return Err(MembersError::Syntax);
                }
                let (IgnoredAny, value) = rest.value()?;
                if members.get(&name).is_some() {
                    return Err(MembersError::Repeated);
                }
                if members.0.len() >= MAX_MEMBERS {
                    return Err(MembersError::TooMany);
                }
                members.0.push((name, value.into()));
                if rest.skip('}') {
                    break;
                }
                if !rest.skip(',') {
                    return Err(MembersError::Syntax);
                }
            }
        }
        if rest.is_empty() { Ok(members) } else { Err(MembersError::Syntax) }
    }

    /// Returns the text of a value; `None` if the member is missing or null.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(found, _)| found == name)?;
        (*value != "null").then_some(value)
    }

    /// Returns a value; `None` if it is missing or of another type.
    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.get(name)?).ok()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Sets a member to a text, in place of its value.
    pub(crate) fn set(&mut self, name: &str, text: &str) {
        self.0.retain(|(found, _)| found != name);
        self.0.push((name.to_owned(), json_string(text).into()));
    }

    /// Writes the object.
    pub(crate) fn to_text(&self) -> String {
        let size: usize = self.0.iter().map(|(name, value)| name.len() + value.len() + 8).sum();
        let mut text = String::with_capacity(size + 2);
        for (name, value) in &self.0 {
            text.push(if text.is_empty() { '{' } else { ',' });
            for part in [&json_string(name), ":", value] {
                text.push_str(part);
            }
        }
        text.push_str(if text.is_empty() { "{}" } else { "}" });
        text
    }
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The part of a text that is not yet read.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn trim(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn is_empty(&mut self) -> bool {
        self.trim();
        self.0.is_empty()
    }

    /// Skips a character that comes next; returns whether it does.
    fn skip(&mut self, expected: char) -> bool {
        self.trim();
        let after = self.0.strip_prefix(expected);
        self.0 = after.unwrap_or(self.0);
        after.is_some()
    }

    /// Reads the next value, and returns it with its text.
    fn value<T: DeserializeOwned>(&mut self) -> Result<(T, &'a str), MembersError> {
        self.trim();
        let mut values = Deserializer::from_str(self.0).into_iter::<T>();
        let Some(Ok(value)) = values.next() else { return Err(MembersError::Syntax) };
        let (text, rest) = self.0.split_at(values.byte_offset());
        self.0 = rest;
        Ok((value, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_the_texts_of_their_values() {
        let text = r#" { "id" : 7 ,"a\u0062":{"x":[1,{"y":"}"}]}, "n": null,"s":"\ud800\"" } "#;
        let mut members = Members::parse(text).unwrap();
        assert_eq!(members.names().collect::<Vec<_>>(), ["id", "ab", "n", "s"]);
        assert_eq!(members.read::<u64>("id"), Some(7));
        assert_eq!(members.read::<String>("id"), None);
        assert_eq!(members.get("ab"), Some(r#"{"x":[1,{"y":"}"}]}"#));
        assert_eq!((members.get("n"), members.get("m")), (None, None));
        members.set("id", "\"x");
        assert_eq!(members.to_text(), r#"{"ab":{"x":[1,{"y":"}"}]},"n":null,"s":"\ud800\"","id":"\"x"}"#);
        for empty in ["{}", " { } "] {
            assert_eq!(Members::parse(empty).unwrap().to_text(), "{}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for (text, error) in [
            ("", MembersError::Syntax),
            ("x", MembersError::Syntax),
            ("{", MembersError::Syntax),
            ("{\"a\":1", MembersError::Syntax),
            ("{\"a\":1,}", MembersError::Syntax),
            ("{\"a\" 1}", MembersError::Syntax),
            ("{a:1}", MembersError::Syntax),
            ("{\"a\":01}", MembersError::Syntax),
            ("{\"a\":1}x", MembersError::Syntax),
            ("{\"a\":1 2}", MembersError::Syntax),
            ("{\"a\":\"\n\"}", MembersError::Syntax),
            ("{\"a\":[}", MembersError::Syntax),
            ("[] []", MembersError::Syntax),
            ("[]", MembersError::NotAnObject),
            ("7", MembersError::NotAnObject),
            ("null", MembersError::NotAnObject),
            ("{\"a\":1,\"\\u0061\":2}", MembersError::Repeated),
        ] {
            assert_eq!(Members::parse(text), Err(error), "{text}");
        }
        let many =
            |count| format!("{{{}}}", (0..count).map(|n| format!("\"{n}\":0")).collect::<Vec<_>>().join(","));
        assert_eq!(Members::parse(&many(MAX_MEMBERS)).unwrap().names().count(), MAX_MEMBERS);
        assert_eq!(Members::parse(&many(MAX_MEMBERS + 1)), Err(MembersError::TooMany));
    }

    #[test]
    fn deep_values_need_no_stack() {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert!(Members::parse(&text).is_ok());
    }
}
