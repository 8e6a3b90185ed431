//! URLs with placeholders: `https://api.test/search?q={query}&count={limit}`.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// All characters that are escaped in a part of a URL, which are all but the unreserved ones (RFC 3986).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The placeholders of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placeholder {
    Query,
    Limit,
    Offset,
    Start,
    Page,
    Language,
    Country,
    Safe,
}

const NAMES: [(&str, Placeholder); 8] = [
    ("query", Placeholder::Query),
    ("limit", Placeholder::Limit),
    ("offset", Placeholder::Offset),
    ("start", Placeholder::Start),
    ("page", Placeholder::Page),
    ("language", Placeholder::Language),
    ("country", Placeholder::Country),
    ("safe", Placeholder::Safe),
];

/// The values of the placeholders in one request.
#[derive(Debug)]
pub(super) struct Values<'a> {
    pub(super) query: &'a str,
    pub(super) limit: usize,
    pub(super) offset: usize,
    pub(super) page: usize,
    pub(super) language: &'a str,
    pub(super) country: &'a str,
    pub(super) safe: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Value(Placeholder),
}

/// A text with placeholders, which are not escaped.
#[derive(Debug, Clone)]
pub(super) struct Text(Vec<Part>);

impl Text {
    /// Parses a text.
    ///
    /// # Errors
    /// As those of [`Template::parse`].
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        parts(text).map(Self)
    }

    /// Returns whether the text has a placeholder.
    pub(super) fn has(&self, placeholder: Placeholder) -> bool {
        self.0.contains(&Part::Value(placeholder))
    }

    /// Returns the text with the values, or the number if it is the placeholder of one; `None` if it has placeholders
    /// and all of them are empty.
    pub(super) fn expand(&self, values: &Values<'_>) -> Option<Value> {
        match self.0[..] {
            [Part::Value(Placeholder::Limit)] => return Some(values.limit.into()),
            [Part::Value(Placeholder::Offset)] => return Some(values.offset.into()),
            [Part::Value(Placeholder::Start)] => return Some((values.offset + 1).into()),
            [Part::Value(Placeholder::Page)] => return Some(values.page.into()),
            _ => {}
        }
        let text = || self.0.iter().map(|part| part.text(values)).collect::<String>();
        has_value(&self.0, values).then(|| text().into())
    }
}

/// A URL: the part before the query, and the pairs of the query. Pairs whose placeholders are all empty are left out,
/// because many APIs reject empty values.
#[derive(Debug, Clone)]
pub(super) struct Template {
    base: Vec<Part>,
    pairs: Vec<Vec<Part>>,
}

impl Template {
    /// Parses a URL.
    ///
    /// # Errors
    /// The first text in braces that is not a placeholder, or an unmatched brace.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(parts);
        Ok(Self { base: parts(base)?, pairs: pairs.collect::<Result<_, _>>()? })
    }

    /// Returns whether the URL has a placeholder.
    pub(super) fn has(&self, placeholder: Placeholder) -> bool {
        self.base.iter().chain(self.pairs.iter().flatten()).any(|part| *part == Part::Value(placeholder))
    }

    /// Replaces the placeholders by their escaped values.
    pub(super) fn expand(&self, values: &Values<'_>) -> String {
        let mut url = String::new();
        self.base.iter().for_each(|part| part.write(values, &mut url));
        let mut separator = '?';
        for pair in self.pairs.iter().filter(|pair| has_value(pair, values)) {
            url.push(separator);
            separator = '&';
            pair.iter().for_each(|part| part.write(values, &mut url));
        }
        url
    }
}

fn has_value(pair: &[Part], values: &Values<'_>) -> bool {
    let mut placeholders = pair.iter().filter(|part| matches!(part, Part::Value(_))).peekable();
    placeholders.peek().is_none() || placeholders.any(|part| !part.text(values).is_empty())
}

impl Part {
    fn text<'a>(&'a self, values: &Values<'a>) -> Cow<'a, str> {
        let placeholder = match self {
            Self::Text(text) => return text.into(),
            Self::Value(placeholder) => placeholder,
        };
        match placeholder {
            Placeholder::Query => values.query.into(),
            Placeholder::Limit => values.limit.to_string().into(),
            Placeholder::Offset => values.offset.to_string().into(),
            Placeholder::Start => (values.offset + 1).to_string().into(),
            Placeholder::Page => values.page.to_string().into(),
            Placeholder::Language => values.language.into(),
            Placeholder::Country => values.country.into(),
            Placeholder::Safe => values.safe.into(),
        }
    }

    /// Appends the text to a URL, with escapes in values.
    fn write(&self, values: &Values<'_>, url: &mut String) {
        match self {
            Self::Text(text) => url.push_str(text),
            Self::Value(_) => url.extend(utf8_percent_encode(&self.text(values), ESCAPED)),
        }
    }
}

fn parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or_else(|| format!("{{{after} has no closing brace"))?;
        let known = NAMES.iter().find(|(known, _)| *known == name);
        let (_, placeholder) = known.ok_or_else(|| {
            let names: Vec<_> = NAMES.iter().map(|(name, _)| format!("{{{name}}}")).collect();
            format!("{{{name}}} is not a placeholder; available are {}", names.join(", "))
        })?;
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        parts.push(Part::Value(*placeholder));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, country: &str, expected: &str) {
        let values = Values {
            query: "green & tea/ü",
            limit: 20,
            offset: 40,
            page: 3,
            language: "de",
            country,
            safe: "strict",
        };
        assert_eq!(Template::parse(template).unwrap().expand(&values), expected);
    }

    #[test]
    fn placeholders_are_replaced_by_escaped_values() {
        check(
            "https://a.test/{language}/s/{query}?n={limit}&o={offset}&f={start}&p={page}&s={safe}&fixed=1",
            "",
            "https://a.test/de/s/green%20%26%20tea%2F%C3%BC?n=20&o=40&f=41&p=3&s=strict&fixed=1",
        );
    }

    #[test]
    fn query_pairs_without_a_value_are_left_out() {
        check(
            "https://a.test/?country={country}&q={query}",
            "AT",
            "https://a.test/?country=AT&q=green%20%26%20tea%2F%C3%BC",
        );
        check(
            "https://a.test/?country={country}&empty=&l={language}-{country}",
            "",
            "https://a.test/?empty=&l=de-",
        );
        check("https://a.test/?country={country}", "", "https://a.test/");
    }

    #[test]
    fn unknown_placeholders_are_rejected() {
        let error = Template::parse("https://a.test/?q={quary}").unwrap_err();
        assert!(error.starts_with("{quary} is not a placeholder; available are {query}, {limit}"), "{error}");
        assert_eq!(Template::parse("https://a.test/?q={query").unwrap_err(), "{query has no closing brace");
    }
}
