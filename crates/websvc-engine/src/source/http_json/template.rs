//! URLs with placeholders: `https://api.test/search?q={query}&count={limit}`.

use std::fmt::Write;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// All characters that are escaped in a part of a URL, which are all but the unreserved ones (RFC 3986).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The placeholders of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placeholder {
    Query,
    Limit,
    Offset,
    Page,
    Language,
    Country,
    Safe,
}

const NAMES: [(&str, Placeholder); 7] = [
    ("query", Placeholder::Query),
    ("limit", Placeholder::Limit),
    ("offset", Placeholder::Offset),
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
    placeholders.peek().is_none()
        || placeholders.any(|part| {
            let mut text = String::new();
            part.write(values, &mut text);
            !text.is_empty()
        })
}

impl Part {
    fn write(&self, values: &Values<'_>, url: &mut String) {
        let escaped = |text| utf8_percent_encode(text, ESCAPED);
        // Writing into a `String` cannot fail.
        let _ = match self {
            Self::Text(text) => url.write_str(text),
            Self::Value(Placeholder::Query) => write!(url, "{}", escaped(values.query)),
            Self::Value(Placeholder::Limit) => write!(url, "{}", values.limit),
            Self::Value(Placeholder::Offset) => write!(url, "{}", values.offset),
            Self::Value(Placeholder::Page) => write!(url, "{}", values.page),
            Self::Value(Placeholder::Language) => write!(url, "{}", escaped(values.language)),
            Self::Value(Placeholder::Country) => write!(url, "{}", escaped(values.country)),
            Self::Value(Placeholder::Safe) => write!(url, "{}", escaped(values.safe)),
        };
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
            "https://a.test/{language}/s/{query}?n={limit}&o={offset}&p={page}&s={safe}&fixed=1",
            "",
            "https://a.test/de/s/green%20%26%20tea%2F%C3%BC?n=20&o=40&p=3&s=strict&fixed=1",
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
